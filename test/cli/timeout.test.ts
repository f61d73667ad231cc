/** Every command with `--timeout` over servers that do not answer: it ends, and says who did not answer what. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { own, type Place, place, run, server } from "./inProcess.ts"

const silent = (...methods: ReadonlyArray<string>) =>
  Effect.tap(
    place,
    (at) => Effect.sync(() => at.write(own, { mcpServers: { one: server("cli/silent.mjs", ...methods) } }))
  )

type Case = readonly [argv: ReadonlyArray<string>, code: number, text: RegExp]

/** Less than what a command waits for without it. */
const enough = 12_000

const all = (at: Place, time: string, cases: ReadonlyArray<Case>) =>
  Effect.forEach(cases, ([argv, code, text]) =>
    Effect.gen(function*() {
      const ran = yield* run(at, [...argv, "--timeout", time]).pipe(Effect.timeout(enough))
      assert.deepStrictEqual([argv, ran.code], [argv, code])
      assert.match(ran.out + ran.err, text)
    }), { concurrency: 6, discard: true })

const connect = /one: not connected within \d+ms/
const limit = /one: \S+ got no answer within the total limit of \d+ms/
/** Which of them comes first is a matter of how busy the machine is. */
const either = new RegExp(`${connect.source}|${limit.source}|one: still connecting`)

describe("the time that a command is given", () => {
  it.scopedLive("holds with a server that never answers `initialize`", () =>
    Effect.gen(function*() {
      yield* all(yield* silent("server/discover", "initialize"), "250ms", [
        [["list"], 4, /^one +stdio +(starting|failed) /m],
        [["tools"], 4, connect],
        [["tools", "one"], 4, connect],
        [["show", "one/wait"], 4, either],
        [["call", "one/wait"], 4, either],
        [["resources", "one"], 4, either],
        [["read", "a://b"], 4, either],
        [["prompts", "one"], 4, either],
        [["prompt", "one/wait"], 4, either],
        [["status"], 0, /^one +(starting|failed) /m],
        [["doctor"], 4, connect],
        [["approve", "--tool", "one/wait"], 4, either]
      ])
    }))

  it.scopedLive("holds with a server that answers nothing after that", () =>
    Effect.gen(function*() {
      const lists = ["tools/list", "resources/list", "resources/templates/list", "prompts/list", "ping"]
      yield* all(yield* silent(...lists), "500ms", [
        [["list"], 4, /^one +stdio +/m],
        [["tools", "one"], 4, either],
        [["show", "one/wait"], 4, either],
        [["call", "wait"], 4, either],
        [["resources", "one"], 4, either],
        [["read", "a://b"], 4, either],
        [["prompt", "one/wait"], 4, either],
        [["status"], 0, /^one +(connected|starting|failed) /m],
        [["doctor"], 4, either]
      ])
    }))

  it.scopedLive("holds with a server that never answers a call, in the repl too", () =>
    Effect.gen(function*() {
      const at = yield* silent("tools/call", "resources/read", "prompts/get")
      yield* all(at, "900ms", [
        [["call", "one/wait"], 4, either],
        [["read", "a://b"], 4, either],
        [["prompt", "wait"], 4, either]
      ])
      // connected before, however long that took
      const lines = ["call one/wait", "read a://b --server one", "prompt one/wait"].map((line) =>
        `${line} --timeout 50ms`
      )
      const ran = yield* run(at, ["repl"], { input: ["tools", ...lines].join("\n") }).pipe(Effect.timeout(enough))
      assert.strictEqual(ran.code, 4)
      assert.lengthOf(ran.err.match(/^error: one: \S+ got no answer within the total limit of 50ms$/gm) ?? [], 3)
    }))
})
