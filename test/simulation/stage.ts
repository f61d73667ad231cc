/** The whole runtime over a world of peers, in a scope that can end at any moment. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Credentials from "../../src/auth/Credentials.ts"
import * as Connector from "../../src/client/Connector.ts"
import * as EraMemory from "../../src/client/EraMemory.ts"
import * as NativeConnector from "../../src/client/NativeConnector.ts"
import * as SdkConnector from "../../src/client/SdkConnector.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as RuntimeMetrics from "../../src/observability/RuntimeMetrics.ts"
import * as Bulkhead from "../../src/resilience/Bulkhead.ts"
import * as HealthCheck from "../../src/resilience/HealthCheck.ts"
import * as ReconnectPolicy from "../../src/resilience/ReconnectPolicy.ts"
import * as Teardown from "../../src/resilience/Teardown.ts"
import type * as Servers from "../../src/runtime/Servers.ts"
import * as Permissions from "../../src/safety/Permissions.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as ToolCache from "../../src/tools/ToolCache.ts"
import * as ToolCatalog from "../../src/tools/ToolCatalog.ts"
import * as ToolPins from "../../src/tools/ToolPins.ts"
import * as Pool from "../support/pool.ts"
import * as Runtime from "../support/runtime.ts"
import type * as Script from "./script.ts"
import type { Witness } from "./witness.ts"
import * as World from "./world.ts"

export interface Stage {
  readonly runtime: McpRuntime.McpRuntime["Type"]
  readonly pool: Servers.Servers
  readonly catalog: ToolCatalog.ToolCatalog["Type"]
  /** The number of established connections to a host whose scope has begun to close and has not closed. */
  readonly releasing: (host: string) => number
  /** Ends everything. */
  readonly close: Effect.Effect<void>
}

export const make = (script: Script.Script, world: World.World, witness: Witness): Effect.Effect<Stage> =>
  Effect.gen(function*() {
    const { drain, health, preset, stableAfter, storm } = script
    const releasing = new Map<string, number>()
    const count = (host: string, change: 1 | -1) =>
      Effect.sync(() => releasing.set(host, (releasing.get(host) ?? 0) + change))
    const connector = Layer.effect(
      Connector.Connector,
      Effect.map(script.connector === "sdk" ? SdkConnector.make : NativeConnector.make, ({ connect }) => ({
        connect: (config, options) =>
          Effect.gen(function*() {
            const host = World.hostOf(config)
            let isEstablished = false
            // the first finalizer of the connection runs last
            yield* Effect.addFinalizer(() => isEstablished ? count(host, -1) : Effect.void)
            const client = yield* connect(config, options)
            isEstablished = true
            yield* Effect.addFinalizer(() => count(host, 1))
            return client
          })
      }))
    )
    const wires = Layer.provideMerge(
      Layer.provide(
        connector,
        MemoryTransport.layer((config) => world.hosts.get(World.hostOf(config))?.peer)
      ),
      Layer.mergeAll(
        EraMemory.layerMemory,
        McpEvent.layer,
        // less than what all of it may take together
        Teardown.layer({ drainTimeout: Math.min(drain, 8_000) })
      )
    )
    const policies = Layer.mergeAll(
      ToolCache.layer(),
      health === undefined ? HealthCheck.layerNone : HealthCheck.layer(health),
      Bulkhead.layer({ concurrency: 8, queue: script.queue }),
      witness.breakers,
      ReconnectPolicy.layer({
        schedule: preset,
        stableAfter,
        stormReconnects: storm.reconnects,
        stormWithin: storm.within
      }),
      Credentials.layerNone,
      Permissions.layerNone,
      RuntimeMetrics.layer,
      // servers of the simulation change their tools at will
      ToolPins.layerNone
    )
    const listening = Layer.scopedDiscard(Effect.gen(function*() {
      const events = yield* McpEvent.McpEvents
      events.onEvent((event) => {
        witness.heard(event)
        if (event._tag === "StatusChanged") witness.changed(event)
      })
    }))
    const made = Runtime.make({
      servers: script.servers.map(World.config),
      progressInterval: "10 minutes",
      batchSize: script.batchSize,
      shareIdentical: script.share,
      drainTimeout: drain
    })
    const all = Layer.scopedContext(made).pipe(
      Layer.provideMerge(listening),
      Layer.provideMerge(policies),
      Layer.provideMerge(wires)
    )
    const scope = yield* Scope.make()
    const context = yield* Effect.orDie(Layer.buildWithScope(all, scope))
    return {
      runtime: Context.get(context, McpRuntime.McpRuntime),
      pool: Context.get(context, Pool.Servers),
      releasing: (host) => releasing.get(host) ?? 0,
      catalog: Context.get(context, ToolCatalog.ToolCatalog),
      close: Scope.close(scope, Exit.void)
    }
  })
