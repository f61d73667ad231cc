/**
 * The functions and files of this package that an operation runs, by V8's precise coverage: `node scripts/walks.mjs
 * PACKAGE PATH`. PACKAGE is a folder with the built package, PATH the entry point with the layer for Node. It uses the
 * public API against a server of the official SDK in another process. A function counts if each of several repetitions
 * runs it, which excludes background timers. The result is JSON on stdout.
 */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import { Session } from "node:inspector/promises"
import { createRequire } from "node:module"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath, pathToFileURL } from "node:url"
import { z } from "zod"

const repetitions = 3

/** A server with one tool, whose result is structured. */
const makePeer = () => {
  const server = new McpServer({ name: "peer", version: "1.0.0" })
  const shape = { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } }
  server.registerTool("add", { description: "Adds two numbers.", ...shape }, ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
    structuredContent: { sum: a + b }
  }))
  return server
}

const serveHttp = async () => {
  const sessions = new Map()
  const server = createServer(async (request, response) => {
    const id = request.headers["mcp-session-id"]
    let transport = sessions.get(id)
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse: true,
        onsessioninitialized: (made) => sessions.set(made, transport)
      })
      await makePeer().connect(transport)
    }
    await transport.handleRequest(request, response)
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  console.log(`http://127.0.0.1:${server.address().port}/mcp`)
  // the parent's end of the pipe closes when it ends, however it does
  process.stdin.resume().on("end", () => process.exit())
}

const measure = async (folder, entry) => {
  const require = createRequire(join(folder, "package.json"))
  const { name } = require(join(folder, "package.json"))
  const load = (path) => import(pathToFileURL(require.resolve(path === "." ? name : `${name}/${path}`)).href)
  const [{ McpRuntime, ServerConfig }, { layer }] = await Promise.all([load("."), load(entry)])
  const script = fileURLToPath(import.meta.url)
  const origin = `${pathToFileURL(folder).href}/`

  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false })

  /** Runs an effect, and returns the functions of this package that it called, each as `file:name@offset`. */
  const calledBy = async (run) => {
    await sleep(20)
    await session.post("Profiler.takePreciseCoverage")
    await run()
    const { result } = await session.post("Profiler.takePreciseCoverage")
    return new Set(
      result.filter(({ url }) => url.startsWith(origin)).flatMap(({ functions, url }) =>
        functions
          // excludes modules and compiler-made initializers, which are no functions of the sources
          .filter(({ functionName, ranges: [{ count, startOffset }] }) =>
            count > 0 && startOffset > 0 && !functionName.startsWith("<")
          )
          .map(({ functionName, ranges: [{ startOffset }] }) => `${url.slice(origin.length)}:${functionName}@${startOffset}`)
      )
    )
  }

  const walk = async (repeat) => {
    const runs = []
    for (let at = 0; at < repetitions; at++) runs.push(await repeat())
    const always = [...runs[0]].filter((called) => runs.every((run) => run.has(called))).toSorted()
    const files = [...new Set(always.map((called) => called.slice(0, called.indexOf(":"))))]
    return { functions: always.length, files: files.length, called: always }
  }

  /** A runtime over the server, which connects on demand. */
  const over = (server) => {
    const managed = ManagedRuntime.make(layer({ servers: [server], cacheDirectory: "memory" }))
    const run = (f) => managed.runPromise(Effect.flatMap(McpRuntime.McpRuntime, f))
    const connect = () => run((mcp) => Effect.zipRight(mcp.servers.connect("peer"), mcp.tools))
    const call = () => run((mcp) => mcp.callTool({ server: "peer", tool: "add" }, { a: 2, b: 40 }))
    const refresh = () => run((mcp) => mcp.refreshTools("peer"))
    return { managed, run, connect, call, refresh }
  }

  const warm = async (server, about) => {
    const runtime = over(server)
    await runtime.connect()
    for (let at = 0; at < repetitions; at++) await runtime.call()
    await runtime.refresh()
    const walks = {}
    for (const [name, operation] of Object.entries(about(runtime))) {
      walks[name] = await walk(() => calledBy(operation))
    }
    await runtime.managed.dispose()
    return walks
  }

  const http = spawn(process.execPath, [script, "--serve-http"], { stdio: ["pipe", "pipe", "inherit"] })
  try {
    const [url] = await once(http.stdout.setEncoding("utf8"), "data")
    const common = { name: "peer", lazy: true }
    const stdio = ServerConfig.stdio({ ...common, command: process.execPath, args: [script, "--serve-stdio"] })
    const remote = ServerConfig.http({ ...common, url: url.trim() })
    const overStdio = await warm(stdio, ({ call, refresh }) => ({ "callTool over stdio": call, refreshTools: refresh }))
    const overHttp = await warm(remote, ({ call }) => ({ "callTool over HTTP": call }))
    const connect = await walk(async () => {
      const runtime = over(stdio)
      await runtime.run(() => Effect.void)
      const called = await calledBy(runtime.connect)
      await runtime.managed.dispose()
      return called
    })
    return { ...overStdio, ...overHttp, "connect and first list": connect }
  } finally {
    http.kill()
  }
}

const [first, second] = process.argv.slice(2)
if (first === "--serve-stdio") await makePeer().connect(new StdioServerTransport())
else if (first === "--serve-http") await serveHttp()
else console.log(JSON.stringify(await measure(first, second)))
