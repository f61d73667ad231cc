/** Docker's MCP gateway, which runs servers in containers: `npm run example docker` */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { Connector, ServerConfig } from "effect-mcp-runtime"
import * as NodeConnector from "effect-mcp-runtime/node/NodeConnector"

const catalog = ServerConfig.docker({
  name: "catalog",
  servers: ["time"],
  // Docker may have to pull the image first
  startupTimeout: "3 minutes"
})

const program = Effect.gen(function*() {
  const client = yield* Connector.open(yield* catalog)
  const { tools } = yield* client.tools
  for (const tool of tools) yield* Console.log(tool.name)
}).pipe(
  Effect.scoped,
  Effect.catchTag("SpawnFailed", (error) =>
    error.reason === "docker-daemon-down"
      ? Console.error(`The Docker daemon is not running: ${error.detail}`)
      : Console.error(error.message))
)

program.pipe(Effect.provide(NodeConnector.layer()), NodeRuntime.runMain)
