/** MCP tools for LangChain, in an application that is not written in Effect: `npm run example agent-langchain` */
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages"
import { fakeModel } from "@langchain/core/testing"
import { Effect, Layer, ManagedRuntime } from "effect"
import { ServerConfig } from "effect-mcp-runtime"
import * as LangChain from "effect-mcp-runtime/agent/LangChain"
import * as NodeAgent from "effect-mcp-runtime/node/NodeAgent"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import { fileURLToPath } from "node:url"

const demo = ServerConfig.stdio({
  name: "demo",
  command: "node",
  args: [fileURLToPath(import.meta.resolve("effect-mcp-runtime/demo/DemoServer"))]
})

const runtime = ManagedRuntime.make(
  LangChain.layer().pipe(
    Layer.provide(NodeAgent.layer()),
    Layer.provide(NodeMcpRuntime.layer({
      servers: [demo],
      permissions: { rules: [{ decision: "allow", tool: "demo/add" }] }
    }))
  )
)

// the current tools; list them again for the next turn
const tools = await runtime.runPromise(Effect.flatMap(LangChain.LangChain, (chain) => chain.tools()))
console.log(tools.map(({ name }) => name).join(", "))

/** Stands in for a model: makes two calls. */
const model = fakeModel().respond(
  new AIMessage({
    content: "",
    tool_calls: [
      { type: "tool_call", id: "1", name: "mcp__demo__add", args: { a: 2, b: 40 } },
      { type: "tool_call", id: "2", name: "mcp__demo__add", args: { a: "two" } }
    ]
  })
).bindTools(tools)

const answer = await model.invoke([new HumanMessage("What is 2 + 40?")])

for (const call of AIMessage.isInstance(answer) ? answer.tool_calls ?? [] : []) {
  const tool = tools.find(({ name }) => name === call.name)
  const message = await tool?.invoke({ ...call, type: "tool_call" })
  // the artifact is for the application; the model does not see it
  if (message instanceof ToolMessage) console.log(message.status, message.artifact.structuredContent, message.content)
}

await runtime.dispose()
