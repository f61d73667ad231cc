import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, TestClock } from "effect"
import * as Connector from "../../src/client/Connector.ts"
import type * as McpClient from "../../src/client/McpClient.ts"
import * as McpError from "../../src/McpError.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as Configs from "../support/configs.ts"
import * as OverMemory from "../support/overMemory.ts"

type Refusal = (server: string) => McpError.CallError | undefined

const rateLimited = (seconds: number): Refusal => (server) =>
  new McpError.HttpError({
    server,
    reason: "rate-limited",
    outcome: "not-sent",
    retryAfter: Duration.seconds(seconds),
    detail: "slowly"
  })

const unavailable = (seconds: number): Refusal => (server) =>
  new McpError.HttpError({
    server,
    reason: "unavailable",
    outcome: "not-sent",
    retryAfter: Duration.seconds(seconds),
    detail: "soon"
  })

/** A connection to a peer that refuses requests, as HTTP would, while it is told to; a ping is always answered. */
const connected = (overrides?: Parameters<typeof Configs.memory>[1]) =>
  Effect.gen(function*() {
    const state: { refusal: Refusal | undefined } = { refusal: undefined }
    const peer = yield* MemoryTransport.peer((message, io) => {
      const { id, method } = message
      if (typeof id !== "number") return Effect.void
      if (method === "server/discover") {
        return io.send({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } })
      }
      const refused = method === "initialize" ? undefined : state.refusal?.(io.config.name)
      if (refused !== undefined && method !== "ping") return io.fail(id, () => refused)
      const initialized = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "p", version: "1" } }
      return io.send({ jsonrpc: "2.0", id, result: method === "initialize" ? initialized : { content: [] } })
    })
    const connection = yield* Effect.provide(
      Effect.flatMap(Connector.Connector, (connector) => connector.connect(Configs.memory("peer", overrides))),
      OverMemory.client({ peer })
    )
    const call = (options?: McpClient.RequestOptions) => connection.request("tools/call", { name: "t" }, options)
    const calls = () => peer.received("tools/call").length
    const others = (count: number) =>
      Effect.fork(Effect.all(Array.from({ length: count }, () => call()), { concurrency: "unbounded" }))
    /** One request is refused, and waits. */
    const refused = (refusal: Refusal) =>
      Effect.gen(function*() {
        state.refusal = refusal
        const fiber = yield* Effect.fork(call())
        yield* peer.until(() => calls() === 1)
        // the refusal has arrived once a ping behind it has been answered
        yield* connection.health
        return fiber
      })
    return { state, peer, connection, call, calls, others, refused }
  })

describe("a server that sends Retry-After", () => {
  for (const [name, refusal] of [["429", rateLimited(7)], ["503", unavailable(7)]] as const) {
    it.scoped(`gets no request until then (${name})`, () =>
      Effect.gen(function*() {
        const { calls, connection, others, refused, state } = yield* connected()
        const first = yield* refused(refusal)
        state.refusal = undefined
        const all = yield* others(50)
        yield* TestClock.adjust("6999 millis")
        yield* connection.health
        assert.strictEqual(calls(), 1)
        yield* TestClock.adjust("1 millis")
        yield* Fiber.join(first)
        assert.lengthOf(yield* Fiber.join(all), 50)
        assert.strictEqual(calls(), 52)
      }))
  }

  it.scoped("gets requests at once again afterwards", () =>
    Effect.gen(function*() {
      const { call, calls, refused, state } = yield* connected()
      const first = yield* refused(rateLimited(7))
      state.refusal = undefined
      yield* TestClock.adjust("7 seconds")
      yield* Fiber.join(first)
      yield* call()
      assert.strictEqual(calls(), 3)
    }))

  it.scoped("still gets health probes", () =>
    Effect.gen(function*() {
      const { connection, peer, refused } = yield* connected()
      yield* refused(rateLimited(3_000))
      const before = peer.received("ping").length
      yield* connection.health
      assert.strictEqual(peer.received("ping").length, before + 1)
    }))

  it.scoped("fails requests that cannot wait so long at once, unsent, with the remaining time", () =>
    Effect.gen(function*() {
      const { call, calls, connection, refused } = yield* connected({ requestTimeout: "1 minute" })
      yield* refused(unavailable(40))
      yield* TestClock.adjust("15 seconds")
      for (
        const attempt of [
          call({ idleTimeout: Duration.seconds(25) }),
          call({ totalTimeout: Duration.seconds(25) }),
          connection.request("tools/list", undefined, { totalTimeout: Duration.seconds(5) })
        ]
      ) {
        const error = yield* Effect.flip(attempt)
        assert.deepInclude(error, {
          _tag: "HttpError",
          reason: "unavailable",
          detail: "soon",
          retryAfter: Duration.seconds(25)
        })
        assert.strictEqual(error.outcome, "not-sent")
      }
      assert.strictEqual(calls(), 1)
    }))

  it.scoped("may postpone the time, and all waiting requests wait on", () =>
    Effect.gen(function*() {
      const { calls, connection, others, peer, refused, state } = yield* connected()
      const first = yield* refused(rateLimited(10))
      const waiting = yield* others(20)
      state.refusal = rateLimited(30)
      yield* TestClock.adjust("10 seconds")
      yield* peer.until(() => calls() >= 2)
      yield* connection.health
      state.refusal = undefined
      const sent = calls()
      const late = yield* others(5)
      yield* TestClock.adjust("29999 millis")
      yield* connection.health
      assert.strictEqual(calls(), sent)
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(first)
      assert.lengthOf([...(yield* Fiber.join(waiting)), ...(yield* Fiber.join(late))], 25)
    }))

  it.scoped("is not waited for beyond the deadline of a request, even if it postpones the time", () =>
    Effect.gen(function*() {
      const { call, calls, connection, peer, state } = yield* connected()
      state.refusal = rateLimited(20)
      const fiber = yield* Effect.fork(Effect.flip(call({ totalTimeout: Duration.seconds(50) })))
      for (let refusals = 1; refusals <= 3; refusals++) {
        yield* peer.until(() => calls() === refusals)
        yield* connection.health
        yield* TestClock.adjust("20 seconds")
      }
      // at 40 s there are 10 s left, and 20 s are asked for
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "HttpError", reason: "rate-limited" })
      assert.strictEqual(calls(), 3)
    }))

  it.scoped("is asked again by one request at most three times", () =>
    Effect.gen(function*() {
      const { call, calls, connection, peer, state } = yield* connected()
      state.refusal = rateLimited(1)
      const fiber = yield* Effect.fork(Effect.flip(call()))
      for (let refusals = 1; refusals <= 4; refusals++) {
        yield* peer.until(() => calls() === refusals)
        yield* connection.health
        yield* TestClock.adjust("1 second")
      }
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "HttpError", reason: "rate-limited" })
      assert.strictEqual(calls(), 4)
    }))

  it.scoped("does not delay the interruption of a waiting request", () =>
    Effect.gen(function*() {
      const { calls, connection, others, refused, state } = yield* connected()
      const first = yield* refused(rateLimited(7))
      state.refusal = undefined
      const all = yield* others(10)
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(all)
      yield* TestClock.adjust("7 seconds")
      yield* Fiber.join(first)
      yield* connection.health
      assert.strictEqual(calls(), 2)
    }))

  it.scoped("is believed for a minute at most", () =>
    Effect.gen(function*() {
      const { call, calls, refused, state } = yield* connected()
      const first = yield* refused(rateLimited(1_000_000))
      assert.deepInclude(yield* Effect.flip(Fiber.join(first)), { _tag: "HttpError", reason: "rate-limited" })
      state.refusal = undefined
      assert.deepInclude(yield* Effect.flip(call()), { _tag: "HttpError", reason: "rate-limited" })
      yield* TestClock.adjust("1 minute")
      yield* call()
      assert.strictEqual(calls(), 2)
    }))
})
