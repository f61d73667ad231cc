/** How a gateway is, for those who watch it. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as McpRuntime from "../../../McpRuntime.ts"
import type * as HttpEndpoint from "../../HttpEndpoint.ts"
import type * as McpServe from "../../McpServe.ts"
import * as Prometheus from "../prometheus.ts"

const servers = (gateway: McpServe.Gateway) =>
  Effect.flatMap(gateway.shared, (context) => Context.get(context, McpRuntime.McpRuntime).servers.list)

/** That it is there, and nothing of what it is there for: anybody may ask. */
export const health = (gateway: McpServe.Gateway): HttpEndpoint.Page["render"] =>
  Effect.match(servers(gateway), {
    onFailure: () => HttpServerResponse.unsafeJson({ status: "failed" }, { status: 503 }),
    onSuccess: (servers) => {
      const connected = servers.filter(({ status }) => status._tag === "Connected" || status._tag === "Idle").length
      const status = connected === servers.length ? "ok" : "degraded"
      return HttpServerResponse.unsafeJson({ status, servers: { connected, of: servers.length } })
    }
  })

/** Which servers there are and how they are, for those who may call them. */
export const status = (gateway: McpServe.Gateway): HttpEndpoint.Page["render"] =>
  Effect.match(servers(gateway), {
    onFailure: () => HttpServerResponse.unsafeJson({ servers: [] }, { status: 503 }),
    onSuccess: (servers) =>
      HttpServerResponse.unsafeJson({
        callers: gateway.seats(),
        servers: servers.map(({ breaker, callsInFlight, era, error, name, reconnects, status, toolCount }) => ({
          name,
          state: status._tag,
          tools: toolCount ?? null,
          era: era ?? null,
          breaker: breaker._tag,
          callsInFlight,
          reconnects,
          error: error?._tag ?? null
        }))
      })
  })

/** @internal */
export const metrics: HttpEndpoint.Page["render"] = Effect.map(
  Metric.snapshot,
  (pairs) =>
    HttpServerResponse.text(Prometheus.render(pairs, (name) => name.startsWith("mcp.")), {
      contentType: "text/plain; version=0.0.4; charset=utf-8"
    })
)
