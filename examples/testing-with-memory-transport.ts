/**
 * Testing code that uses a server, without a server: one in memory, and what happens when it goes away.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Fiber, Layer } from "effect"
import { Connector, type McpClient } from "effect-mcp-runtime"
import * as NodeConnector from "effect-mcp-runtime/node/NodeConnector"
import { Faults, MemoryServer, MemoryTransport } from "effect-mcp-runtime/testing"

/** The code under test. */
const forecast = (client: McpClient.McpClient, city: string) =>
  client.callTool("forecast", { city }).pipe(
    Effect.map(({ content }) => content[0]?._tag === "Text" ? content[0].text : "nothing to say"),
    Effect.catchTag("ConnectionLost", ({ outcome }) => Effect.succeed(`the server went away (${outcome})`))
  )

const program = Effect.gen(function*() {
  const weather = yield* MemoryServer.make({
    tools: [{
      name: "forecast",
      inputSchema: { type: "object", properties: { city: { type: "string" } } },
      call: ({ city }, { cancelled }) =>
        city === "Atlantis" ? Effect.as(cancelled, "never") : Effect.succeed(`${String(city)}: sunny`)
    }]
  })

  const connector = Layer.provide(NodeConnector.layer(), MemoryTransport.layer({ weather }))

  yield* Effect.gen(function*() {
    const client = yield* Connector.open(MemoryTransport.config("weather"))
    yield* Console.log(yield* forecast(client, "Oslo"))

    const waiting = yield* Effect.fork(forecast(client, "Atlantis"))
    yield* weather.until(() => weather.executions("forecast") === 2)
    yield* weather.drop(Faults.killed())
    yield* Console.log(yield* Fiber.join(waiting))
  }).pipe(Effect.scoped, Effect.provide(connector))

  yield* Console.log(`connections left: ${weather.connections().open}`)
})

program.pipe(NodeRuntime.runMain)
