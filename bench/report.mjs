/**
 * From cells to a table: medians, ratios of the same round, and what became of the targets.
 */
import { contestants, ours, reference } from "./contestants/index.mjs"
import { median } from "./statistics.mjs"

const verdict = (better, target, value) =>
  (better === "less" ? value <= target : value >= target) ? "met" : "missed"

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
    const target = metric.targets[name]
    const judged = metric.absolute === true ? results[name]?.median : results[name]?.ratio
    if (target !== undefined && judged !== undefined) verdicts[name] = verdict(metric.better, target, judged)
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

const target = (one, name) => {
  if (one.verdicts[name] === undefined) return ""
  const mark = one.absolute ? one.unit === "" ? "" : ` ${one.unit}` : "×"
  return `${one.better === "less" ? "≤" : "≥"} ${one.targets[name]}${mark}`
}

const legend = `× is the ratio to ${contestants[reference].title} of the same round. cpu is per call, of the client's process.`

/** Lines with aligned columns; the first column and those of verdicts are texts. */
const aligned = ([head, ...body], isText) => {
  const widths = head.map((_, column) => Math.max(...[head, ...body].map((line) => line[column].length)))
  const text = (line) =>
    line.map((value, column) => isText(column) ? value.padEnd(widths[column]) : value.padStart(widths[column])).join("  ").trimEnd()
  return [text(head), widths.map((width) => "─".repeat(width)).join("  "), ...body.map(text)]
}

const titleOf = (one) => `${one.title}, ${one.metric}${one.unit === "" ? "" : ` (${one.unit})`}`

/** The figures and ratios of every contestant, and below them the targets and the ratios that are judged. */
export const table = (rows) => {
  const names = Object.keys(contestants).filter((name) => rows.some((one) => one.results[name] !== undefined))
  const figures = rows.map((one) => [titleOf(one), ...names.map((name) => figure(one.results[name], name === reference))])
  const judged = rows.filter((one) => Object.keys(one.verdicts).length > 0)
  const judgement = (one, name) => {
    const result = one.results[name]
    if (one.verdicts[name] === undefined) return ["", "", ""]
    const value = one.absolute ? number(result.median) : `${result.ratio.toFixed(2)}×`
    return [value, target(one, name), one.verdicts[name]]
  }
  const targets = judged.map((one) => [titleOf(one), ...ours.flatMap((name) => judgement(one, name))])
  return [
    ...aligned([["", ...names.map((name) => contestants[name].title)], ...figures], (column) => column === 0),
    "",
    ...aligned(
      [["target", ...ours.flatMap((name) => [contestants[name].title, "", ""])], ...targets],
      (column) => column % 3 === 0
    ),
    "",
    legend
  ].join("\n")
}
