/** Pages of a gateway for operators: health, status, and metrics in the Prometheus text format. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as MetricPair from "effect/MetricPair"
import * as MetricState from "effect/MetricState"
import type * as HttpEndpoint from "../HttpEndpoint.ts"
import type * as McpServe from "../McpServe.ts"

type Page = HttpEndpoint.Page["render"]

const serversOf = ({ shared }: McpServe.Gateway) => Effect.flatMap(shared, ({ servers }) => servers.list)

/** Needs no token, so it names no server. */
export const health = (gateway: McpServe.Gateway): Page =>
  Effect.match(serversOf(gateway), {
    onFailure: () => HttpServerResponse.unsafeJson({ status: "failed" }, { status: 503 }),
    onSuccess: (servers) => {
      const connected = servers.filter(({ status }) => status._tag === "Connected" || status._tag === "Idle").length
      const status = connected === servers.length ? "ok" : "degraded"
      return HttpServerResponse.unsafeJson({ status, servers: { connected, of: servers.length } })
    }
  })

export const status = (gateway: McpServe.Gateway): Page =>
  Effect.match(serversOf(gateway), {
    onFailure: () => HttpServerResponse.unsafeJson({ servers: [] }, { status: 503 }),
    onSuccess: (servers) =>
      HttpServerResponse.unsafeJson({
        callers: gateway.seats(),
        servers: servers.map(({ breaker, callsInFlight, era, error, name, reconnects, status, toolCount }) => ({
          name,
          state: status._tag,
          tools: toolCount ?? null,
          era: era ?? null,
          breaker: breaker._tag,
          callsInFlight,
          reconnects,
          error: error?._tag ?? null
        }))
      })
  })

type Pair = MetricPair.MetricPair.Untyped

interface Sample {
  readonly suffix: string
  readonly value: number | bigint
  readonly le?: string
}

const nameOf = (name: string): string => name.replace(/[^A-Za-z0-9_]/g, "_")

const escape = (text: string): string => text.replace(/["\\]/g, "\\$&").replace(/[\n\r\u2028\u2029]/g, "\\n")

/** The type and samples of a metric; `undefined` for a type that Prometheus does not have. */
const samplesOf = ({ metricState: state }: Pair): readonly [type: string, ...ReadonlyArray<Sample>] | undefined => {
  if (MetricState.isCounterState(state)) return ["counter", { suffix: "_total", value: state.count }]
  if (MetricState.isGaugeState(state)) return ["gauge", { suffix: "", value: state.value }]
  if (!MetricState.isHistogramState(state)) return undefined
  const finite = Array.from(state.buckets).filter(([le]) => Number.isFinite(le) && le < Number.MAX_VALUE)
  return [
    "histogram",
    ...finite.map(([le, value]) => ({ suffix: "_bucket", value, le: String(le) })),
    { suffix: "_bucket", value: state.count, le: "+Inf" },
    { suffix: "_sum", value: state.sum },
    { suffix: "_count", value: state.count }
  ]
}

/** The metrics with this prefix, in text format 0.0.4. */
export const prometheus = (pairs: Iterable<Pair>, prefix: string): string => {
  const families = new Map<string, Array<string>>()
  for (const pair of pairs) {
    const { description, name: key, tags } = pair.metricKey
    const [type, ...samples] = key.startsWith(prefix) ? samplesOf(pair) ?? [] : []
    if (type === undefined) continue
    const name = nameOf(key)
    const family = type === "counter" ? `${name}_total` : name
    const help = description._tag === "Some" ? [`# HELP ${family} ${description.value.replace(/\s+/g, " ")}`] : []
    const lines = families.get(name) ?? [...help, `# TYPE ${family} ${type}`]
    families.set(name, lines)
    for (const { le, suffix, value } of samples) {
      const labels = Array.from(tags, ({ key, value }) => `${nameOf(key)}="${escape(value)}"`)
      if (le !== undefined) labels.push(`le="${le}"`)
      lines.push(`${name}${suffix}${labels.length === 0 ? "" : `{${labels.join(",")}}`} ${value}`)
    }
  }
  const sorted = Array.from(families.keys()).toSorted().flatMap((name) => families.get(name) ?? [])
  return `${sorted.join("\n")}\n`
}

export const metrics: Page = Effect.map(
  Metric.snapshot,
  (pairs) =>
    HttpServerResponse.text(prometheus(pairs, "mcp."), { contentType: "text/plain; version=0.0.4; charset=utf-8" })
)
