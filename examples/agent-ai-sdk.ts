/** MCP tools for the Vercel AI SDK, in an application that is not written in Effect: `npm run example agent-ai-sdk` */
import { generateText, stepCountIs } from "ai"
import { MockLanguageModelV3 } from "ai/test"
import { Effect, Layer, ManagedRuntime } from "effect"
import { ServerConfig } from "effect-mcp-runtime"
import * as AiSdk from "effect-mcp-runtime/agent/AiSdk"
import * as NodeAgent from "effect-mcp-runtime/node/NodeAgent"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import { fileURLToPath } from "node:url"

const demo = ServerConfig.stdio({
  name: "demo",
  command: "node",
  args: [fileURLToPath(import.meta.resolve("effect-mcp-runtime/demo/DemoServer"))]
})

const runtime = ManagedRuntime.make(
  AiSdk.layer().pipe(
    Layer.provide(NodeAgent.layer()),
    Layer.provide(NodeMcpRuntime.layer({
      servers: [demo],
      permissions: { rules: [{ decision: "allow", tool: "demo/add" }] }
    }))
  )
)

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 }
}

/** Stands in for a model: makes two calls, then repeats their outputs. */
const model = new MockLanguageModelV3({
  doGenerate: async ({ prompt, tools = [] }) => {
    const last = prompt.at(-1)
    if (last?.role === "tool") {
      const outputs = last.content.flatMap((part) => part.type === "tool-result" ? [part.output] : [])
      const text = outputs.map((output) => `${output.type}: ${"value" in output ? String(output.value) : ""}`).join(
        "\n"
      )
      return { content: [{ type: "text", text }], finishReason: { unified: "stop", raw: "" }, usage, warnings: [] }
    }
    console.log(tools.map(({ name }) => name).join(", "))
    const call = (toolCallId: string, input: object) => ({
      type: "tool-call" as const,
      toolCallId,
      toolName: "mcp__demo__add",
      input: JSON.stringify(input)
    })
    return {
      content: [call("1", { a: 2, b: 40 }), call("2", { a: "two" })],
      finishReason: { unified: "tool-calls", raw: "" },
      usage,
      warnings: []
    }
  }
})

// the tools of one run; they follow the changes of the servers from step to step
const live = await runtime.runPromise(Effect.flatMap(AiSdk.AiSdk, (sdk) => sdk.live()))
const { text } = await generateText({ model, prompt: "What is 2 + 40?", stopWhen: stepCountIs(5), ...live })
console.log(text)

await runtime.dispose()
