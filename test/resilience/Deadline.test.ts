import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as McpError from "../../src/McpError.ts"
import * as Deadline from "../../src/resilience/Deadline.ts"
import * as DeadlineSupport from "../support/deadline.ts"
import * as ManualClock from "../support/manualClock.ts"

interface Limits {
  readonly idle: number
  readonly total: number
}

const bounded = <A>(wait: Effect.Effect<A>) => (deadline: Deadline.Deadline) =>
  Deadline.boundWait(deadline, () => ({ waitedFor: "connection" }), () => wait)

/** Runs over a clock that stands still until it is advanced. */
const start = <A, E>(limits: Limits, f: (deadline: Deadline.Deadline) => Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const time = ManualClock.make()
    const within = DeadlineSupport.within({ server: "s", operation: "tools/call", ...limits }, f)
    const fiber = yield* within.pipe(Effect.withClock(time.clock), Effect.fork)
    yield* ManualClock.settle
    return { time, fiber, isOver: () => fiber.unsafePoll() !== null }
  })

describe("Deadline", () => {
  it.effect("passes the remaining limits to a request", () =>
    Effect.gen(function*() {
      const left = (deadline: Deadline.Deadline) => {
        const limits = deadline.ofRequest()
        return limits && [limits.firstIdleTimeout, limits.idleTimeout, limits.totalTimeout].map(Duration.toMillis)
      }
      const { fiber, time } = yield* start(
        { idle: 300, total: 1_000 },
        (deadline) =>
          Effect.gen(function*() {
            const seen = [left(deadline)]
            for (const [wait, attempt] of [[200, false], [0, true], [600, false], [300, true]] as const) {
              yield* Effect.sleep(wait)
              if (attempt) deadline.restartIdle()
              seen.push(left(deadline))
            }
            return seen
          })
      )
      yield* time.advance(1_100)
      assert.deepStrictEqual(yield* Fiber.join(fiber), [
        undefined,
        [100, 300, 800],
        [300, 300, 800],
        [0, 200, 200],
        [0, 0, 0]
      ])
    }))

  it.effect("ends a wait at its idle limit, and names the missing connection", () =>
    Effect.gen(function*() {
      const lastError = new McpError.NetworkError({
        server: "s",
        code: "ECONNREFUSED",
        detail: "",
        outcome: "not-sent"
      })
      const { fiber, isOver, time } = yield* start({ idle: 300, total: 1_000 }, (deadline) =>
        Effect.flip(Deadline.boundWait(deadline, () => ({ waitedFor: "connection", lastError }), () =>
          Effect.never)))
      yield* time.advance(299)
      assert.isFalse(isOver())
      yield* time.advance(1)
      const error = yield* Fiber.join(fiber)
      assert.deepInclude(error, { kind: "idle", limit: Duration.millis(300), outcome: "not-sent", lastError })
      assert.match(error.message, /no connection within the idle limit of 300ms; .*ECONNREFUSED/)
    }))

  it.effect("ends a wait at its total limit, if that comes first", () =>
    Effect.gen(function*() {
      const { fiber, time } = yield* start(
        { idle: Infinity, total: 1_000 },
        (deadline) => Effect.flip(bounded(Effect.never)(deadline))
      )
      yield* time.advance(1_000)
      assert.deepInclude(yield* Fiber.join(fiber), { kind: "total", limit: Duration.seconds(1) })
    }))

  it.effect("leaves no timer behind a wait that ends in time", () =>
    Effect.gen(function*() {
      const arrived = yield* Deferred.make<number>()
      const { fiber, time } = yield* start({ idle: 300, total: 1_000 }, bounded(Deferred.await(arrived)))
      yield* time.advance(200)
      assert.strictEqual(time.sleeping(), 1)
      yield* Deferred.succeed(arrived, 7)
      assert.strictEqual(yield* Fiber.join(fiber), 7)
      assert.strictEqual(time.sleeping(), 0)
    }))

  it.effect("does not bound a request that has arrived", () =>
    Effect.gen(function*() {
      const done = yield* Deferred.make<string>()
      const { fiber, time } = yield* start({ idle: 300, total: 1_000 }, (deadline) =>
        Deadline.boundWait(deadline, () => ({ waitedFor: "connection" }), (arrived) =>
          Effect.sleep("100 millis").pipe(
            Effect.zipRight(Effect.sync(arrived)),
            Effect.zipRight(Deferred.await(done))
          )))
      yield* time.advance(5_000)
      yield* Deferred.succeed(done, "done")
      assert.strictEqual(yield* Fiber.join(fiber), "done")
    }))

  it.effect("is interrupted with its wait", () =>
    Effect.gen(function*() {
      const { fiber, time } = yield* start({ idle: 300, total: 1_000 }, bounded(Effect.never))
      yield* time.advance(100)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      assert.strictEqual(time.sleeping(), 0)
    }))

  it.effect.prop(
    "lets waits and attempts take no longer than the idle limit each and the total together",
    [FastCheck.array(FastCheck.integer({ min: 1, max: 400 }), { maxLength: 12 })],
    ([attempts]) =>
      Effect.gen(function*() {
        const limits = { idle: 300, total: 1_200 }
        const { fiber, time } = yield* start(
          limits,
          (deadline) =>
            Effect.gen(function*() {
              for (const duration of attempts) {
                yield* bounded(Effect.sleep(duration))(deadline)
                deadline.restartIdle()
              }
            })
        )
        yield* time.advance(10_000)
        let now = 0
        let expected: string | undefined = undefined
        for (const duration of attempts) {
          if (duration >= limits.idle || now + duration >= limits.total) {
            expected ??= now + limits.idle < limits.total ? "idle" : "total"
            break
          }
          now += duration
        }
        const exit = yield* Fiber.await(fiber)
        const failure = Exit.isFailure(exit) && exit.cause._tag === "Fail" ? exit.cause.error.kind : undefined
        assert.strictEqual(failure, expected)
        assert.strictEqual(time.sleeping(), 0)
      }),
    { fastCheck: { numRuns: 50 } }
  )
})
