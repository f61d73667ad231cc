/** MCP tools and a tool of the application for a model of `@effect/ai`: `npm run example agent-effect-ai` */
import { LanguageModel, Prompt, Tool, Toolkit } from "@effect/ai"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Schema, Stream } from "effect"
import { ServerConfig } from "effect-mcp-runtime"
import * as AiToolkit from "effect-mcp-runtime/agent/AiToolkit"
import * as NodeAgent from "effect-mcp-runtime/node/NodeAgent"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import { fileURLToPath } from "node:url"

const demo = ServerConfig.stdio({
  name: "demo",
  command: "node",
  args: [fileURLToPath(import.meta.resolve("effect-mcp-runtime/demo/DemoServer"))]
})

/** Stands in for `@effect/ai-openai` or `@effect/ai-anthropic`: makes three calls, then repeats their outputs. */
const model = LanguageModel.make({
  streamText: () => Stream.empty,
  generateText: ({ prompt, tools }) => {
    const last = prompt.content.at(-1)
    return Effect.succeed(
      last?.role === "tool"
        ? last.content.map(({ result }) => ({ type: "text" as const, text: `${String(result)}\n` }))
        : [
          { type: "text", text: `I have ${tools.length} tools.` },
          { type: "tool-call", id: "1", name: "Today", params: {} },
          { type: "tool-call", id: "2", name: "mcp__demo__add", params: { a: 2, b: 40 } },
          { type: "tool-call", id: "3", name: "mcp__demo__add", params: { a: "two" } }
        ]
    )
  }
})

const appTools = Toolkit.make(Tool.make("Today", { description: "The day of the week", success: Schema.String }))

const program = Effect.gen(function*() {
  // evaluated for each request, so it follows the changes of the servers
  const toolkit = AiToolkit.merge(appTools)
  const first = yield* LanguageModel.generateText({ prompt: "What is 2 + 40?", toolkit })
  yield* Console.log(first.text)
  for (const { isFailure, name } of first.toolResults) yield* Console.log(`${name} ${isFailure ? "failed" : "worked"}`)

  // tool results carry only text, so images follow in a separate message
  const history = Prompt.merge(Prompt.fromResponseParts(first.content), AiToolkit.attachments(first.content))
  const second = yield* LanguageModel.generateText({ prompt: history, toolkit })
  yield* Console.log(second.text)
})

const mcp = NodeAgent.layer().pipe(Layer.provide(NodeMcpRuntime.layer({
  servers: [demo],
  permissions: { rules: [{ decision: "allow", tool: "demo/add" }] }
})))

program.pipe(
  Effect.provide(Layer.mergeAll(
    mcp,
    appTools.toLayer({ Today: () => Effect.succeed("Friday") }),
    Layer.effect(LanguageModel.LanguageModel, model)
  )),
  NodeRuntime.runMain
)
