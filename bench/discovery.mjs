/**
 * How long it takes to find out which servers there are, as a command of the terminal and `NodeMcpRuntime` do, with
 * decisions about trust on disk: `npm run build && node bench/discovery.mjs`. Each figure is the median of fresh
 * processes. Parsers that are loaded on demand count, and the imports of the package are shown apart. The trees: 30 files of as
 * many hosts; those of them that are JSON, and so without the parsers of TOML and YAML; one file of 3 000 servers; and an empty
 * home, which is what an application pays that configures nothing. Most of that are the first steps of Effect in a process.
 * Reading and parsing the 30 files with the same libraries alone runs in processes that are interleaved with ours.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { readFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "9" },
    one: { type: "string" },
    folder: { type: "string" },
    /** Leaves the trees in this folder and measures nothing, for `node --cpu-prof bench/discovery.mjs --one hosts --folder …`. */
    lay: { type: "string" },
    dist: { type: "string", default: fileURLToPath(new URL("../build/modules", import.meta.url)) }
  }
})

const entry = (at) => ({ command: "npx", args: ["-y", `server-${at}@1.0.0`], env: { TOKEN: "${TOKEN}", N: String(at) } })
const remote = (at) => ({ type: "http", url: `https://h${at}.example.com/mcp`, headers: { Authorization: "Bearer ${T}" } })
const json = (root, make = entry) => JSON.stringify({ [root]: { [`${root}-a`]: make(1), [`${root}-b`]: remote(2) } })
const toml = (at) => `[mcp_servers.t${at}]\ncommand = "x"\nargs = ["${at}"]\n[mcp_servers.t${at}.env]\nA = "b"\n`
const vscode = JSON.stringify({ servers: { v: { type: "stdio", command: "x" } }, inputs: [{ id: "a", type: "promptString" }] })

/** One file for each of thirty places. */
const files = {
  "project/.mcp.json": json("mcpServers"),
  "project/mcp-client.json": json("mcpServers"),
  "project/.mcp.toml": toml(1),
  "project/.cursor/mcp.json": json("mcpServers"),
  "project/.vscode/mcp.json": vscode,
  "project/.codex/config.toml": toml(2),
  "project/.gemini/settings.json": json("mcpServers"),
  "project/.qwen/settings.json": json("mcpServers"),
  "project/opencode.json": JSON.stringify({ mcp: { o: { type: "local", command: ["x", "y"] } } }),
  "project/.roo/mcp.json": json("mcpServers"),
  "project/.kiro/settings/mcp.json": json("mcpServers"),
  "project/.junie/mcp/mcp.json": json("mcpServers"),
  "project/.trae/mcp.json": json("mcpServers"),
  "project/.crush.json": JSON.stringify({ mcp: { c: { type: "stdio", command: "x" } } }),
  "project/.factory/mcp.json": json("mcpServers"),
  "project/.agents/mcp_config.json": json("mcpServers"),
  "project/.continue/mcpServers/one.json": json("mcpServers"),
  "home/.claude.json": json("mcpServers"),
  "home/.cursor/mcp.json": json("mcpServers"),
  "home/.config/Claude/claude_desktop_config.json": json("mcpServers"),
  "home/.config/Code/User/mcp.json": vscode,
  "home/.copilot/mcp-config.json": json("mcpServers"),
  "home/.codeium/windsurf/mcp_config.json": json("mcpServers"),
  "home/.codex/config.toml": toml(3),
  "home/.gemini/settings.json": json("mcpServers"),
  "home/.config/zed/settings.json": json("context_servers"),
  "home/.config/goose/config.yaml": "extensions:\n  g: { type: stdio, cmd: x, args: [a], enabled: true }\n",
  "home/.config/mcp-runtime/mcp-client.json": json("mcpServers"),
  "home/.lmstudio/mcp.json": json("mcpServers"),
  "home/.kiro/settings/mcp.json": json("mcpServers")
}

const many = JSON.stringify({
  mcpServers: Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`s${at}`, at % 2 === 0 ? entry(at) : remote(at)]))
})

const lay = (folder, tree) => {
  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** Reads and parses the files of a tree with the libraries alone, which are loaded when the first file needs them. */
const parseAlone = async () => {
  const parsers = {
    json: async (text) => (await import("jsonc-parser")).parseTree(text),
    toml: async (text) => (await import("smol-toml")).parse(text),
    yaml: async (text) => (await import("yaml")).parseDocument(text)
  }
  await Promise.all(Object.keys(files).map(async (path) => {
    const text = await readFile(join(values.folder, path), "utf8")
    await parsers[path.split(".").at(-1)](text)
  }))
}

/** The processor time of all threads in milliseconds, which a busy machine does not change as much as the time. */
const processor = () => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1000
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]

/** The first time, and the median of several more, because a collection of garbage falls into one of them. */
const measured = async (work) => {
  const figures = []
  for (let time = 0; time < 8; time++) {
    const [began, idle] = [performance.now(), processor()]
    await work()
    figures.push({ time: performance.now() - began, work: processor() - idle })
  }
  const [first, ...later] = figures
  const of = (key) => median(later.map((figure) => figure[key]))
  return { cold: first.time, coldWork: first.work, warm: of("time"), warmWork: of("work") }
}

if (values.one === "alone") {
  console.log(JSON.stringify(await measured(parseAlone)))
} else if (values.one !== undefined) {
  const load = (path) => import(resolve(values.dist, path))
  const Effect = await import("effect/Effect")
  const ManagedRuntime = await import("effect/ManagedRuntime")
  const began = performance.now()
  const ConfigDiscovery = await load("config/ConfigDiscovery.js")
  const NodeMcpRuntime = await load("node/NodeMcpRuntime.js")
  const imported = performance.now()
  const layer = NodeMcpRuntime.layerDiscovery({
    config: {
      directory: join(values.folder, "project"),
      root: join(values.folder, "project"),
      home: join(values.folder, "home"),
      imports: values.one === "hosts" || values.one === "json" ? ["all"] : []
    }
  })
  const runtime = ManagedRuntime.make(layer)
  let found
  const figures = await measured(async () => {
    found = await runtime.runPromise(Effect.flatMap(ConfigDiscovery.ConfigDiscovery, ({ discover }) => discover))
  })
  await runtime.dispose()
  console.log(JSON.stringify({
    ...figures,
    imports: imported - began,
    files: found.files.length,
    servers: found.servers.length,
    faults: found.issues.filter((issue) => issue.severity === "error").map((issue) => `${issue.path}: ${issue.message}`)
  }))
} else {
  const folder = values.lay ?? mkdtempSync(join(tmpdir(), "mcp-discovery-"))
  const trees = {
    empty: { "home/.keep": "", "project/.keep": "" },
    hosts: files,
    json: Object.fromEntries(Object.entries(files).filter(([path]) => path.endsWith(".json"))),
    many: { "home/.config/mcp-runtime/mcp-client.json": many, "project/.keep": "" }
  }
  try {
    for (const [name, tree] of Object.entries(trees)) {
      lay(join(folder, name), tree)
      if (values.lay !== undefined) continue
      const run = (one) =>
        JSON.parse(execFileSync(process.execPath, [
          fileURLToPath(import.meta.url),
          "--one",
          one,
          "--folder",
          join(folder, name),
          "--dist",
          values.dist
        ], { encoding: "utf8", env: { PATH: process.env.PATH, HOME: join(folder, name, "home") } }))
      const alone = []
      const runs = Array.from({ length: Number(values.runs) }, () => {
        if (name === "hosts") alone.push(run("alone"))
        return run(name)
      })
      const of = (key) => `${median(runs.map((run) => run[key])).toFixed(1)} ms`
      const [{ faults, files, servers }] = runs
      console.log(
        `${name.padEnd(6)} ${files} files, ${servers} servers: cold ${of("cold")}, warm ${of("warm")} ` +
          `(of all processors ${of("coldWork")}, ${of("warmWork")}; imports ${of("imports")})`
      )
      if (alone.length > 0) {
        const ratio = (key) => {
          const base = median(alone.map((run) => run[key]))
          return `${base.toFixed(1)} ms, ours ${(median(runs.map((run) => run[key])) / base).toFixed(2)}×`
        }
        console.log(
          `       reading and parsing alone: cold ${ratio("cold")}; warm ${ratio("warm")} ` +
            `(of all processors ${ratio("coldWork")}; ${ratio("warmWork")})`
        )
      }
      for (const fault of faults.slice(0, 5)) console.log(`  fault: ${fault}`)
    }
  } finally {
    if (values.lay === undefined) rmSync(folder, { recursive: true, force: true })
  }
}
