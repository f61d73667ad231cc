/** An HTTP service that answers with the tools of an MCP server: `npm run example http-service/main` */
import * as Otlp from "@effect/opentelemetry/Otlp"
import { FetchHttpClient, HttpApiBuilder, HttpServer } from "@effect/platform"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Config, Console, Effect, Layer, Option } from "effect"
import { McpError, McpRuntime, ServerConfig, ToolResult } from "effect-mcp-runtime"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { Api, Sum, ToolUnavailable } from "./Api.js"

const demo = ServerConfig.stdio({
  name: "demo",
  command: "node",
  args: [fileURLToPath(import.meta.resolve("effect-mcp-runtime/demo/DemoServer"))],
  toolTimeout: "20 seconds"
})

const unavailable = (error: McpError.McpError) =>
  new ToolUnavailable({ reason: McpError.label(error), outcome: error.outcome, isRetryable: error.isRetryable })

// A request whose client disconnects is interrupted, which cancels the call at the MCP server.
const Tools = HttpApiBuilder.group(Api, "tools", (handlers) =>
  Effect.gen(function*() {
    const { callTool } = yield* McpRuntime.McpRuntime
    return handlers
      .handle("add", ({ payload }) =>
        callTool({ server: "demo", tool: "add" }, payload).pipe(
          Effect.flatMap(ToolResult.orFail),
          Effect.mapError(unavailable),
          Effect.flatMap(ToolResult.json(Sum)),
          Effect.catchTag("ParseError", Effect.die)
        ))
      .handle("countdown", ({ payload }) =>
        callTool({ server: "demo", tool: "countdown" }, payload).pipe(
          Effect.map((result) => ({ text: ToolResult.text(result) })),
          Effect.mapError(unavailable)
        ))
  }))

const Status = HttpApiBuilder.group(
  Api,
  "status",
  (handlers) =>
    Effect.map(
      McpRuntime.McpRuntime,
      ({ servers }) =>
        handlers.handle("health", () =>
          Effect.map(servers.list, (all) =>
            all.map(({ callsInFlight, name, status }) => ({ name, status: status._tag, callsInFlight }))))
    )
)

const exportTo = (baseUrl: string): Layer.Layer<never> =>
  Otlp.layerJson({ baseUrl, resource: { serviceName: "http-service" } }).pipe(Layer.provide(FetchHttpClient.layer))

/** Exports traces, metrics and logs if a collector is configured. */
const Telemetry = Layer.unwrapEffect(Effect.map(
  Config.option(Config.string("OTEL_EXPORTER_OTLP_ENDPOINT")),
  Option.match({ onNone: () => Layer.empty, onSome: exportTo })
))

const Mcp = NodeMcpRuntime.layer({ servers: [demo] })

// At SIGTERM the layers close from the top: the server answers the requests in flight, then the MCP servers end, and
// then the remaining telemetry is exported.
const Service = HttpApiBuilder.serve().pipe(
  Layer.tap(() => HttpServer.addressFormattedWith((address) => Console.log(`listening on ${address}`))),
  Layer.provide(HttpApiBuilder.api(Api)),
  Layer.provide([Tools, Status]),
  Layer.provide(NodeHttpServer.layerConfig(createServer, {
    host: Config.succeed("127.0.0.1"),
    port: Config.withDefault(Config.integer("PORT"), 3000)
  })),
  Layer.provide(Mcp),
  Layer.provide(Telemetry)
)

NodeRuntime.runMain(Layer.launch(Service))
