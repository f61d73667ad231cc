/**
 * Counts and durations of calls, and the state of servers, in Effect's metric registry.
 *
 * `mcp.client.operation.duration` follows OpenTelemetry's semantic conventions for MCP; the other metrics are specific to
 * this package. All have the tag `mcp.server.name`, and those of failures `error.type`. Names chosen by servers, such as tool
 * names, are not used as tags, because the registry keeps every tag value forever.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricKey from "effect/MetricKey"
import type * as MetricKeyType from "effect/MetricKeyType"
import * as MetricLabel from "effect/MetricLabel"
import type * as Scope from "effect/Scope"
import type * as McpEvent from "../McpEvent.ts"
import type * as CircuitBreaker from "../resilience/CircuitBreaker.ts"
import * as UntrustedText from "../text/UntrustedText.ts"

/** The outcome of a call, as in the event `CallEnded`. */
export type Outcome = Extract<McpEvent.McpEvent, { readonly _tag: "CallEnded" }>["outcome"]

/** The metrics of one server. All functions are synchronous. */
export interface ServerMetrics {
  /** `mcp.calls.active`, until `callEnded`. */
  readonly callBegan: () => void
  /** `mcp.calls`, `mcp.client.operation.duration`, and `mcp.errors` for every outcome except `Success`. */
  readonly callEnded: (outcome: Outcome, millis: number) => void
  /** `mcp.reconnects`. */
  readonly reconnected: () => void
  /** `mcp.circuit.state`: 0 closed, 1 half-open, 2 open, 3 isolated. */
  readonly breaker: (state: CircuitBreaker.State["_tag"]) => void
  /** `mcp.connections`: the number of open connections. */
  readonly connections: (open: number) => void
  /** `mcp.tool_cache.hits`. */
  readonly cacheHit: () => void
  /** `mcp.tool_cache.misses`. */
  readonly cacheMiss: () => void
}

export class RuntimeMetrics extends Context.Tag("effect-mcp-runtime/observability/RuntimeMetrics")<RuntimeMetrics, {
  /** The metrics of a server. Returns the same object for each call. */
  readonly for: (server: string) => ServerMetrics
}>() {}

const duration = MetricKey.histogram(
  "mcp.client.operation.duration",
  // the boundaries of the convention
  MetricBoundaries.fromIterable([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]),
  "Duration of tool calls, in seconds."
).pipe(
  MetricKey.tagged("mcp.method.name", "tools/call"),
  // the exporters of Effect read the unit from this tag
  MetricKey.tagged("unit", "s")
)

/** The value of `mcp.circuit.state` is the index. */
const circuitStates: ReadonlyArray<CircuitBreaker.State["_tag"]> = ["Closed", "HalfOpen", "Open", "Isolated"]

const untagged: ReadonlyArray<MetricLabel.MetricLabel> = []

const makeServer = (server: string) => {
  const name = MetricLabel.make("mcp.server.name", UntrustedText.excerpt(server, 128))

  // created once from a tagged key, because `Metric.tagged` looks up the key at each update
  const metric = <Type extends MetricKeyType.MetricKeyType.Untyped>(
    key: MetricKey.MetricKey<Type>,
    ...labels: ReadonlyArray<MetricLabel.MetricLabel>
  ) => Metric.fromMetricKey(MetricKey.taggedWithLabels(key, [name, ...labels]))

  const counter = (name: string, description: string, ...labels: ReadonlyArray<MetricLabel.MetricLabel>) => {
    const { unsafeUpdate } = metric(MetricKey.counter(name, { description, incremental: true }), ...labels).register()
    return (): void => unsafeUpdate(1, untagged)
  }

  const gauge = (name: string, description: string) => metric(MetricKey.gauge(name, { description })).register()

  /** Adds the difference, so that the values of several runtimes with this server are summed. */
  const level = (name: string, description: string) => {
    const { unsafeModify } = gauge(name, description)
    let current = 0
    return (next: number): void => {
      if (next !== current) unsafeModify(next - current, untagged)
      current = next
    }
  }

  const ended = counter("mcp.calls", "Completed tool calls.")
  const success = metric(duration)
  const setActive = level("mcp.calls.active", "Tool calls in flight.")
  const state = gauge("mcp.circuit.state", "0 closed, 1 half-open, 2 open, 3 isolated.")
  let running = 0
  const metrics: ServerMetrics = {
    callBegan: () => setActive(++running),
    callEnded: (outcome, millis) => {
      setActive(--running)
      ended()
      if (outcome === "Success") return success.unsafeUpdate(millis / 1_000, untagged)
      const type = MetricLabel.make("error.type", outcome === "ToolError" ? "tool_error" : outcome)
      counter("mcp.errors", "Failed tool calls.", type)()
      metric(duration, type).unsafeUpdate(millis / 1_000, untagged)
    },
    reconnected: counter("mcp.reconnects", "Reconnects."),
    breaker: (next) => state.unsafeUpdate(circuitStates.indexOf(next), untagged),
    connections: level("mcp.connections", "Open connections."),
    cacheHit: counter("mcp.tool_cache.hits", "Tool lists served from the cache."),
    cacheMiss: counter("mcp.tool_cache.misses", "Tool lists fetched from the server.")
  }
  const settle = (): void => {
    running = 0
    setActive(0)
    metrics.connections(0)
    metrics.breaker("Closed")
  }
  return { metrics, settle }
}

/** Resets the gauges when the scope closes. */
export const make: Effect.Effect<RuntimeMetrics["Type"], never, Scope.Scope> = Effect.gen(function*() {
  const servers = new Map<string, ReturnType<typeof makeServer>>()
  yield* Effect.addFinalizer(() => Effect.sync(() => servers.forEach(({ settle }) => settle())))
  return {
    for: (server) => {
      const known = servers.get(server) ?? makeServer(server)
      servers.set(server, known)
      return known.metrics
    }
  }
})

export const layer: Layer.Layer<RuntimeMetrics> = Layer.scoped(RuntimeMetrics, make)

const none: ServerMetrics = {
  callBegan: constVoid,
  callEnded: constVoid,
  reconnected: constVoid,
  breaker: constVoid,
  connections: constVoid,
  cacheHit: constVoid,
  cacheMiss: constVoid
}

/** Measures nothing. */
export const layerNone: Layer.Layer<RuntimeMetrics> = Layer.succeed(RuntimeMetrics, { for: () => none })
