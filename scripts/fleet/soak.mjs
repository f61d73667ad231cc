/**
 * Random faults in a fleet under load: `npm run soak:fleet -- [--faults 200] [--seed 1] [--only kill]`. Ends with 1 if a call
 * was executed twice, was told something untrue, outlived its deadline, or left a process.
 */
import { parseArgs } from "node:util"
import { faults, randomOf, round } from "./faults.mjs"
import { startFleet } from "./harness.mjs"

const { values } = parseArgs({
  options: {
    faults: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    only: { type: "string", multiple: true }
  }
})
const random = randomOf(Number(values.seed))
const names = values.only ?? Object.keys(faults)
const fleet = await startFleet()
await fleet.startNode("both")
await fleet.startNode("both")
await fleet.startNode("caller")

const seen = []
try {
  for (let index = 1; index <= Number(values.faults); index++) {
    const name = names[Math.floor(random() * names.length)]
    const result = await round(fleet, name, random)
    seen.push(result)
    const outcomes = Object.entries(result.outcomes).map(([outcome, count]) => `${count} ${outcome}`).join(", ")
    console.log(`${String(index).padStart(4)}  ${name.padEnd(16)} ${String(result.failOver).padStart(6)} ms  ${outcomes}`)
    for (const violation of result.violations) console.log(`      VIOLATION  ${violation}`)
  }
} finally {
  await fleet.stop()
}

const at = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]
for (const name of [...names, "all"]) {
  const times = seen.filter((result) => name === "all" || result.name === name).map(({ failOver }) => failOver).sort((a, b) => a - b)
  if (times.length === 0) continue
  console.log(`${name}: ${times.length} faults, fail-over median ${at(times, 0.5)} ms, 95 % ${at(times, 0.95)} ms, longest ${times.at(-1)} ms`)
}
const violations = seen.flatMap((result) => result.violations)
const calls = seen.reduce((sum, result) => sum + result.calls, 0)
console.log(`${seen.length} faults, ${calls} calls: ${violations.length} violations`)
process.exitCode = violations.length === 0 ? 0 : 1
