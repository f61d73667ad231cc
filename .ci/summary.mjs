// Reads vitest's JSON report: the slowest tests first, then the line that is read by machines, last.
import { readFileSync } from "node:fs"

const report = JSON.parse(readFileSync(process.argv[2], "utf8"))
const tests = report.testResults.flatMap((file) => file.assertionResults)
const slowest = tests.toSorted((a, b) => (b.duration ?? 0) - (a.duration ?? 0)).slice(0, 10)

for (const { duration = 0, fullName } of slowest) console.log(`${String(Math.round(duration)).padStart(6)} ms  ${fullName}`)

// A file that could not be loaded, or whose hook failed, has no failed test to count: it counts as one.
const broken = report.testResults.filter((file) =>
  file.status === "failed" && file.assertionResults.every(({ status }) => status !== "failed")
).length
const left = report.numPendingTests + report.numTodoTests
if (left > 0) console.log(`${left} skipped`)
console.log(`${report.numPassedTests} passed, ${report.numFailedTests + broken} failed`)
