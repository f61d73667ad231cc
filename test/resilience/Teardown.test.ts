import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Teardown from "../../src/resilience/Teardown.ts"
import * as Built from "../support/built.ts"
import { contentOf, eventually, pidsWithArgument } from "../support/leaks.ts"

const end: Teardown.ServerEnd = {
  server: "s",
  transport: "stdio",
  how: "closed",
  took: Duration.millis(3),
  killed: []
}

describe("Teardown", () => {
  it.effect("has a bound for every step, each of which can be set", () =>
    Effect.gen(function*() {
      const { options } = yield* Teardown.Teardown
      assert.strictEqual(Duration.toMillis(options.stdinGrace), 50)
      assert.strictEqual(Duration.toMillis(options.termGrace), 2000)
      assert.strictEqual(Duration.toMillis(options.deadline), 10_000)
    }).pipe(Effect.provide(Teardown.layer({ stdinGrace: "50 millis" }))))

  it.effect("has no graces if it is immediate", () =>
    Effect.gen(function*() {
      const { options } = yield* Teardown.Teardown
      assert.strictEqual(Duration.toMillis(options.stdinGrace) + Duration.toMillis(options.termGrace), 0)
    }).pipe(Effect.provide(Teardown.layerImmediate)))

  it.effect("reports the ends in their order, and only the last thousand of them", () =>
    Effect.gen(function*() {
      const teardown = yield* Teardown.Teardown
      for (let i = 0; i < 1030; i++) teardown.record({ ...end, server: `${i}` })
      const { servers } = yield* teardown.report
      assert.strictEqual(servers.length, 1024)
      assert.strictEqual(servers[0]!.server, "6")
      assert.strictEqual(servers[1023]!.server, "1029")
    }).pipe(Effect.provide(Teardown.layer())))

  it.effect("keeps the last 16 ends of a server that reconnects often, and those of the others", () =>
    Effect.gen(function*() {
      const teardown = yield* Teardown.Teardown
      teardown.record({ ...end, server: "stable" })
      for (let pid = 1; pid <= 5_000; pid++) teardown.record({ ...end, server: "flapping", killed: [pid] })
      const { servers } = yield* teardown.report
      assert.deepStrictEqual(servers.map(({ server }) => server), ["stable", ...Array(16).fill("flapping")])
      assert.deepStrictEqual(
        servers.slice(1).flatMap(({ killed }) => killed),
        Array.from({ length: 16 }, (_, i) => 4_985 + i)
      )
    }).pipe(Effect.provide(Teardown.layer())))

  it.effect("listens to the process only while there is something to end", () =>
    Effect.gen(function*() {
      const teardown = yield* Teardown.Teardown
      const events = ["exit", "SIGINT", "SIGTERM", "SIGHUP"]
      const counts = () => events.map((event) => process.listenerCount(event))
      const before = counts()
      yield* Effect.scoped(Effect.gen(function*() {
        for (let i = 0; i < 20; i++) yield* teardown.lastResort(() => undefined)
        assert.deepStrictEqual(counts(), before.map((count) => count + 1))
      }))
      assert.deepStrictEqual(counts(), before)
    }).pipe(Effect.provide(Teardown.layer())))

  it.effect("runs every last resort when the process ends, even if one throws", () =>
    Effect.scoped(Effect.gen(function*() {
      const teardown = yield* Teardown.Teardown
      const before = new Set(process.listeners("exit"))
      const ran: Array<number> = []
      yield* teardown.lastResort(() => {
        ran.push(1)
        throw new Error("no")
      })
      yield* teardown.lastResort(() => ran.push(2))
      const ours = process.listeners("exit").find((listener) => !before.has(listener))
      ours!(0)
      assert.deepStrictEqual(ran, [1, 2])
    })).pipe(Effect.provide(Teardown.layer())))
})

describe("a host that ends without closing", () => {
  const script = fileURLToPath(new URL("../fixtures/process/server.mjs", import.meta.url))
  let host: string

  beforeAll(async () => {
    host = await Built.bundled(fileURLToPath(new URL("../fixtures/process/host.mjs", import.meta.url)))
  }, 60_000)

  /** Runs the host with a server that ends only by force, and waits for the end of both. */
  const run = (ending: string, signal?: NodeJS.Signals) =>
    Effect.gen(function*() {
      const journal = join(mkdtempSync(join(tmpdir(), "teardown-test-")), "journal")
      const marker = `--journal=${journal}`
      const args = [host, script, ending, "--ignore-term", "--ignore-end", marker]
      const ended = yield* Effect.async<readonly [code: number | null, signal: string | null]>((resume) => {
        const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] })
        child.stdout.on("data", () => {
          // Its ending is prepared by then: the host said so one turn before.
          if (signal !== undefined) setTimeout(() => child.kill(signal), 50)
        })
        child.on("exit", (code, signal) => resume(Effect.succeed([code, signal])))
        return Effect.sync(() => child.kill("SIGKILL"))
      })
      assert.match(contentOf(journal), /^start \d+/)
      yield* eventually(
        () => pidsWithArgument(marker).length === 0,
        () => `still there: ${pidsWithArgument(marker).join(", ")}`
      )
      return ended
    })

  it.live("ends its servers at process.exit, with its own exit code", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* run("exit"), [5, null])
    }))

  it.live("ends its servers when it crashes", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* run("crash"), [1, null])
      assert.deepStrictEqual(yield* run("reject"), [1, null])
    }))

  it.live("ends its servers on a signal, and exits with that signal", () =>
    Effect.gen(function*() {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
        assert.deepStrictEqual(yield* run("wait", signal), [null, signal])
      }
    }), 60_000)

  it.live("leaves a signal to an application that listens for it", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* run("listener", "SIGTERM"), [42, null])
    }))

  it.live("leaves a signal to an application that listens for it once, as Effect's runMain does", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* run("once", "SIGTERM"), [42, null])
      assert.deepStrictEqual(yield* run("run-main", "SIGINT"), [0, null])
    }))

  it.live("does not count the listeners of signal-exit as the application's", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* run("signal-exit", "SIGINT"), [null, "SIGINT"])
    }))
})
