/**
 * `npm run bench`: the whole runtime and a bare client beside the raw SDK clients, the AI SDK and mcporter, on the same
 * servers, in the same run. The last two are installed on demand, beside the project.
 *
 * Every cell is a fresh process. Rounds are interleaved and begin with another contestant each time; a ratio is the
 * median of the ratios of the rounds, so that a slow minute of the machine slows both sides of it. Not a timed test:
 * a missed target is printed, and does not fail the run.
 */
import { execFile, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { cpus, loadavg } from "node:os"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { contestants, ours } from "./contestants/index.mjs"
import { install } from "./peers/install.mjs"
import { summarize, table } from "./report.mjs"
import { scenarios } from "./scenarios.mjs"

/** The measurements with separate programs. */
const parts = ["cli", "discovery", "gateway", "guard", "safety", "search"]
  .filter((part) => existsSync(new URL(`${part}.mjs`, import.meta.url)))

const usage = `npm run bench -- [part] [options]

  part               ${parts.join(", ")}: only that, with the options of bench/<part>.mjs

  --quick            one round, fewer calls, without the cells that take more than a few seconds
  --only NAME        scenarios whose name begins with NAME; repeatable
  --contestant NAME  only this contestant, beside the raw SDK 1.x client; repeatable
  --rounds N         rounds of every scenario
  --json FILE        where the figures go (default: bench/results/<time>.json)
  --dist DIR         the compiled package (default: build/modules); with it nothing is built
  --list             the names, and nothing else`

const root = fileURLToPath(new URL("..", import.meta.url))

const fail = (message) => {
  console.error(message)
  process.exit(2)
}

const build = () => {
  const tsc = join(root, "node_modules/typescript/bin/tsc")
  const built = spawnSync(process.execPath, [tsc], { cwd: root, stdio: "inherit" })
  if (built.status !== 0) fail("the package does not compile")
}

const [part, ...more] = process.argv.slice(2)
if (parts.includes(part)) {
  if (!more.some((argument) => argument.startsWith("--dist"))) build()
  const program = fileURLToPath(new URL(`${part}.mjs`, import.meta.url))
  process.exit(spawnSync(process.execPath, [program, ...more], { cwd: root, stdio: "inherit" }).status ?? 1)
}

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [] },
    contestant: { type: "string", multiple: true, default: [] },
    rounds: { type: "string" },
    json: { type: "string" },
    dist: { type: "string" },
    list: { type: "boolean", default: false },
    help: { type: "boolean", default: false }
  }
})

const chosen = scenarios
  .filter((scenario) => options.only.length === 0 || options.only.some((name) => scenario.name.startsWith(name)))
  .filter((scenario) => !options.quick || options.only.length > 0 || scenario.slow !== true)

if (options.help || options.list) {
  const names = scenarios.map((scenario) => `${scenario.name.padEnd(16)} ${scenario.title}`)
  console.log(options.help ? usage : [...names, "", ...Object.keys(contestants)].join("\n"))
  process.exit(0)
}
if (chosen.length === 0) fail(`no scenario is called ${options.only.join(", ")}; see --list`)
for (const name of options.contestant) if (!Object.hasOwn(contestants, name)) fail(`no contestant is called ${name}`)
const rounds = options.rounds === undefined ? undefined : Number(options.rounds)
if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0)) fail("--rounds takes a positive number")

if (options.dist === undefined) build()
const dist = resolve(options.dist ?? join(root, "build/modules"))

const wanted = Object.keys(contestants).filter((name) =>
  options.contestant.length === 0 || name === "sdk1" || options.contestant.includes(name)
)
const needed = wanted.flatMap((name) => contestants[name].needs ?? [])
const isInstalled = install(needed)
if (!isInstalled) console.error(`without ${needed.join(" and ")}, which could not be installed`)
const takesPart = (name) => wanted.includes(name) && (isInstalled || contestants[name].needs === undefined)
const roundsOf = (scenario) => rounds ?? (options.quick ? 1 : scenario.rounds)

const started = Date.now()
const running = new Set()
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL")
})
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130))

/** Runs one cell in a new process. */
const cell = (scenario, contestant, round) =>
  new Promise((done) => {
    const file = fileURLToPath(new URL("cell.mjs", import.meta.url))
    const args = ["--expose-gc", "--no-warnings", file, scenario.name, contestant, "--dist", dist]
    if (options.quick) args.push("--quick")
    const child = execFile(process.execPath, args, { timeout: 120_000, killSignal: "SIGKILL" }, (error, stdout, stderr) => {
      running.delete(child)
      const base = { scenario: scenario.name, contestant, round }
      const figures = stdout.trim().split("\n").at(-1) ?? ""
      done(
        error === null && figures.startsWith("{")
          ? { ...base, figures: JSON.parse(figures) }
          : { ...base, error: reason(error, stderr) }
      )
    })
    running.add(child)
  })

const reason = (error, stderr) => {
  if (error?.killed === true) return "not done within 120 s"
  const lines = stderr.split("\n").filter((line) => line.trim() !== "")
  return lines.find((line) => /error|fail/i.test(line))?.trim().slice(0, 300) ?? `exit code ${error?.code}`
}

const cells = []
const most = Math.max(...chosen.map(roundsOf))
for (let round = 0; round < most; round++) {
  for (const scenario of chosen) {
    if (round >= roundsOf(scenario)) continue
    const names = scenario.contestants.filter(takesPart)
    const order = names.map((_, index) => names[(index + round) % names.length])
    const note = (contestant) => {
      const seconds = Math.round((Date.now() - started) / 1000)
      process.stderr.write(`[${seconds} s] round ${round + 1}/${most}  ${scenario.name}  ${contestant}\n`)
    }
    if (scenario.parallel === true) {
      note(order.join(" "))
      cells.push(...await Promise.all(order.map((contestant) => cell(scenario, contestant, round))))
      continue
    }
    for (const contestant of order) {
      note(contestant)
      cells.push(await cell(scenario, contestant, round))
    }
  }
}

const summary = summarize(chosen, cells)
const seconds = Math.round((Date.now() - started) / 1000)
const report = {
  at: new Date(started).toISOString(),
  seconds,
  node: process.version,
  machine: { cpu: cpus()[0]?.model, cores: cpus().length, load: loadavg() },
  options,
  summary,
  cells
}
const file = resolve(options.json ?? join(root, "bench/results", `${report.at.replaceAll(":", "-")}.json`))
mkdirSync(dirname(file), { recursive: true })
writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`)

console.log(table(summary))
const broken = cells.filter((one) => one.error !== undefined)
for (const one of broken) console.log(`failed: ${one.scenario} ${one.contestant} (round ${one.round + 1}): ${one.error}`)
console.log(`${cells.length} cells in ${seconds} s on node ${process.version}; figures in ${relative(process.cwd(), file)}`)
process.exitCode = broken.some((one) => ours.includes(one.contestant)) ? 1 : 0
