import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Metric, TestClock } from "effect"
import * as McpError from "../../src/McpError.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import type * as CircuitBreaker from "../../src/resilience/CircuitBreaker.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as Pool from "../support/pool.ts"
import * as Runtime from "../support/runtime.ts"

const config = Pool.remote("path", { concurrency: 1 })

const ref = { server: "path", tool: "echo" }

const prepared = (options: Partial<Runtime.Options> = {}) =>
  Effect.gen(function*() {
    const peer = yield* MemoryServer.make({
      era: "session",
      tools: [{ name: "echo", call: () => Effect.succeed("echo") }]
    })
    return { peer, layer: Runtime.layer({ path: peer }, { servers: [config], ...options }) }
  })

const active = Effect.map(
  Metric.value(Metric.gauge("mcp.calls.active").pipe(Metric.tagged("mcp.server.name", "path"))),
  ({ value }) => value
)

describe("callTool", () => {
  it.scoped("holds no permit and counts no call after an interruption at any step", () =>
    Effect.gen(function*() {
      const { layer, peer } = yield* prepared()
      yield* Effect.gen(function*() {
        const service = yield* McpRuntime.McpRuntime
        yield* service.servers.connect("path")
        const events = yield* service.subscribe
        for (let steps = 0; steps < 40; steps++) {
          // two of them, so that one is on its way and the other waits for its place
          const calls = yield* Effect.forEach([1, 2], () => Effect.fork(service.callTool(ref)))
          for (let step = 0; step < steps; step++) yield* Effect.yieldNow()
          yield* Fiber.interruptAll(calls)
          const { bulkhead, callsInFlight } = yield* service.servers.get("path")
          assert.deepStrictEqual(bulkhead, { active: 0, queued: 0 }, `after ${steps} steps`)
          assert.strictEqual(callsInFlight, 0)
          assert.strictEqual(yield* active, 0)
        }
        const told = Chunk.toReadonlyArray(yield* events.clear)
        const count = (tag: string) => told.filter(({ _tag }) => _tag === tag).length
        assert.isAbove(count("CallBegan"), 0)
        assert.strictEqual(count("CallEnded"), count("CallBegan"))
        // whoever is no longer wanted is waited for as long as something of it is in use
        yield* service.servers.reload([])
        yield* peer.until(() => peer.connections().open === 0)
      }).pipe(Effect.provide(layer))
    }))

  it.scoped("admits another probe after an interruption at any step", () =>
    Effect.gen(function*() {
      const breakers: Array<CircuitBreaker.Breaker> = []
      const { layer } = yield* prepared({
        breaker: { failures: 1, openFor: 0 },
        onBreaker: (_, breaker) => breakers.push(breaker)
      })
      yield* Effect.gen(function*() {
        const service = yield* McpRuntime.McpRuntime
        yield* service.servers.connect("path")
        const breaker = breakers[0]!
        const failure = new McpError.ConnectionLost({
          server: "path",
          reason: "reset",
          detail: "lost",
          outcome: "unknown"
        })
        for (let steps = 0; steps < 20; steps++) {
          yield* Effect.exit(breaker.protect(Effect.fail(failure)))
          const call = yield* Effect.fork(service.callTool(ref))
          for (let step = 0; step < steps; step++) yield* Effect.yieldNow()
          yield* Fiber.interrupt(call)
          const state = yield* breaker.state
          assert.isFalse(state._tag === "HalfOpen" && state.probing, `probing after ${steps} steps`)
        }
      }).pipe(Effect.provide(layer))
    }))

  it.scoped("ends at once when it is interrupted between two attempts", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({
        era: "session",
        tools: [{ name: "echo", call: () => Effect.never }]
      })
      yield* Effect.gen(function*() {
        const service = yield* McpRuntime.McpRuntime
        yield* service.servers.connect("path")
        const call = yield* Effect.fork(service.callTool(ref, {}, { idleTimeout: "1 second", idempotent: true }))
        yield* peer.until(() => peer.executions("echo") === 1)
        yield* TestClock.adjust("1 second")
        yield* peer.until(() => peer.received("notifications/cancelled").length === 1)
        assert.strictEqual((yield* service.servers.get("path")).callsInFlight, 1)
        // the clock stands still from now on
        yield* Fiber.interrupt(call)
        assert.strictEqual(peer.executions("echo"), 1)
      }).pipe(Effect.provide(Runtime.layer({ path: peer }, { servers: [config] })))
    }))

  it.scoped("gives the permit and the connection back when the caller's code throws", () =>
    Effect.gen(function*() {
      const { layer, peer } = yield* prepared()
      yield* Effect.gen(function*() {
        const service = yield* McpRuntime.McpRuntime
        yield* service.servers.connect("path")
        const careless = (): Effect.Effect<void> => {
          throw new Error("careless")
        }
        const exit = yield* Effect.exit(service.withClient("path", careless))
        assert.strictEqual(exit._tag, "Failure")
        assert.strictEqual((yield* service.servers.get("path")).bulkhead.active, 0)
        yield* service.servers.reload([])
        yield* peer.until(() => peer.connections().open === 0)
      }).pipe(Effect.provide(layer))
    }))

  it.scoped("gives the caller's own errors back from withClient, and none of them counts against the server", () =>
    Effect.gen(function*() {
      const { layer } = yield* prepared()
      yield* Effect.gen(function*() {
        const service = yield* McpRuntime.McpRuntime
        for (let turn = 0; turn < 10; turn++) {
          const error = yield* Effect.flip(service.withClient("path", () => Effect.fail("mine" as const)))
          assert.strictEqual(error, "mine")
        }
        yield* service.withClient("path", ({ health }) => health)
      }).pipe(Effect.provide(layer))
    }))

  it.scoped("does not call a tool that was listed before a reload has filtered it out", () =>
    Effect.gen(function*() {
      const { layer, peer } = yield* prepared()
      yield* Effect.gen(function*() {
        const service = yield* McpRuntime.McpRuntime
        const { tools } = yield* service.tools
        yield* service.servers.reload([Pool.remote("path", { disabledTools: ["echo"] })])
        const error = yield* Effect.flip(tools[0]!.call())
        assert.isTrue(error._tag === "NotFound" && error.kind === "tool" && error.name === "echo")
        assert.strictEqual(peer.executions("echo"), 0)
      }).pipe(Effect.provide(layer))
    }))
})
