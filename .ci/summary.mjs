// Reads vitest's JSON reports: the slowest tests first, then the line that is read by machines, last.
import { readFileSync } from "node:fs"

const reports = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, "utf8")))
const files = reports.flatMap(({ testResults }) => testResults)
const tests = files.flatMap((file) => file.assertionResults)
const sum = (key) => reports.reduce((all, report) => all + report[key], 0)
const slowest = tests.toSorted((a, b) => (b.duration ?? 0) - (a.duration ?? 0)).slice(0, 10)

for (const { duration = 0, fullName } of slowest) console.log(`${String(Math.round(duration)).padStart(6)} ms  ${fullName}`)

// A file that could not be loaded, or whose hook failed, has no failed test to count: it counts as one.
const broken = files.filter((file) =>
  file.status === "failed" && file.assertionResults.every(({ status }) => status !== "failed")
).length
const left = sum("numPendingTests") + sum("numTodoTests")
if (left > 0) console.log(`${left} skipped`)
console.log(`${sum("numPassedTests")} passed, ${sum("numFailedTests") + broken} failed`)
