/**
 * The official suite's server scenarios: `node conformance/servers.mjs`. Each scenario is a run of its own at each wire;
 * one without a single success counts as failed. `--table` writes the result into docs/conformance.md, `--only text`
 * runs the scenarios with the text in their names, `--target name` (also repeated) runs one target, `--at-once 1` one scenario
 * after the other.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { attempt, current, inParallel, run, sourceUrl, start, writeSection } from "./suite.mjs"

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    target: { type: "string", multiple: true },
    "at-once": { type: "string", default: "2" },
    table: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false }
  }
})
const partial = values.only !== undefined || values.target !== undefined
if (values.table && partial) throw new Error("--table is for a whole run, without --only and --target")
const atOnce = Number(values["at-once"])
if (!Number.isInteger(atOnce) || atOnce < 1) throw new Error(`--at-once is not a number of scenarios: ${values["at-once"]}`)

const here = fileURLToPath(new URL(".", import.meta.url))
const reference = join(here, "reference.mjs")
const bin = join(here, "../dist/bin/mcp-runtime.cjs")

/** The gateway, without a token and without approvals, because the suite can do neither. */
const gateway = (program, last, server) => {
  const folder = mkdtempSync(join(tmpdir(), "mcp-gateway-"))
  last(() => rmSync(folder, { recursive: true, force: true }))
  const config = join(folder, "mcp.json")
  writeFileSync(config, JSON.stringify({ servers: { reference: server } }))
  const state = { XDG_CACHE_HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, XDG_STATE_HOME: folder }
  return program(
    [bin, "serve", "--http", "0", "--no-token", "--plain", "--caller-decides", "--config", config],
    { env: { ...process.env, ...state } }
  )
}

/**
 * The targets. `start` starts one and returns its URL; `program` starts a Node program and returns the URL that it
 * prints. Programs are stopped in reverse order. The suite cannot send a token, so targets require none.
 */
const targets = [
  {
    name: "reference",
    about: `[the reference](${sourceUrl("conformance/reference.mjs")}) itself, over the SDK's own HTTP`,
    start: ({ program }) => program([reference, "--http", "0"])
  },
  {
    name: "gateway",
    about: "`mcp-runtime serve --http` in front of the reference over stdio",
    start: ({ last, program }) => gateway(program, last, { command: process.execPath, args: [reference] })
  },
  {
    name: "gateway-http",
    about: "the same in front of the reference over HTTP",
    start: async ({ last, program }) => gateway(program, last, { url: await program([reference, "--http", "0"]) })
  },
  {
    name: "agent",
    about: "[an agent](../examples/agent-server.ts), over HTTP",
    start: ({ program }) => program([join(here, "agent.mjs")])
  }
].filter(({ name }) => values.target?.includes(name) ?? true)

/** The tool of this scenario closes the stream of the SDK that it is written with; a gateway's stream is not in its reach. */
const noPolling = "the tool closes its own stream, which is not the one to the caller"

/**
 * The scenarios that use the tools, resources and prompts of the reference: an agent has two tools and nothing else.
 */
const ofReference = [
  "completion-complete",
  "tools-call-simple-text",
  "tools-call-image",
  "tools-call-audio",
  "tools-call-embedded-resource",
  "tools-call-mixed-content",
  "tools-call-with-logging",
  "tools-call-error",
  "tools-call-sampling",
  "tools-call-with-progress",
  "tools-call-elicitation",
  "elicitation-sep1034-defaults",
  "elicitation-sep1330-enums",
  "resources-read-text",
  "resources-read-binary",
  "resources-templates-read",
  "resources-unsubscribe",
  "resources-subscribe",
  "prompts-get-simple",
  "prompts-get-with-args",
  "prompts-get-embedded-resource",
  "prompts-get-with-image",
  "json-schema-2020-12",
  "input-required-result-basic-elicitation",
  "input-required-result-basic-sampling",
  "input-required-result-basic-list-roots",
  "input-required-result-request-state",
  "input-required-result-multiple-input-requests",
  "input-required-result-multi-round",
  "input-required-result-missing-input-response",
  "input-required-result-non-tool-request",
  "input-required-result-result-type",
  "input-required-result-tampered-state",
  "input-required-result-capability-check",
  "input-required-result-ignore-extra-params",
  "http-custom-header-server-validation",
  "server-sse-polling"
]

/** By target and scenario, why a scenario does not apply to it; one that passes all the same counts as a mistake here. */
const doesNotApply = {
  reference: {},
  gateway: { "server-sse-polling": noPolling },
  "gateway-http": { "server-sse-polling": noPolling },
  agent: {
    ...Object.fromEntries(ofReference.map((name) => [name, "an agent has two tools and nothing else"])),
    "server-stateless": "four of its 28 checks call tools of the reference; the other 24 pass"
  }
}

/** Scenarios that change what a target has, and so disturb others, or that measure in fractions of a second. */
const alone = new Set(["server-stateless", "server-sse-polling"])

const readyWithin = 30_000
const stoppedWithin = 5000
const keptOutput = 8000

/** Gives the url that a program prints, and sees to it that the program ends. */
const beginProgram = (last) => (args, options = {}) =>
  new Promise((resolve, reject) => {
    const child = start(args, { ...options, stdio: ["pipe", "pipe", "pipe"] })
    const ended = new Promise((done) => child.once("exit", done))
    last(async () => {
      child.kill("SIGTERM")
      const enough = new AbortController()
      const late = pause(stoppedWithin, undefined, { signal: enough.signal }).then(() => child.kill("SIGKILL"))
      await Promise.race([ended, late])
      enough.abort()
    })
    let output = ""
    const timer = setTimeout(() => reject(new Error(`${args.join(" ")} printed no url:\n${output}`)), readyWithin)
    const settle = (how, value) => {
      clearTimeout(timer)
      how(value)
    }
    const hear = (data) => {
      output = (output + data).slice(-keptOutput)
      // the line has to be whole, or a part of the url might still be on its way
      const [url] = output.match(/\bhttp:\/\/\S+(?=\s)/) ?? []
      if (url !== undefined) settle(resolve, url)
    }
    child.stdout.on("data", hear)
    child.stderr.on("data", hear)
    child.stdin.on("error", () => undefined)
    child.once("error", (error) => settle(reject, error))
    child.once("exit", (code) => settle(reject, new Error(`${args.join(" ")} ended with ${code}:\n${output}`)))
  })

/** Uses a running target, and stops it in any case. */
const withTarget = async (target, use) => {
  const finalizers = []
  const last = (finalizer) => finalizers.unshift(finalizer)
  try {
    return await use(await target.start({ program: beginProgram(last), last }))
  } finally {
    for (const finalizer of finalizers) await finalizer()
  }
}

/** What a revision asks of servers, and what the suite runs besides without scoring it; extensions are left out. */
const requirements = async (revision) => {
  const { output } = await run(current, ["list", "--server", "--requirements", revision])
  const required = []
  const notScored = []
  let section = ""
  for (const line of output.split("\n")) {
    const heading = /^(\S.*):$/.exec(line) ?? /^ {2}(\S+) \(\d+\):$/.exec(line)
    if (heading !== null) section = heading[1]
    const [, name, side] = /^\s+- (\S+)(?: \[(\w+)\])?$/.exec(line) ?? []
    if (name === undefined) continue
    if (section.startsWith("Server scenarios")) required.push(name)
    else if (side === "server" && section !== "extension") notScored.push(name)
  }
  return { required, notScored }
}

/** The suite only tells what its active suite is by running it; no request leaves for a port that `fetch` refuses. */
const activeSuite = async () => {
  const { output } = await run(current, ["server", "--suite", "active", "--url", "http://127.0.0.1:9/mcp"])
  return { active: Array.from(output.matchAll(/^=== Running scenario: (\S+) ===$/gm), ([, name]) => name) }
}

/** The wires, and how many scenarios there are of each: one that is missing is as bad as one that fails. */
const wires = [
  {
    id: "2025-11-25",
    // the default wire of the suite
    sets: async () => ({ ...await requirements("2025-11-25"), ...await activeSuite() }),
    of: { required: 30, notScored: 3, active: 31 }
  },
  { id: "2026-07-28", sets: () => requirements("2026-07-28"), of: { required: 37, notScored: 3 } }
]

const titles = { required: "required", notScored: "not scored", active: "active suite" }

let bad = 0

for (const wire of wires) {
  wire.scenarios = await wire.sets()
  for (const [set, count] of Object.entries(wire.of)) {
    const found = wire.scenarios[set].length
    if (found === count) continue
    console.log(`${wire.id}: ${found} scenarios are ${titles[set]}, and ${count} were expected`)
    bad++
  }
  wire.all = Array.from(new Set(Object.values(wire.scenarios).flat()))
    .filter((name) => values.only === undefined || name.includes(values.only))
}

const jobs = wires.flatMap((wire) => wire.all.map((scenario) => ({ wire, scenario })))

/** By target, wire and scenario. */
const results = new Map()
const keyOf = (target, wire, scenario) => `${target.name} ${wire.id} ${scenario}`

const runOne = async (target, url, { scenario, wire }) => {
  const key = keyOf(target, wire, scenario)
  const args = ["server", "--url", url, "--scenario", scenario, "--spec-version", wire.id]
  const reason = doesNotApply[target.name]?.[scenario]
  let result = await attempt(current, args)
  if (!result.passed && reason === undefined) {
    // some measure in fractions of a second, and a machine that is busy is no fault of a server
    console.log(`again  ${key}: ${result.succeeded} passed, ${result.failed} failed, exit ${result.code}`)
    result = await attempt(current, args)
  }
  const state = result.passed ? "ok" : reason === undefined ? "FAILED" : "n/a"
  results.set(key, { ...result, state })
  const { code, failed, succeeded, warnings } = result
  console.log(
    `${state.padEnd(6)} ${key}: ${succeeded} passed, ${failed} failed, ${warnings} warnings, exit ${code}`
  )
  if (state === "n/a") console.log(`       because ${reason}`)
  if (state === "FAILED" || (values.verbose && warnings > 0)) console.log(result.output)
  // a slow machine sometimes passes the scenario about polling
  const stale = result.passed && reason !== undefined && reason !== noPolling
  if (stale) console.log(`${key} passes, although it is said not to apply`)
  if (stale || state === "FAILED") bad++
}

const runAll = (target) =>
  withTarget(target, async (url) => {
    const work = (job) => runOne(target, url, job)
    await inParallel(jobs.filter(({ scenario }) => !alone.has(scenario)), atOnce, work)
    await inParallel(jobs.filter(({ scenario }) => alone.has(scenario)), 1, work)
  })

const began = Date.now()
for (const target of targets) {
  try {
    await runAll(target)
  } catch (error) {
    console.log(`FAILED ${target.name}: ${error.message}`)
    bad++
  }
}

const columns = targets.flatMap((target) => wires.map((wire) => ({ target, wire })))

const resultOf = ({ target, wire }, scenario) => results.get(keyOf(target, wire, scenario))

const total = (column, set) => {
  const asked = (column.wire.scenarios[set] ?? []).filter((scenario) => column.wire.all.includes(scenario))
  if (asked.length === 0) return undefined
  const passed = asked.filter((scenario) => resultOf(column, scenario)?.passed === true)
  return `${passed.length}/${asked.length}`
}

for (const column of columns) {
  for (const [set, title] of Object.entries(titles)) {
    const count = total(column, set)
    if (count !== undefined) console.log(`${column.target.name} ${column.wire.id}, ${title}: ${count}`)
  }
}
console.log(`${results.size} runs in ${Math.round((Date.now() - began) / 1000)} s`)

if (values.table) {
  const word = (result) =>
    result === undefined
      ? "·"
      : { ok: `pass (${result.succeeded})`, "n/a": "n/a", FAILED: "FAIL" }[result.state]
  const row = (cells) => `| ${cells.join(" | ")} |`
  const names = Array.from(new Set(wires.flatMap(({ all }) => all)))
  const reasons = targets.flatMap(({ name }) => {
    const entries = Object.entries(doesNotApply[name] ?? {})
    return Array.from(new Set(entries.map(([, reason]) => reason)), (reason) => {
      const [first, ...others] = entries.filter(([, each]) => each === reason).map(([scenario]) => scenario)
      return `- ${name}, ${others.length === 0 ? first : `${others.length + 1} scenarios`}: ${reason}`
    })
  })
  writeSection("Servers", [
    "The scenarios that a revision requires, those that the suite runs without scoring (without extensions), and its active",
    `suite, in version ${current.version} (\`npm run conformance:servers\`). Targets:`,
    "",
    ...targets.map(({ about, name }) => `- ${name}: ${about}`),
    "",
    row(["scenario", ...columns.map(({ target, wire }) => `${target.name} ${wire.id}`)]),
    `|${"---|".repeat(columns.length + 1)}`,
    ...names.map((name) => row([name, ...columns.map((column) => word(resultOf(column, name)))])),
    ...Object.entries(titles).map(([set, title]) =>
      row([`**${title}**`, ...columns.map((column) => total(column, set) ?? "·")])
    ),
    ...(reasons.length === 0 ? [] : ["", "Scenarios that do not apply (n/a):", "", ...reasons])
  ])
}
process.exitCode = bad === 0 ? 0 : 1
