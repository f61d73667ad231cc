/** A server that is switched off is not attempted, in whatever moment that comes. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Option, Scope, TestClock } from "effect"
import * as Resolution from "../../src/config/Resolution.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeMcpRuntime from "../../src/node/NodeMcpRuntime.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as Configs from "../support/configs.ts"

const config = (overrides?: Partial<ServerConfig.StdioInput>) => Configs.memory("s", overrides)

type Runtime = McpRuntime.McpRuntime["Type"]

interface Opened {
  readonly runtime: Runtime
  readonly server: MemoryServer.Server
  readonly close: Effect.Effect<void>
  /** What has happened to the server, in order. */
  readonly log: Array<string>
}

/** A runtime in a scope of its own, and what its bus tells. */
const open = Effect.fnUntraced(function*(options: {
  readonly servers?: ReadonlyArray<ServerConfig.ServerConfig>
  /** What it takes to find out the values of a configuration, just before its attempt. */
  readonly resolving?: (
    config: ServerConfig.ServerConfig,
    runtime: Deferred.Deferred<Runtime>
  ) => Effect.Effect<unknown>
  readonly batchSize?: number
}) {
  const server = yield* MemoryServer.make({ tools: [{ name: "t", call: () => Effect.succeed("done") }] })
  const log: Array<string> = []
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  const made = yield* Deferred.make<Runtime>()
  const events = yield* McpEvent.make()
  events.onEvent((event) => {
    if (event._tag === "Connecting" && event.server === "s") log.push("attempted")
    if (event._tag === "StatusChanged" && event.server === "s") log.push(event.status._tag)
    if (event._tag === "TeardownBegan") log.push("Closed")
  })
  const context = yield* Layer.buildWithScope(
    NodeMcpRuntime.layerTest({
      servers: options.servers ?? [config()],
      ...(options.batchSize === undefined ? {} : { batchSize: options.batchSize })
    }).pipe(
      NodeMcpRuntime.using(Layer.mergeAll(
        MemoryTransport.layer(() => server),
        Layer.succeed(McpEvent.McpEvents, events),
        Layer.succeed(Resolution.Resolution, {
          resolve: (config) =>
            Effect.as(options.resolving?.(config, made) ?? Effect.void, { config, warnings: [], secrets: [] })
        })
      ))
    ),
    scope
  )
  const runtime = yield* Effect.provide(McpRuntime.McpRuntime, context)
  yield* Deferred.succeed(made, runtime)
  const opened: Opened = { runtime, server, close: Scope.close(scope, Exit.void), log }
  return opened
})

const off = new Set(["Disabled", "Blocked", "Closed", "off"])

/** The attempts after it was off, until it was on again. */
const wrongAttempts = (log: ReadonlyArray<string>): number => {
  const first = log.findIndex((entry) => off.has(entry))
  return first < 0 ? NaN : log.slice(first).filter((entry) => entry === "attempted").length
}

/** More steps than it takes until a server is attempted. */
const most = 10

/** Ways to switch a server off. */
const ways: Readonly<Record<string, (opened: Opened) => Effect.Effect<unknown, unknown>>> = {
  "a reload disables it": ({ runtime }) => runtime.servers.reload([config({ enabled: false })]),
  "a reload blocks it": ({ runtime }) => runtime.servers.reload([{ ...config(), blocked: "untrusted" }]),
  "a reload takes it away": ({ log, runtime }) =>
    Effect.tap(runtime.servers.reload([]), () => Effect.sync(() => log.push("Closed"))),
  "it is disabled": ({ log, runtime }) =>
    Effect.zipRight(Effect.sync(() => log.push("off")), runtime.servers.disable("s")),
  "it is disconnected": ({ log, runtime }) =>
    Effect.zipRight(Effect.sync(() => log.push("off")), runtime.servers.disconnect("s")),
  "all are disconnected": ({ runtime }) => runtime.servers.disconnectAll,
  "the runtime ends": ({ close }) => close
}

describe("a server that is switched off", () => {
  for (const [way, act] of Object.entries(ways)) {
    it.live(`is not attempted when ${way}, at whatever step of its start`, () =>
      Effect.gen(function*() {
        let before = 0
        for (let steps = 0; steps < most; steps++) {
          yield* Effect.scoped(Effect.gen(function*() {
            const opened = yield* open({})
            yield* Effect.repeatN(Effect.yieldNow(), steps)
            if (!opened.log.includes("attempted")) before++
            yield* act(opened)
            yield* Effect.repeatN(Effect.yieldNow(), 60)
            assert.strictEqual(wrongAttempts(opened.log), 0, `after ${steps} steps: ${opened.log.join(", ")}`)
            assert.strictEqual(opened.server.connections().open, 0)
          }))
        }
        // steps before the attempt are among them, and steps after it
        assert.isAbove(before, 0)
        assert.isBelow(before, most)
      }))

    // what asks waits for the answer, as it would for a person
    it.live(`is not attempted when ${way} while a value of its configuration is asked for`, () =>
      Effect.scoped(Effect.gen(function*() {
        const asked = yield* Deferred.make<void>()
        const answer = yield* Deferred.make<void>()
        const opened = yield* open({
          resolving: () => Effect.zipRight(Deferred.succeed(asked, undefined), Deferred.await(answer))
        })
        yield* Deferred.await(asked)
        yield* act(opened)
        yield* Deferred.succeed(answer, undefined)
        yield* Effect.repeatN(Effect.yieldNow(), 60)
        assert.notInclude(opened.log, "attempted")
        assert.strictEqual(opened.server.connections().opened, 0)
      })))

    it.effect(`is not attempted when ${way} while it waits for its turn to connect`, () =>
      Effect.scoped(Effect.gen(function*() {
        const opened = yield* open({
          servers: [MemoryTransport.config("first"), config()],
          resolving: ({ name }) => name === "first" ? Effect.never : Effect.void,
          batchSize: 1
        })
        yield* Effect.repeatN(Effect.yieldNow(), 60)
        assert.notInclude(opened.log, "attempted")
        yield* act(opened)
        // those that wait too long for an answer give their turn to the next
        yield* TestClock.adjust("1 second")
        assert.notInclude(opened.log, "attempted")
      })))
  }

  it.live("is not attempted when a reload disables it in the step before its attempt", () =>
    Effect.scoped(Effect.gen(function*() {
      const opened = yield* open({
        resolving: (_, runtime) =>
          Effect.flatMap(Deferred.await(runtime), ({ servers }) => servers.reload([config({ enabled: false })]))
      })
      yield* Effect.repeatN(Effect.yieldNow(), 120)
      assert.include(opened.log, "Disabled")
      assert.notInclude(opened.log, "attempted")
      assert.strictEqual(opened.server.connections().opened, 0)
    })))

  it.live("is not attempted with the configuration of a reload that is under way, until it is switched on", () =>
    Effect.scoped(Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const answer = yield* Deferred.make<void>()
      const opened = yield* open({
        resolving: (config) =>
          "args" in config && config.args?.length === 1
            ? Effect.zipRight(Deferred.succeed(asked, undefined), Deferred.await(answer))
            : Effect.void
      })
      const { runtime, server } = opened
      yield* runtime.servers.connect("s")
      assert.strictEqual(server.connections().opened, 1)
      // the successor asks, and the old connection serves on meanwhile
      const reload = yield* Effect.fork(runtime.servers.reload([config({ args: ["changed"] })]))
      yield* Deferred.await(asked)
      yield* runtime.servers.disable("s")
      yield* Deferred.succeed(answer, undefined)
      const report = yield* Fiber.join(reload)
      assert.deepStrictEqual(report.changed, ["s"])
      yield* Effect.repeatN(Effect.yieldNow(), 60)
      const { open: left, opened: attempts } = server.connections()
      assert.deepStrictEqual([left, attempts], [0, 1])
      assert.strictEqual((yield* runtime.servers.get("s")).status._tag, "Disabled")
      yield* runtime.servers.enable("s")
      yield* runtime.servers.connect("s")
      assert.strictEqual(server.connections().opened, 2)
    })))

  it.effect("is not waited for by a list that its end has cut off", () =>
    Effect.scoped(Effect.gen(function*() {
      const { runtime, server } = yield* open({})
      yield* runtime.servers.connect("s")
      yield* runtime.tools
      yield* server.halfClose
      const before = server.received("tools/list").length
      const refreshing = yield* Effect.fork(Effect.either(runtime.refreshTools("s")))
      yield* server.until(() => server.received("tools/list").length > before)
      yield* server.drop()
      yield* runtime.servers.reload([{ ...config(), blocked: "untrusted" }])
      yield* Effect.repeatN(Effect.yieldNow(), 60)
      // no time goes by on the clock
      const exit = yield* Fiber.poll(refreshing)
      assert.isTrue(Option.isSome(exit))
    })))

  it.live("is told to be off before it is on again, however soon that comes", () =>
    Effect.scoped(Effect.gen(function*() {
      const { log, runtime } = yield* open({ servers: [config({ lazy: true })] })
      yield* runtime.servers.connect("s")
      log.length = 0
      const disconnecting = yield* Effect.fork(runtime.servers.disconnect("s"))
      yield* Effect.yieldNow()
      yield* runtime.servers.connect("s")
      yield* Fiber.join(disconnecting)
      assert.deepStrictEqual(log.filter((entry) => entry !== "attempted"), ["Disabled", "Connecting", "Connected"])
    })))
})
