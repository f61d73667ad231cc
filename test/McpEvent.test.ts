import { assert, describe, it } from "@effect/vitest"
import { Chunk, Context, Deferred, Effect, Exit, Fiber, Layer, Mailbox, Option, Scope, Stream } from "effect"
import * as McpEvent from "../src/McpEvent.ts"

const event = (servers: number) => McpEvent.McpEvent.TeardownBegan({ servers })

const numbers = (events: Iterable<McpEvent.McpEvent>) =>
  Array.from(events, (event) => event._tag === "TeardownBegan" ? event.servers : -1)

const isDone = (reader: Mailbox.ReadonlyMailbox<McpEvent.McpEvent>): boolean => Option.isNone(reader.unsafeSize())

/** A bus and how to end it. */
const bus = (capacity?: number) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const events = yield* Scope.extend(McpEvent.make(capacity), scope)
    return { events, end: Scope.close(scope, Exit.void) }
  })

describe("McpEvents", () => {
  it.scoped("keeps the newest events for a slow subscriber, and all of them for a quick one", () =>
    Effect.gen(function*() {
      const { events } = yield* bus(4)
      const slow = yield* events.subscribe
      const quick = yield* events.subscribe
      const seen: Array<McpEvent.McpEvent> = []
      for (let n = 0; n < 10; n++) {
        events.publish(event(n))
        seen.push(yield* quick.take)
      }
      assert.deepStrictEqual(numbers(seen), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
      assert.deepStrictEqual(numbers(yield* slow.clear), [6, 7, 8, 9])
    }))

  it.scoped("keeps the newest events for a stream whose reader is busy", () =>
    Effect.gen(function*() {
      const { end, events } = yield* bus(4)
      const reading = yield* Deferred.make<void>()
      const free = yield* Deferred.make<void>()
      const seen: Array<McpEvent.McpEvent> = []
      const reader = yield* Effect.fork(Stream.runForEach(events.stream, (event) => {
        seen.push(event)
        return Effect.zipRight(Deferred.succeed(reading, undefined), Deferred.await(free))
      }))
      // until it reads, nothing is kept for it
      while (seen.length === 0) {
        events.publish(event(0))
        yield* Effect.yieldNow()
      }
      yield* Deferred.await(reading)
      const before = seen.length
      for (let n = 1; n < 10; n++) events.publish(event(n))
      yield* end
      yield* Deferred.succeed(free, undefined)
      yield* Fiber.join(reader)
      assert.deepStrictEqual(numbers(seen.slice(before)).slice(-4), [6, 7, 8, 9])
      assert.notInclude(numbers(seen), 1)
    }))

  it.scoped("publishes to the others when a listener throws", () =>
    Effect.gen(function*() {
      const { events } = yield* bus()
      const heard: Array<McpEvent.McpEvent> = []
      const queue = yield* events.subscribe
      events.onEvent(() => {
        throw new Error("a listener's own fault")
      })
      events.onEvent((event) => heard.push(event))
      events.publish(event(1))
      assert.deepStrictEqual(numbers(heard), [1])
      assert.deepStrictEqual(numbers(yield* queue.clear), [1])
    }))

  it.scoped("ends each subscription after its last event was taken", () =>
    Effect.gen(function*() {
      const { end, events } = yield* bus()
      const [full, empty] = [yield* events.subscribe, yield* events.subscribe]
      const waiting = yield* Effect.fork(empty.take)
      events.publish(event(1))
      assert.deepStrictEqual(numbers([yield* Fiber.join(waiting)]), [1])
      yield* end
      events.publish(event(2))
      const left = yield* Stream.runCollect(Mailbox.toStream(full))
      assert.deepStrictEqual(numbers(left), [1])
      assert.isTrue(isDone(empty))
    }))

  it.scoped("gives a subscriber after its end nothing, without a wait", () =>
    Effect.gen(function*() {
      const context = yield* Effect.scoped(Layer.build(McpEvent.layer))
      const { stream, subscribe } = Context.get(context, McpEvent.McpEvents)
      assert.isTrue(Chunk.isEmpty(yield* Stream.runCollect(stream)))
      assert.isTrue(isDone(yield* subscribe))
    }))

  it.effect("ends the subscription of a closed scope, also in an uninterruptible region", () =>
    Effect.gen(function*() {
      const { events } = yield* bus()
      const queue = yield* Effect.uninterruptible(Effect.scoped(events.subscribe))
      assert.isTrue(isDone(queue))
      events.publish(event(1))
    }))
})
