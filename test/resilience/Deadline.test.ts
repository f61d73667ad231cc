import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Either, Exit, Fiber } from "effect"
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
  Deadline.boundWait(deadline, () => ({ waitedFor: "connection" }), wait)

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
  it.effect("restarts only the idle limit with each attempt, and stops both while it is paused", () =>
    Effect.gen(function*() {
      const time = ManualClock.make()
      const deadline = DeadlineSupport.make({ server: "s", operation: "o", idle: 300, total: 1_000, now: time.now })
      const seen = [[deadline.wait(), deadline.left()]]
      const after = (wait: number, f: () => void) =>
        Effect.map(time.advance(wait), () => {
          f()
          seen.push([deadline.wait(), deadline.left()])
        })
      yield* after(200, () => undefined)
      yield* after(0, () => deadline.touch())
      yield* after(100, () => deadline.pause(true))
      yield* after(5_000, () => deadline.pause(true))
      yield* after(0, () => deadline.pause(false))
      yield* after(0, () => deadline.pause(false))
      yield* after(100, () => deadline.extend(2_000))
      yield* after(1_700, () => deadline.touch())
      assert.deepStrictEqual(seen, [
        [300, 1_000],
        [100, 800],
        [300, 800],
        [Infinity, 700],
        [Infinity, 700],
        [300, 700],
        [300, 700],
        [200, 1_600],
        [-100, -100]
      ])
    }))

  it("names the limit that ended first, and the total limit after both", () => {
    let now = 0
    const deadline = DeadlineSupport.make({ server: "s", operation: "o", idle: 300, total: 1_000, now: () => now })
    now = 300
    assert.deepInclude(deadline.expired("unknown"), { kind: "idle", limit: Duration.millis(300) })
    assert.deepInclude(deadline.expired("unknown", { kind: "total" }), { kind: "total", limit: Duration.seconds(1) })
    now = 1_000
    assert.deepInclude(deadline.expired("not-sent", { waitedFor: "permit" }), { kind: "total", waitedFor: "permit" })
  })

  it("refuses a limit that is no duration", () => {
    // the casts: values that a caller without types may pass
    for (const [idle, total, path] of [["soon", 1, "idleTimeout"], [1, {}, "totalTimeout"]] as const) {
      const options = { server: "s", operation: "o", now: () => 0, idle: idle as 1, total: total as 1 }
      const error = Either.getOrThrow(Either.flip(Deadline.make(options)))
      assert.deepInclude(error, { _tag: "InvalidArguments", server: "s", operation: "o", path })
    }
  })

  it.effect("ends a wait at its idle limit, and names the missing connection", () =>
    Effect.gen(function*() {
      const lastError = new McpError.NetworkError({
        server: "s",
        code: "ECONNREFUSED",
        detail: "",
        outcome: "not-sent"
      })
      const { fiber, isOver, time } = yield* start({ idle: 300, total: 1_000 }, (deadline) =>
        Effect.flip(Deadline.boundWait(deadline, () => ({ waitedFor: "connection", lastError }), Effect.never)))
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
                deadline.touch()
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
