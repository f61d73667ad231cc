import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Layer, Schedule } from "effect"
import * as McpError from "../../src/McpError.ts"
import * as ReconnectPolicy from "../../src/resilience/ReconnectPolicy.ts"
import { journalOfMine } from "../faults/stdio.ts"
import * as Node from "../support/nodeRuntime.ts"

const kill = (pid: number) => Effect.sync(() => process.kill(pid, "SIGKILL"))

describe("a process that is killed", () => {
  Node.test(
    "in the middle of a call fails it with an unknown outcome, is never asked twice, and has a successor",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      yield* Node.using(Node.options([Node.thin(journal)], { reconnect: {} }), (runtime) =>
        Effect.gen(function*() {
          const call = yield* Node.hanging(runtime, "thin", journal)
          const [first] = journal.pids()
          yield* kill(first!)
          const error = yield* Fiber.join(call)
          assert.isTrue(error._tag === "ConnectionLost" && error.reason === "exited" && error.signal === "SIGKILL")
          assert.deepStrictEqual([error.outcome, error.isRetryable], ["unknown", false])
          // the first delay of the preset is 0.5 s
          const result = yield* Node.within("10 seconds", runtime.callTool({ server: "thin", tool: "pid" }))
          const [, second] = journal.pids()
          assert.strictEqual(Node.textOf(result), String(second))
          assert.notStrictEqual(first, second)
          assert.strictEqual(journal.pids().length, 2)
          assert.strictEqual(journal.executions("hang"), 1)
        }))
    })
  )

  Node.test(
    "in the middle of many calls fails each of them once, and has a successor that serves as soon as it is there",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      yield* Node.using(Node.options([Node.thin(journal)]), (runtime) =>
        Effect.gen(function*() {
          const calls = yield* Effect.replicateEffect(Node.hanging(runtime, "thin", journal), 5)
          const [first] = journal.pids()
          yield* kill(first!)
          for (const error of yield* Effect.forEach(calls, Fiber.join)) {
            assert.deepStrictEqual([McpError.label(error), error.outcome], ["ConnectionLost/exited", "unknown"])
          }
          yield* journal.until(() => journal.pids().length === 2)
          yield* Node.until(runtime, "thin", Node.is("Connected"))
          const result = yield* runtime.callTool({ server: "thin", tool: "pid" })
          assert.strictEqual(Node.textOf(result), String(journal.pids()[1]))
          assert.strictEqual(journal.executions("hang"), 5)
        }))
    })
  )

  Node.test(
    "while nobody uses it is replaced before anybody asks",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      yield* Node.using(Node.options([Node.thin(journal)]), (runtime) =>
        Effect.gen(function*() {
          yield* runtime.tools
          yield* kill(journal.pids()[0]!)
          yield* journal.until(() => journal.pids().length === 2)
          const result = yield* runtime.callTool({ server: "thin", tool: "pid" })
          assert.strictEqual(Node.textOf(result), String(journal.pids()[1]))
          assert.strictEqual((yield* runtime.servers.get("thin")).reconnects, 1)
        }))
    })
  )
})

describe("a process that dies soon after each start", () => {
  Node.test(
    "is started as often as the storm breaker allows, and then only when somebody reconnects it",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      const reconnect = { schedule: Schedule.spaced("10 millis") }
      yield* Node.using(
        Node.options([Node.thin(journal, { dieAfter: 20 })], { reconnect }),
        (runtime) =>
          Effect.gen(function*() {
            yield* Node.until(runtime, "thin", Node.is("Failed"))
            assert.strictEqual(journal.pids().length, 1 + ReconnectPolicy.defaults.stormReconnects)
            const error = yield* Effect.flip(runtime.callTool({ server: "thin", tool: "pid" }))
            assert.isTrue(error._tag === "ServerUnavailable" && error.why === "storm" && error.retryAfter !== undefined)
            assert.strictEqual(error.outcome, "not-sent")
            assert.strictEqual(journal.pids().length, 1 + ReconnectPolicy.defaults.stormReconnects)
            yield* runtime.servers.reconnect("thin")
            assert.strictEqual(journal.pids().length, 2 + ReconnectPolicy.defaults.stormReconnects)
          })
      )
    })
  )
})

describe("a remote server that is killed and started again on its port", () => {
  Node.test(
    "while nobody uses it serves the next call in a new session",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      const first = yield* Node.remote(journal)
      yield* Node.using(Node.options([first.config("a")]), (runtime) =>
        Effect.gen(function*() {
          yield* runtime.tools
          yield* first.kill
          const second = yield* Node.remote(journal, first.port)
          const result = yield* runtime.callTool({ server: "a", tool: "pid" })
          assert.strictEqual(Node.textOf(result), String(second.pid))
        }))
    })
  )

  Node.test(
    "in the middle of a call fails it with an unknown outcome, is never asked twice, and serves the next",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      const first = yield* Node.remote(journal)
      yield* Node.using(Node.options([first.config("a")]), (runtime) =>
        Effect.gen(function*() {
          const call = yield* Node.hanging(runtime, "a", journal)
          yield* first.kill
          const error = yield* Fiber.join(call)
          assert.deepStrictEqual([error.outcome, error.isRetryable], ["unknown", false])
          const second = yield* Node.remote(journal, first.port)
          const result = yield* runtime.callTool({ server: "a", tool: "pid" })
          assert.strictEqual(Node.textOf(result), String(second.pid))
          assert.strictEqual(journal.executions("hang"), 1)
        }))
    })
  )

  Node.test(
    "after it has answered what it had begun is left in peace until then",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      const first = yield* Node.remote(journal)
      yield* Node.using(Node.options([first.config("a")]), (runtime) =>
        Effect.gen(function*() {
          const held = yield* Effect.fork(runtime.callTool({ server: "a", tool: "held" }))
          yield* journal.until(({ executed }) => executed === "held")
          process.kill(first.pid, "SIGUSR2")
          yield* journal.until(({ listening }) => listening === false)
          const call = Effect.flip(runtime.callTool({ server: "a", tool: "pid" }, {}, { totalTimeout: "200 millis" }))
          // the first may have gone to a socket that was closed just then
          const error = yield* Effect.repeat(call, { until: ({ outcome }) => outcome === "not-sent" })
          assert.strictEqual(error._tag, "NetworkError")
          assert.strictEqual((yield* runtime.servers.get("a")).status._tag, "Connected")
          process.kill(first.pid, "SIGHUP")
          assert.strictEqual(Node.textOf(yield* Fiber.join(held)), String(first.pid))
          yield* Node.until(runtime, "a", Node.is("Reconnecting"))
          const second = yield* Node.remote(journal, first.port)
          yield* Node.until(runtime, "a", Node.is("Connected"))
          const result = yield* runtime.callTool({ server: "a", tool: "pid" })
          assert.strictEqual(Node.textOf(result), String(second.pid))
          assert.strictEqual(journal.executions("held"), 1)
        }))
    })
  )

  Node.test(
    "soon is waited for by a call that finds it gone",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      const first = yield* Node.remote(journal)
      yield* Node.using(Node.options([first.config("a")], { reconnect: {} }), (runtime) =>
        Effect.gen(function*() {
          yield* runtime.tools
          yield* first.kill
          // a call that the dying server may have got is not made again but for this
          const call = yield* Effect.fork(runtime.callTool({ server: "a", tool: "pid" }, {}, { idempotent: true }))
          yield* Node.until(runtime, "a", Node.is("Reconnecting"))
          const second = yield* Node.remote(journal, first.port)
          assert.strictEqual(Node.textOf(yield* Fiber.join(call)), String(second.pid))
          assert.strictEqual(journal.executions("pid"), 1)
        }))
    })
  )

  Node.test(
    "after a long time gives typed errors at once meanwhile, and serves as soon as it is back, whoever asked",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      const first = yield* Node.remote(journal)
      const patience = Layer.succeed(ReconnectPolicy.ReconnectPolicy, {
        for: () => ({
          ...ReconnectPolicy.make().for(first.config("a")),
          schedule: Schedule.recurs(2),
          slowLane: Schedule.spaced("150 millis"),
          storm: { reconnects: 10_000, within: ReconnectPolicy.make().for(first.config("a")).stableAfter }
        })
      })
      yield* Node.using(Node.options([first.config("a")]), (runtime) =>
        Effect.gen(function*() {
          yield* runtime.tools
          yield* first.kill
          const call = Effect.flip(runtime.callTool({ server: "a", tool: "pid" }))
          const errors = yield* Effect.replicateEffect(Node.within("5 seconds", call), 6)
          for (const { _tag, outcome } of errors.slice(1)) {
            assert.include(["NetworkError", "CircuitOpen"], _tag)
            assert.strictEqual(outcome, "not-sent")
          }
          assert.strictEqual((yield* runtime.servers.get("a")).breaker._tag, "Open")
          yield* Node.until(
            runtime,
            "a",
            (status) => status._tag === "Reconnecting" && status.attempt > 4 && status.error._tag === "NetworkError"
          )
          const second = yield* Node.remote(journal, first.port)
          yield* Node.until(runtime, "a", Node.is("Connected"))
          const result = yield* runtime.callTool({ server: "a", tool: "pid" })
          assert.strictEqual(Node.textOf(result), String(second.pid))
        })).pipe(Effect.provide(patience))
    })
  )
})
