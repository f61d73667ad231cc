/** A custom reconnect policy in place of the default: `npm run example reconnect-policy` */
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

/** Exponential delays of at most two seconds, ten attempts. No retry if the program cannot be started. */
const local: Schedule.Schedule<unknown, McpError.ConnectError> = Schedule.exponential("40 millis").pipe(
  Schedule.union(Schedule.spaced("2 seconds")),
  Schedule.intersect(Schedule.recurs(10)),
  Schedule.whileInput((error) => error._tag !== "SpawnFailed")
)

// the default policy still applies to remote servers
const LocalPolicy = Layer.sync(ReconnectPolicy.ReconnectPolicy, () => {
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
        ? Console.log(`${event.server}: ${McpError.label(event.status.error)}, attempt ${event.status.attempt} is next`)
        : Effect.void
    ),
    Effect.fork
  )
  // the server crashes during each of these calls; the next call waits until it has restarted
  for (let n = 0; n < 2; n++) {
    yield* runtime.callTool({ server: "demo", tool: "crash" }).pipe(
      Effect.catchTag("ConnectionLost", ({ outcome }) => Console.log(`crashed during the call; outcome: ${outcome}`))
    )
  }
  const sum = yield* runtime.callTool({ server: "demo", tool: "add" }, { a: 2, b: 40 })
  yield* Console.log(`restarted: ${JSON.stringify(sum.structuredContent)}`)
  const { status } = yield* runtime.servers.get("missing")
  yield* Console.log(`missing: ${status._tag}`)
})

const layer = NodeMcpRuntime.layer({ servers: [demo, missing] }).pipe(NodeMcpRuntime.using(LocalPolicy))

program.pipe(Effect.provide(layer), NodeRuntime.runMain)
