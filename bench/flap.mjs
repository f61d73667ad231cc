/**
 * Calls a server that dies soon after each start, without a pause, under a runtime with default settings: `npm run
 * build && node bench/flap.mjs`. Not a timed test: it prints what happened, and fails on more process starts than the
 * storm rule allows, an error without a tag, a call that hangs or runs twice, or a process that is left behind.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    "die-after": { type: "string", default: "300" },
    "call-every": { type: "string", default: "100" },
    dist: { type: "string", default: fileURLToPath(new URL("../build/modules", import.meta.url)) }
  }
})
const duration = Number(values.seconds) * 1000

const load = (path) => import(resolve(values.dist, path))
const McpError = await load("McpError.js")
const McpRuntime = await load("McpRuntime.js")
const NodeMcpRuntime = await load("node/NodeMcpRuntime.js")
const ReconnectPolicy = await load("resilience/ReconnectPolicy.js")
const ServerConfig = await load("config/ServerConfig.js")

const folder = mkdtempSync(join(tmpdir(), "mcp-flap-"))
const journal = join(folder, "journal")
const entries = () => readFileSync(journal, "utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line))
const server = ServerConfig.stdio({
  name: "flap",
  command: process.execPath,
  args: [
    fileURLToPath(new URL("../test/fixtures/runtime/thin.mjs", import.meta.url)),
    journal,
    `dieAfter=${values["die-after"]}`
  ]
})

const runtime = ManagedRuntime.make(
  NodeMcpRuntime.layerTest({ servers: [server] })
)
const mcp = await runtime.runPromise(McpRuntime.McpRuntime)

const began = performance.now()
const outcomes = new Map()
const count = (outcome) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
let longest = 0
let asked = 0
const faults = []
while (performance.now() - began < duration) {
  const since = performance.now()
  asked++
  const outcome = await runtime.runPromise(Effect.either(mcp.callTool({ server: "flap", tool: "pid" })))
  longest = Math.max(longest, performance.now() - since)
  if (outcome._tag === "Right") count("answered")
  else if (McpError.isMcpError(outcome.left)) count(`${outcome.left._tag}, ${outcome.left.outcome}`)
  else faults.push(`an error without a tag: ${String(outcome.left)}`)
  await sleep(Number(values["call-every"]))
}
const { servers: ends } = await runtime.runPromise(mcp.teardownReport)
await runtime.dispose()

const starts = entries().filter(({ at }) => at !== undefined)
const executions = entries().filter(({ executed }) => executed !== undefined).length
const { stormReconnects, stormWithin } = ReconnectPolicy.defaults
const within = Duration.toMillis(stormWithin)
const most = Math.max(...starts.map(({ at }) => starts.filter((other) => other.at >= at && other.at < at + within).length))

// the first start is no reconnect
if (most > stormReconnects + 1) faults.push(`${most} process starts in ${within} ms`)
if (executions > asked) faults.push(`${executions} executions of ${asked} calls`)
if (longest > 15_000) faults.push(`a call took ${Math.round(longest)} ms`)
for (const { pid } of starts) {
  try {
    process.kill(pid, 0)
    faults.push(`process ${pid} is left`)
  } catch {
    // gone, as it should be
  }
}
rmSync(folder, { recursive: true })

console.log(`${asked} calls in ${values.seconds} s, one at a time; the longest took ${Math.round(longest)} ms`)
for (const [outcome, times] of outcomes) console.log(`  ${String(times).padStart(5)}  ${outcome}`)
console.log(`${starts.length} process starts, at most ${most} within ${within / 1000} s; ${ends.length} ends recorded`)
console.log(`  at ${starts.map(({ at }) => `${((at - starts[0].at) / 1000).toFixed(1)} s`).join(", ")}`)
console.log(`${executions} executions`)
for (const fault of faults) console.error(`FAULT: ${fault}`)
process.exit(faults.length === 0 ? 0 : 1)
