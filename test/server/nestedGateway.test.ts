/** `mcp-runtime serve` within `mcp-runtime serve`: a gateway that reads the entry that starts it. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { connect } from "./callers.ts"
import * as Serving from "./serving.ts"

const patient = { timeout: 60_000 }

let place: Serving.Place
let folder: string

beforeAll(() => {
  place = Serving.make()
  folder = mkdtempSync(join(tmpdir(), "mcp-nested-"))
})

afterAll(async () => {
  await place.remove()
  rmSync(folder, { recursive: true, force: true })
})

const variable = "MCP_RUNTIME_SERVING"

/** Ends with its stdin, which is empty. */
const run = async ({ args, command, env }: Serving.Command, depth: string) => {
  const child = spawn(command, args, { env: { ...env, [variable]: depth }, stdio: ["ignore", "ignore", "pipe"] })
  let stderr = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text)
  const [code] = await once(child, "close")
  return { code, stderr }
}

describe("a gateway within a gateway", patient, () => {
  it("starts no third where it reads its own entry", async () => {
    const home = join(folder, "home")
    const starts = join(folder, "starts")
    const { args: [bin = ""] } = place.command("program", {})
    // notes the depth of each start, and then is the gateway
    const noting = join(folder, "noting.cjs")
    writeFileSync(
      noting,
      `require("node:fs").appendFileSync(${JSON.stringify(starts)}, process.env.${variable} ?? "0")
require(${JSON.stringify(bin)})\n`
    )
    mkdirSync(join(home, ".config", "mcp-runtime"), { recursive: true })
    writeFileSync(
      join(home, ".config", "mcp-runtime", "mcp-client.json"),
      JSON.stringify({ mcpServers: { self: { command: process.execPath, args: [noting, "serve"] } } })
    )
    const env = { PATH: process.env["PATH"] ?? "", HOME: home }
    const caller = await connect["SDK 1.x"]({ command: process.execPath, args: [noting, "serve"], env })
    const depths = () => existsSync(starts) ? readFileSync(starts, "utf8") : ""
    while (!depths().includes("1")) await setTimeout(20)
    // more attempts of the first gateway, and time for a third within the second
    while (depths().length < 4) await setTimeout(20)
    await caller.close()
    assert.match(depths(), /^01+$/)
  })

  it("says why it ends", async () => {
    const { args, command, env } = place.command("own", {})
    const { code, stderr } = await run({ command, args: args.slice(0, 2), env }, "1")
    assert.strictEqual(code, 2)
    assert.include(stderr, "this gateway was started by another gateway and would start itself again")
    assert.include(stderr, "--config")
  })

  it("serves other servers, down to the third", async () => {
    assert.strictEqual((await run(place.command("other", {}), "2")).code, 0)
    assert.strictEqual((await run(place.command("deep", {}), "3")).code, 2)
  })
})
