/**
 * Counts and durations of calls, and the state of servers, in Effect's metric registry.
 *
 * `mcp.client.operation.duration` is the metric of OpenTelemetry's semantic conventions for MCP, in seconds; the others
 * are ours. Every one carries `mcp.server.name`, and those of failures `error.type`; what a server chooses, such as the
 * names of its tools, is no tag, because the registry never forgets one.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Hold from "../internal/hold.ts"
import type * as McpEvent from "../McpEvent.ts"
import type * as CircuitBreaker from "../resilience/CircuitBreaker.ts"
import * as internal from "./internal/instruments.ts"

/**
 * How a call ended, in the words of the event `CallEnded`.
 *
 * @since 0.1.0
 * @category models
 */
export type Outcome = Extract<McpEvent.McpEvent, { readonly _tag: "CallEnded" }>["outcome"]

/**
 * The metrics of one server. All is synchronous, and less than a microsecond a call.
 *
 * @since 0.1.0
 * @category models
 */
export interface ServerMetrics {
  /** `mcp.calls.active`, until `callEnded`. */
  readonly callBegan: () => void
  /** `mcp.calls`, `mcp.client.operation.duration`, and `mcp.errors` for every outcome but `Success`. */
  readonly callEnded: (outcome: Outcome, millis: number) => void
  /** `mcp.reconnects`. */
  readonly reconnected: () => void
  /** `mcp.circuit.state`: 0 closed, 1 half open, 2 open, 3 isolated. */
  readonly breaker: (state: CircuitBreaker.State["_tag"]) => void
  /** `mcp.connections`: how many are open. */
  readonly connections: (open: number) => void
  /** `mcp.tool_cache.hits`. */
  readonly cacheHit: () => void
  /** `mcp.tool_cache.misses`. */
  readonly cacheMiss: () => void
}

/**
 * @since 0.1.0
 * @category tags
 */
export class RuntimeMetrics extends Context.Tag("effect-mcp-runtime/observability/RuntimeMetrics")<RuntimeMetrics, {
  /** The metrics of a server, the same for all who ask. */
  readonly for: (server: string) => ServerMetrics
}>() {}

/**
 * When the scope closes, nothing is active, connected or open any more.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<RuntimeMetrics["Type"], never, Scope.Scope> = Effect.map(
  Hold.make(() => new Map<string, internal.Instruments>(), (servers) => {
    for (const { settle } of servers.values()) settle()
  }),
  (servers) => ({
    for: (server) => {
      const known = servers.get(server)
      if (known !== undefined) return known.metrics
      const instruments = internal.make(server)
      servers.set(server, instruments)
      return instruments.metrics
    }
  })
)

/**
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<RuntimeMetrics> = Layer.scoped(RuntimeMetrics, make)

const ignore = (): void => undefined

const nothing: ServerMetrics = {
  callBegan: ignore,
  callEnded: ignore,
  reconnected: ignore,
  breaker: ignore,
  connections: ignore,
  cacheHit: ignore,
  cacheMiss: ignore
}

/**
 * Nothing is measured.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<RuntimeMetrics> = Layer.succeed(RuntimeMetrics, { for: () => nothing })
