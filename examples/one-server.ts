/**
 * One server, opened, used and closed: `npm run example one-server`
 */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { ServerConfig, Session } from "effect-mcp-runtime"
import * as NodeConnector from "effect-mcp-runtime/node/NodeConnector"
import { fileURLToPath } from "node:url"

const server = ServerConfig.stdio({
  name: "demo",
  command: "node",
  args: [fileURLToPath(import.meta.resolve("effect-mcp-runtime/demo/DemoServer"))]
})

const program = Effect.gen(function*() {
  const session = yield* Session.open(server)

  const { tools } = yield* session.tools
  yield* Console.log(`tools: ${tools.map((tool) => tool.name).join(", ")}`)

  const sum = yield* session.callTool("add", { a: 2, b: 40 })
  yield* Console.log("add:", sum.structuredContent)

  const { items } = yield* session.resources
  for (const { uri } of items) {
    for (const contents of yield* session.readResource(uri)) {
      if (contents._tag === "Text") yield* Console.log(contents.text)
    }
  }

  // A failure is a tag: this one says that the tool got bad arguments, and that the connection is fine.
  yield* session.callTool("add", { a: "two" }).pipe(
    Effect.catchTag("RemoteError", (error) => Console.log(`refused with ${error.code}`))
  )
})

// Leaving the scope closes the session; the process is gone when the program ends.
program.pipe(Effect.scoped, Effect.provide(NodeConnector.layer), NodeRuntime.runMain)
