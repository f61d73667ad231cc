import * as KeyValueStore from "@effect/platform/KeyValueStore"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, type Duration, Effect, Fiber, Layer, Option, Schedule, type Scope, TestClock } from "effect"
import * as McpError from "../../src/McpError.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as ToolCache from "../../src/tools/ToolCache.ts"
import * as ToolCatalog from "../../src/tools/ToolCatalog.ts"
import * as ToolPins from "../../src/tools/ToolPins.ts"
import * as Pool from "../support/pool.ts"
import * as Runtime from "../support/runtime.ts"

const tool = (name: string): MemoryServer.Tool => ({
  name,
  annotations: { readOnlyHint: true },
  call: () => Effect.succeed(name)
})

const catalog = Effect.flatMap(ToolCatalog.ToolCatalog, ({ list }) => list)

const offered = Effect.map(catalog, ({ tools }) => tools.map(({ _tag, name }) => `${_tag} ${name}`))

/** A cache that keeps what one run has learned for the next. */
const kept = Effect.map(Layer.build(KeyValueStore.layerMemory), (store) =>
  ToolCache.layerPersisted().pipe(
    Layer.provide(Layer.merge(Layer.succeedContext(store), Pool.McpEvent.layer)),
    Layer.fresh
  ))

/** The same, where a test looks at what is kept; reading takes this long. */
const keptIn = (values: Map<string, string>, slowness: () => Duration.DurationInput = () => 0) =>
  ToolCache.layerPersisted().pipe(
    Layer.provide(Layer.succeed(
      KeyValueStore.KeyValueStore,
      KeyValueStore.makeStringOnly({
        get: (key) => {
          const read = Effect.sync(() => Option.fromNullable(values.get(key)))
          const took = slowness()
          return took === 0 ? read : Effect.delay(read, took)
        },
        set: (key, value) => Effect.sync(() => void values.set(key, value)),
        remove: (key) => Effect.sync(() => void values.delete(key)),
        clear: Effect.die("not used"),
        size: Effect.die("not used")
      })
    )),
    Layer.provide(Pool.McpEvent.layer)
  )

const withServer = <A, E>(
  options: MemoryServer.Options,
  body: (
    server: MemoryServer.Server
  ) => Effect.Effect<A, E, Layer.Layer.Success<ReturnType<typeof Runtime.layer>> | Scope.Scope>,
  { before, ...more }: Partial<Runtime.Options> & {
    readonly before?: (server: MemoryServer.Server) => Effect.Effect<void>
  } = {}
) =>
  Effect.tap(MemoryServer.make({ era: "session", ...options }), (server) => before?.(server) ?? Effect.void).pipe(
    Effect.flatMap((server) =>
      Effect.provide(body(server), Runtime.layer(() => server, { servers: [Pool.remote("a")], ...more }))
    )
  )

describe("a catalog", () => {
  it.scoped("asks each server once, and then for no list that is fresh", () =>
    withServer({ tools: [tool("one")] }, (server) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* offered, ["Ready mcp__a__one"])
        yield* offered
        assert.strictEqual(server.received("tools/list").length, 1)
      })))

  it.scoped("asks anew when a list has grown old, and waits for the answer no longer than the gate", () =>
    withServer({ tools: [tool("one")] }, (server) =>
      Effect.gen(function*() {
        yield* offered
        yield* TestClock.adjust("6 minutes")
        yield* server.update({ tools: [tool("two")] })
        yield* server.delay("1 second")
        const asked = yield* Effect.fork(offered)
        yield* TestClock.adjust("250 millis")
        assert.deepStrictEqual(yield* Fiber.join(asked), ["Ready mcp__a__one"])
      })))

  it.scoped("offers what was known before while a server is on its way, once the gate is over", () =>
    Effect.gen(function*() {
      const cache = yield* kept
      yield* withServer({ tools: [tool("one")] }, () => offered, { cache })
      yield* withServer({ tools: [tool("one")] }, (server) =>
        Effect.gen(function*() {
          const asked = yield* Effect.fork(offered)
          yield* TestClock.adjust("249 millis")
          assert.isTrue(Option.isNone(yield* Fiber.poll(asked)))
          yield* TestClock.adjust("1 millis")
          assert.deepStrictEqual(yield* Fiber.join(asked), ["Deferred mcp__a__one"])
          assert.strictEqual(server.received("tools/list").length, 0)
        }), { cache, before: (server) => server.slowConnect("10 seconds") })
    }))

  it.scoped("forgets a server that is configured no longer, and what was kept of it", () =>
    Effect.gen(function*() {
      const cache = yield* kept
      const again = [tool("one")]
      yield* withServer({ tools: again }, () =>
        Effect.gen(function*() {
          yield* offered
          yield* (yield* McpRuntime.McpRuntime).servers.reload([])
          yield* TestClock.adjust("1 second")
        }), { cache })
      yield* withServer({ tools: again }, () =>
        Effect.gen(function*() {
          const asked = yield* Effect.fork(offered)
          yield* TestClock.adjust("9 seconds")
          // nothing is known of it, so it is waited for
          assert.isTrue(Option.isNone(yield* Fiber.poll(asked)))
        }), { cache, before: (server) => server.slowConnect("10 seconds") })
    }))

  it.scoped("does not wait for the gate when every server has answered", () =>
    withServer({ tools: [tool("one")] }, () =>
      // time stands still here
      offered))

  it.scoped("fetches a list again that broke off, over the next connection", () =>
    Effect.gen(function*() {
      let asked = 0
      yield* withServer({
        tools: [tool("one")],
        methods: {
          "tools/list": (_, { io }) =>
            asked++ === 0
              ? Effect.as(io.end(), {})
              : Effect.succeed({ tools: [{ name: "one", inputSchema: { type: "object" } }] })
        }
      }, (server) =>
        Effect.gen(function*() {
          const listing = yield* Effect.fork(offered)
          yield* server.until(() => asked === 1)
          yield* TestClock.adjust("1 second")
          assert.deepStrictEqual(yield* Fiber.join(listing), ["Ready mcp__a__one"])
        }))
    }))

  it.scoped("says what is wrong with a list that cannot be had, and keeps the others", () =>
    Effect.gen(function*() {
      const good = yield* MemoryServer.make({ era: "session", tools: [tool("one")] })
      const bad = yield* MemoryServer.make({
        era: "session",
        capabilities: { tools: {} },
        methods: { "tools/list": () => Effect.fail(new MemoryServer.Refused({ code: -32603, message: "broken" })) }
      })
      yield* Effect.gen(function*() {
        const { missing, tools } = yield* catalog
        assert.deepStrictEqual(tools.map(({ name }) => name), ["mcp__good__one"])
        assert.strictEqual(missing[0]?.server, "bad")
        assert.strictEqual(missing[0]?.error?._tag, "RemoteError")
        assert.strictEqual(missing[0]?.status._tag, "Connected")
      }).pipe(Effect.provide(
        Runtime.layer({ good, bad }, { servers: [Pool.remote("good"), Pool.remote("bad")] })
      ))
    }))

  it.scoped("believes annotations only of a server that was heard in this run", () =>
    withServer({ tools: [tool("one")] }, () =>
      Effect.gen(function*() {
        const service = yield* ToolCatalog.ToolCatalog
        yield* service.list
        assert.strictEqual(service.definition("a", "one")?.annotations.readOnlyHint, true)
        assert.isUndefined(service.definition("a", "two"))
        assert.isUndefined(service.definition("b", "one"))
      })))

  it.scoped("does not offer the tools of a server that was given up, but still knows them by name", () =>
    withServer({ tools: [tool("one")] }, (server) =>
      Effect.gen(function*() {
        yield* offered
        yield* server.refuseConnect((name) =>
          new McpError.SpawnFailed({ server: name, errno: "ENOENT", command: "a", detail: "no such file" })
        )
        yield* server.drop()
        yield* TestClock.adjust("1 second")
        const { missing, tools } = yield* catalog
        assert.deepStrictEqual(tools, [])
        assert.strictEqual(missing[0]?.status._tag, "Failed")
        assert.isDefined((yield* ToolCatalog.ToolCatalog).index().resolve("mcp__a__one"))
      })))

  it.scoped("shares one request among all who ask at the same time", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* withServer({
        capabilities: { tools: {} },
        methods: {
          "tools/list": () =>
            Effect.as(Deferred.await(gate), { tools: [{ name: "one", inputSchema: { type: "object" } }] })
        }
      }, (server) =>
        Effect.gen(function*() {
          const asked = yield* Effect.fork(Effect.all([offered, offered, offered], { concurrency: "unbounded" }))
          yield* server.until(() => server.received("tools/list").length === 1)
          yield* Effect.yieldNow()
          yield* Deferred.succeed(gate, undefined)
          assert.strictEqual((yield* Fiber.join(asked)).length, 3)
          assert.strictEqual(server.received("tools/list").length, 1)
        }))
    }))

  it.scoped("learns nothing from a connection that a reload has replaced, and keeps what its successor has said", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const slow = { name: "slow", call: () => Effect.zipRight(Deferred.succeed(started, undefined), Effect.never) }
      const old = yield* MemoryServer.make({ era: "session", tools: [slow] })
      const successor = yield* MemoryServer.make({ era: "session", tools: [tool("two")] })
      const values = new Map<string, string>()
      yield* Effect.gen(function*() {
        const service = yield* McpRuntime.McpRuntime
        yield* offered
        yield* TestClock.adjust("2 seconds")
        yield* Effect.forkScoped(Effect.exit(service.callTool({ server: "a", tool: "slow" })))
        yield* Deferred.await(started)
        yield* service.servers.reload([Pool.remote("a", { url: "http://b.test/mcp" })])
        yield* offered
        yield* TestClock.adjust("2 seconds")
        const [kept] = Array.from(values.keys())
        assert.strictEqual(values.size, 1)
        const events = yield* service.subscribe
        yield* old.update({ tools: [slow, tool("late")] })
        yield* TestClock.adjust("2 seconds")
        assert.deepStrictEqual(yield* offered, ["Ready mcp__a__two"])
        yield* TestClock.adjust("2 seconds")
        assert.deepStrictEqual(Array.from(values.keys()), [kept])
        const heard = Array.from(yield* events.clear, ({ _tag }) => _tag)
        assert.notInclude(heard, "ToolsRefreshed")
        assert.strictEqual(successor.received("tools/list").length, 1)
      }).pipe(Effect.provide(Runtime.layer(
        (config) => "url" in config && config.url.includes("b.test") ? successor : old,
        { servers: [Pool.remote("a")], cache: keptIn(values) }
      )))
    }))

  it.scoped("learns the tools of a server that comes with a connection, although nobody asks for them", () =>
    withServer({ tools: [tool("one")] }, (server) =>
      Effect.gen(function*() {
        const service = yield* McpRuntime.McpRuntime
        yield* offered
        yield* service.servers.reload([Pool.remote("a"), Pool.remote("b", { url: "http://a.test/mcp" })])
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* service.servers.get("b")).toolCount, 1)
        assert.strictEqual(server.connections().opened, 1)
      }), { shareIdentical: true }))

  it.scoped("believes no list of an earlier connection", () =>
    Effect.gen(function*() {
      const before = yield* MemoryServer.make({ era: "session", tools: [tool("one")] })
      const after = yield* MemoryServer.make({ era: "session", tools: [tool("two")] })
      let peer = before
      yield* Effect.gen(function*() {
        const service = yield* McpRuntime.McpRuntime
        yield* offered
        peer = after
        yield* service.servers.reconnect("a")
        assert.deepStrictEqual(yield* offered, ["Ready mcp__a__two"])
      }).pipe(Effect.provide(Runtime.layer(() => peer, { servers: [Pool.remote("a")] })))
    }))

  it.scoped("waits for one attempt more when a list has broken off, and not until the server is back", () =>
    withServer({
      capabilities: { tools: {} },
      methods: { "tools/list": () => Effect.never }
    }, (server) =>
      Effect.gen(function*() {
        yield* Pool.until("a", "Connected")
        const listing = yield* Effect.fork(catalog)
        yield* server.until(() => server.received("tools/list").length > 0)
        yield* server.refuseConnect((name, outcome) =>
          new McpError.NetworkError({ server: name, code: "ECONNREFUSED", detail: "refused", outcome })
        )
        yield* server.drop()
        yield* TestClock.adjust("25 seconds")
        const { missing } = yield* Fiber.join(listing)
        assert.strictEqual(missing[0]?.status._tag, "Reconnecting")
        assert.isDefined(missing[0]?.error)
      }), { servers: [Pool.local("a")], reconnect: { schedule: Schedule.spaced("10 seconds") } }))

  it.scoped("is not kept waiting by a slow disk when the server has answered", () =>
    withServer({ tools: [tool("one")] }, (server) =>
      Effect.gen(function*() {
        yield* Pool.until("a", "Connected")
        // time stands still here
        assert.deepStrictEqual(yield* offered, ["Ready mcp__a__one"])
        assert.strictEqual(server.received("tools/list").length, 1)
      }), { cache: keptIn(new Map(), () => "4 seconds") }))

  it.scoped("takes for unknown what the disk has not given within the gate, and wakes its server", () =>
    withServer({ tools: [tool("one")] }, () =>
      Effect.gen(function*() {
        const asked = yield* Effect.fork(offered)
        yield* TestClock.adjust("250 millis")
        assert.deepStrictEqual(yield* Fiber.join(asked), ["Ready mcp__a__one"])
      }), { servers: [Pool.remote("a", { lazy: true })], cache: keptIn(new Map(), () => "4 seconds") }))

  it.scoped("waits for a server past the gate while what is kept of it was not compared with its pins", () =>
    Effect.gen(function*() {
      const cache = yield* kept
      const pins = Layer.map(ToolPins.layerMemory(), (context) => {
        const pins = Context.get(context, ToolPins.ToolPins)
        const recall: typeof pins.recall = (...of) => Effect.delay(pins.recall(...of), "4 seconds")
        return Context.make(ToolPins.ToolPins, { ...pins, recall })
      })
      yield* withServer({ tools: [tool("one")] }, () => offered, { cache })
      yield* withServer({ tools: [tool("one")] }, () =>
        Effect.gen(function*() {
          const asked = yield* Effect.fork(offered)
          yield* TestClock.adjust("500 millis")
          // it was read by now, and to count what cannot be offered yet would be wrong
          const { servers } = yield* McpRuntime.McpRuntime
          assert.isUndefined((yield* servers.get("a")).toolCount)
          yield* TestClock.adjust("500 millis")
          assert.deepStrictEqual(yield* Fiber.join(asked), ["Ready mcp__a__one"])
        }), { cache, pins, before: (server) => server.slowConnect("1 second") })
    }))

  it.scoped("waits no longer for a server once the disk has given what is known of it", () =>
    Effect.gen(function*() {
      let slowness: Duration.DurationInput = 0
      const cache = keptIn(new Map(), () => slowness)
      yield* withServer({ tools: [tool("one")] }, () => offered, { cache })
      slowness = "1 second"
      yield* withServer({ tools: [tool("one")] }, () =>
        Effect.gen(function*() {
          const asked = yield* Effect.fork(offered)
          yield* TestClock.adjust("999 millis")
          assert.isTrue(Option.isNone(yield* Fiber.poll(asked)))
          yield* TestClock.adjust("1 millis")
          assert.deepStrictEqual(yield* Fiber.join(asked), ["Deferred mcp__a__one"])
        }), { cache, before: (server) => server.slowConnect("10 seconds") })
    }))

  it.scoped("lets what the disk gives late not undo what the server has said", () =>
    Effect.gen(function*() {
      const values = new Map<string, string>()
      let slowness: Duration.DurationInput = 0
      const cache = keptIn(values, () => slowness)
      yield* withServer({ tools: [tool("one")] }, () => offered, { cache })
      slowness = "4 seconds"
      yield* withServer({ tools: [tool("two")] }, () =>
        Effect.gen(function*() {
          yield* Pool.until("a", "Connected")
          assert.deepStrictEqual(yield* offered, ["Ready mcp__a__two"])
          yield* TestClock.adjust("5 seconds")
          assert.deepStrictEqual(yield* offered, ["Ready mcp__a__two"])
        }), { cache })
      assert.include(Array.from(values.values()).join(), "two")
    }))
})
