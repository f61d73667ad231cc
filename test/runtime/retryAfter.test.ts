/** What a server that answers 429 or 503 with `Retry-After` leads to. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Schedule, Stream, TestClock } from "effect"
import * as McpError from "../../src/McpError.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeConnector from "../../src/node/NodeConnector.ts"
import type * as ServerStatus from "../../src/runtime/ServerStatus.ts"
import * as Ledger from "../support/ledger.ts"
import * as Runtime from "../support/runtime.ts"

type Api = McpRuntime.McpRuntime["Type"]

const tools: ReadonlyArray<Ledger.Tool> = [{ name: "work" }]

interface Options extends Omit<Runtime.Options, "servers"> {
  readonly script?: Ledger.Ledger["script"]
}

/** A runtime with one server, whose clock the test moves. */
const using = <A, E, R>(
  body: (runtime: Api, ledger: Ledger.Ledger) => Effect.Effect<A, E, R>,
  { script, ...options }: Options = {}
) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.serve({ tools })
    if (script !== undefined) ledger.script = script
    return yield* Effect.flatMap(McpRuntime.McpRuntime, (runtime) => body(runtime, ledger)).pipe(
      Effect.provide(Runtime.layerOver(NodeConnector.layer(), { ...options, servers: [ledger.config()] }))
    )
  })

const work = (runtime: Api, options?: McpRuntime.CallOptions) =>
  runtime.callTool({ server: "ledger", tool: "work" }, {}, options)

/** Answers every call so. */
const refusing = (ledger: Ledger.Ledger, status: 429 | 503, retryAfter: string): void => {
  ledger.script = (request) =>
    request.tool === undefined ? request.standard() : request.status(status, { "retry-after": retryAfter })
}

const answering = (ledger: Ledger.Ledger): void => {
  ledger.script = ({ standard }) => standard()
}

const retryAfterOf = (error: McpError.McpError): number | undefined =>
  "retryAfter" in error && error.retryAfter !== undefined ? Duration.toMillis(error.retryAfter) : undefined

/** The call fails, and its error says after which time in milliseconds another is worth it. */
const failsFor = (runtime: Api, tag: string, millis: number | undefined) =>
  Effect.map(Effect.flip(work(runtime)), (error) => {
    assert.deepStrictEqual([McpError.label(error), error.outcome, retryAfterOf(error)], [tag, "not-sent", millis])
  })

const statusOf = (runtime: Api) => Effect.map(runtime.servers.get("ledger"), ({ status }) => status)

/** The end of the pause in milliseconds from now, as the status and the server info say. */
const pauseOf = (runtime: Api) =>
  Effect.gen(function*() {
    const { pausedUntil, status } = yield* runtime.servers.get("ledger")
    assert.strictEqual(status._tag, "Connected")
    if (status._tag === "Connected") assert.strictEqual(status.pausedUntil, pausedUntil)
    return pausedUntil === undefined ? undefined : pausedUntil - (yield* Clock.currentTimeMillis)
  })

const until = (runtime: Api, holds: (status: ServerStatus.ServerStatus) => boolean) =>
  runtime.servers.changes.pipe(
    Stream.filter((servers) => servers.some(({ status }) => holds(status))),
    Stream.runHead
  )

describe("a Retry-After of more than 60 seconds", () => {
  for (
    const [status, tag] of [[429, "HttpError/rate-limited"], [503, "HttpError/unavailable"]] as const
  ) {
    it.scoped(`fails calls at once for 60 seconds, then sends one probe, whose success ends the pause (${status})`, () =>
      using((runtime, ledger) =>
        Effect.gen(function*() {
          yield* runtime.tools
          refusing(ledger, status, "999999")
          yield* failsFor(runtime, tag, 60_000)
          const held: Array<Ledger.Request> = []
          ledger.script = (request) => request.tool === undefined ? request.standard() : void held.push(request)
          // more than open the circuit breaker, which does not count what was not sent
          for (let count = 0; count < 5; count++) yield* failsFor(runtime, tag, 60_000)
          yield* TestClock.adjust("59 seconds")
          yield* failsFor(runtime, tag, 1_000)
          assert.strictEqual(ledger.executions("work"), 1)

          yield* TestClock.adjust("1 second")
          const probe = yield* Effect.fork(work(runtime))
          yield* ledger.until(() => ledger.executions("work") === 2)
          for (let count = 0; count < 5; count++) yield* failsFor(runtime, tag, undefined)
          yield* TestClock.adjust("4 seconds")
          yield* failsFor(runtime, tag, undefined)
          assert.strictEqual(ledger.executions("work"), 2)

          // a probe that takes long, as a slow tool does, keeps the others away for 5 seconds only
          yield* TestClock.adjust("1 second")
          const second = yield* Effect.fork(work(runtime))
          yield* ledger.until(() => ledger.executions("work") === 3)
          yield* failsFor(runtime, tag, undefined)

          answering(ledger)
          for (const { standard } of held) standard()
          yield* Fiber.join(probe)
          yield* Fiber.join(second)
          yield* Effect.all(Array.from({ length: 10 }, () => work(runtime)), { concurrency: "unbounded" })
          assert.strictEqual(ledger.executions("work"), 13)
        })
      ))
  }

  it.scoped("starts again if the probe is refused, and makes the next call the probe if the probe is interrupted", () =>
    using((runtime, ledger) =>
      Effect.gen(function*() {
        yield* runtime.tools
        refusing(ledger, 429, "3600")
        yield* failsFor(runtime, "HttpError/rate-limited", 60_000)
        yield* TestClock.adjust("61 seconds")
        yield* failsFor(runtime, "HttpError/rate-limited", 60_000)
        assert.strictEqual(ledger.executions("work"), 2)
        yield* failsFor(runtime, "HttpError/rate-limited", 60_000)
        assert.strictEqual(ledger.executions("work"), 2)

        ledger.script = (request) => request.tool === undefined ? request.standard() : undefined
        yield* TestClock.adjust("1 minute")
        const probe = yield* Effect.fork(work(runtime))
        yield* ledger.until(() => ledger.executions("work") === 3)
        yield* failsFor(runtime, "HttpError/rate-limited", undefined)
        yield* Fiber.interrupt(probe)
        answering(ledger)
        yield* work(runtime)
        assert.strictEqual(ledger.executions("work"), 4)
      })
    ))

  it.scoped("does not hold up health probes, whose answers do not end it", () =>
    using((runtime, ledger) =>
      Effect.gen(function*() {
        yield* runtime.tools
        refusing(ledger, 429, "3600")
        yield* failsFor(runtime, "HttpError/rate-limited", 60_000)
        const health = runtime.withClient("ledger", (session) => session.health)
        const pings = ledger.count("ping")
        yield* health
        assert.strictEqual(ledger.count("ping"), pings + 1)
        yield* failsFor(runtime, "HttpError/rate-limited", 60_000)
        yield* TestClock.adjust("1 minute")
        yield* health
        // the probe is still to come
        yield* failsFor(runtime, "HttpError/rate-limited", 60_000)
        assert.strictEqual(ledger.executions("work"), 2)
      })
    ))

  it.scoped("applies to lists and reads too", () =>
    using((runtime, ledger) =>
      Effect.gen(function*() {
        yield* runtime.tools
        refusing(ledger, 429, "3600")
        yield* failsFor(runtime, "HttpError/rate-limited", 60_000)
        const error = yield* Effect.flip(runtime.readResource("ledger", "file:///a"))
        assert.deepStrictEqual([McpError.label(error), error.outcome, retryAfterOf(error)], [
          "HttpError/rate-limited",
          "not-sent",
          60_000
        ])
        assert.strictEqual(ledger.count("resources/read"), 0)
      })
    ))
})

describe("a Retry-After of up to 60 seconds", () => {
  it.scoped("is waited for by calls inside their deadline, and shown in the status until it ends", () =>
    using((runtime, ledger) =>
      Effect.gen(function*() {
        yield* runtime.tools
        assert.isUndefined(yield* pauseOf(runtime))
        refusing(ledger, 429, "60")
        // calls that cannot wait so long fail at once, and only the first of them is sent
        for (let count = 0; count < 2; count++) {
          const error = yield* Effect.flip(work(runtime, { idleTimeout: "20 seconds" }))
          assert.deepStrictEqual([McpError.label(error), error.outcome, retryAfterOf(error)], [
            "HttpError/rate-limited",
            "not-sent",
            60_000
          ])
        }
        assert.strictEqual(ledger.executions("work"), 1)
        assert.strictEqual(yield* pauseOf(runtime), 60_000)
        answering(ledger)
        const others = yield* Effect.fork(
          Effect.all(Array.from({ length: 10 }, () => work(runtime)), { concurrency: "unbounded" })
        )
        yield* TestClock.adjust("59 seconds")
        assert.strictEqual(yield* pauseOf(runtime), 1_000)
        assert.strictEqual(ledger.executions("work"), 1)
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(others)
        assert.strictEqual(ledger.executions("work"), 11)
        assert.isUndefined(yield* pauseOf(runtime))
      })
    ))
})

describe("the value of Retry-After", () => {
  const rows: ReadonlyArray<readonly [value: string, millis: number | undefined]> = [
    ["99999999999999999999", 60_000],
    ["9".repeat(400), 60_000],
    ["Fri, 31 Dec 9999 23:59:59 GMT", 60_000],
    ["Friday, 31-Dec-99 23:59:59 GMT", 60_000],
    ["Fri Dec 31 23:59:59 9999", 60_000],
    ["-5", undefined],
    ["1.5", undefined],
    ["NaN", undefined],
    ["Infinity", undefined],
    ["soon", undefined],
    ["Fri, 99 Foo 9999 99:99:99 GMT", undefined]
  ]
  for (const [value, millis] of rows) {
    const title = value.length > 40 ? `${value.length} digits` : value
    it.scoped(`${title} is ${millis === undefined ? "ignored" : "cut to the longest pause"}`, () =>
      using((runtime, ledger) =>
        Effect.gen(function*() {
          yield* runtime.tools
          refusing(ledger, 429, value)
          yield* failsFor(runtime, "HttpError/rate-limited", millis)
          assert.strictEqual(ledger.executions("work"), 1)
          assert.strictEqual(yield* pauseOf(runtime), millis)
        })
      ))
  }
})

describe("a Retry-After at connect", () => {
  const refused = (retryAfter: string): Ledger.Ledger["script"] => ({ status }) =>
    status(429, { "retry-after": retryAfter })

  for (
    const [title, retryAfter, schedule, wait] of [
      ["is kept to where it is longer than the delay of the schedule", "300", "1 second", 300_000],
      ["does not shorten the delay of the schedule", "300", "400 seconds", 400_000],
      ["counts for 10 minutes at most", "999999", "1 second", 600_000]
    ] as const
  ) {
    it.scoped(title, () =>
      using(
        (runtime, ledger) =>
          Effect.gen(function*() {
            yield* until(runtime, ({ _tag }) => _tag === "Reconnecting")
            const status = yield* statusOf(runtime)
            assert.strictEqual(status._tag === "Reconnecting" ? status.until : status._tag, wait)
            const attempts = ledger.count("server/discover")
            const error = yield* Effect.flip(work(runtime))
            assert.deepStrictEqual([McpError.label(error), error.outcome], ["HttpError/rate-limited", "not-sent"])
            assert.strictEqual(ledger.count("server/discover"), attempts)
            answering(ledger)
            yield* TestClock.adjust(wait - 1)
            assert.strictEqual(ledger.count("server/discover"), attempts)
            yield* TestClock.adjust(1)
            yield* until(runtime, ({ _tag }) => _tag === "Connected")
            yield* work(runtime)
          }),
        {
          script: refused(retryAfter),
          reconnect: { schedule: Schedule.intersect(Schedule.spaced(schedule), Schedule.recurs(3)) }
        }
      ))
  }

  it.scoped("fails calls to a server whose attempts have ended, until the pause is over", () =>
    using(
      (runtime, ledger) =>
        Effect.gen(function*() {
          yield* until(runtime, ({ _tag }) => _tag === "Failed")
          const attempts = ledger.count("server/discover")
          yield* failsFor(runtime, "HttpError/rate-limited", 300_000)
          assert.strictEqual(ledger.count("server/discover"), attempts)
          answering(ledger)
          yield* TestClock.adjust("5 minutes")
          yield* work(runtime)
        }),
      { script: refused("300"), reconnect: { schedule: Schedule.stop } }
    ))
})
