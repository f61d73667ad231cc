import * as KeyValueStore from "@effect/platform/KeyValueStore"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option, type Scope, TestClock } from "effect"
import * as McpError from "../../src/McpError.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as ToolCache from "../../src/tools/ToolCache.ts"
import * as ToolCatalog from "../../src/tools/ToolCatalog.ts"
import * as MemoryServer from "../../src/transport/MemoryServer.ts"
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
          yield* (yield* McpRuntime.McpRuntime).reload([])
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
})
