/**
 * Whether the packed package works under the versions of Node, Bun and Deno: `npm run runtimes [name…]`. Each runtime comes
 * from its npm package. It runs the command line, the command line's gateway over HTTP, and an application that calls a
 * stdio server and this gateway; the stdio server runs under the same runtime. It needs a registry.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout } from "node:timers/promises"
import { effect, pack, run } from "./packed.mjs"

/** The npm package of each runtime, its program, and the arguments before a script. */
const runtimes = [
  { name: "node20", from: "node@20", program: "node/bin/node", before: [] },
  { name: "node22", from: "node@22", program: "node/bin/node", before: [] },
  { name: "node24", from: "node@24", program: "node/bin/node", before: [] },
  { name: "bun", from: "bun@1", program: "bun/bin/bun.exe", before: ["run"] },
  { name: "deno", from: "deno@2", program: "deno/deno", before: ["run", "--allow-all", "--node-modules-dir=manual", "--quiet"] }
]

const application = `import * as Effect from "effect/Effect"
import { McpRuntime, ServerConfig } from "effect-mcp-runtime"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"

const [url, command, ...args] = process.argv.slice(2)
const servers = [ServerConfig.stdio({ name: "demo", command, args }), ServerConfig.http({ name: "gateway", url })]
const program = Effect.gen(function*() {
  const { callTool } = yield* McpRuntime.McpRuntime
  for (const server of ["demo", "gateway"]) {
    const { structuredContent } = yield* callTool({ server, tool: "add" }, { a: 2, b: 40 })
    console.log(server, structuredContent.sum)
  }
})
await Effect.runPromise(Effect.provide(program, NodeMcpRuntime.layer({ servers, cacheDirectory: "memory" })))
console.log("closed")
`

const patience = 60_000

/** The URL that a program prints. */
const listening = async (child) => {
  let output = ""
  const lines = [child.stdout, child.stderr].map((input) => createInterface({ input }))
  const found = new Promise((resolve, reject) => {
    for (const stream of lines) {
      stream.on("line", (line) => {
        output += `${line}\n`
        const [url] = /http:\/\/\S+/.exec(line) ?? []
        if (url !== undefined) resolve(url)
      })
    }
    child.once("error", reject)
    child.once("exit", (code) => reject(new Error(`the gateway ended with ${code}:\n${output}`)))
  })
  const late = setTimeout(patience, undefined, { ref: false }).then(() => Promise.reject(new Error(`no URL:\n${output}`)))
  return Promise.race([found, late])
}

const { install, tarball, work } = await pack()
const { folder } = await install("application", [...effect, tarball])
const modules = join(folder, "node_modules")
const bin = join(modules, "effect-mcp-runtime/dist/bin/mcp-runtime.cjs")
writeFileSync(join(folder, "application.mjs"), application)
const home = { HOME: work, XDG_CACHE_HOME: work, XDG_CONFIG_HOME: work, XDG_DATA_HOME: work, XDG_STATE_HOME: work }
const wanted = process.argv.slice(2)
const failures = []

const smoke = async ({ before, from, name, program }) => {
  const runtime = join((await install(name, [from])).folder, "node_modules", program)
  const demo = [runtime, ...before, join(modules, "effect-mcp-runtime/dist/demo/DemoServer.js")]
  const config = join(folder, `${name}.json`)
  writeFileSync(config, JSON.stringify({ mcpServers: { demo: { command: demo[0], args: demo.slice(1) } } }))
  const options = { cwd: folder, env: { ...process.env, ...home }, timeout: patience }
  const expect = (what, { stderr, stdout }, output) => {
    if (stdout !== output) throw new Error(`${what} wrote ${JSON.stringify(stdout)}\n${stderr}`)
  }

  const [version] = (await run(runtime, ["--version"], options)).stdout.split("\n")
  const call = [...before, bin, "call", "demo/add", "a=2", "b=40", "--config", config]
  expect("the command line", await run(runtime, call, options), "42\n")

  const serve = ["serve", "--http", "0", "--no-token", "--plain", "--caller-decides", "--config", config]
  const gateway = spawn(runtime, [...before, bin, ...serve], { ...options, stdio: ["pipe", "pipe", "pipe"], timeout: undefined })
  const ended = once(gateway, "exit")
  try {
    const args = [...before, join(folder, "application.mjs"), await listening(gateway), ...demo]
    expect("the application", await run(runtime, args, options), "demo 42\ngateway 42\nclosed\n")
  } finally {
    gateway.kill("SIGTERM")
    await Promise.race([ended, setTimeout(10_000, undefined, { ref: false }).then(() => gateway.kill("SIGKILL"))])
  }
  return version
}

for (const runtime of runtimes.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  try {
    console.log(`ok     ${runtime.name}: ${await smoke(runtime)}`)
  } catch (error) {
    failures.push(runtime.name)
    console.log(`FAILED ${runtime.name}: ${error.message}\n${error.stdout ?? ""}${error.stderr ?? ""}`)
  }
}
console.log(failures.length === 0 ? "runtimes: everything passed" : `runtimes: ${failures.join(", ")} failed`)
process.exitCode = failures.length === 0 ? 0 : 1
