/**
 * Many servers behind one service: they start together, a bad one costs the others nothing, and the configuration can
 * change while calls are under way: `npm run example many-servers`
 */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { McpRuntime, ServerConfig, ToolResult } from "effect-mcp-runtime"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import { fileURLToPath } from "node:url"

const demo = (name: string, more: Partial<ServerConfig.StdioInput> = {}) =>
  ServerConfig.stdio({
    name,
    command: "node",
    args: [fileURLToPath(import.meta.resolve("effect-mcp-runtime/demo/DemoServer"))],
    ...more
  })

const servers = [
  demo("sums", { enabledTools: ["add"] }),
  demo("words", { enabledTools: ["echo"] }),
  // Started when it is first needed, ended when it was not needed for a minute.
  demo("seldom", { enabledTools: ["countdown"], lazy: true, idleTimeout: "1 minute" }),
  ServerConfig.stdio({ name: "broken", command: "there-is-no-such-program" })
]

const program = Effect.gen(function*() {
  const mcp = yield* McpRuntime.McpRuntime

  const { missing, tools } = yield* mcp.tools
  for (const { name } of tools) yield* Console.log(name)
  for (const { error, server, status } of missing) {
    yield* Console.log(`nothing of ${server}: ${status._tag}, ${error?._tag}`)
  }

  const [sum, echo] = yield* Effect.all([
    mcp.callTool("mcp__sums__add", { a: 2, b: 40 }),
    mcp.callTool({ server: "words", tool: "echo" }, { text: "hello" })
  ], { concurrency: "unbounded" })
  yield* Console.log(`${sum.metadata.serverName}:`, sum.structuredContent)
  yield* Console.log(`words: ${ToolResult.text(echo)}`)

  // A call says by its tag why it could not be made, and whether the server has seen it.
  yield* mcp.callTool({ server: "broken", tool: "any" }).pipe(
    Effect.catchTag("SpawnFailed", (error) => Console.log(`broken: ${error.errno}, ${error.outcome}`))
  )

  const next = [...servers.slice(0, 3), demo("more", { enabledTools: ["greet"] })]
  const { added, removed } = yield* mcp.servers.reload(yield* Effect.all(next))
  yield* Console.log(`added ${added.join()}, removed ${removed.join()}`)
  yield* Console.log(`now ${(yield* mcp.tools).tools.length} tools`)
})

// `cacheDirectory`: without it the tools are kept in the user's cache, and are there at once when it runs next.
const layer = NodeMcpRuntime.layer({ servers, cacheDirectory: "memory", logs: false })

program.pipe(Effect.provide(layer), NodeRuntime.runMain)
