/**
 * How long a person waits at a terminal: `npm run bench -- cli [--rounds N] [--bin FILE]`. Every figure is the median of
 * fresh processes, begun in turns, so that a slow minute of the machine slows all of them: nothing but Node, a script
 * over each raw SDK that calls a tool once, `mcp-runtime call` of the same tool on the same server, and what starts no
 * server. A ratio is to the script over SDK 1.x. Not a timed test: a missed target is printed, and fails nothing.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { performance } from "node:perf_hooks"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "20" },
    bin: { type: "string", default: fileURLToPath(new URL("../dist/bin/mcp-runtime.cjs", import.meta.url)) },
    dist: { type: "string" }
  }
})

const root = fileURLToPath(new URL("..", import.meta.url))
const bin = resolve(values.bin)
if (values.bin === undefined || !existsSync(bin)) {
  console.error("mcp-runtime is not bundled: npm run build")
  process.exit(2)
}

const folder = mkdtempSync(join(tmpdir(), "cli-bench-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
const workspace = join(folder, "workspace")
mkdirSync(workspace)

const server = join(root, "test/fixtures/agent/talks.mjs")
const config = join(workspace, "servers.json")
writeFileSync(config, JSON.stringify({ mcpServers: { talks: { command: process.execPath, args: [server] } } }))

/** The shortest program over a raw client that does the same. */
const script = (client, stdio) => {
  const file = join(root, "build", `cli-bench-${process.pid}-${client.includes("sdk") ? 1 : 2}.mjs`)
  mkdirSync(join(root, "build"), { recursive: true })
  process.on("exit", () => rmSync(file, { force: true }))
  writeFileSync(file, `
    import { Client } from ${JSON.stringify(client)}
    import { StdioClientTransport } from ${JSON.stringify(stdio)}
    const client = new Client({ name: "script", version: "1" })
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [${JSON.stringify(server)}] }))
    const { content } = await client.callTool({ name: "long", arguments: { chars: 10 } })
    console.log(content[0].text)
    await client.close()
  `)
  return file
}

const call = ["call", "talks/long", "chars:=10", "--config", config]
const contestants = {
  "node alone": ["-e", "0"],
  "script, SDK 1.x": [script("@modelcontextprotocol/sdk/client/index.js", "@modelcontextprotocol/sdk/client/stdio.js")],
  "script, client 2.x": [script("@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio")],
  "mcp-runtime call": [bin, ...call],
  "mcp-runtime list": [bin, "list", "--config", config],
  "mcp-runtime --help": [bin, "--help"],
  "mcp-runtime --version": [bin, "--version"]
}
const reference = "script, SDK 1.x"

// certificates that Node reads whenever it starts are no part of anything that is compared here
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env
const env = {
  ...inherited,
  HOME: folder,
  XDG_CACHE_HOME: join(folder, "cache"),
  XDG_STATE_HOME: join(folder, "state"),
  NO_COLOR: "1"
}

const run = (args) => {
  const began = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: workspace, env, encoding: "utf8" })
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`)
  return performance.now() - began
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]

const names = Object.keys(contestants)
const times = new Map(names.map((name) => [name, []]))
for (const name of names) run(contestants[name])
const rounds = Number(values.rounds)
for (let round = 0; round < rounds; round++) {
  for (const [at] of names.entries()) {
    const name = names[(at + round) % names.length]
    times.get(name).push(run(contestants[name]))
  }
}

const targets = { "mcp-runtime call": ["1.15×", 1.15, true], "mcp-runtime --help": ["200 ms", 200, false] }
for (const name of names) {
  const millis = median(times.get(name))
  const ratio = median(times.get(name).map((time, round) => time / times.get(reference)[round]))
  const target = targets[name]
  const missed = target !== undefined && (target[2] ? ratio : millis) > target[1]
  const said = target === undefined ? "" : `   target ${target[0]}${missed ? ", missed" : ""}`
  console.log(`${name.padEnd(22)} ${millis.toFixed(0).padStart(5)} ms  ${ratio.toFixed(2)}×${said}`)
}
