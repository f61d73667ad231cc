/**
 * A server that asks the user something in the middle of a call.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { Connector, InputHandlers, ServerConfig } from "effect-mcp-runtime"
import * as NodeConnector from "effect-mcp-runtime/node/NodeConnector"
import { fileURLToPath } from "node:url"

const server = ServerConfig.stdio({
  name: "demo",
  command: "node",
  args: [fileURLToPath(import.meta.resolve("effect-mcp-runtime/demo/DemoServer"))]
})

// Without this Layer, questions are declined. It is given to the connector, which tells each server what it may ask.
// The message is the server's own words: show who asks.
const user = InputHandlers.layer({
  elicit: ({ message, server }) =>
    Console.log(`${server} asks: ${message}`).pipe(
      Effect.as({ action: "accept", content: { name: "Ada" } } as const)
    )
})

const program = Effect.gen(function*() {
  const client = yield* Connector.open(yield* server)
  const { content } = yield* client.callTool("greet")
  for (const part of content) if (part._tag === "Text") yield* Console.log(part.text)
})

program.pipe(Effect.scoped, Effect.provide(Layer.provide(NodeConnector.layer(), user)), NodeRuntime.runMain)
