/**
 * The metrics of one server, looked up in the registry once: an update is an addition and no more.
 *
 * @internal
 */
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricKey from "effect/MetricKey"
import * as MetricLabel from "effect/MetricLabel"
import type * as CircuitBreaker from "../../resilience/CircuitBreaker.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import type * as RuntimeMetrics from "../RuntimeMetrics.ts"

/** @internal */
export interface Instruments {
  readonly metrics: RuntimeMetrics.ServerMetrics
  /** Takes back what is only true while the runtime lives. */
  readonly settle: () => void
}

// Those that the convention asks for.
const seconds = MetricBoundaries.fromIterable([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300])

const states: { readonly [S in CircuitBreaker.State["_tag"]]: number } = {
  Closed: 0,
  HalfOpen: 1,
  Open: 2,
  Isolated: 3
}

type Tags = ReadonlyArray<MetricLabel.MetricLabel>

const untagged: Tags = []

// Metrics made from a tagged key: one that is tagged later makes its tags anew with every update.
const counter = (name: string, description: string, tags: Tags) =>
  Metric.fromMetricKey(
    MetricKey.counter(name, { description, incremental: true }).pipe(MetricKey.taggedWithLabels(tags))
  )

const gauge = (name: string, description: string, tags: Tags) =>
  Metric.fromMetricKey(MetricKey.gauge(name, { description }).pipe(MetricKey.taggedWithLabels(tags)))

const durations = (tags: Tags) =>
  Metric.fromMetricKey(
    MetricKey.histogram("mcp.client.operation.duration", seconds, "How long calls of tools take, in seconds.").pipe(
      MetricKey.taggedWithLabels([
        ...tags,
        MetricLabel.make("mcp.method.name", "tools/call"),
        // where Effect's exporters look for the unit
        MetricLabel.make("unit", "s")
      ])
    )
  )

/** Adds what has changed, so that several runtimes that have a server of this name sum up. */
const level = (name: string, description: string, tags: Tags) => {
  const metric = gauge(name, description, tags).register()
  let current = 0
  return (next: number): void => {
    if (next === current) return
    metric.unsafeModify(next - current, untagged)
    current = next
  }
}

/** @internal */
export const make = (server: string): Instruments => {
  const tags = [MetricLabel.make("mcp.server.name", UntrustedText.excerpt(server, 128))]
  const calls = counter("mcp.calls", "Calls of tools that have ended.", tags).register()
  const reconnects = counter("mcp.reconnects", "Connections that replaced a lost one.", tags).register()
  const hits = counter("mcp.tool_cache.hits", "Lists of tools that were known and fresh.", tags).register()
  const misses = counter("mcp.tool_cache.misses", "Lists of tools that had to be fetched.", tags).register()
  const active = level("mcp.calls.active", "Calls of tools under way.", tags)
  const connections = level("mcp.connections", "Open connections.", tags)
  const circuit = gauge("mcp.circuit.state", "0 closed, 1 half open, 2 open, 3 isolated.", tags).register()

  const success = durations(tags)
  // As many as there are outcomes, which is a closed set.
  const failures = new Map<
    string,
    { readonly errors: Metric.Metric.Counter<number>; readonly duration: typeof success }
  >()
  const failure = (outcome: string) => {
    const known = failures.get(outcome)
    if (known !== undefined) return known
    const failed = [...tags, MetricLabel.make("error.type", outcome === "ToolError" ? "tool_error" : outcome)]
    const made = {
      errors: counter("mcp.errors", "Calls of tools that did not succeed.", failed),
      duration: durations(failed)
    }
    failures.set(outcome, made)
    return made
  }

  let underWay = 0
  return {
    metrics: {
      callBegan: () => active(++underWay),
      callEnded: (outcome, millis) => {
        active(--underWay)
        calls.unsafeUpdate(1, untagged)
        if (outcome === "Success") {
          success.unsafeUpdate(millis / 1_000, untagged)
          return
        }
        const { duration, errors } = failure(outcome)
        errors.unsafeUpdate(1, untagged)
        duration.unsafeUpdate(millis / 1_000, untagged)
      },
      reconnected: () => reconnects.unsafeUpdate(1, untagged),
      breaker: (state) => circuit.unsafeUpdate(states[state], untagged),
      connections,
      cacheHit: () => hits.unsafeUpdate(1, untagged),
      cacheMiss: () => misses.unsafeUpdate(1, untagged)
    },
    settle: () => {
      underWay = 0
      active(0)
      connections(0)
      circuit.unsafeUpdate(states.Closed, untagged)
    }
  }
}
