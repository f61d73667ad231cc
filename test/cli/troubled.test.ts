/** What is said where a file is broken, or a server does not do what it should. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ofWorkspace, own, place, run, server } from "./inProcess.ts"

describe("where a file is broken", () => {
  it.scopedLive("each command says where, and the doctor goes on", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(ofWorkspace, "{\"mcpServers\": {")
      const { code, err } = yield* run(at, ["call", "a/b"], { columns: 40 })
      assert.strictEqual(code, 3)
      assert.match(err.replaceAll("\n", " "), /^error: invalid configuration at "\S+\.mcp\.json:1": The file cannot be/)
      assert.include(err.replaceAll("\n", " "), "`mcp-runtime config` tells what is wrong")
      // broken at spaces, so that only a path is wider than the terminal
      for (const line of err.split("\n")) assert.isTrue(line.length <= 40 || !line.includes(" "), line)
      const doctor = yield* run(at, ["doctor"])
      assert.strictEqual(doctor.code, 3)
      assert.match(doctor.out, /^fault {2}\S+\.mcp\.json:1\n {7}The file cannot be parsed/)
      at.write(own, { mcpServers: { one: server("cli/asks.mjs") } })
      const both = yield* run(at, ["doctor"])
      assert.strictEqual(both.code, 3)
      assert.match(both.out, /^one {2}well /)
      assert.include(both.out, "fault  ")
    }))
})

describe("where a server refuses to list its tools", () => {
  it.scopedLive("nobody waits for them", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(own, { mcpServers: { one: server("cli/silent.mjs", "refuse:tools/list") } })
      const table = [
        [["list"], 0, /^one +stdio +connected +- /m],
        [["tools"], 0, /^missing: one: the server answered -32603: not today$/m],
        [["status"], 0, /^one +connected +closed +\d/m],
        [["tools", "one"], 1, /^error: one: the server answered -32603/m]
      ] as const
      yield* Effect.forEach(table, ([argv, exit, text]) =>
        Effect.gen(function*() {
          const { code, err, out } = yield* run(at, argv)
          assert.deepStrictEqual([argv, code], [argv, exit])
          assert.match(out + err, text)
        }), { concurrency: "unbounded", discard: true })
    }))
})
