import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as Deadline from "../../src/resilience/Deadline.ts"
import * as ManualClock from "../support/manualClock.ts"

/** A wait that never ends by itself, bounded by a deadline that began just now. */
const waiting = (options: Omit<Deadline.Options, "now">) =>
  Effect.gen(function*() {
    const time = ManualClock.make()
    const deadline = Deadline.make({ now: 0, ...options })
    const fiber = yield* Effect.never.pipe(
      Deadline.within(deadline, "s", "tools/call"),
      Effect.flip,
      Effect.withClock(time.clock),
      Effect.fork
    )
    const isOver = () => fiber.unsafePoll() !== null
    return { time, deadline, fiber, isOver }
  })

describe("a deadline", () => {
  it("is what is left of the total, and no more than that for the next attempt", () => {
    const deadline = Deadline.make({ now: 1_000, idle: 300, total: 1_000 })
    assert.isUndefined(deadline.attempt(1_000))
    assert.strictEqual(deadline.left(1_400), 600)
    const limits = (now: number) => {
      const attempt = deadline.attempt(now)!
      return [Duration.toMillis(attempt.idleTimeout), Duration.toMillis(attempt.totalTimeout)]
    }
    assert.deepStrictEqual(limits(1_400), [300, 600])
    assert.deepStrictEqual(limits(1_900), [100, 100])
    assert.deepStrictEqual(limits(2_500), [0, 0])
    assert.strictEqual(deadline.left(2_500), -500)
  })

  it("says of a call that was over before it was sent that it was not", () => {
    const deadline = Deadline.make({ now: 0, idle: 300, total: 1_000 })
    const error = Deadline.exceeded(deadline, "s", "tools/call", "total")
    assert.deepInclude(error, { _tag: "RequestTimeout", kind: "total", operation: "tools/call", outcome: "not-sent" })
    assert.deepStrictEqual(error.limit, Duration.seconds(1))
  })

  it.effect("ends a wait at its idle limit", () =>
    Effect.gen(function*() {
      const { fiber, isOver, time } = yield* waiting({ idle: 300, total: 1_000 })
      yield* time.advance(299)
      assert.isFalse(isOver())
      yield* time.advance(1)
      const error = yield* Fiber.join(fiber)
      assert.deepInclude(error, { kind: "idle", limit: Duration.millis(300), outcome: "not-sent" })
    }))

  it.effect("ends a wait at its total limit, if that comes first", () =>
    Effect.gen(function*() {
      const { fiber, time } = yield* waiting({ idle: Infinity, total: 1_000 })
      yield* time.advance(1_000)
      assert.deepInclude(yield* Fiber.join(fiber), { kind: "total", limit: Duration.seconds(1) })
    }))

  it.effect("lets through what comes in time, and leaves no timer behind", () =>
    Effect.gen(function*() {
      const time = ManualClock.make()
      const deadline = Deadline.make({ now: 0, idle: 300, total: 1_000 })
      const came = yield* Deferred.make<number>()
      const fiber = yield* Deferred.await(came).pipe(
        Deadline.within(deadline, "s", "o"),
        Effect.withClock(time.clock),
        Effect.fork
      )
      yield* time.advance(200)
      assert.strictEqual(time.sleeping(), 1)
      yield* Deferred.succeed(came, 7)
      assert.strictEqual(yield* Fiber.join(fiber), 7)
      assert.strictEqual(time.sleeping(), 0)
    }))

  it.effect("bounds no longer what has arrived", () =>
    Effect.gen(function*() {
      const time = ManualClock.make()
      const deadline = Deadline.make({ now: 0, idle: 300, total: 1_000 })
      const done = yield* Deferred.make<string>()
      const fiber = yield* Deadline.untilArrived(deadline, "s", "o")((arrived) =>
        Effect.sleep("100 millis").pipe(Effect.zipRight(Effect.sync(arrived)), Effect.zipRight(Deferred.await(done)))
      ).pipe(Effect.withClock(time.clock), Effect.fork)
      yield* time.advance(5_000)
      yield* Deferred.succeed(done, "done")
      assert.strictEqual(yield* Fiber.join(fiber), "done")
    }))

  it.effect("is interrupted with its wait", () =>
    Effect.gen(function*() {
      const { fiber, time } = yield* waiting({ idle: 300, total: 1_000 })
      yield* time.advance(100)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      assert.strictEqual(time.sleeping(), 0)
    }))

  it.effect("stands still while it is paused, as often as that is, and then starts afresh", () =>
    Effect.gen(function*() {
      const { deadline, isOver, time } = yield* waiting({ idle: 300, total: 100_000 })
      yield* time.advance(200)
      const resumeOne = deadline.pause()
      const resumeTwo = deadline.pause()
      yield* time.advance(10_000)
      resumeOne(time.now())
      resumeOne(time.now())
      yield* time.advance(10_000)
      assert.isFalse(isOver())
      resumeTwo(time.now())
      yield* time.advance(299)
      assert.isFalse(isOver())
      yield* time.advance(1)
      assert.isTrue(isOver())
    }))

  it.effect("never lets a pause outlive the total", () =>
    Effect.gen(function*() {
      const { deadline, fiber, isOver, time } = yield* waiting({ idle: 300, total: 1_000 })
      deadline.pause()
      yield* time.advance(999)
      assert.isFalse(isOver())
      yield* time.advance(1)
      assert.strictEqual((yield* Fiber.join(fiber)).kind, "total")
    }))

  it.effect("is paused exactly while something runs, however that ends", () =>
    Effect.gen(function*() {
      const time = ManualClock.make()
      const deadline = Deadline.make({ now: 0, idle: 300, total: 1_000 })
      const isPaused = () => deadline.idleSince(0, 1) === 1
      const seen = yield* Effect.sync(isPaused).pipe(Deadline.pausedWhile(deadline), Effect.withClock(time.clock))
      assert.isTrue(seen)
      assert.isFalse(isPaused())
      const login = yield* Effect.fork(Deadline.pausedWhile(deadline)(Effect.never))
      yield* ManualClock.settle
      assert.isTrue(isPaused())
      yield* Fiber.interrupt(login)
      assert.isFalse(isPaused())
    }))
})

describe("a deadline, over random histories", () => {
  const step = FastCheck.oneof(
    FastCheck.record({ _tag: FastCheck.constant("advance" as const), by: FastCheck.integer({ min: 1, max: 400 }) }),
    FastCheck.constant({ _tag: "pause" as const }),
    FastCheck.record({ _tag: FastCheck.constant("resume" as const), which: FastCheck.nat(5) })
  )

  it.effect.prop(
    "ends a wait at the first time without a pause that is as long as the idle limit, or at the total",
    [FastCheck.array(step, { maxLength: 15 })],
    ([steps]) =>
      Effect.gen(function*() {
        const idle = 300
        const total = 2_000
        const { deadline, fiber, isOver, time } = yield* waiting({ idle, total })
        yield* ManualClock.settle
        let open: Array<(now: number) => void> = []
        let runsSince: number | undefined = 0
        let endsAt: number | undefined = undefined
        for (const one of steps) {
          if (one._tag === "pause") {
            open.push(deadline.pause())
            runsSince = undefined
          } else if (one._tag === "resume") {
            const resume = open[one.which % Math.max(1, open.length)]
            if (resume === undefined) continue
            resume(time.now())
            open = open.filter((other) => other !== resume)
            if (open.length === 0) runsSince = time.now()
          } else {
            const due = Math.min(total, runsSince === undefined ? Infinity : runsSince + idle)
            if (due <= time.now() + one.by) endsAt ??= due
            yield* time.advance(one.by)
          }
          assert.strictEqual(isOver(), endsAt !== undefined)
          if (endsAt !== undefined) break
        }
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(time.sleeping(), 0)
      }),
    { fastCheck: { numRuns: 25 } }
  )
})
