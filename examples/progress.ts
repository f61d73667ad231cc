/** The progress of a call as a stream, and cancellation by interruption: `npm run example progress` */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Stream } from "effect"
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

  yield* client.callToolStream("countdown", { from: 3 }).pipe(
    Stream.runForEach((event) => {
      switch (event._tag) {
        case "Progress":
          return Console.log(event.progress.message ?? event.progress.progress)
        case "Result":
          return Console.log(event.result.content)
        case "Task":
          return Effect.void
      }
    })
  )

  // The timeout interrupts the call, which cancels it at the server and keeps the connection.
  const result = yield* client.callTool("countdown", { from: 100 }).pipe(Effect.timeoutOption("250 millis"))
  yield* Console.log(`cancelled: ${result._tag === "None"}`)
  yield* client.health
  yield* Console.log("still connected")
})

program.pipe(Effect.scoped, Effect.provide(NodeConnector.layer()), NodeRuntime.runMain)
