/** One-shot commands wait for their servers up to the connect limits, and show the progress. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, Option, TestClock } from "effect"
import { existsSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { own, type Place, place, run, server } from "./inProcess.ts"

const moment = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 10)))

const until = (holds: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => holds() ? Effect.void : Effect.zipRight(moment, until(holds)))

/** A server that reports its start, and answers only after the test has released it. */
const late = (at: Place, fixture = "cli/offers.mjs") => {
  const folder = dirname(at.root)
  const { args: [script = ""], command } = server(fixture)
  const wait = `touch '${folder}/started'; until [ -e '${folder}/go' ]; do sleep 0.05; done`
  return {
    entry: { command: "sh", args: ["-c", `${wait}; exec '${command}' '${script}'`] },
    isStarted: () => existsSync(join(folder, "started")),
    go: () => writeFileSync(join(folder, "go"), "")
  }
}

/** Runs a command while the clock is moved by this many seconds, and then until it has ended. */
const patiently = (at: Place, line: string, slow: ReturnType<typeof late>, seconds: number) =>
  Effect.gen(function*() {
    const running = yield* Effect.fork(run(at, line.split(" "), { columns: 80 }))
    yield* until(slow.isStarted)
    for (let second = 0; second < seconds; second++) yield* Effect.zipRight(TestClock.adjust("1 second"), moment)
    slow.go()
    const ended = Effect.map(Fiber.poll(running), Option.isSome)
    yield* Effect.repeat(Effect.zipRight(TestClock.adjust("1 millis"), Effect.zipRight(moment, ended)), {
      until: (has) => has
    })
    return yield* Fiber.join(running)
  })

describe("a command that is run once", () => {
  for (
    const [line, text] of [["list", /^late +stdio +connected/m], ["tools", /^late\/\w+/m], [
      "status",
      /^late +connected/m
    ]] as const
  ) {
    it.scoped(`waits for a server that needs 40 s, and shows that: ${line}`, () =>
      Effect.gen(function*() {
        const at = yield* place
        const slow = late(at, "cli/silent.mjs")
        at.write(own, { mcpServers: { late: slow.entry } })
        const { code, err, out } = yield* patiently(at, line, slow, 40)
        assert.strictEqual(code, 0)
        assert.match(out, text)
        assert.include(err, "connecting… (39s) late")
      }), 60_000)
  }

  for (
    const [line, text] of [
      ["prompts", /^late\//m],
      ["resources", /^late$/m],
      ["prompts late", /^late\//m]
    ] as const
  ) {
    for (const lazy of [false, true]) {
      it.scoped(
        `lists what a ${lazy ? "lazy " : ""}server offers that connects later than a list may take: ${line}`,
        () =>
          Effect.gen(function*() {
            const at = yield* place
            const slow = late(at)
            at.write(own, { mcpServers: { late: { ...slow.entry, lazy } } })
            const { code, err, out } = yield* patiently(at, line, slow, 40)
            assert.strictEqual(code, 0, err)
            assert.match(out, text)
          }),
        60_000
      )
    }
  }

  it.scoped("finds the tool of a server that connects later than a list may take", () =>
    Effect.gen(function*() {
      const at = yield* place
      const slow = late(at)
      at.write(own, { mcpServers: { late: slow.entry } })
      const { err } = yield* patiently(at, "show late/no-such-tool", slow, 40)
      assert.match(err, /error: no tool|there is no tool|no-such-tool/)
      assert.notMatch(err, /not connected|got no answer/)
    }), 60_000)
})

describe("mcp-runtime doctor", () => {
  it.scopedLive("waits up to the connect limit of the environment", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(own, { mcpServers: { mute: { command: "sh", args: ["-c", "while read -r _; do :; done"] } } })
      const { out } = yield* run(at, ["doctor"]).pipe(
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["MCP_TIMEOUT", "700"]])))
      )
      assert.include(out, "not connected within 700ms")
    }), 60_000)

  it.scopedLive(
    "does not wait for a server that closed its stdout, because that can never answer",
    () =>
      Effect.gen(function*() {
        const at = yield* place
        at.write(own, { mcpServers: { deaf: { command: "sh", args: ["-c", "exec sleep 600 > /dev/null"] } } })
        const { out } = yield* Effect.withConfigProvider(
          run(at, ["doctor", "--json"]),
          ConfigProvider.fromMap(new Map([["MCP_TIMEOUT", "600000"]]))
        )
        const { servers: [deaf] }: {
          readonly servers: ReadonlyArray<{ readonly problems: ReadonlyArray<Record<string, string>> }>
        } = JSON.parse(out)
        assert.strictEqual(deaf?.problems[0]?.["tag"], "ConnectionLost/stdout-ended")
        assert.include(deaf?.problems[0]?.["message"], "the server closed its stdout and goes on running")
      }),
    60_000
  )
})
