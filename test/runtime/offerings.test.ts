import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Queue, TestClock } from "effect"
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

describe("what a server offers besides tools", () => {
  it.scoped("grows old after five minutes where the server says nothing of it", () =>
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

  it.scoped("lasts as long as the server says", () =>
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

  it.scoped("is not undone by an older list that comes late", () =>
    Effect.gen(function*() {
      const late = yield* Deferred.make<void>()
      const peer = yield* listing((time) => time === 2 ? Deferred.await(late) : Effect.void)
      yield* Effect.gen(function*() {
        yield* Pool.until("a", "Connected")
        yield* peer.until(() => peer.received("resources/list").length === 1)
        yield* TestClock.adjust("2 seconds")
        yield* peer.notify("notifications/resources/list_changed")
        yield* peer.until(() => peer.received("resources/list").length === 2)
        // ends the single flight: later callers need a list that was requested after this
        yield* peer.notify("notifications/resources/list_changed")
        yield* Effect.repeat(Effect.yieldNow(), { times: 20 })
        assert.deepStrictEqual(yield* names, ["3"])
        yield* Deferred.succeed(late, undefined)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* names, ["3"])
      }).pipe(Effect.provide(Runtime.layer({ a: peer }, { servers: [Pool.remote("a")] })))
    }))

  it.scoped("is asked for again where a list was on its way when the server said that it has changed", () =>
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

  it.scoped("is told of a server that is asleep without waking it, however old it is", () =>
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

  it.scoped("is nothing of what another server of the same name has offered", () =>
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

  it.scoped("is forgotten with its server", () =>
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
  it.scoped("publishes no state of a breaker whose server was removed", () =>
    Effect.gen(function*() {
      const peer = yield* listing()
      const breakers = new Map<string, CircuitBreaker.Breaker>()
      const onBreaker = (server: string, breaker: CircuitBreaker.Breaker) => breakers.set(server, breaker)
      yield* Effect.gen(function*() {
        const { servers: { isolate, reload, resetBreaker }, subscribe } = yield* McpRuntime.McpRuntime
        const events = yield* subscribe
        const states = Effect.map(Queue.takeAll(events), (all) =>
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
