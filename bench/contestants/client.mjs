/**
 * A bare `McpClient` without the runtime, through the public API, as compiled, in one long-running fiber.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Scope from "effect/Scope"
import * as Promises from "./promises.mjs"

/**
 * @param options {{ dist: URL, adapter: "layer" | "layerSdk" }}
 */
export const make = async ({ adapter, dist }) => {
  const NodeConnector = await import(new URL("node/NodeConnector.js", dist).href)
  const Connector = await import(new URL("client/Connector.js", dist).href)
  const ServerConfig = await import(new URL("config/ServerConfig.js", dist).href)
  const runtime = ManagedRuntime.make(NodeConnector[adapter]())
  let opened = 0

  const config = (server) => {
    const common = { name: `bench-${opened++}`, maxMessageBytes: server.maxMessageBytes }
    return server.kind === "stdio"
      ? ServerConfig.stdio({ ...common, command: server.command, args: server.args })
      : ServerConfig.http({ ...common, url: server.url })
  }

  const open = (server) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const client = yield* Scope.extend(Effect.flatMap(config(server), Connector.open), scope)
      return {
        client,
        scope,
        call: (name, args) => Effect.runPromise(client.callTool(name, args)),
        tools: async () => (await Effect.runPromise(client.tools)).tools,
        close: () => Effect.runPromise(Scope.close(scope, Exit.void))
      }
    })

  const promises = Promises.make((server) => runtime.runPromise(open(server)))
  return {
    ...promises,
    sequence: ({ client }, took) =>
      runtime.runPromise(Effect.gen(function*() {
        for (let index = 0; index < took.length; index++) {
          const started = performance.now()
          yield* client.callTool("echo", { text: "hello" })
          took[index] = performance.now() - started
        }
      })),
    flight: ({ client }, count, width) => {
      let left = count
      const worker = Effect.gen(function*() {
        while (left-- > 0) yield* client.callTool("echo", { text: "hello" })
      })
      return runtime.runPromise(Effect.all(Array.from({ length: width }, () => worker), {
        concurrency: "unbounded",
        discard: true
      }))
    },
    openAll: (servers) => runtime.runPromise(Effect.forEach(servers, open, { concurrency: "unbounded" })),
    closeAll: (clients) =>
      runtime.runPromise(Effect.forEach(clients, ({ scope }) => Scope.close(scope, Exit.void), {
        concurrency: "unbounded",
        discard: true
      }))
  }
}
