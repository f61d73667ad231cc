import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Ref, Stream, TestClock } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as McpClient from "../../src/client/McpClient.ts"
import * as McpError from "../../src/McpError.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as Fake from "../support/fakeConnection.ts"

const opened = (options: Fake.Options) =>
  Effect.gen(function*() {
    const connection = yield* Fake.make(options)
    return { connection, session: yield* McpClient.make(connection) }
  })

const text = { content: [{ type: "text", text: "done" }] }

const reporting = (count: number): Fake.Answer => ({ options }) =>
  Effect.sync(() => {
    for (let progress = 1; progress <= count; progress++) options?.onProgress?.({ progress })
    return text
  })

const numbers = (events: Iterable<McpClient.CallEvent>) =>
  Array.from(events).flatMap((event) => event._tag === "Progress" ? [event.progress.progress] : [])

describe("McpClient.callToolStream", () => {
  it.effect("emits the progress in order, then the result, then ends", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({ answers: { "tools/call": reporting(3) } })
      const events = Array.from(yield* Stream.runCollect(session.callToolStream("x")))
      assert.deepStrictEqual(numbers(events), [1, 2, 3])
      assert.strictEqual(events.at(-1)?._tag, "Result")
      assert.strictEqual(events.length, 4)
    }))

  it.effect("emits progress during the call", () =>
    Effect.gen(function*() {
      const release = yield* Deferred.make<void>()
      const { session } = yield* opened({
        answers: {
          "tools/call": ({ options }) =>
            Effect.gen(function*() {
              options?.onProgress?.({ progress: 1, total: 2, message: "half" })
              yield* Deferred.await(release)
              return text
            })
        }
      })
      const first = yield* Deferred.make<McpClient.Progress>()
      const fiber = yield* Effect.fork(Stream.runForEach(session.callToolStream("x"), (event) =>
        event._tag === "Progress" ? Deferred.succeed(first, event.progress) : Effect.void))
      assert.deepStrictEqual(yield* Deferred.await(first), { progress: 1, total: 2, message: "half" })
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(fiber)
    }))

  it.effect.prop(
    "keeps order, the last progress and the result, and little else, for a reader slower than the server",
    { count: FastCheck.integer({ min: 0, max: 500 }) },
    ({ count }) =>
      Effect.gen(function*() {
        const { session } = yield* opened({ answers: { "tools/call": reporting(count) } })
        const events = Array.from(yield* Stream.runCollect(session.callToolStream("x")))
        const seen = numbers(events)
        assert.deepStrictEqual(seen, seen.toSorted((a, b) => a - b))
        assert.isAtMost(seen.length, 64)
        assert.strictEqual(seen.at(-1), count === 0 ? undefined : count)
        assert.strictEqual(events.at(-1)?._tag, "Result")
      }),
    { fastCheck: { numRuns: 20 } }
  )

  it.effect("cancels the call when the reader leaves", () =>
    Effect.gen(function*() {
      const cancelled = yield* Ref.make(false)
      const { session } = yield* opened({
        answers: {
          "tools/call": ({ options }) => {
            options?.onProgress?.({ progress: 1 })
            return Effect.onInterrupt(Effect.never, () => Ref.set(cancelled, true))
          }
        }
      })
      const events = yield* Stream.runCollect(Stream.take(session.callToolStream("x"), 1))
      assert.deepStrictEqual(numbers(events), [1])
      assert.isTrue(yield* Ref.get(cancelled))
    }))

  it.effect("cancels the call when the reader is interrupted", () =>
    Effect.gen(function*() {
      const begun = yield* Deferred.make<void>()
      const cancelled = yield* Deferred.make<void>()
      const { session } = yield* opened({
        answers: {
          "tools/call": () =>
            Effect.zipRight(
              Deferred.succeed(begun, undefined),
              Effect.onInterrupt(Effect.never, () => Deferred.succeed(cancelled, undefined))
            )
        }
      })
      const fiber = yield* Effect.fork(Stream.runDrain(session.callToolStream("x")))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(cancelled)
    }))

  it.effect("emits progress before it fails", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({
        answers: {
          "tools/call": ({ options }) => {
            options?.onProgress?.({ progress: 1 })
            return Effect.fail(Fake.remoteError(-32000))
          }
        }
      })
      const seen: Array<McpClient.CallEvent> = []
      const error = yield* Effect.flip(
        Stream.runForEach(session.callToolStream("x"), (event) => Effect.sync(() => seen.push(event)))
      )
      assert.strictEqual(error._tag, "RemoteError")
      assert.deepStrictEqual(numbers(seen), [1])
    }))

  it.effect("calls the tool once for each run, and not before", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({ answers: { "tools/call": text } })
      const stream = session.callToolStream("x")
      assert.strictEqual(connection.asked.length, 0)
      yield* Stream.runDrain(stream)
      yield* Stream.runDrain(stream)
      assert.strictEqual(connection.asked.length, 2)
    }))

  it.effect("calls the callback too", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({ answers: { "tools/call": reporting(2) } })
      const heard: Array<number> = []
      yield* Stream.runDrain(
        session.callToolStream("x", {}, { onProgress: ({ progress }) => void heard.push(progress) })
      )
      assert.deepStrictEqual(heard, [1, 2])
    }))
})

const changed = "notifications/tools/list_changed"

describe("McpClient.listChanged", () => {
  const counting = (session: McpClient.McpClient, list: "tools" | "resources" | "prompts" = "tools") =>
    Effect.gen(function*() {
      const count = yield* Ref.make(0)
      const fiber = yield* Effect.fork(
        Stream.runForEach(session.listChanged(list), () => Ref.update(count, (n) => n + 1))
      )
      yield* TestClock.adjust(0)
      return { count: Ref.get(count), fiber }
    })

  it.effect("signals at once, then at most once a second with one trailing signal", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({})
      const { count, fiber } = yield* counting(session)
      connection.say(changed)
      yield* TestClock.adjust(0)
      assert.strictEqual(yield* count, 1)
      for (let i = 0; i < 50; i++) {
        connection.say(changed)
        yield* TestClock.adjust("10 millis")
      }
      assert.strictEqual(yield* count, 1)
      yield* TestClock.adjust("500 millis")
      assert.strictEqual(yield* count, 2)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* count, 2)
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("makes no loop with a server that answers every list with one more change", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({
        answers: {
          "tools/list": () =>
            Effect.sync(() => {
              connection.say(changed)
              return { tools: [] }
            })
        }
      })
      const fiber = yield* Effect.fork(Stream.runForEach(session.listChanged("tools"), () => session.tools))
      yield* TestClock.adjust(0)
      connection.say(changed)
      for (let i = 0; i < 10; i++) yield* TestClock.adjust("1 second")
      assert.isAtMost(connection.askedFor("tools/list").length, 11)
      assert.isAtLeast(connection.askedFor("tools/list").length, 9)
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("signals after a watch was interrupted, and for no other list", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({})
      const { count, fiber } = yield* counting(session, "prompts")
      connection.say(changed)
      connection.say("notifications/resources/list_changed")
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* count, 0)
      connection.say("$/resync")
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* count, 1)
      connection.say("notifications/prompts/list_changed")
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* count, 2)
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("watches while it is read, and leaves nothing behind", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({})
      const before = connection.listeners()
      const { fiber } = yield* counting(session, "resources")
      assert.deepStrictEqual(connection.watching, [{ resourcesListChanged: true }])
      assert.strictEqual(connection.listeners(), before + 1)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(connection.watching, [])
      assert.strictEqual(connection.listeners(), before)
    }))

  it.effect("fails with the reason when the connection ends, after the last signal", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({})
      const { count, fiber } = yield* counting(session)
      connection.say(changed)
      yield* connection.end(new McpError.Closed({ server: "fake", operation: "x", outcome: "unknown" }))
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error._tag, "Closed")
      assert.strictEqual(yield* count, 1)
    }))
})

describe("McpClient.subscribeResource", () => {
  it.effect("signals for its resource and parts of it, until it is left", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({})
      const before = connection.listeners()
      const updated = "notifications/resources/updated"
      const count = yield* Ref.make(0)
      const fiber = yield* Effect.fork(
        Stream.runForEach(session.subscribeResource("file:///a"), () => Ref.update(count, (n) => n + 1))
      )
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(connection.watching, [{ resourceUris: ["file:///a"] }])
      const told = (params: JsonRpc.JsonObject) =>
        Effect.gen(function*() {
          connection.say(updated, params)
          yield* TestClock.adjust(0)
          return yield* Ref.get(count)
        })
      assert.strictEqual(yield* told({ uri: "file:///ab" }), 0)
      assert.strictEqual(yield* told({}), 0)
      assert.strictEqual(yield* told({ uri: "file:///a" }), 1)
      assert.strictEqual(yield* told({ uri: "file:///a/b" }), 2)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(connection.watching, [])
      assert.strictEqual(connection.listeners(), before)
    }))

  it.effect("fails if the server does not let it watch", () =>
    Effect.gen(function*() {
      const connection = yield* Fake.make({})
      const session = yield* McpClient.make({ ...connection, watch: () => Effect.fail(Fake.remoteError(-32601)) })
      const error = yield* Effect.flip(Stream.runDrain(session.subscribeResource("a:b")))
      assert.strictEqual(error._tag, "RemoteError")
    }))
})
