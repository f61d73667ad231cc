import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Built from "../support/built.ts"
import type { Message } from "../support/pipedCaller.ts"

describe("the agent of the examples as a process", () => {
  let program: string

  beforeAll(async () => {
    program = await Built.bundled(fileURLToPath(new URL("../../examples/agent-server.ts", import.meta.url)))
  }, 60_000)

  /** What it has written when it has ended by itself. */
  const run = (input: string) =>
    Effect.async<{ readonly code: number | null; readonly stdout: string }>((resume) => {
      const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "ignore"] })
      let stdout = ""
      child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()))
      child.on("close", (code) => resume(Effect.succeed({ code, stdout })))
      child.stdin.end(input)
      return Effect.sync(() => child.kill("SIGKILL"))
    })

  it.live("answers what it is asked, says nothing else, and ends with its input", () =>
    Effect.gen(function*() {
      const meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
      }
      const line = (id: number, method: string, params: object) =>
        `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`
      const { code, stdout } = yield* run([
        line(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {} }),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\r\n",
        line(2, "tools/list", {}),
        line(3, "tools/call", { name: "cocode", arguments: { prompt: "é" } }),
        "no JSON\n",
        line(4, "tools/call", { name: "cocode", arguments: { prompt: "2" }, _meta: meta }),
        "{\"jsonrpc\":\"2.0\",\"id\":5,"
      ].join(""))
      assert.strictEqual(code, 0)
      const messages: ReadonlyArray<Message> = stdout.trimEnd().split("\n").map((line) => JSON.parse(line))
      const answers = messages.filter(({ id }) => id !== undefined)
      assert.sameDeepMembers(answers.map(({ error, id }) => [id, error?.code]), [
        [1, undefined],
        [2, undefined],
        [3, undefined],
        [4, undefined],
        [null, -32700],
        [null, -32700]
      ])
      const said = answers.find(({ id }) => id === 3)?.result?.["content"]
      assert.deepStrictEqual(said, [{ type: "text", text: "I know one thing: é" }])
    }))
})
