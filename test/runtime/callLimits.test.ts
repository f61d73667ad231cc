/** One deadline over queueing, connecting and the request of a call, and what its error says. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Duration, Effect, Either, Fiber, TestClock } from "effect"
import * as McpError from "../../src/McpError.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as Approval from "../../src/safety/Approval.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as Pool from "../support/pool.ts"
import * as Runtime from "../support/runtime.ts"

const ref = (tool: string) => ({ server: "s", tool })

/** A server with one permit whose call `hold` keeps it until `release`, and whose call `hang` is never answered. */
const busy = Effect.gen(function*() {
  const released = yield* Deferred.make<void>()
  const peer = yield* MemoryServer.make({
    era: "session",
    tools: [
      { name: "hold", call: () => Effect.as(Deferred.await(released), "") },
      { name: "hang", call: () => Effect.never },
      {
        name: "report",
        call: (_, { progress }) =>
          Effect.zipRight(Effect.forever(Effect.zipRight(Effect.sleep("2 seconds"), progress(1))), Effect.never)
      }
    ]
  })
  const layer = Runtime.layer({ s: peer }, { servers: [Pool.remote("s", { concurrency: 1 })] })
  return { peer, layer, release: Deferred.succeed(released, undefined) }
})

const queued = Effect.flatMap(
  McpRuntime.McpRuntime,
  (service) =>
    Effect.repeat(Effect.zipRight(Effect.yieldNow(), service.servers.get("s")), {
      until: ({ bulkhead }) => bulkhead.queued === 1
    })
)

describe("callTool", () => {
  it.scoped("counts the time in the queue toward the idle limit of the request (C10)", () =>
    Effect.gen(function*() {
      const { layer, peer, release } = yield* busy
      yield* Effect.gen(function*() {
        const service = yield* McpRuntime.McpRuntime
        yield* service.servers.connect("s")
        yield* Effect.fork(service.callTool(ref("hold")))
        yield* peer.until(() => peer.executions("hold") === 1)
        const call = yield* Effect.fork(
          Effect.either(service.callTool(ref("hang"), {}, { idleTimeout: "2500 millis" }))
        )
        yield* queued
        yield* TestClock.adjust("2 seconds")
        yield* release
        yield* peer.until(() => peer.executions("hang") === 1)
        yield* TestClock.adjust("499 millis")
        assert.isNull(call.unsafePoll())
        yield* TestClock.adjust("1 millis")
        const error = Either.getOrThrow(Either.flip(yield* Fiber.join(call)))
        assert.deepInclude(error, { _tag: "RequestTimeout", kind: "idle", outcome: "unknown" })
        assert.isTrue(error._tag === "RequestTimeout" && Duration.equals(error.limit, "2500 millis"))
      }).pipe(Effect.provide(layer))
    }))

  it.scoped("restarts the whole idle limit at progress, however long the call was queued", () =>
    Effect.gen(function*() {
      const { layer, peer, release } = yield* busy
      yield* Effect.gen(function*() {
        const service = yield* McpRuntime.McpRuntime
        yield* service.servers.connect("s")
        yield* Effect.fork(service.callTool(ref("hold")))
        yield* peer.until(() => peer.executions("hold") === 1)
        const call = yield* Effect.fork(service.callTool(ref("report"), {}, { idleTimeout: "5 seconds" }))
        yield* queued
        yield* TestClock.adjust("2900 millis")
        yield* release
        yield* peer.until(() => peer.executions("report") === 1)
        // 2.1 s are left at first, and each report restarts 5 s
        for (let report = 0; report < 3; report++) yield* TestClock.adjust("2 seconds")
        assert.isNull(call.unsafePoll())
        yield* Fiber.interrupt(call)
      }).pipe(Effect.provide(layer))
    }))

  it.scoped("says that it waited for a permit, which is no failure of the server", () =>
    Effect.gen(function*() {
      const { layer, peer } = yield* busy
      yield* Effect.gen(function*() {
        const service = yield* McpRuntime.McpRuntime
        yield* service.servers.connect("s")
        yield* Effect.fork(service.callTool(ref("hold")))
        yield* peer.until(() => peer.executions("hold") === 1)
        for (let call = 0; call < 4; call++) {
          const waiting = yield* Effect.fork(
            Effect.flip(service.callTool(ref("hang"), {}, { idleTimeout: "1 second" }))
          )
          yield* queued
          yield* TestClock.adjust("1 second")
          assert.deepInclude(yield* Fiber.join(waiting), {
            _tag: "RequestTimeout",
            waitedFor: "permit",
            outcome: "not-sent"
          })
        }
        assert.deepStrictEqual((yield* service.servers.get("s")).breaker, { _tag: "Closed", failures: 0 })
      }).pipe(Effect.provide(layer))
    }))

  it.scoped("refuses a call before it asks or publishes anything when the queue is full (C10)", () =>
    Effect.gen(function*() {
      const { peer } = yield* busy
      const asked: Array<Approval.Request> = []
      const approval = Approval.layerTest([], asked)
      yield* Effect.gen(function*() {
        const service = yield* McpRuntime.McpRuntime
        yield* service.servers.connect("s")
        yield* Effect.fork(service.callTool(ref("hold")))
        yield* peer.until(() => peer.executions("hold") === 1)
        const events = yield* service.subscribe
        const error = yield* Effect.flip(service.callTool(ref("hang"), {}, { origin: "model" }))
        assert.deepInclude(error, { _tag: "Overloaded", queue: "calls", outcome: "not-sent" })
        assert.isEmpty(asked)
        assert.isEmpty(Chunk.toArray(yield* events.clear))
      }).pipe(Effect.provide(
        Runtime.layer({ s: peer }, {
          servers: [Pool.remote("s", { concurrency: 1 })],
          bulkhead: { queue: 0 },
          approval
        })
      ))
    }))

  it.scoped("says why there was no connection while its server was down (C14)", () =>
    Effect.gen(function*() {
      const { layer, peer } = yield* busy
      yield* Effect.gen(function*() {
        const service = yield* McpRuntime.McpRuntime
        yield* service.servers.connect("s")
        const refused = new McpError.NetworkError({
          server: "s",
          code: "ECONNREFUSED",
          detail: "connection refused",
          outcome: "not-sent"
        })
        yield* peer.refuseConnect(() => refused)
        yield* peer.drop()
        const call = yield* Effect.fork(Effect.flip(service.callTool(ref("hang"), {}, { idleTimeout: "3 seconds" })))
        yield* TestClock.adjust("3 seconds")
        const error = yield* Fiber.join(call)
        assert.deepInclude(error, { _tag: "RequestTimeout", waitedFor: "connection", outcome: "not-sent" })
        assert.isTrue(error._tag === "RequestTimeout" && McpError.isMcpError(error.lastError))
        assert.deepInclude(error._tag === "RequestTimeout" ? error.lastError : undefined, { code: "ECONNREFUSED" })
        assert.include(error.message, "ECONNREFUSED")
      }).pipe(Effect.provide(layer))
    }))
})
