/** The metrics of this process in the text format that Prometheus reads. */
import type * as MetricLabel from "effect/MetricLabel"
import type * as MetricPair from "effect/MetricPair"
import * as MetricState from "effect/MetricState"
import * as Order from "effect/Order"

const nameOf = (name: string): string => name.replace(/[^A-Za-z0-9_]/g, "_")

const escape = (text: string): string =>
  text.replace(/\\/g, "\\\\").replace(/"/g, "\\\"").replace(/[\n\r\u2028\u2029]/g, "\\n")

const labelsOf = (labels: Iterable<MetricLabel.MetricLabel>, more: string = ""): string => {
  const all = Array.from(labels, ({ key, value }) => `${nameOf(key)}="${escape(value)}"`)
  if (more !== "") all.push(more)
  return all.length === 0 ? "" : `{${all.join(",")}}`
}

const kindOf = (state: MetricState.MetricState.Untyped): "counter" | "gauge" | "histogram" | undefined =>
  MetricState.isCounterState(state)
    ? "counter"
    : MetricState.isGaugeState(state)
    ? "gauge"
    : MetricState.isHistogramState(state)
    ? "histogram"
    : undefined

const samples = (name: string, { metricKey: { tags }, metricState }: MetricPair.MetricPair.Untyped): Array<string> => {
  if (MetricState.isCounterState(metricState)) return [`${name}_total${labelsOf(tags)} ${metricState.count}`]
  if (MetricState.isGaugeState(metricState)) return [`${name}${labelsOf(tags)} ${metricState.value}`]
  if (!MetricState.isHistogramState(metricState)) return []
  const buckets = metricState.buckets.map(([boundary, count]) => {
    const most = Number.isFinite(boundary) && boundary < Number.MAX_VALUE ? String(boundary) : "+Inf"
    return `${name}_bucket${labelsOf(tags, `le="${most}"`)} ${count}`
  })
  if (!buckets.some((line) => line.includes("le=\"+Inf\""))) {
    buckets.push(`${name}_bucket${labelsOf(tags, "le=\"+Inf\"")} ${metricState.count}`)
  }
  return [
    ...buckets,
    `${name}_sum${labelsOf(tags)} ${metricState.sum}`,
    `${name}_count${labelsOf(tags)} ${metricState.count}`
  ]
}

/** @internal */
export const render = (
  pairs: Iterable<MetricPair.MetricPair.Untyped>,
  isWanted: (name: string) => boolean
): string => {
  const families = new Map<string, Array<MetricPair.MetricPair.Untyped>>()
  for (const pair of pairs) {
    const { name } = pair.metricKey
    if (!isWanted(name) || kindOf(pair.metricState) === undefined) continue
    const family = families.get(name)
    if (family === undefined) families.set(name, [pair])
    else family.push(pair)
  }
  const lines: Array<string> = []
  for (const [key, family] of Array.from(families).toSorted(Order.mapInput(Order.string, ([name]) => name))) {
    const [first] = family
    if (first === undefined) continue
    const kind = kindOf(first.metricState)
    const name = nameOf(key)
    const whole = kind === "counter" ? `${name}_total` : name
    const about = first.metricKey.description
    if (about._tag === "Some") lines.push(`# HELP ${whole} ${about.value.replace(/\s+/g, " ")}`)
    lines.push(`# TYPE ${whole} ${kind}`)
    for (const pair of family) lines.push(...samples(name, pair))
  }
  return `${lines.join("\n")}\n`
}
