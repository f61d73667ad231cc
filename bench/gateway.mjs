/**
 * The cost of a gateway: 1,000 concurrent calls over 16 servers, and sequential calls, compared with a client of the
 * server itself. Real processes and sockets, in interleaved rounds. `npm run bench -- gateway`, or `node
 * bench/gateway.mjs` after a build.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { median, quantile } from "./statistics.mjs"

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    calls: { type: "string", default: "1000" },
    servers: { type: "string", default: "16" },
    sequence: { type: "string", default: "300" },
    /** Flags of node for the gateway, such as --cpu-prof. */
    node: { type: "string", multiple: true, default: [] },
    json: { type: "string", default: fileURLToPath(new URL("results/gateway.json", import.meta.url)) }
  }
})

const path = (file) => fileURLToPath(new URL(file, import.meta.url))
const program = [...values.node, path("../build/modules/cli/bin.js")]
const bin = values.node.length > 0 ? program : [path("../dist/bin/mcp-runtime.cjs")]
const server = path("fixtures/stdioThin.mjs")
const names = Array.from({ length: Number(values.servers) }, (_, at) => `s${at}`)

const folder = mkdtempSync(join(tmpdir(), "mcp-gateway-bench-"))
const config = join(folder, "mcp.json")
const entry = { command: process.execPath, args: [server] }
writeFileSync(config, JSON.stringify({ servers: Object.fromEntries(names.map((name) => [name, entry])) }))
const env = { ...process.env }
for (const name of ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"]) env[name] = folder
const serve = [...bin, "serve", "--config", config, "--caller-decides"]

const client = async (transport) => {
  const one = new Client({ name: "bench", version: "1" })
  await one.connect(transport)
  return one
}

const started = []
const overHttp = async () => {
  const child = spawn(process.execPath, [...serve, "--http", "0", "--no-token", "--json"], {
    env,
    stdio: ["ignore", "pipe", "inherit"]
  })
  started.push(child)
  const url = await new Promise((resolve, reject) => {
    let text = ""
    child.once("exit", (code) => reject(new Error(`the gateway ended with ${code}`)))
    child.stdout.on("data", (data) => {
      text += data
      const found = /"url":\s*"([^"]+)"/.exec(text)
      if (found !== null) resolve(found[1])
    })
  })
  return client(new StreamableHTTPClientTransport(new URL(url)))
}

const stdio = (args) =>
  client(new StdioClientTransport({ command: process.execPath, args, env, stderr: "inherit" }))

/** Each answer is checked against its question. */
const call = async (one, name, text) => {
  const { content: [part] } = await one.callTool({ name, arguments: { text } })
  if (part.text !== text) throw new Error(`asked ${text}, and was answered ${part.text}`)
}

const crowd = async (call) => {
  const began = performance.now()
  await Promise.all(Array.from({ length: Number(values.calls) }, (_, at) => call(at % names.length, `${at}`)))
  return performance.now() - began
}

const sequence = async (call) => {
  const took = []
  for (let at = 0; at < Number(values.sequence); at++) {
    const began = performance.now()
    await call(0, `${at}`)
    took.push(performance.now() - began)
  }
  return { p50: median(took), p99: quantile(took, 0.99) }
}

try {
  const direct = await Promise.all(names.map(() => stdio([server])))
  const gateways = { stdio: await stdio(serve), http: await overHttp() }
  const contestants = {
    direct: (at, text) => call(direct[at], "echo", text),
    "gateway, stdio": (at, text) => call(gateways.stdio, `mcp__s${at}__echo`, text),
    "gateway, HTTP": (at, text) => call(gateways.http, `mcp__s${at}__echo`, text)
  }
  for (const one of Object.values(contestants)) for (const at of names.keys()) await one(at, "warm")

  const results = Object.fromEntries(Object.keys(contestants).map((name) => [name, { crowd: [], p50: [], p99: [] }]))
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [name, one] of Object.entries(contestants)) {
      const { p50, p99 } = await sequence(one)
      results[name].p50.push(p50)
      results[name].p99.push(p99)
      results[name].crowd.push(await crowd(one))
    }
  }
  const rows = Object.entries(results).map(([name, { crowd, p50, p99 }]) => ({
    name,
    crowd: median(crowd),
    p50: median(p50),
    p99: median(p99)
  }))
  const [base] = rows
  console.log(`${values.calls} calls at once over ${names.length} servers, each answer checked; then one after the other`)
  for (const { crowd, name, p50, p99 } of rows) {
    const added = name === "direct" ? "" : `, adds ${((p50 - base.p50) * 1_000).toFixed(0)} us to a call`
    console.log(
      `${name.padEnd(15)} ${crowd.toFixed(0).padStart(6)} ms  (${(crowd / base.crowd).toFixed(2)}x)   ` +
        `p50 ${p50.toFixed(3)} ms, p99 ${p99.toFixed(3)} ms${added}`
    )
  }
  mkdirSync(join(values.json, ".."), { recursive: true })
  writeFileSync(values.json, JSON.stringify({ calls: Number(values.calls), servers: names.length, rows }, null, 2))
  await Promise.all([...direct, ...Object.values(gateways)].map((one) => one.close()))
} finally {
  for (const child of started) {
    child.removeAllListeners("exit")
    const gone = new Promise((resolve) => child.once("exit", resolve))
    child.kill("SIGINT")
    await gone
  }
  rmSync(folder, { recursive: true, force: true })
}
