/** An agent that asks you before it calls a tool: `npm run example terminal-agent/main` */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Option } from "effect"
import { ServerConfig, ToolDefinitions, ToolHandler } from "effect-mcp-runtime"
import * as NodeAgent from "effect-mcp-runtime/node/NodeAgent"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import { fileURLToPath } from "node:url"
import { type Message, Model, type ModelError, ModelLive } from "./Model.js"
import { ApprovalAtTerminal, Terminal } from "./Terminal.js"

const demo = ServerConfig.stdio({
  name: "demo",
  command: "node",
  args: [fileURLToPath(import.meta.resolve("effect-mcp-runtime/demo/DemoServer"))]
})

const maxRequests = 8

/** Lets the model call tools until it answers the person. Returns all messages. */
const respond = (
  messages: ReadonlyArray<Message>,
  requests = maxRequests
): Effect.Effect<ReadonlyArray<Message>, ModelError, Model | ToolHandler.ToolHandler> =>
  Effect.gen(function*() {
    const handler = yield* ToolHandler.ToolHandler
    const { answer } = yield* Model
    // asked again for each request, because servers change their tools
    const { tools } = yield* handler.definitions()
    const offer = ToolDefinitions.openAiChat(tools)
    const message = yield* answer(messages, offer.tools)
    const calls = offer.calls(message)
    if (calls.length === 0 || requests === 1) {
      yield* Console.log(message.content ?? "(no answer)")
      return [...messages, message]
    }
    // a denied or failed call has an output too, which tells the model why
    const outputs = yield* Effect.forEach(calls, (call) => handler.handle(call), { concurrency: "unbounded" })
    return yield* respond([...messages, message, ...ToolDefinitions.openAiChatResults(outputs)], requests - 1)
  })

const conversation = Effect.gen(function*() {
  const { ask } = yield* Terminal
  let messages: ReadonlyArray<Message> = []
  for (;;) {
    const line = yield* ask("You: ")
    if (Option.isNone(line)) return yield* Console.log("")
    const content = line.value.trim()
    if (content === "") continue
    messages = yield* respond([...messages, { role: "user", content }]).pipe(
      Effect.catchTag("ModelError", ({ message }) => Effect.as(Console.error(message), messages))
    )
  }
})

const agent = NodeAgent.layer().pipe(
  Layer.provide(NodeMcpRuntime.layer({
    servers: [demo],
    // all other tools need approval
    permissions: { rules: [{ decision: "allow", tool: "demo/echo" }] }
  })),
  Layer.provide(ApprovalAtTerminal)
)

conversation.pipe(
  Effect.provide(Layer.merge(agent, ModelLive).pipe(Layer.provideMerge(Terminal.layer))),
  NodeRuntime.runMain
)
