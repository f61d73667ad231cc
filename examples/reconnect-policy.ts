/** A reconnect policy of an application, as a Layer in place of the default one: `npm run example reconnect-policy` */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Schedule, Stream } from "effect"
import { McpError, McpRuntime, ReconnectPolicy, ServerConfig } from "effect-mcp-runtime"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import { fileURLToPath } from "node:url"

const demo = ServerConfig.stdio({
  name: "demo",
  command: "node",
  args: [fileURLToPath(import.meta.resolve("effect-mcp-runtime/demo/DemoServer"))]
})

const missing = ServerConfig.stdio({ name: "missing", command: "there-is-no-such-program" })

/** Ten attempts, fast at first and at most two seconds apart; none if the program does not exist. */
const local: Schedule.Schedule<unknown, McpError.ConnectError> = Schedule.exponential("40 millis").pipe(
  Schedule.union(Schedule.spaced("2 seconds")),
  Schedule.intersect(Schedule.recurs(10)),
  Schedule.whileInput((error) => error._tag !== "SpawnFailed")
)

// the default policy still decides for remote servers
const OwnPolicy = Layer.sync(ReconnectPolicy.ReconnectPolicy, () => {
  const others = ReconnectPolicy.make()
  return {
    for: (config) => config.transport === "stdio" ? { ...others.for(config), schedule: local } : others.for(config)
  }
})

const program = Effect.gen(function*() {
  const runtime = yield* McpRuntime.McpRuntime
  yield* runtime.events.pipe(
    Stream.runForEach((event) =>
      event._tag === "StatusChanged" && event.status._tag === "Reconnecting"
        ? Console.log(`${event.server}: ${McpError.label(event.status.error)}, attempt ${event.status.attempt} follows`)
        : Effect.void
    ),
    Effect.fork
  )
  // the server ends in the middle of each of these calls; the next one waits for its successor
  for (let n = 0; n < 2; n++) {
    yield* runtime.callTool({ server: "demo", tool: "crash" }).pipe(
      Effect.catchTag("ConnectionLost", ({ outcome }) => Console.log(`it crashed; the call may have run: ${outcome}`))
    )
  }
  const sum = yield* runtime.callTool({ server: "demo", tool: "add" }, { a: 2, b: 40 })
  yield* Console.log(`it is back: ${JSON.stringify(sum.structuredContent)}`)
  const { status } = yield* runtime.servers.get("missing")
  yield* Console.log(`missing: ${status._tag}`)
})

const layer = NodeMcpRuntime.layer({
  servers: [demo, missing],
  cacheDirectory: "memory",
  logs: false
}).pipe(NodeMcpRuntime.using(OwnPolicy))

program.pipe(Effect.provide(layer), NodeRuntime.runMain)
