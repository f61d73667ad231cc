/**
 * The tools of servers for a model of `@effect/ai`, beside a tool of the application: `npm run example agent-effect-ai`
 */
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

/**
 * In the place of a real model, for which `@effect/ai-openai` or `@effect/ai-anthropic` has a Layer: it makes three calls,
 * and then repeats what it was told.
 */
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

const own = Toolkit.make(Tool.make("Today", { description: "The day of the week", success: Schema.String }))

const program = Effect.gen(function*() {
  // it is read anew for each request: a tool that a server begins to offer is there the next time
  const toolkit = AiToolkit.merge(own)
  const first = yield* LanguageModel.generateText({ prompt: "What is 2 + 40?", toolkit })
  yield* Console.log(first.text)
  for (const { isFailure, name } of first.toolResults) yield* Console.log(`${name} ${isFailure ? "failed" : "worked"}`)

  // results carry only text; pictures of tools follow as a message of their own
  const seen = Prompt.merge(Prompt.fromResponseParts(first.content), AiToolkit.attachments(first.content))
  const second = yield* LanguageModel.generateText({ prompt: seen, toolkit })
  yield* Console.log(second.text)
})

const mcp = NodeAgent.layer().pipe(Layer.provide(NodeMcpRuntime.layer({
  servers: [demo],
  permissions: { rules: [{ decision: "allow", tool: "demo/add" }] },
  cacheDirectory: "memory",
  logs: false
})))

program.pipe(
  Effect.provide(Layer.mergeAll(
    mcp,
    own.toLayer({ Today: () => Effect.succeed("Friday") }),
    Layer.effect(LanguageModel.LanguageModel, model)
  )),
  NodeRuntime.runMain
)
