/**
 * An application that is not written in Effect: a `ManagedRuntime` behind functions that return promises. After a few
 * calls it echoes each line of its input, until the input ends or Ctrl-C: `npm run example managed-runtime`
 */
import { Cause, Effect, Exit, ManagedRuntime } from "effect"
import { type McpClient, McpError, McpRuntime, ServerConfig } from "effect-mcp-runtime"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const demo = ServerConfig.stdio({
  name: "demo",
  command: "node",
  args: [fileURLToPath(import.meta.resolve("effect-mcp-runtime/demo/DemoServer"))]
})

const runtime = ManagedRuntime.make(NodeMcpRuntime.layer({ servers: [demo] }))

/** Rejects with the tagged error, not with a wrapper. */
const run = async <A, E>(effect: Effect.Effect<A, E, McpRuntime.McpRuntime>, signal?: AbortSignal): Promise<A> => {
  const exit = await runtime.runPromiseExit(effect, signal === undefined ? {} : { signal })
  if (Exit.isSuccess(exit)) return exit.value
  throw Cause.squash(exit.cause)
}

// The functions that the rest of the application uses.
const listTools = (): Promise<ReadonlyArray<string>> =>
  run(
    Effect.flatMap(McpRuntime.McpRuntime, (mcp) => Effect.map(mcp.tools, ({ tools }) => tools.map(({ name }) => name)))
  )

const callTool = async (name: string, args: McpClient.JsonObject = {}, signal?: AbortSignal): Promise<string> => {
  const result = await run(Effect.flatMap(McpRuntime.McpRuntime, (mcp) => mcp.callTool(name, args)), signal)
  return result.content.map((part) => part._tag === "Text" ? part.text : `<${part._tag}>`).join("\n")
}

/** Waits until every server has exited. A second call does nothing. */
const close = (): Promise<void> => runtime.dispose()

process.once("SIGINT", () => void close().then(() => process.exit(130)))

const explain = (error: unknown): string =>
  McpError.isMcpError(error) ? `${error._tag}, ${error.outcome}` : String(error)

console.log((await listTools()).join("\n"))
console.log(await callTool("mcp__demo__add", { a: 2, b: 40 }))
console.log(await callTool("mcp__demo__add", { a: "two" }).catch(explain))

// Aborting a call cancels it at the server and keeps the connection.
await callTool("mcp__demo__countdown", { from: 60 }, AbortSignal.timeout(100)).catch(() => console.log("cancelled"))
console.log(await callTool("mcp__demo__echo", { text: "still connected" }))

for await (const line of createInterface({ input: process.stdin })) {
  console.log(await callTool("mcp__demo__echo", { text: line }).catch(explain))
}
await close()
