import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Queue, Scope, Stream, TestClock } from "effect"
import * as McpError from "../../src/McpError.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as HealthCheck from "../../src/resilience/HealthCheck.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as Pool from "../support/pool.ts"
import * as Runtime from "../support/runtime.ts"

const runtime = McpRuntime.McpRuntime
const uri = "mem:///a"
const method = "resources/subscribe"

const resources = [{ uri, name: "a", read: () => Effect.succeed("text") }]

const server = (options: Partial<MemoryServer.Options> = {}) =>
  MemoryServer.make({ era: "session", resources, ...options })

/** A subscription that runs, its signals, and how it ends. */
const subscribed = (peer: MemoryServer.Server) =>
  Effect.gen(function*() {
    const service = yield* runtime
    const signals = yield* Queue.unbounded<void>()
    const running = yield* Effect.fork(
      Effect.flip(Stream.runForEach(service.subscribeResource("a", uri), () => Queue.offer(signals, undefined)))
    )
    yield* peer.until(() => peer.received(method).length === 1)
    yield* TestClock.adjust("1 millis")
    return { service, signals, running }
  })

describe("a subscription", () => {
  for (
    const [what, error] of [
      [
        "an HTTP status",
        (server: string) =>
          new McpError.HttpError({ server, reason: "status", status: 500, detail: "", outcome: "unknown" })
      ],
      [
        "a stream that broke off",
        (server: string) =>
          new McpError.ConnectionLost({ server, reason: "stream-interrupted", detail: "", outcome: "unknown" })
      ]
    ] as const
  ) {
    it.scoped(`ends with ${what}, and does not ask again at once where the connection is still there`, () =>
      Effect.gen(function*() {
        const peer = yield* server({
          streamPerRequest: true,
          methods: { [method]: (_, { id, io }) => Effect.zipRight(io.fail(id, error), Effect.never) }
        })
        yield* Effect.gen(function*() {
          const { running, service } = yield* subscribed(peer)
          assert.strictEqual((yield* Fiber.join(running))._tag, error("a")._tag)
          assert.strictEqual(peer.received(method).length, 1)
          assert.strictEqual((yield* service.servers.get("a")).status._tag, "Connected")
        }).pipe(Effect.provide(Runtime.layer({ a: peer }, { servers: [Pool.remote("a")] })))
      }))
  }

  it.scoped("goes on when its server is connected anew on request", () =>
    Effect.gen(function*() {
      const peer = yield* server()
      yield* Effect.gen(function*() {
        const { service, signals } = yield* subscribed(peer)
        yield* service.servers.reconnect("a")
        yield* Queue.take(signals)
        yield* peer.until(() => peer.received(method).length === 2)
        yield* TestClock.adjust("1 millis")
        yield* peer.resourceUpdated(uri)
        yield* Queue.take(signals)
      }).pipe(Effect.provide(Runtime.layer({ a: peer }, { servers: [Pool.remote("a")] })))
    }))

  it.scoped("goes on over the connection that a reload has put in the place of its own", () =>
    Effect.gen(function*() {
      const [old, next] = [yield* server(), yield* server()]
      yield* Effect.gen(function*() {
        const { service, signals } = yield* subscribed(old)
        yield* service.servers.reload([Pool.remote("a", { url: "http://next.test/mcp" })])
        // it is nothing that the old connection would be kept for
        yield* Queue.take(signals)
        yield* next.until(() => next.received(method).length === 1)
      }).pipe(Effect.provide(
        Runtime.layer((config) => "url" in config && config.url.includes("next") ? next : old, {
          servers: [Pool.remote("a")]
        })
      ))
    }))

  it.scoped("does not keep anybody from noticing that its server answers no more", () =>
    Effect.gen(function*() {
      const peer = yield* server()
      yield* Effect.gen(function*() {
        const { service } = yield* subscribed(peer)
        yield* peer.halfClose
        const status = Effect.map(service.servers.get("a"), ({ status }) => status._tag)
        for (let n = 0; n < 18 && (yield* status) === "Connected"; n++) yield* TestClock.adjust("10 seconds")
        assert.strictEqual(yield* status, "Reconnecting")
      }).pipe(Effect.provide(
        Runtime.layer({ a: peer }, { servers: [Pool.remote("a")], health: HealthCheck.layer() })
      ))
    }))

  it.scoped("does not keep a connection over which nobody is found any more", () =>
    Effect.gen(function*() {
      const gone = (server: string) =>
        new McpError.NetworkError({ server, code: "ECONNREFUSED", detail: "", outcome: "not-sent" })
      const peer = yield* server({
        streamPerRequest: true,
        methods: { "resources/read": (_, { id, io }) => Effect.zipRight(io.fail(id, gone), Effect.never) }
      })
      yield* Effect.gen(function*() {
        const { service, signals } = yield* subscribed(peer)
        assert.strictEqual((yield* Effect.flip(service.readResource("a", uri)))._tag, "NetworkError")
        yield* TestClock.adjust("1 second")
        yield* Queue.take(signals)
        assert.strictEqual(peer.connections().opened, 2)
      }).pipe(Effect.provide(Runtime.layer({ a: peer }, { servers: [Pool.remote("a")] })))
    }))

  it.scoped("keeps its server awake", () =>
    Effect.gen(function*() {
      const peer = yield* server()
      yield* Effect.gen(function*() {
        yield* subscribed(peer)
        yield* TestClock.adjust("5 minutes")
        assert.strictEqual(peer.connections().closed, 0)
        assert.strictEqual(peer.received(method).length, 1)
      }).pipe(Effect.provide(
        Runtime.layer({ a: peer }, { servers: [Pool.remote("a", { idleTimeout: "1 minute" })] })
      ))
    }))

  it.scoped("fails when its server is switched off, or is there no more", () =>
    Effect.gen(function*() {
      const peer = yield* server()
      yield* Effect.gen(function*() {
        const { running, service } = yield* subscribed(peer)
        yield* service.servers.disable("a")
        const error = yield* Fiber.join(running)
        assert.isTrue(error._tag === "ServerUnavailable" && error.why === "disabled")
        yield* service.servers.enable("a")
        const another = yield* Effect.fork(Effect.flip(Stream.runDrain(service.subscribeResource("a", uri))))
        yield* peer.until(() => peer.received(method).length === 2)
        yield* service.servers.reload([])
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* Fiber.join(another))._tag, "NotFound")
      }).pipe(Effect.provide(Runtime.layer({ a: peer }, { servers: [Pool.remote("a")] })))
    }))

  it.scoped("fails when the runtime ends", () =>
    Effect.gen(function*() {
      const peer = yield* server()
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Runtime.layer({ a: peer }, { servers: [Pool.remote("a")] }), scope)
      const { running } = yield* Effect.provide(subscribed(peer), context)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* Fiber.join(running))._tag, "Closed")
    }))
})

describe("the status of all servers", () => {
  /** Each list as it is read, by the statuses in it. */
  const read = Effect.flatMap(runtime, ({ servers }) =>
    Effect.gen(function*() {
      const seen = yield* Queue.unbounded<ReadonlyArray<McpRuntime.ServerInfo>>()
      yield* Effect.forkScoped(Stream.runForEach(servers.changes, (infos) => Queue.offer(seen, infos)))
      return seen
    }))

  it.scoped("misses no change between the first list and the second", () =>
    Effect.gen(function*() {
      const peer = yield* server()
      yield* Effect.gen(function*() {
        const service = yield* runtime
        yield* Pool.until("a", "Connected")
        const last = yield* service.servers.changes.pipe(
          Stream.mapEffect((infos) => Effect.as(service.servers.disable("a"), infos[0]?.status._tag)),
          Stream.takeUntil((tag) => tag === "Disabled"),
          Stream.runLast
        )
        assert.isTrue(last._tag === "Some" && last.value === "Disabled")
      }).pipe(Effect.provide(Runtime.layer({ a: peer }, { servers: [Pool.remote("a")] })))
    }))

  it.scoped("shows a slow reader the newest list, and not one for each change", () =>
    Effect.gen(function*() {
      const peer = yield* server()
      yield* Effect.gen(function*() {
        const service = yield* runtime
        yield* Pool.until("a", "Connected")
        const [reading, free] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const reader = yield* service.servers.changes.pipe(
          Stream.tap(() => Effect.zipRight(Deferred.succeed(reading, undefined), Deferred.await(free))),
          Stream.map(([info]) => info?.status._tag),
          Stream.take(2),
          Stream.runCollect,
          Effect.fork
        )
        yield* Deferred.await(reading)
        for (let n = 0; n < 3; n++) yield* service.servers.reconnect("a")
        yield* service.servers.disable("a")
        yield* Deferred.succeed(free, undefined)
        assert.deepStrictEqual(Array.from(yield* Fiber.join(reader)), ["Connected", "Disabled"])
      }).pipe(Effect.provide(Runtime.layer({ a: peer }, { servers: [Pool.remote("a")] })))
    }))

  it.scoped("shows what becomes of a breaker, and of one of a server that came later", () =>
    Effect.gen(function*() {
      const peer = yield* server()
      yield* Effect.gen(function*() {
        const service = yield* runtime
        yield* Pool.until("a", "Connected")
        const seen = yield* read
        yield* Queue.take(seen)
        yield* service.servers.isolate("a")
        assert.strictEqual((yield* Queue.take(seen))[0]?.breaker._tag, "Isolated")
        yield* service.servers.reload([Pool.remote("b")])
        yield* Pool.until("b", "Connected")
        yield* TestClock.adjust("1 second")
        yield* Queue.takeAll(seen)
        yield* service.servers.isolate("b")
        assert.strictEqual((yield* Queue.take(seen))[0]?.breaker._tag, "Isolated")
      }).pipe(Effect.provide(Runtime.layer(() => peer, { servers: [Pool.remote("a")] })))
    }))

  it.effect("ends with the runtime, having shown how all ended", () =>
    Effect.gen(function*() {
      const peer = yield* server()
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Runtime.layer({ a: peer }, { servers: [Pool.remote("a")] }), scope)
      yield* Effect.provide(Pool.until("a", "Connected"), context)
      const { servers } = Context.get(context, runtime)
      const first = yield* Deferred.make<void>()
      const reader = yield* servers.changes.pipe(
        Stream.tap(() => Deferred.succeed(first, undefined)),
        Stream.map(([info]) => info?.status._tag),
        Stream.runCollect,
        Effect.fork
      )
      yield* Deferred.await(first)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(Array.from(yield* Fiber.join(reader)).at(-1), "Closed")
      assert.strictEqual((yield* Stream.runCollect(servers.changes)).length, 1)
    }))
})
