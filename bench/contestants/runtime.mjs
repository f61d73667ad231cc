/**
 * The whole `McpRuntime`, as `NodeMcpRuntime.layer` makes it, with everything on that costs something per call: breaker,
 * bulkhead, deadline, events, metrics. One runtime has all the servers of a cell, as an application has.
 *
 * `fiber` calls in one long-running fiber, as an Effect application does; `promise` pays for one `runPromise` per call, as
 * an application does whose loop is not an Effect.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Inner from "./inner.mjs"
import * as Promises from "./promises.mjs"

/**
 * @param options {{ dist: URL, face: "fiber" | "promise" }}
 */
export const make = async ({ dist, face }) => {
  const load = (path) => import(new URL(path, dist).href)
  const NodeMcpRuntime = await load("node/NodeMcpRuntime.js")
  const McpRuntime = await load("McpRuntime.js")
  const ServerConfig = await load("config/ServerConfig.js")
  let named = 0

  const configOf = (server) => {
    const common = { name: `bench-${named++}`, maxMessageBytes: server.maxMessageBytes }
    return Effect.runSync(
      server.kind === "http"
        ? ServerConfig.http({ ...common, url: server.url })
        : ServerConfig.stdio({ ...common, command: server.command, args: server.args })
    )
  }
  const innerOf = async (server) =>
    server.kind === "inner"
      ? Inner.layer({
        Connector: await load("client/Connector.js"),
        Limits: await load("config/Limits.js"),
        McpClient: await load("client/McpClient.js"),
        McpError: await load("McpError.js")
      })
      : Layer.empty

  /** A separate runtime; its calls run in its context. */
  const start = async (options, inner = Layer.empty) => {
    const managed = ManagedRuntime.make(
      NodeMcpRuntime.layer({ logs: false, cacheDirectory: "memory", ...options }).pipe(NodeMcpRuntime.using(inner))
    )
    const began = performance.now()
    let built = 0
    // as an Effect application sees it, which goes on in the fiber that has built the layer
    const mcp = await managed.runPromise(Effect.map(McpRuntime.McpRuntime, (service) => {
      built = performance.now() - began
      return service
    }))
    return { built, managed, mcp }
  }

  let shared = undefined
  const configs = new Map()
  const open = async (server) => {
    shared ??= start({ servers: [] }, await innerOf(server))
    const { managed, mcp } = await shared
    const config = configOf(server)
    const ref = { server: config.name, tool: "echo" }
    configs.set(config.name, config)
    await managed.runPromise(mcp.servers.reload(Array.from(configs.values())))
    await managed.runPromise(mcp.servers.connect(config.name))
    return {
      managed,
      mcp,
      ref,
      call: (tool, args) => managed.runPromise(mcp.callTool({ server: config.name, tool }, args)),
      tools: async () => {
        const { tools } = await managed.runPromise(mcp.tools)
        return tools.filter((tool) => tool.serverName === config.name)
      },
      close: async () => {
        await managed.runPromise(mcp.servers.disconnect(config.name))
        configs.delete(config.name)
        await managed.runPromise(mcp.servers.reload(Array.from(configs.values())))
      }
    }
  }

  const promises = Promises.make(open)
  const text = { text: "hello" }
  const sequence = ({ managed, mcp, ref }, took) =>
    managed.runPromise(Effect.gen(function*() {
      for (let index = 0; index < took.length; index++) {
        const started = performance.now()
        yield* mcp.callTool(ref, text)
        took[index] = performance.now() - started
      }
    }))

  const flight = ({ managed, mcp, ref }, count, width) => {
    let left = count
    const worker = Effect.gen(function*() {
      while (left-- > 0) yield* mcp.callTool(ref, text)
    })
    return managed.runPromise(Effect.all(Array.from({ length: width }, () => worker), {
      concurrency: "unbounded",
      discard: true
    }))
  }

  return {
    ...promises,
    ...(face === "fiber" ? { flight, sequence } : {}),
    configOf,
    innerOf,
    start,
    /**
     * The same loop over the bare client and over the runtime, on one connection: the difference is the cost of the
     * runtime.
     */
    loops: ({ managed, mcp, ref }) => ({
      client: (count) =>
        managed.runPromise(mcp.withClient(ref.server, (client) =>
          Effect.gen(function*() {
            for (let index = 0; index < count; index++) yield* client.callTool("echo", text)
          }))),
      runtime: (count) =>
        managed.runPromise(Effect.gen(function*() {
          for (let index = 0; index < count; index++) yield* mcp.callTool(ref, text)
        }))
    }),
    openAll: async (servers) => {
      const made = servers.map(configOf)
      const { managed, mcp } = await start({ servers: made })
      const all = managed.runPromise(mcp.tools)
      return made.map(({ name }, index) => ({
        managed,
        mcp,
        call: (tool, args) => managed.runPromise(mcp.callTool({ server: name, tool }, args)),
        tools: async () => (await all).tools.filter((tool) => tool.serverName === name),
        close: () => index === 0 ? managed.dispose() : Promise.resolve()
      }))
    },
    closeAll: async (clients) => {
      for (const managed of new Set(clients.map((client) => client.managed))) await managed.dispose()
    }
  }
}
