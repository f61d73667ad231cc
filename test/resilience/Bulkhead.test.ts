import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, TestClock } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as Bulkhead from "../../src/resilience/Bulkhead.ts"
import * as DeadlineSupport from "../support/deadline.ts"
import * as ManualClock from "../support/manualClock.ts"

const settle = ManualClock.settle

const make = (options: Partial<Bulkhead.Options>) => {
  const { withPermit, ...permits } = Bulkhead.make({ ...Bulkhead.defaults, ...options, server: "s" })
  return {
    ...permits,
    withPermit: <A, E>(self: Effect.Effect<A, E>, idle = Infinity) =>
      DeadlineSupport.within(
        { server: "s", operation: "tools/call", idle, total: Infinity },
        (deadline) => withPermit(deadline)(self)
      )
  }
}

/** A call that runs until it is released. */
const call = (permits: ReturnType<typeof make>, running: Array<number>, name: number) =>
  Effect.gen(function*() {
    const release = yield* Deferred.make<void>()
    const self = Effect.zipRight(Effect.sync(() => running.push(name)), Deferred.await(release))
    const fiber = yield* Effect.fork(Effect.exit(permits.withPermit(self)))
    return { name, release, fiber }
  })

describe("Bulkhead", () => {
  it.effect("runs as many calls as there are permits, and the others in their order", () =>
    Effect.gen(function*() {
      const permits = make({ concurrency: 2 })
      const running: Array<number> = []
      const calls = yield* Effect.forEach([0, 1, 2, 3, 4], (name) => call(permits, running, name))
      yield* settle
      assert.deepStrictEqual(running, [0, 1])
      assert.deepStrictEqual(permits.state(), { active: 2, queued: 3 })
      for (const done of [1, 0, 2]) {
        yield* Deferred.succeed(calls[done]!.release, undefined)
        yield* settle
      }
      assert.deepStrictEqual(running, [0, 1, 2, 3, 4])
      assert.deepStrictEqual(permits.state(), { active: 2, queued: 0 })
    }))

  it.effect("refuses a call at once when the queue is full", () =>
    Effect.gen(function*() {
      const permits = make({ concurrency: 1, queue: 2 })
      const running: Array<number> = []
      yield* Effect.forEach([0, 1, 2], (name) => call(permits, running, name))
      yield* settle
      const error = yield* Effect.flip(permits.withPermit(Effect.void))
      assert.deepInclude(error, { _tag: "Overloaded", server: "s", queue: "calls", queued: 2, limit: 2 })
      assert.deepStrictEqual(permits.state(), { active: 1, queued: 2 })
    }))

  it.effect("skips a queued call that was interrupted", () =>
    Effect.gen(function*() {
      const permits = make({ concurrency: 1 })
      const running: Array<number> = []
      const [first, second] = yield* Effect.forEach([0, 1, 2], (name) => call(permits, running, name))
      yield* settle
      yield* Fiber.interrupt(second!.fiber)
      assert.strictEqual(permits.state().queued, 1)
      yield* Deferred.succeed(first!.release, undefined)
      yield* settle
      assert.deepStrictEqual(running, [0, 2])
    }))

  it.effect("ends the wait for a permit at the deadline of the call", () =>
    Effect.gen(function*() {
      const permits = make({ concurrency: 1 })
      yield* call(permits, [], 0)
      const waiting = yield* Effect.fork(Effect.flip(permits.withPermit(Effect.void, 1_000)))
      yield* settle
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(waiting), {
        _tag: "RequestTimeout",
        kind: "idle",
        waitedFor: "permit",
        outcome: "not-sent",
        countsForBreaker: false
      })
      assert.deepStrictEqual(permits.state(), { active: 1, queued: 0 })
    }))

  it.effect("passes on the permit of a call that is interrupted between admission and its first step", () =>
    Effect.gen(function*() {
      const permits = make({ concurrency: 1 })
      const running: Array<number> = []
      const [first, second] = yield* Effect.forEach([0, 1, 2], (name) => call(permits, running, name))
      yield* settle
      // the end of the first call admits the second, which is interrupted before either fiber runs on
      first!.fiber.unsafeInterruptAsFork(first!.fiber.id())
      second!.fiber.unsafeInterruptAsFork(second!.fiber.id())
      yield* settle
      assert.deepStrictEqual(running, [0, 2])
      assert.deepStrictEqual(permits.state(), { active: 1, queued: 0 })
    }))

  it.effect("releases the permit on success, failure, defect and interruption", () =>
    Effect.gen(function*() {
      const permits = make({ concurrency: 1 })
      yield* Effect.exit(permits.withPermit(Effect.fail("failure")))
      yield* Effect.exit(permits.withPermit(Effect.die("defect")))
      yield* Effect.exit(permits.withPermit(Effect.interrupt))
      assert.strictEqual((yield* permits.withPermit(Effect.sync(permits.state))).active, 1)
      assert.strictEqual(permits.state().active, 0)
    }))

  it.effect("admits queued calls when it grows, and ends no call when it shrinks", () =>
    Effect.gen(function*() {
      const permits = make({ concurrency: 1 })
      const running: Array<number> = []
      yield* Effect.forEach([0, 1, 2], (name) => call(permits, running, name))
      yield* settle
      permits.resize(2)
      yield* settle
      assert.deepStrictEqual(running, [0, 1])
      permits.resize(1)
      yield* settle
      assert.deepStrictEqual(permits.state(), { active: 2, queued: 1 })
    }))

  it.effect("queues no call while its concurrency is Infinity", () =>
    Effect.gen(function*() {
      const permits = make({ concurrency: Infinity })
      const running: Array<number> = []
      yield* Effect.forEach(Array.from({ length: 100 }, (_, name) => name), (name) => call(permits, running, name))
      yield* settle
      assert.strictEqual(running.length, 100)
      assert.deepStrictEqual(permits.state(), { active: 100, queued: 0 })
    }))
})

const event = FastCheck.oneof(
  { weight: 6, arbitrary: FastCheck.constant({ _tag: "Call" as const }) },
  {
    weight: 8,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constantFrom("Release" as const, "Interrupt" as const),
      of: FastCheck.nat(20)
    })
  },
  {
    weight: 1,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("Resize" as const),
      limit: FastCheck.integer({ min: 1, max: 4 })
    })
  },
  { weight: 4, arbitrary: FastCheck.constant({ _tag: "Settle" as const }) }
)

describe("Bulkhead over random histories", () => {
  it.effect.prop(
    "keeps the order of arrival, uses every permit, and ends with none in use",
    [FastCheck.array(event, { maxLength: 40, size: "max" })],
    ([events]) =>
      Effect.gen(function*() {
        const permits = make({ concurrency: 2, queue: 5 })
        const running: Array<number> = []
        const calls: Array<Effect.Effect.Success<ReturnType<typeof call>>> = []
        let limit = 2
        let largest = 2
        for (const one of events) {
          if (one._tag === "Call") calls.push(yield* call(permits, running, calls.length))
          else if (one._tag === "Release" || one._tag === "Interrupt") {
            const chosen = calls[one.of % Math.max(1, calls.length)]
            if (chosen === undefined) continue
            if (one._tag === "Release") yield* Deferred.succeed(chosen.release, undefined)
            else chosen.fiber.unsafeInterruptAsFork(chosen.fiber.id())
          } else if (one._tag === "Resize") {
            limit = one.limit
            largest = Math.max(largest, limit)
            permits.resize(limit)
          } else {
            yield* settle
            const waiting = calls.filter(({ fiber, name }) => fiber.unsafePoll() === null && !running.includes(name))
            assert.strictEqual(permits.state().queued, waiting.length)
            if (waiting.length > 0) assert.isAtLeast(permits.state().active, limit)
            for (const { name } of waiting) assert.isTrue(running.every((other) => other < name))
          }
          assert.isAtMost(permits.state().active, largest)
          assert.isAtMost(permits.state().queued, 5)
        }
        for (const { release } of calls) yield* Deferred.succeed(release, undefined)
        for (const { fiber, name } of calls) {
          const exit = yield* Fiber.await(fiber)
          // a call that was neither interrupted nor refused has run
          if (Exit.isSuccess(exit) && Exit.isSuccess(exit.value)) assert.include(running, name)
        }
        assert.deepStrictEqual(permits.state(), { active: 0, queued: 0 })
      }),
    { fastCheck: { numRuns: 25 } }
  )
})
