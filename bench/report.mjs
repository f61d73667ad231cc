/**
 * From cells to a table: medians, ratios of the same round, and what became of the targets.
 */
import { contestants, ours, reference } from "./contestants/index.mjs"
import { median } from "./statistics.mjs"

/** `goal` and `first` where a figure of ours reaches them, `missed` where it does not. */
const verdict = (better, { first, goal }, value) => {
  const reaches = (target) => target !== undefined && (better === "less" ? value <= target : value >= target)
  if (reaches(goal)) return "goal"
  if (reaches(first)) return goal === undefined ? "met" : "first"
  return "missed"
}

const row = (scenario, metric, cells) => {
  const figuresOf = (contestant, round) =>
    cells.find((one) => one.contestant === contestant && one.round === round)?.figures?.[metric.key]
  const results = {}
  for (const name of scenario.contestants) {
    const own = cells.filter((one) => one.contestant === name)
    if (own.length === 0) continue
    const values = own.flatMap((one) => one.figures?.[metric.key] ?? [])
    const ratios = own.flatMap((one) => {
      const value = one.figures?.[metric.key]
      const raw = figuresOf(reference, one.round)
      return value === undefined || raw === undefined || raw === 0 ? [] : [value / raw]
    })
    results[name] = {
      rounds: own.length,
      failed: own.length - values.length,
      median: values.length === 0 ? undefined : median(values),
      ratio: ratios.length === 0 ? undefined : median(ratios),
      low: ratios.length === 0 ? undefined : Math.min(...ratios),
      high: ratios.length === 0 ? undefined : Math.max(...ratios)
    }
  }
  const verdicts = {}
  for (const name of ours) {
    const targets = metric.targets[name]
    const judged = metric.absolute === true ? results[name]?.median : results[name]?.ratio
    if (targets !== undefined && judged !== undefined) verdicts[name] = verdict(metric.better, targets, judged)
  }
  return {
    scenario: scenario.name,
    title: scenario.title,
    metric: metric.key,
    unit: metric.unit,
    better: metric.better,
    absolute: metric.absolute === true,
    targets: metric.targets,
    verdicts,
    results
  }
}

/** One row per scenario and metric. */
export const summarize = (scenarios, cells) =>
  scenarios.flatMap((scenario) => {
    const own = cells.filter((one) => one.scenario === scenario.name)
    return scenario.metrics.map((metric) => row(scenario, metric, own))
  })

const number = (value) => {
  if (Number.isInteger(value) && value < 100) return String(value)
  if (value >= 10_000) return `${(value / 1000).toFixed(1)}k`
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)
}

const figure = (result, isReference) => {
  if (result === undefined) return "–"
  if (result.median === undefined) return "fails"
  if (isReference || result.ratio === undefined) return number(result.median)
  return `${number(result.median)}  ${result.ratio.toFixed(2)}×`
}

/** What is aimed at with one of ours, and what became of it. */
const target = (one, name) => {
  const met = one.verdicts[name]
  if (met === undefined) return ""
  const sign = one.better === "less" ? "≤" : "≥"
  const mark = one.absolute ? one.unit === "" ? "" : ` ${one.unit}` : "×"
  const { first, goal } = one.targets[name]
  const aims = [first, goal]
    .filter((value, index, both) => value !== undefined && both.indexOf(value) === index)
    .map((value) => `${sign} ${value}${mark}`)
    .join(", ")
  return `${aims}: ${met}`
}

const legend = `× is the ratio to ${contestants[reference].title} of the same round. Targets: first, goal. cpu is per call, of the client's process.`

/** A table for a terminal: figure and ratio to the raw SDK 1.x client for each contestant. */
export const table = (rows) => {
  const names = Object.keys(contestants).filter((name) => rows.some((one) => one.results[name] !== undefined))
  const judged = ours.filter((name) => rows.some((one) => one.verdicts[name] !== undefined))
  const head = ["", ...names.map((name) => contestants[name].title), ...judged.map((name) => `${contestants[name].title} aims at`)]
  const body = rows.map((one) => [
    `${one.title}, ${one.metric}${one.unit === "" ? "" : ` (${one.unit})`}`,
    ...names.map((name) => figure(one.results[name], name === reference)),
    ...judged.map((name) => target(one, name))
  ])
  const lines = [head, ...body]
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  const text = (line) =>
    line
      .map((value, column) => column === 0 || column > names.length ? value.padEnd(widths[column]) : value.padStart(widths[column]))
      .join("  ")
      .trimEnd()
  return [text(head), widths.map((width) => "─".repeat(width)).join("  ").trimEnd(), ...body.map(text), "", legend].join("\n")
}
