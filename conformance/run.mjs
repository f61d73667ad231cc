/**
 * The official suite's client scenarios against this package: `npm run conformance`. Each scenario runs in a process of its
 * own, three at a time; one without a single success counts as failed, and so does one whose client fails.
 * `--table` writes the result into docs/conformance.md, `--only text` runs the scenarios with the text in their names.
 */
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { attempt, bundle, current, inParallel, published, run, sourceUrl, writeSection } from "./suite.mjs"

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    suite: { type: "string" },
    table: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false }
  }
})

/** Milliseconds for the client of a scenario: no server waits for one, and a machine that is busy is no fault of a client. */
const patience = 90_000

const here = fileURLToPath(new URL(".", import.meta.url))
const client = `exec ${process.execPath} ${await bundle(join(here, "client.mjs"), "esm")}`

/** They wait as much as they compute. */
const atOnce = 3

/** Scenarios that measure time run alone. */
const alone = new Set(["sse-retry"])

/** The columns, with their numbers of scenarios: a missing scenario counts as a failure. */
const columns = [
  { id: "2025-11-25", suite: current, wire: "2025-11-25", of: 19 },
  { id: "2026-07-28", suite: current, wire: "2026-07-28", of: 33 },
  { id: "all", suite: current, wire: undefined, of: 48 },
  { id: "published", suite: published, wire: undefined, of: 26 }
].filter(({ id }) => values.suite === undefined || values.suite === id)
if (columns.length === 0) throw new Error(`there is no suite "${values.suite}"`)

/** The client scenarios that a suite knows; with a wire, those that are about it. */
const scenariosOf = async ({ suite, wire }) => {
  const { output } = await run(suite, ["list", "--client", ...(wire === undefined ? [] : ["--spec-version", wire])])
  const after = output.slice(Math.max(0, output.indexOf("Client scenarios")))
  return Array.from(after.matchAll(/^\s+- (\S+)/gm), ([, name]) => name)
}

const argumentsFor = ({ wire }, scenario) => [
  "client",
  "--command",
  client,
  "--scenario",
  scenario,
  "--timeout",
  String(patience),
  ...(wire === undefined ? [] : ["--spec-version", wire])
]

const results = new Map()
let bad = 0
let ran = 0
for (const column of columns) {
  const all = await scenariosOf(column)
  const scenarios = all.filter((name) => values.only === undefined || name.includes(values.only))
  if (values.only === undefined && scenarios.length !== column.of) {
    console.log(`${column.id}: ${scenarios.length} scenarios, and ${column.of} were expected`)
    bad++
  }
  ran += scenarios.length
  let passed = 0
  // the rows of the table are in the suite's order
  for (const scenario of scenarios) results.set(scenario, results.get(scenario) ?? new Map())
  const work = async (scenario) => {
    const result = await attempt(column.suite, argumentsFor(column, scenario))
    if (result.passed) passed++
    else bad++
    results.get(scenario).set(column.id, result)
    const { code, failed, succeeded, warnings } = result
    console.log(
      `${result.passed ? "ok    " : "FAILED"} ${column.id} ${scenario}: ${succeeded} passed, ${failed} failed, ` +
        `${warnings} warnings, exit ${code}`
    )
    if (!result.passed || (values.verbose && warnings > 0)) console.log(result.output)
  }
  await inParallel(scenarios.filter((scenario) => !alone.has(scenario)), atOnce, work)
  await inParallel(scenarios.filter((scenario) => alone.has(scenario)), 1, work)
  column.passed = passed
  console.log(`${column.id} (${column.suite.version}): ${passed}/${scenarios.length}`)
}

if (values.table) {
  const word = (result) => result === undefined ? "·" : result.passed ? `pass (${result.succeeded})` : "FAIL"
  writeSection("Client", [
    `[A small program](${sourceUrl("conformance/client.mjs")}) on \`McpRuntime\`, one run per scenario (\`npm run conformance\`).`,
    "",
    `| scenario | ${columns.map(({ id, suite }) => `${id} (${suite.version})`).join(" | ")} |`,
    `|---|${columns.map(() => "---").join("|")}|`,
    ...Array.from(results, ([name, row]) => `| ${name} | ${columns.map(({ id }) => word(row.get(id))).join(" | ")} |`),
    `| **passed** | ${columns.map(({ of, passed }) => `${passed}/${of}`).join(" | ")} |`
  ])
}
if (ran === 0) console.log(`no scenario has "${values.only}" in its name`)
process.exitCode = bad === 0 && ran > 0 ? 0 : 1
