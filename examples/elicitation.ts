/** A server that asks the user for input during a call: `npm run example elicitation` */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { Connector, InputHandlers, ServerConfig, ToolResult } from "effect-mcp-runtime"
import * as NodeConnector from "effect-mcp-runtime/node/NodeConnector"
import { fileURLToPath } from "node:url"

const server = ServerConfig.stdio({
  name: "demo",
  command: "node",
  args: [fileURLToPath(import.meta.resolve("effect-mcp-runtime/demo/DemoServer"))]
})

// Without this layer, the client does not declare elicitation. The message is text of the server, so show its name too.
const user = InputHandlers.layer({
  elicit: ({ message, server }) =>
    Console.log(`${server} asks: ${message}`).pipe(
      Effect.as({ action: "accept", content: { name: "Ada" } } as const)
    )
})

const program = Effect.gen(function*() {
  const client = yield* Connector.open(yield* server)
  yield* Console.log(ToolResult.text(yield* client.callTool("greet")))
})

program.pipe(Effect.scoped, Effect.provide(Layer.provide(NodeConnector.layer(), user)), NodeRuntime.runMain)
