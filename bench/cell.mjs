/**
 * One cell of the table in a process of its own: `node --expose-gc bench/cell.mjs <scenario> <contestant>`. Prints its
 * figures as one line of JSON. Run by hand, with `--profile`, it prints where the measured part of the work spends its
 * time instead, per call, and keeps the profile in `bench/results`.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath, pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { contestants } from "./contestants/index.mjs"
import { scenarios } from "./scenarios.mjs"
import { work } from "./work.mjs"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    profile: { type: "boolean", default: false },
    count: { type: "string" },
    dist: { type: "string", default: fileURLToPath(new URL("../build/modules", import.meta.url)) }
  }
})
const scenario = scenarios.find((one) => one.name === positionals[0])
const contestant = contestants[positionals[1]]
if (scenario === undefined || contestant === undefined) throw new Error(`no such cell: ${positionals.join(" ")}`)

const script = ({ fixture }) => fileURLToPath(new URL(`fixtures/${fixture}.mjs`, import.meta.url))
const commandOf = (server) => ({ command: process.execPath, args: [script(server), ...server.args] })
// Large enough for the largest result, because the default limits are not part of the comparison.
const maxMessageBytes = 256 * 1024 * 1024

const started = async (own) => {
  const { args, command } = commandOf(own)
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] })
  const [port] = await once(child.stdout.setEncoding("utf8"), "data")
  return { server: { kind: "http", url: `http://127.0.0.1:${port.trim()}/mcp`, maxMessageBytes }, stop: () => child.kill() }
}

const reached = async (own) => {
  switch (own.kind) {
    case "http":
      return started(own)
    case "stdio":
      return { server: { kind: "stdio", ...commandOf(own), maxMessageBytes }, stop: () => {} }
    default:
      return { server: { ...own, command: "none", args: [] }, stop: () => {} }
  }
}
const { server, stop } = await reached(scenario.server)

const loading = performance.now()
const loaded = await contestant.load(pathToFileURL(`${values.dist}/`))
const load = performance.now() - loading
const params = {
  ...scenario.params,
  ...(values.quick ? scenario.quick : {}),
  ...(values.count === undefined ? {} : { count: Number(values.count) })
}
const profiler = values.profile ? await (await import("./profile.mjs")).start() : undefined
const figures = await work[scenario.work](loaded, server, params, profiler?.during ?? ((run) => run()))
stop()
if (profiler !== undefined) {
  console.error(await profiler.report(`${scenario.name}-${positionals[1]}`, params.count ?? 1))
}
// From nothing to the first connection: a contestant may load its parts before, or when they are needed.
const cold = figures.first === undefined ? undefined : load + figures.first
process.stdout.write(`${JSON.stringify({ ...figures, load, cold })}\n`, () => process.exit(0))
