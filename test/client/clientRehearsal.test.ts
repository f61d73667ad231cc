import { assert, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/client"
import * as ClientRehearsal from "../../src/client/internal/clientRehearsal.ts"

describe("a rehearsal of the handshake", () => {
  it("comes to its end with nobody", async () => {
    const client = new Client({ name: "test", version: "1" })
    // the cast: as with every transport that is given to an SDK
    await client.connect(ClientRehearsal.nobody() as never, { prior: { kind: "legacy" } })
    assert.strictEqual(client.getServerVersion()?.name, "nobody")
    await client.close()
  })
})
