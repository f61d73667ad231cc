/** What the simulation has found, each told as short as it can be. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope, Stream, TestClock } from "effect"
import * as McpError from "../../src/McpError.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as Teardown from "../../src/resilience/Teardown.ts"
import type * as Faults from "../../src/testing/Faults.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as Pool from "../support/pool.ts"
import * as Runtime from "../support/runtime.ts"

const runtime = McpRuntime.McpRuntime

const refused: Faults.End = (server, outcome) =>
  new McpError.NetworkError({ server, code: "ECONNREFUSED", detail: "refused", outcome })

const one: MemoryServer.Tool = { name: "one", call: () => Effect.succeed("one") }

const withServer = <A, E>(
  tools: ReadonlyArray<MemoryServer.Tool>,
  options: Runtime.Options,
  body: (
    server: MemoryServer.Server
  ) => Effect.Effect<A, E, Layer.Layer.Success<ReturnType<typeof Runtime.layer>> | Scope.Scope>
) =>
  Effect.flatMap(
    MemoryServer.make({ era: "session", tools }),
    (server) => Effect.provide(body(server), Runtime.layer(() => server, options))
  )

describe("a runtime that was simulated", () => {
  it.scoped("does not say of a call that it was not sent, because its repetition was not", () =>
    Effect.gen(function*() {
      const began = yield* Deferred.make<void>()
      const stuck: MemoryServer.Tool = {
        name: "stuck",
        annotations: { readOnlyHint: true },
        call: () => Effect.zipRight(Deferred.succeed(began, undefined), Effect.never)
      }
      const options = { servers: [Pool.remote("a", { trusted: true })], breaker: { failures: 1 } }
      yield* withServer([stuck], options, (server) =>
        Effect.gen(function*() {
          const service = yield* runtime
          yield* service.tools
          const call = yield* Effect.fork(Effect.flip(service.callTool("mcp__a__stuck")))
          yield* Deferred.await(began)
          yield* server.drop()
          yield* TestClock.adjust("1 second")
          const error = yield* Fiber.join(call)
          assert.strictEqual(error._tag, "ConnectionLost")
          assert.strictEqual(error.outcome, "unknown")
        }))
    }))

  it.scoped("connects visibly after it was idle, however it came to its last connection", () =>
    withServer(
      [one],
      { servers: [Pool.remote("a", { lazy: true, idleTimeout: "20 seconds" })] },
      (server) =>
        Effect.gen(function*() {
          const service = yield* runtime
          const history = yield* Pool.history("a")
          yield* server.refuseConnect(refused, 1)
          const call = yield* Effect.fork(service.callTool({ server: "a", tool: "one" }))
          yield* TestClock.adjust("2 seconds")
          yield* Fiber.join(call)
          yield* TestClock.adjust("1 minute")
          yield* service.callTool({ server: "a", tool: "one" })
          const connected = ["Connected", "Connected"]
          assert.deepStrictEqual(history, [
            "Connecting",
            "Reconnecting",
            ...connected,
            "Idle",
            "Connecting",
            "Connected"
          ])
        })
    ))

  it.scoped("tells nothing when a server that connects is replaced by one that does", () =>
    withServer([one], { servers: [Pool.remote("a")] }, (server) =>
      Effect.gen(function*() {
        yield* server.slowConnect("1 second")
        const history = yield* Pool.history("a")
        yield* (yield* runtime).servers.reload([Pool.remote("a", { url: "http://other.test/mcp" })])
        assert.deepStrictEqual(history, [])
        yield* TestClock.adjust("2 seconds")
        yield* Pool.until("a", "Connected")
        assert.strictEqual(history[0], "Connected")
      })))

  it.scoped("takes no second attempt without a pause, where somebody asked for the first while it was under way", () =>
    withServer([one], { servers: [Pool.remote("a")] }, (server) =>
      Effect.gen(function*() {
        yield* server.slowConnect("1 second")
        yield* server.refuseConnect(refused)
        yield* (yield* runtime).servers.disconnect("a")
        const asked = (yield* runtime).servers.connect("a")
        yield* Effect.fork(asked)
        yield* TestClock.adjust("500 millis")
        yield* server.slowConnect(0)
        yield* Effect.fork(asked)
        yield* TestClock.adjust("600 millis")
        assert.strictEqual(server.connections().refused, 1)
        assert.strictEqual((yield* (yield* runtime).servers.get("a")).status._tag, "Reconnecting")
        yield* TestClock.adjust("300 millis")
        assert.strictEqual(server.connections().refused, 1)
      })))

  it.scoped("does not connect once more what a reload has just switched off", () =>
    withServer([one], { servers: [Pool.remote("a")] }, (server) =>
      Effect.gen(function*() {
        const service = yield* runtime
        yield* service.servers.disconnect("a")
        const before = server.connections().opened
        yield* Effect.fork(service.servers.reconnect("a"))
        yield* Effect.yieldNow()
        yield* service.servers.reload([Pool.remote("a", { enabled: false })])
        yield* TestClock.adjust("1 second")
        assert.strictEqual(server.connections().opened, before)
        assert.strictEqual((yield* service.servers.get("a")).status._tag, "Disabled")
      })))

  it.scoped("connects a remote server again and again, also after it had been away for long", () =>
    withServer([one], { servers: [Pool.remote("a")] }, (server) =>
      Effect.gen(function*() {
        yield* (yield* runtime).tools
        yield* server.refuseConnect(refused)
        yield* server.drop()
        yield* TestClock.adjust("1 minute")
        yield* server.heal
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual((yield* (yield* runtime).servers.get("a")).status._tag, "Connected")
        yield* server.drop()
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual((yield* (yield* runtime).servers.get("a")).status._tag, "Connected")
      })))

  it.scoped("looks for an unknown tool no longer than its caller has time", () =>
    withServer([one], { servers: [Pool.remote("a"), Pool.remote("b")] }, (server) =>
      Effect.gen(function*() {
        const service = yield* runtime
        yield* service.tools
        yield* server.slowConnect("1 minute")
        yield* server.drop()
        yield* service.servers.reload([Pool.remote("a"), Pool.remote("b"), Pool.remote("c")])
        const call = yield* Effect.fork(Effect.flip(service.callTool("mcp__c__one", {}, { totalTimeout: "1 second" })))
        yield* TestClock.adjust("1 second")
        const error = yield* Fiber.join(call)
        assert.strictEqual(error._tag, "RequestTimeout")
        assert.strictEqual(error.outcome, "not-sent")
      })))

  it.effect("ends the stream of its events with the last of them", () =>
    Effect.gen(function*() {
      const server = yield* MemoryServer.make({ era: "session", tools: [one] })
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Runtime.layer(() => server, { servers: [Pool.remote("a")] }), scope)
      yield* Effect.gen(function*() {
        const events = yield* Effect.fork(Stream.runLast((yield* runtime).events))
        yield* (yield* runtime).tools
        yield* Scope.close(scope, Exit.void)
        const last = yield* Fiber.join(events)
        assert.strictEqual(last._tag === "Some" ? last.value._tag : "nothing", "TeardownComplete")
      }).pipe(Effect.provide(context))
    }))

  it.scoped("does not call what is filtered out, of a server that nothing is known of either", () =>
    withServer(
      [one],
      { servers: [Pool.remote("a", { lazy: true, disabledTools: ["o*"] })] },
      (server) =>
        Effect.gen(function*() {
          const error = yield* Effect.flip((yield* runtime).callTool({ server: "a", tool: "one" }))
          assert.strictEqual(error._tag, "NotFound")
          assert.strictEqual(server.executions("one"), 0)
        })
    ))

  it.effect("ends in time, whatever a call that goes on would be given", () =>
    Effect.gen(function*() {
      const began = yield* Deferred.make<void>()
      const stuck: MemoryServer.Tool = {
        name: "stuck",
        call: () => Effect.zipRight(Deferred.succeed(began, undefined), Effect.never)
      }
      const server = yield* MemoryServer.make({ era: "session", tools: [stuck] })
      const scope = yield* Scope.make()
      const layer = Runtime.layer(() => server, {
        servers: [Pool.remote("a")],
        teardown: Teardown.layer({ drainTimeout: "1 hour", deadline: "10 seconds" })
      })
      const context = yield* Layer.buildWithScope(layer, scope)
      const history = yield* Effect.gen(function*() {
        yield* Effect.fork((yield* runtime).callTool({ server: "a", tool: "stuck" }))
        yield* Deferred.await(began)
        return yield* Pool.history("a")
      }).pipe(Effect.provide(context))
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("11 seconds")
      yield* Fiber.join(closing)
      assert.deepStrictEqual(history, ["Closed"])
    }))
})
