/** Several servers behind one service; the broken one does not affect the others: `npm run example many-servers` */
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
  // starts at its first use, and ends after a minute without one
  demo("seldom", { enabledTools: ["countdown"], lazy: true, idleTimeout: "1 minute" }),
  ServerConfig.stdio({ name: "broken", command: "there-is-no-such-program" })
]

const program = Effect.gen(function*() {
  const mcp = yield* McpRuntime.McpRuntime

  const { missing, tools } = yield* mcp.tools
  for (const { name } of tools) yield* Console.log(name)
  for (const { error, server, status } of missing) {
    yield* Console.log(`no tools of ${server}: ${status._tag}, ${error?._tag}`)
  }

  const [sum, echo] = yield* Effect.all([
    mcp.callTool("mcp__sums__add", { a: 2, b: 40 }),
    mcp.callTool({ server: "words", tool: "echo" }, { text: "hello" })
  ], { concurrency: "unbounded" })
  yield* Console.log(`${sum.metadata.serverName}:`, sum.structuredContent)
  yield* Console.log(`words: ${ToolResult.text(echo)}`)

  // The tag of an error is its cause, and `outcome` tells whether the server may have run the call.
  yield* mcp.callTool({ server: "broken", tool: "any" }).pipe(
    Effect.catchTag("SpawnFailed", (error) => Console.log(`broken: ${error.errno}, ${error.outcome}`))
  )
})

program.pipe(Effect.provide(NodeMcpRuntime.layer({ servers })), NodeRuntime.runMain)
