/** Runs histories from the command line: `npm run simulate -- --seeds 1000`, `npm run simulate -- --seed 123`. */
import { parseArgs } from "node:util"
import { play, shrink } from "./playing.ts"
import type * as Simulation from "./simulation.ts"

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    small: { type: "boolean", default: false },
    stop: { type: "string", default: "5" },
    shrink: { type: "boolean", default: false },
    lines: { type: "string", default: "60" }
  }
})

const size = values.small ? "small" : "large"

const tell = ({ script, trace, violations }: Simulation.Report, lines: number): void => {
  console.log(`seed ${script.seed}: ${violations.length} violations`)
  for (const line of trace.slice(Math.max(0, trace.length - lines))) console.log(line)
  for (const violation of violations) console.log(`  ${violation}`)
}

if (values.seed !== undefined) {
  let report = await play(Number(values.seed), size)
  if (values.shrink && report.violations.length > 0) report = await shrink(report)
  const { hosts, servers, steps, ...rest } = report.script
  console.log(JSON.stringify({ ...rest, steps: steps.length }))
  for (const server of servers) console.log(JSON.stringify(server))
  for (const host of hosts) if (servers.some((one) => one.host === host.host)) console.log(JSON.stringify(host))
  tell(report, Infinity)
  process.exitCode = report.violations.length > 0 ? 1 : 0
} else {
  const [from, seeds] = [Number(values.from), Number(values.seeds)]
  const began = performance.now()
  let millis = 0
  let calls = 0
  let failed = 0
  let done = 0
  const kinds = new Map<string, number>()
  for (let seed = from; seed < from + seeds; seed++) {
    const report = await play(seed, size)
    done++
    millis += report.millis
    calls += report.calls
    for (const outcome of report.outcomes) kinds.set(outcome, (kinds.get(outcome) ?? 0) + 1)
    if (report.violations.length === 0) continue
    failed++
    tell(report, Number(values.lines))
    if (failed >= Number(values.stop)) break
  }
  const took = (performance.now() - began) / 1000
  for (const [kind, count] of Array.from(kinds).toSorted(([, a], [, b]) => b - a)) {
    console.log(`${String(count).padStart(8)}  ${kind}`)
  }
  console.log(
    `${done} seeds, ${failed} failed; ${calls} calls in ${(millis / 3_600_000).toFixed(0)} virtual hours; ${
      took.toFixed(1)
    } s: ${(done / took).toFixed(1)} seeds/s, ${(millis / 3_600_000 / took).toFixed(1)} virtual hours/s`
  )
  process.exitCode = failed > 0 ? 1 : 0
}
