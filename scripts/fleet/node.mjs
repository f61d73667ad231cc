/**
 * One process of a fleet: `node node.mjs '{"url": …, "role": "both", "port": …}'`. It reads a command of JSON per line, and
 * answers each with a line: `call` of a tool, `tools`, `status`.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Redacted, Stream } from "effect"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
const dist = process.env.FLEET_DIST ?? fileURLToPath(new URL("../../dist", import.meta.url))
const { FleetConnector, FleetHome, NodeFleet } = await import(`${dist}/fleet/index.js`)
const { InputHandlers, McpRuntime, ServerConfig, ToolResult } = await import(`${dist}/index.js`)
const NodeConnector = await import(`${dist}/node/NodeConnector.js`)
const NodeMcpRuntime = await import(`${dist}/node/NodeMcpRuntime.js`)

const { affinity, drain, listen, log, maxIdle, name = "node", port, role, servers = 1, url } = JSON.parse(process.argv[2])

const configs = Array.from({ length: servers }, (_, index) =>
  ServerConfig.stdio({
    name: `counter${index}`,
    command: process.execPath,
    args: [fileURLToPath(new URL("counter.mjs", import.meta.url))],
    env: { LOG: log },
    ...(affinity === undefined ? {} : { affinity })
  }))

const fleet = NodeFleet.layer({
  url: Redacted.make(url),
  address: port === undefined ? undefined : { host: "127.0.0.1", port },
  listen: listen === undefined ? undefined : { host: "127.0.0.1", port: listen },
  ...(drain === undefined ? {} : { drain })
})
const home = FleetHome.layer({ servers: configs, ...(maxIdle === undefined ? {} : { maxIdle }) }).pipe(
  Layer.provide(NodeConnector.layer())
)
const connector = FleetConnector.layer().pipe(Layer.provide(NodeConnector.layer()))
const handlers = InputHandlers.layer({ elicit: () => Effect.succeed({ action: "accept", content: { name } }) })
const runtime = NodeMcpRuntime.layer({ servers: configs, cacheDirectory: "memory", logs: false }).pipe(
  NodeMcpRuntime.using(role === "direct" ? Layer.empty : connector),
  NodeMcpRuntime.using(handlers)
)

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

const program = Effect.gen(function*() {
  const mcp = yield* McpRuntime.McpRuntime
  const run = {
    call: ({ args, timeout, tool }) => {
      const progress = []
      return mcp.callTool(tool, args, {
        ...(timeout === undefined ? {} : { totalTimeout: timeout }),
        onProgress: ({ progress: value }) => progress.push(value)
      }).pipe(Effect.map((result) => ({ text: ToolResult.text(result), progress })))
    },
    bench: ({ args, concurrency, count, tool }) =>
      Effect.gen(function*() {
        const times = []
        const one = Effect.suspend(() => {
          const began = performance.now()
          return Effect.tap(mcp.callTool(tool, args), () => Effect.sync(() => times.push(performance.now() - began)))
        })
        const began = performance.now()
        yield* Effect.forEach(Array.from({ length: count }), () => one, { concurrency, discard: true })
        const took = performance.now() - began
        const sorted = times.toSorted((a, b) => a - b)
        return { p50: sorted[Math.floor(count / 2)], p99: sorted[Math.floor(count * 0.99)], rate: (count / took) * 1_000 }
      }),
    tools: () =>
      Effect.map(mcp.tools, ({ missing, tools }) => ({
        tools: tools.map(({ name }) => name),
        missing: missing.map(({ error, server }) => `${server}: ${error?.message}`)
      })),
    status: () => Effect.map(mcp.servers.list, (list) => ({ servers: list.map(({ name, status }) => `${name}: ${status._tag}`) }))
  }
  yield* Effect.forkScoped(Stream.runForEach(mcp.events, (event) => Effect.sync(() => say({ event: event._tag, server: event.server }))))
  say({ ready: process.pid })
  const lines = Stream.async((emit) => {
    createInterface({ input: process.stdin }).on("line", (line) => emit.single(JSON.parse(line))).on("close", () => emit.end())
  })
  yield* Stream.runForEach(lines, ({ id, op, ...command }) => {
    const began = performance.now()
    const took = () => Math.round(performance.now() - began)
    return run[op](command).pipe(
      Effect.match({
        onSuccess: (value) => say({ id, ok: true, took: took(), ...value }),
        onFailure: (error) => say({ id, ok: false, took: took(), tag: error._tag, outcome: error.outcome, message: error.message })
      }),
      Effect.fork
    )
  })
}).pipe(Effect.scoped)

const nodes = { direct: runtime, caller: Layer.provide(runtime, fleet), both: Layer.provide(Layer.mergeAll(runtime, home), fleet), home: Layer.provide(Layer.mergeAll(runtime, home), fleet) }
program.pipe(Effect.provide(nodes[role]), NodeRuntime.runMain)
