import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import { within } from "../../src/resilience/BoundedWait.ts"

const second = within(Duration.seconds(1))

describe("BoundedWait.within", () => {
  it.effect("returns the value that arrives in time, and None otherwise", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* second(Effect.succeed(1)), Option.some(1))
      const fiber = yield* Effect.fork(second(Effect.never))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(fiber), Option.none())
    }))

  it.effect("cuts a wait short in a finalizer", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.uninterruptible(second(Effect.never)))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(fiber), Option.none())
    }))

  it.effect("outlasts interruptions that come during a finalizer, without waiting longer", () =>
    Effect.gen(function*() {
      const came = yield* Deferred.make<number>()
      const results: Array<Option.Option<number>> = []
      const fiber = yield* Effect.fork(Effect.uninterruptible(Effect.gen(function*() {
        results.push(yield* second(Deferred.await(came)))
        results.push(yield* second(Deferred.await(came)))
      })))
      yield* Effect.yieldNow()
      yield* Fiber.interruptFork(fiber)
      yield* TestClock.adjust("600 millis")
      yield* Fiber.interruptFork(fiber)
      assert.deepStrictEqual(results, [])
      yield* TestClock.adjust("400 millis")
      assert.deepStrictEqual(results, [Option.none()])
      yield* Deferred.succeed(came, 7)
      yield* Fiber.await(fiber)
      assert.deepStrictEqual(results, [Option.none(), Option.some(7)])
    }))

  it.effect("ends with its fiber where interruption is allowed", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(second(Effect.never))
      yield* Effect.yieldNow()
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
    }))

  it.effect("returns None at once for a wait that is itself interrupted, and does not restart it", () =>
    Effect.gen(function*() {
      let waits = 0
      const interrupted = Effect.suspend(() => {
        if (++waits > 10) return Effect.dieMessage("begun again")
        return Effect.interrupt
      })
      assert.deepStrictEqual(yield* second(interrupted), Option.none())
      assert.deepStrictEqual(yield* Effect.uninterruptible(second(interrupted)), Option.none())
      assert.strictEqual(waits, 2)
    }))

  it.effect("keeps a failure", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* Effect.flip(second(Effect.fail("no"))), "no")
    }))

  it.effect("ends although its wait is interrupted repeatedly", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(second(Effect.zipRight(Effect.sleep("300 millis"), Effect.interrupt)))
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* Fiber.join(fiber), Option.none())
    }))
})
