import { assert, describe, it } from "@effect/vitest"
import * as Limits from "../../src/config/Limits.ts"
import * as McpError from "../../src/McpError.ts"
import * as Ending from "../../src/transport/ending.ts"
import type * as Transport from "../../src/transport/Transport.ts"

const closed = (outcome: McpError.Outcome) => new McpError.Closed({ server: "s", operation: "a test", outcome })

const note = (method: string) => ({ jsonrpc: "2.0", method }) as const

describe("the outlet of a transport", () => {
  it("delivers in order what came before its start, what the sink causes meanwhile, and the end", () => {
    const outlet = Ending.outlet("s", Limits.defaults)
    const seen: Array<unknown> = []
    const sink: Transport.Sink = {
      message: (message) => {
        const method = "method" in message ? message.method : undefined
        seen.push(method)
        if (method === "first") outlet.message(note("answer to first"))
        if (method === "second") outlet.end(closed, () => false)
      },
      failed: () => seen.push("failed"),
      waiting: () => seen.push("waiting"),
      diagnostic: () => seen.push("diagnostic"),
      ended: () => seen.push("ended")
    }
    outlet.message(note("first"))
    outlet.message(note("second"))
    outlet.start(sink)
    outlet.message(note("after the end"))
    assert.deepStrictEqual(seen, ["first", "second", "answer to first", "ended"])
  })
})
