import { assert, describe, it } from "@effect/vitest"
import { Chunk, Context, Deferred, Effect, Exit, Fiber, Layer, Queue, Scope, Stream } from "effect"
import * as McpEvent from "../src/McpEvent.ts"

const event = (servers: number) => McpEvent.McpEvent.TeardownBegan({ servers })

const numbers = (events: Iterable<McpEvent.McpEvent>) =>
  Array.from(events, (event) => event._tag === "TeardownBegan" ? event.servers : -1)

/** A bus and how to end it. */
const bus = (capacity?: number) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const events = yield* Scope.extend(McpEvent.make(capacity), scope)
    return { events, end: Scope.close(scope, Exit.void) }
  })

describe("the bus", () => {
  it.scoped("gives a slow reader the newest events, and a quick one all of them", () =>
    Effect.gen(function*() {
      const { events } = yield* bus(4)
      const slow = yield* events.subscribe
      const quick = yield* events.subscribe
      const seen: Array<McpEvent.McpEvent> = []
      for (let n = 0; n < 10; n++) {
        events.publish(event(n))
        seen.push(yield* Queue.take(quick))
      }
      assert.deepStrictEqual(numbers(seen), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
      assert.deepStrictEqual(numbers(yield* Queue.takeAll(slow)), [6, 7, 8, 9])
    }))

  it.scoped("gives a stream whose reader was busy the newest events", () =>
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

  it.scoped("goes on when a listener throws", () =>
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
      assert.deepStrictEqual(numbers(yield* Queue.takeAll(queue)), [1])
    }))

  it.scoped("ends every reader once it has read what was published before", () =>
    Effect.gen(function*() {
      const { end, events } = yield* bus()
      const [full, empty] = [yield* events.subscribe, yield* events.subscribe]
      const waiting = yield* Effect.fork(Queue.take(empty))
      events.publish(event(1))
      assert.deepStrictEqual(numbers([yield* Fiber.join(waiting)]), [1])
      yield* end
      events.publish(event(2))
      const left = yield* Stream.runCollect(Stream.fromQueue(full))
      assert.deepStrictEqual(numbers(left), [1])
      assert.isTrue(Exit.isInterrupted(yield* Effect.exit(Queue.take(empty))))
    }))

  it.scoped("gives who reads after its end nothing, and does not let him wait", () =>
    Effect.gen(function*() {
      const context = yield* Effect.scoped(Layer.build(McpEvent.layer))
      const { stream, subscribe } = Context.get(context, McpEvent.McpEvents)
      assert.isTrue(Chunk.isEmpty(yield* Stream.runCollect(stream)))
      assert.isTrue(yield* Queue.isShutdown(yield* subscribe))
    }))

  it.effect("lets go of a reader that has left, even one that nothing may interrupt", () =>
    Effect.gen(function*() {
      const { events } = yield* bus()
      const queue = yield* Effect.uninterruptible(Effect.scoped(events.subscribe))
      assert.isTrue(yield* Queue.isShutdown(queue))
      events.publish(event(1))
    }))
})
