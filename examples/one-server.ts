/** One server without the runtime: connect, list, call, close: `npm run example one-server` */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { Connector, ServerConfig } from "effect-mcp-runtime"
import * as NodeConnector from "effect-mcp-runtime/node/NodeConnector"
import { fileURLToPath } from "node:url"

const server = ServerConfig.stdio({
  name: "demo",
  command: "node",
  args: [fileURLToPath(import.meta.resolve("effect-mcp-runtime/demo/DemoServer"))]
})

const program = Effect.gen(function*() {
  const client = yield* Connector.open(yield* server)

  const { tools } = yield* client.tools
  yield* Console.log(`tools: ${tools.map((tool) => tool.name).join(", ")}`)

  const sum = yield* client.callTool("add", { a: 2, b: 40 })
  yield* Console.log("add:", sum.structuredContent)

  const { items } = yield* client.resources
  for (const { uri } of items) {
    for (const contents of yield* client.readResource(uri)) {
      if (contents._tag === "Text") yield* Console.log(contents.text)
    }
  }

  // The server refused the arguments. The connection stays open.
  yield* client.callTool("add", { a: "two" }).pipe(
    Effect.catchTag("RemoteError", (error) => Console.log(`refused with ${error.code}`))
  )
})

// Closing the scope closes the connection and ends the process of the server.
program.pipe(Effect.scoped, Effect.provide(NodeConnector.layer()), NodeRuntime.runMain)
