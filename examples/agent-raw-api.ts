/** MCP tools for the APIs of OpenAI and Anthropic, without their libraries: `npm run example agent-raw-api` */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { ServerConfig, ToolDefinitions, ToolHandler } from "effect-mcp-runtime"
import * as NodeAgent from "effect-mcp-runtime/node/NodeAgent"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import { fileURLToPath } from "node:url"

const demo = ServerConfig.stdio({
  name: "demo",
  command: "node",
  args: [fileURLToPath(import.meta.resolve("effect-mcp-runtime/demo/DemoServer"))]
})

/** Stands in for the Messages API: a message with two calls. */
const anthropic = (_request: { readonly tools: ReadonlyArray<ToolDefinitions.AnthropicTool> }) => ({
  content: [
    { type: "text", text: "Let me see." },
    { type: "tool_use", id: "1", name: "mcp__demo__add", input: { a: 2, b: 40 } },
    { type: "tool_use", id: "2", name: "mcp__demo__add", input: { a: "two" } }
  ]
})

/** Stands in for the Chat Completions API: a message with one call. */
const openAi = (_request: { readonly tools: ReadonlyArray<ToolDefinitions.OpenAiChatTool> }) => ({
  tool_calls: [
    { id: "3", type: "function", function: { name: "mcp__demo__add", arguments: "{\"a\":2,\"b\":40}" } }
  ]
})

const program = Effect.gen(function*() {
  const handler = yield* ToolHandler.ToolHandler
  const { tools } = yield* handler.definitions()
  const answers = (calls: ReadonlyArray<ToolHandler.Call>) =>
    Effect.forEach(calls, (call) => handler.handle(call), { concurrency: 4 })

  const claude = ToolDefinitions.anthropic(tools)
  const message = anthropic({ tools: claude.tools })
  const { content } = ToolDefinitions.anthropicResults(yield* answers(claude.calls(message)))
  for (const block of content) {
    if (block.type === "tool_result") yield* Console.log(block.tool_use_id, block.is_error, block.content)
  }

  const gpt = ToolDefinitions.openAiChat(tools, { strict: true })
  for (const { function: { name, strict } } of gpt.tools) yield* Console.log(`${name}${strict ? ", strict" : ""}`)
  const choice = openAi({ tools: gpt.tools })
  yield* Console.log(ToolDefinitions.openAiChatResults(yield* answers(gpt.calls(choice))))
})

const mcp = NodeAgent.layer().pipe(Layer.provide(NodeMcpRuntime.layer({
  servers: [demo],
  permissions: { rules: [{ decision: "allow", tool: "demo/add" }] }
})))

program.pipe(Effect.provide(mcp), NodeRuntime.runMain)
