/**
 * A web server whose requests share one runtime: the MCP servers are started once, and when somebody ends it (Ctrl-C or
 * SIGTERM), requests under way are answered first: `npm run example web-server`, and then
 * `curl -d '{"a":2,"b":40}' localhost:3000/tools/mcp__demo__add`
 */
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Config, Console, Duration, Effect, Layer, Schema } from "effect"
import { type McpError, McpRuntime, ServerConfig } from "effect-mcp-runtime"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"

const demo = ServerConfig.stdio({
  name: "demo",
  command: "node",
  args: [fileURLToPath(import.meta.resolve("effect-mcp-runtime/demo/DemoServer"))],
  // no request takes longer, and so ending does not either
  toolTimeout: "20 seconds"
})

/** What a client of this server has to know: whether it was its fault, and whether trying again can help. */
const refusal = (error: McpError.RuntimeError) => {
  const { _tag, isRetryable, outcome } = error
  const answer = (status: number, headers: Readonly<Record<string, string>> = {}) =>
    HttpServerResponse.json({ error: _tag, outcome, isRetryable }, { status, headers })
  switch (_tag) {
    case "NotFound":
      return answer(404)
    case "InvalidArguments":
      return answer(400)
    case "PermissionDenied":
      return answer(403)
    case "CircuitOpen":
      return answer(503, { "retry-after": String(Math.ceil(Duration.toSeconds(error.retryAfter ?? 60))) })
    case "Overloaded":
    case "ServerUnavailable":
      return answer(503)
    case "RequestTimeout":
      return answer(504)
    default:
      return answer(502)
  }
}

const Arguments = Schema.Record({ key: Schema.String, value: Schema.Unknown })

const noObject = () => HttpServerResponse.json({ error: "the body is no JSON object" }, { status: 400 })

const routes = HttpRouter.empty.pipe(
  HttpRouter.get(
    "/tools",
    Effect.gen(function*() {
      const { missing, tools } = yield* (yield* McpRuntime.McpRuntime).tools
      return yield* HttpServerResponse.json({
        tools: tools.map(({ description, name }) => ({ name, description })),
        missing: missing.map(({ server, status }) => ({ server, status: status._tag }))
      })
    })
  ),
  HttpRouter.get(
    "/health",
    Effect.gen(function*() {
      const servers = yield* (yield* McpRuntime.McpRuntime).servers.list
      return yield* HttpServerResponse.json(servers.map(({ callsInFlight, name, status }) => ({
        name,
        status: status._tag,
        callsInFlight
      })))
    })
  ),
  HttpRouter.post(
    "/tools/:name",
    Effect.gen(function*() {
      const runtime = yield* McpRuntime.McpRuntime
      const { name = "" } = yield* HttpRouter.params
      const args = yield* HttpServerRequest.schemaBodyJson(Arguments)
      // whoever closes the connection interrupts this, and so cancels the call at the MCP server
      return yield* Effect.matchEffect(runtime.callTool(name, args), {
        onFailure: refusal,
        onSuccess: ({ content, isError, structuredContent }) =>
          HttpServerResponse.json({ content, isError, structuredContent })
      })
    }).pipe(Effect.catchTags({ ParseError: noObject, RequestError: noObject }))
  )
)

const announce = HttpServer.addressFormattedWith((address) => Console.log(`listening on ${address}`))

// Layers are released from the outside in: no new requests, then those under way, then the MCP servers.
const main = routes.pipe(
  HttpServer.serve(),
  Layer.tap(() => announce),
  Layer.provide(NodeHttpServer.layerConfig(createServer, {
    host: Config.succeed("127.0.0.1"),
    port: Config.withDefault(Config.integer("PORT"), 3000)
  })),
  Layer.provide(NodeMcpRuntime.layer({ servers: [demo], cacheDirectory: "memory", logs: false }))
)

NodeRuntime.runMain(Layer.launch(main))
