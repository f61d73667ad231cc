/** A runtime for tests, over peers in memory or over another connector. */
import { Context, Effect, Layer } from "effect"
import * as Credentials from "../../src/auth/Credentials.ts"
import type * as Connector from "../../src/client/Connector.ts"
import type * as McpEvent from "../../src/McpEvent.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as RuntimeMetrics from "../../src/observability/RuntimeMetrics.ts"
import * as Bulkhead from "../../src/resilience/Bulkhead.ts"
import * as CircuitBreaker from "../../src/resilience/CircuitBreaker.ts"
import * as HealthCheck from "../../src/resilience/HealthCheck.ts"
import * as ReconnectPolicy from "../../src/resilience/ReconnectPolicy.ts"
import type * as Teardown from "../../src/resilience/Teardown.ts"
import * as RuntimeServers from "../../src/runtime/Servers.ts"
import * as Approval from "../../src/safety/Approval.ts"
import * as Grants from "../../src/safety/Grants.ts"
import * as Permissions from "../../src/safety/Permissions.ts"
import type * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as ToolCache from "../../src/tools/ToolCache.ts"
import * as ToolCatalog from "../../src/tools/ToolCatalog.ts"
import * as ToolPins from "../../src/tools/ToolPins.ts"
import * as overMemory from "./overMemory.ts"
import * as Pool from "./pool.ts"

export interface Options extends McpRuntime.Options {
  readonly reconnect?: Partial<ReconnectPolicy.Options>
  readonly breaker?: Partial<CircuitBreaker.Options>
  /** Called with the breaker of each server. */
  readonly onBreaker?: (server: string, breaker: CircuitBreaker.Breaker) => void
  readonly bulkhead?: Partial<Bulkhead.Options>
  readonly health?: Layer.Layer<HealthCheck.HealthCheck>
  readonly teardown?: Layer.Layer<Teardown.Teardown>
  readonly cache?: Layer.Layer<ToolCache.ToolCache>
  readonly permissions?: Partial<Permissions.Options>
  readonly approval?: Layer.Layer<Approval.Approval>
  readonly grants?: Layer.Layer<Grants.Grants>
  readonly pins?: Layer.Layer<ToolPins.ToolPins, never, McpEvent.McpEvents>
}

const breakers = ({ breaker, onBreaker }: Options) =>
  Layer.effect(
    CircuitBreaker.CircuitBreaker,
    Effect.map(CircuitBreaker.make(breaker), ({ make }) => ({
      make: (server, onChange) => {
        const made = make(server, onChange)
        onBreaker?.(server, made)
        return made
      }
    }))
  )

/** `McpRuntime.make`, with its servers beside it. */
export const make = (options: McpRuntime.Options) =>
  Effect.gen(function*() {
    const servers = yield* RuntimeServers.make(options)
    const catalog = yield* ToolCatalog.make(servers, options.catalog)
    const made = yield* McpRuntime.makeService(servers, catalog, options)
    return Context.make(McpRuntime.McpRuntime, made).pipe(
      Context.add(ToolCatalog.ToolCatalog, catalog),
      Context.add(Pool.Servers, servers)
    )
  })

/** A runtime over any connector. Every part of it is provided too, for tests that look at one. */
export const layerOver = (
  connector: Layer.Layer<Connector.Connector | McpEvent.McpEvents | Teardown.Teardown>,
  options: Options
) =>
  Layer.scopedContext(make(options)).pipe(
    Layer.provideMerge(Layer.mergeAll(
      options.cache ?? ToolCache.layer(),
      options.health ?? HealthCheck.layerNone,
      Bulkhead.layer(options.bulkhead),
      breakers(options),
      Credentials.layerNone,
      Layer.orDie(Layer.effect(Permissions.Permissions, Permissions.make(options.permissions))),
      ReconnectPolicy.layer(options.reconnect),
      RuntimeMetrics.layer
    )),
    // mapped, because `provideMerge` would build a fresh layer twice
    Layer.provideMerge(Layer.map(options.pins ?? ToolPins.layerMemory(), (context) => context)),
    Layer.provideMerge(Layer.merge(options.approval ?? Approval.layerNone, options.grants ?? Grants.layerMemory)),
    Layer.provideMerge(connector)
  )

export const layer = (peers: Parameters<typeof MemoryTransport.layer>[0], options: Options) =>
  layerOver(overMemory.client(peers, options.teardown), options)
