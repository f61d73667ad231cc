import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Deferred, Effect, Exit, Fiber } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as Bulkhead from "../../src/resilience/Bulkhead.ts"
import * as Places from "../../src/resilience/internal/places.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as ManualClock from "../support/manualClock.ts"
import { runs } from "../support/runs.ts"

const config = (concurrency?: number) => MemoryTransport.config("s", { concurrency })

const settle = ManualClock.settle

/** A call that runs until it is released, and tells that it runs. */
const call = (places: Bulkhead.Places, running: Array<number>, name: number) =>
  Effect.gen(function*() {
    const release = yield* Deferred.make<void>()
    const self = Effect.zipRight(Effect.sync(() => running.push(name)), Deferred.await(release))
    const fiber = yield* Effect.fork(Effect.exit(places.within(self)))
    return { name, release, fiber }
  })

describe("a bulkhead", () => {
  it.effect("lets as many through as there are places, and the others one by one as they come", () =>
    Effect.gen(function*() {
      const places = (yield* Bulkhead.make({ concurrency: 2 })).for(config())
      const running: Array<number> = []
      const calls = yield* Effect.forEach([0, 1, 2, 3, 4], (name) => call(places, running, name))
      yield* settle
      assert.deepStrictEqual(running, [0, 1])
      assert.deepStrictEqual([places.taken(), places.waiting()], [2, 3])
      for (const done of [1, 0, 2]) {
        yield* Deferred.succeed(calls[done]!.release, undefined)
        yield* settle
      }
      assert.deepStrictEqual(running, [0, 1, 2, 3, 4])
      assert.deepStrictEqual([places.taken(), places.waiting()], [2, 0])
    }))

  it.effect("fails at once when too many wait, and says how many", () =>
    Effect.gen(function*() {
      const places = (yield* Bulkhead.make({ concurrency: 1, queue: 2 })).for(config())
      const running: Array<number> = []
      yield* Effect.forEach([0, 1, 2], (name) => call(places, running, name))
      yield* settle
      const error = yield* Effect.flip(places.within(Effect.void))
      assert.deepInclude(error, { _tag: "Overloaded", server: "s", queue: "calls", queued: 2, limit: 2 })
      assert.deepStrictEqual([places.taken(), places.waiting()], [1, 2])
    }))

  it.effect("gives the place of whoever waits no longer to the next", () =>
    Effect.gen(function*() {
      const places = (yield* Bulkhead.make({ concurrency: 1 })).for(config())
      const running: Array<number> = []
      const [first, second] = yield* Effect.forEach([0, 1, 2], (name) => call(places, running, name))
      yield* settle
      yield* Fiber.interrupt(second!.fiber)
      assert.strictEqual(places.waiting(), 1)
      yield* Deferred.succeed(first!.release, undefined)
      yield* settle
      assert.deepStrictEqual(running, [0, 2])
    }))

  it.effect("passes on a place that was given to a caller who is interrupted before it can run", () =>
    Effect.gen(function*() {
      const places = (yield* Bulkhead.make({ concurrency: 1 })).for(config())
      const running: Array<number> = []
      const [first, second] = yield* Effect.forEach([0, 1, 2], (name) => call(places, running, name))
      yield* settle
      // the first leaves, which admits the second, and the second is interrupted, before either can run on
      first!.fiber.unsafeInterruptAsFork(first!.fiber.id())
      second!.fiber.unsafeInterruptAsFork(second!.fiber.id())
      yield* settle
      assert.deepStrictEqual(running, [0, 2])
      assert.deepStrictEqual([places.taken(), places.waiting()], [1, 0])
    }))

  it.effect("has its place back however a call ends", () =>
    Effect.gen(function*() {
      const places = (yield* Bulkhead.make({ concurrency: 1 })).for(config())
      yield* Effect.exit(places.within(Effect.fail("failure")))
      yield* Effect.exit(places.within(Effect.die("defect")))
      yield* Effect.exit(places.within(Effect.interrupt))
      assert.strictEqual(yield* places.within(Effect.succeed(places.taken())), 0)
      assert.strictEqual(yield* places.within(Effect.sync(places.taken)), 1)
      assert.strictEqual(places.taken(), 0)
    }))

  it.effect("is one for all who ask for a server, and lets in those who wait when it grows", () =>
    Effect.gen(function*() {
      const bulkhead = yield* Bulkhead.Bulkhead
      const places = bulkhead.for(config(1))
      const running: Array<number> = []
      yield* Effect.forEach([0, 1, 2], (name) => call(places, running, name))
      yield* settle
      assert.strictEqual(bulkhead.for(config(2)), places)
      yield* settle
      assert.deepStrictEqual(running, [0, 1])
      bulkhead.for(config(1))
      yield* settle
      assert.deepStrictEqual([places.taken(), places.waiting()], [2, 1])
      assert.strictEqual(bulkhead.for(MemoryTransport.config("other")).taken(), 0)
    }).pipe(Effect.provide(Bulkhead.layer())))

  it.effect("takes its numbers from an operator", () =>
    Effect.gen(function*() {
      const places = (yield* Bulkhead.Bulkhead).for(config())
      const running: Array<number> = []
      yield* Effect.forEach([0, 1], (name) => call(places, running, name))
      yield* settle
      assert.deepStrictEqual(running, [0])
    }).pipe(
      Effect.provide(Bulkhead.layerConfig({ concurrency: Config.integer("CALLS") })),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["CALLS", "1"]])))
    ))

  it.effect("without bounds lets everybody through and counts them", () =>
    Effect.gen(function*() {
      const places = (yield* Bulkhead.Bulkhead).for(config(1))
      const running: Array<number> = []
      yield* Effect.forEach(Array.from({ length: 100 }, (_, name) => name), (name) => call(places, running, name))
      yield* settle
      assert.deepStrictEqual([running.length, places.taken(), places.waiting()], [100, 100, 0])
    }).pipe(Effect.provide(Bulkhead.layerUnbounded)))
})

type Step =
  | { readonly _tag: "Arrive" }
  | { readonly _tag: "Leave"; readonly of: number }
  | { readonly _tag: "Resize"; readonly limit: number }

const limits = FastCheck.integer({ min: 1, max: 4 })
const step: FastCheck.Arbitrary<Step> = FastCheck.oneof(
  { weight: 6, arbitrary: FastCheck.constant({ _tag: "Arrive" as const }) },
  { weight: 6, arbitrary: FastCheck.record({ _tag: FastCheck.constant("Leave" as const), of: FastCheck.nat(30) }) },
  { weight: 1, arbitrary: FastCheck.record({ _tag: FastCheck.constant("Resize" as const), limit: limits }) }
)

describe("the places of a bulkhead", () => {
  it("are the reference model's, over 500 random histories", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(step, { maxLength: 60, size: "max" }), (steps) => {
        const places = new Places.Places(2)
        const guests: Array<Places.Guest> = []
        const admitted: Array<number> = []
        // the model: who is there in the order of arrival; the first ones hold places
        let present: Array<{ readonly guest: number; held: boolean }> = []
        const expected: Array<number> = []
        let limit = 2
        const admit = () => {
          for (const one of present) {
            if (one.held || present.filter(({ held }) => held).length >= limit) continue
            one.held = true
            expected.push(one.guest)
          }
        }
        for (const one of steps) {
          if (one._tag === "Arrive") {
            const name = guests.length
            const guest: Places.Guest = { held: false, admitted: () => admitted.push(name) }
            guests.push(guest)
            present.push({ guest: name, held: false })
            if (places.enter(guest)) admitted.push(name)
            else places.queue(guest)
          } else if (one._tag === "Leave") {
            const name = one.of % Math.max(1, guests.length)
            // whoever leaves twice gives up nothing the second time
            if (guests.length > 0) places.leave(guests[name]!)
            present = present.filter(({ guest }) => guest !== name)
          } else {
            limit = one.limit
            places.resize(limit)
          }
          admit()
          const held = present.filter((one) => one.held).length
          assert.strictEqual(
            `${admitted.join()} ${places.taken} ${places.waiting}`,
            `${expected.join()} ${held} ${present.length - held}`
          )
        }
        for (const guest of guests) places.leave(guest)
        assert.deepStrictEqual([places.taken, places.waiting], [0, 0])
      }),
      { numRuns: runs(500) }
    )
  })
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
  { weight: 1, arbitrary: FastCheck.record({ _tag: FastCheck.constant("Resize" as const), limit: limits }) },
  { weight: 4, arbitrary: FastCheck.constant({ _tag: "Settle" as const }) }
)

describe("a bulkhead, over random histories", () => {
  it.effect.prop(
    "overtakes nobody, fills every place, and ends with none taken",
    [FastCheck.array(event, { maxLength: 40, size: "max" })],
    ([events]) =>
      Effect.gen(function*() {
        const bulkhead = yield* Bulkhead.make({ concurrency: 2, queue: 5 })
        const places = bulkhead.for(config(2))
        const running: Array<number> = []
        const calls: Array<Effect.Effect.Success<ReturnType<typeof call>>> = []
        let limit = 2
        let largest = 2
        for (const one of events) {
          if (one._tag === "Call") calls.push(yield* call(places, running, calls.length))
          else if (one._tag === "Release" || one._tag === "Interrupt") {
            const chosen = calls[one.of % Math.max(1, calls.length)]
            if (chosen === undefined) continue
            if (one._tag === "Release") yield* Deferred.succeed(chosen.release, undefined)
            else chosen.fiber.unsafeInterruptAsFork(chosen.fiber.id())
          } else if (one._tag === "Resize") {
            limit = one.limit
            largest = Math.max(largest, limit)
            bulkhead.for(config(limit))
          } else {
            yield* settle
            const waiting = calls.filter(({ fiber, name }) => fiber.unsafePoll() === null && !running.includes(name))
            assert.strictEqual(places.waiting(), waiting.length)
            if (waiting.length > 0) assert.isAtLeast(places.taken(), limit)
            for (const { name } of waiting) assert.isTrue(running.every((other) => other < name))
          }
          assert.isAtMost(places.taken(), largest)
          assert.isAtMost(places.waiting(), 5)
        }
        for (const { release } of calls) yield* Deferred.succeed(release, undefined)
        for (const { fiber, name } of calls) {
          const exit = yield* Fiber.await(fiber)
          // whoever was neither interrupted nor told that too many wait has run
          if (Exit.isSuccess(exit) && Exit.isSuccess(exit.value)) assert.include(running, name)
        }
        assert.deepStrictEqual([places.taken(), places.waiting()], [0, 0])
      }),
    { fastCheck: { numRuns: 25 } }
  )
})
