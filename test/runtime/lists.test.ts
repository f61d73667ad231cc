import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import * as McpRuntime from "../../src/McpRuntime.ts"
import type * as CircuitBreaker from "../../src/resilience/CircuitBreaker.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as Pool from "../support/pool.ts"
import * as Runtime from "../support/runtime.ts"

/** A server of one resource, whose name is how often it was listed; each list takes what `answer` does. */
const listing = (
  answer: (time: number) => Effect.Effect<unknown> = () => Effect.void,
  more: Readonly<Record<string, unknown>> = {}
) => {
  let times = 0
  return MemoryServer.make({
    era: "session",
    capabilities: { resources: { listChanged: true } },
    methods: {
      "resources/list": () =>
        Effect.suspend(() => {
          const time = ++times
          return Effect.as(answer(time), { resources: [{ uri: "mem:///a", name: `${time}` }], ...more })
        })
    }
  })
}

const names = Effect.flatMap(
  McpRuntime.McpRuntime,
  ({ resources }) => Effect.map(resources, ({ items }) => items.map(({ name }) => name))
)

const lazy = Pool.remote("a", { lazy: true, idleTimeout: "1 minute" })

const asleep = Effect.zipRight(TestClock.adjust("2 minutes"), Pool.until("a", "Idle"))

describe("the lists of resources, templates and prompts", () => {
  it.scoped("are fresh for five minutes without a hint of the server", () =>
    Effect.gen(function*() {
      const peer = yield* listing()
      yield* Effect.gen(function*() {
        yield* Pool.until("a", "Connected")
        yield* peer.until(() => peer.received("resources/list").length === 1)
        yield* TestClock.adjust("299 seconds")
        assert.deepStrictEqual(yield* names, ["1"])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* names, ["2"])
      }).pipe(Effect.provide(Runtime.layer({ a: peer }, { servers: [Pool.remote("a")] })))
    }))

  it.scoped("are fresh for the ttlMs of the server", () =>
    Effect.gen(function*() {
      const peer = yield* listing(undefined, { ttlMs: 40_000 })
      yield* Effect.gen(function*() {
        yield* Pool.until("a", "Connected")
        yield* peer.until(() => peer.received("resources/list").length === 1)
        yield* TestClock.adjust("39 seconds")
        assert.deepStrictEqual(yield* names, ["1"])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* names, ["2"])
      }).pipe(Effect.provide(Runtime.layer({ a: peer }, { servers: [Pool.remote("a")] })))
    }))

  it.scoped("keep the newer list when the response to an older request arrives late", () =>
    Effect.gen(function*() {
      const late = yield* Deferred.make<void>()
      const peer = yield* listing((time) => time === 2 ? Deferred.await(late) : Effect.void)
      yield* Effect.gen(function*() {
        yield* Pool.until("a", "Connected")
        yield* peer.until(() => peer.received("resources/list").length === 1)
        yield* TestClock.adjust("2 seconds")
        yield* peer.notify("notifications/resources/list_changed")
        yield* peer.until(() => peer.received("resources/list").length === 2)
        // callers after this need a list that was requested later, and do not join the request in flight
        const notified = yield* Deferred.make<void>()
        const { live } = (yield* Pool.Servers).get("a")!
        live!.session.onNotification(() => Deferred.unsafeDone(notified, Effect.void))
        yield* peer.notify("notifications/resources/list_changed")
        yield* Deferred.await(notified)
        assert.deepStrictEqual(yield* names, ["3"])
        yield* Deferred.succeed(late, undefined)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* names, ["3"])
      }).pipe(Effect.provide(Runtime.layer({ a: peer }, { servers: [Pool.remote("a")] })))
    }))

  it.scoped("are fetched again if list_changed arrives while a request is in flight", () =>
    Effect.gen(function*() {
      const late = yield* Deferred.make<void>()
      const newer = yield* Deferred.make<void>()
      const peer = yield* listing((time) =>
        time === 2 ? Deferred.await(late) : time === 3 ? Deferred.await(newer) : Effect.void
      )
      yield* Effect.gen(function*() {
        yield* Pool.until("a", "Connected")
        yield* peer.until(() => peer.received("resources/list").length === 1)
        yield* TestClock.adjust("6 minutes")
        const asked = yield* Effect.fork(names)
        yield* peer.until(() => peer.received("resources/list").length === 2)
        yield* peer.notify("notifications/resources/list_changed")
        yield* peer.until(() => peer.received("resources/list").length === 3)
        yield* Deferred.succeed(late, undefined)
        assert.deepStrictEqual(yield* Fiber.join(asked), ["2"])
        const again = yield* Effect.fork(names)
        yield* Deferred.succeed(newer, undefined)
        assert.deepStrictEqual(yield* Fiber.join(again), ["3"])
      }).pipe(Effect.provide(Runtime.layer({ a: peer }, { servers: [Pool.remote("a")] })))
    }))

  it.scoped("are given from the cache for an idle server, however old, without connecting it", () =>
    Effect.gen(function*() {
      const peer = yield* listing()
      yield* Effect.gen(function*() {
        assert.deepStrictEqual(yield* names, ["1"])
        yield* asleep
        yield* TestClock.adjust("10 minutes")
        const listed = peer.received("resources/list").length
        assert.lengthOf(yield* names, 1)
        assert.strictEqual(peer.received("resources/list").length, listed)
        assert.strictEqual(peer.connections().opened, 1)
      }).pipe(Effect.provide(Runtime.layer({ a: peer }, { servers: [lazy] })))
    }))

  it.scoped("of a replaced server are not given for its successor of the same name", () =>
    Effect.gen(function*() {
      const one = yield* listing()
      const other = yield* listing(() => Effect.void)
      yield* Effect.gen(function*() {
        yield* names
        yield* asleep
        yield* (yield* McpRuntime.McpRuntime).servers.reload([
          Pool.remote("a", { lazy: true, url: "http://b.test/mcp" })
        ])
        yield* names
        assert.strictEqual(other.connections().opened, 1)
      }).pipe(Effect.provide(Runtime.layer(
        (config) => "url" in config && config.url.includes("b.test") ? other : one,
        { servers: [lazy] }
      )))
    }))

  it.scoped("are forgotten with their server", () =>
    Effect.gen(function*() {
      const peer = yield* listing()
      yield* Effect.gen(function*() {
        const { servers: { reload } } = yield* McpRuntime.McpRuntime
        yield* names
        yield* asleep
        yield* reload([])
        yield* reload([lazy])
        yield* names
        assert.strictEqual(peer.connections().opened, 2)
      }).pipe(Effect.provide(Runtime.layer({ a: peer }, { servers: [lazy] })))
    }))
})

describe("McpRuntime", () => {
  it.scoped("publishes no breaker state of a removed server", () =>
    Effect.gen(function*() {
      const peer = yield* listing()
      const breakers = new Map<string, CircuitBreaker.Breaker>()
      const onBreaker = (server: string, breaker: CircuitBreaker.Breaker) => breakers.set(server, breaker)
      yield* Effect.gen(function*() {
        const { servers: { isolate, reload, resetBreaker }, subscribe } = yield* McpRuntime.McpRuntime
        const events = yield* subscribe
        const states = Effect.map(events.clear, (all) =>
          Array.from(all).flatMap((event) => event._tag === "BreakerChanged" ? [event.state] : []))
        yield* isolate("a")
        yield* resetBreaker("a")
        assert.deepStrictEqual(yield* states, ["Isolated", "Closed"])
        yield* reload([])
        yield* breakers.get("a")!.isolate
        assert.deepStrictEqual(yield* states, [])
      }).pipe(Effect.provide(Runtime.layer({ a: peer }, { servers: [Pool.remote("a")], onBreaker })))
    }))
})
