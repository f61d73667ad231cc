/**
 * The HTTP+SSE transport of 2024-11-05: one stream of events on which everything comes, and an endpoint, named in its
 * first event, to which everything is POSTed.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import type * as Teardown from "../resilience/Teardown.ts"
import * as Ending from "./ending.ts"
import * as LegacySse from "./internal/legacySse.ts"
import * as Remote from "./internal/remote.ts"
import type * as Transport from "./Transport.ts"

/**
 * @since 0.1.0
 * @category tags
 */
export class SseTransport extends Context.Tag("effect-mcp-runtime/transport/SseTransport")<SseTransport, {
  /** Succeeds when the server has named its endpoint. A Streamable HTTP configuration is taken too: the fallback. */
  readonly open: Transport.Open<ServerConfig.SseServer | ServerConfig.HttpServer>
}>() {}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<SseTransport["Type"], never, Teardown.Teardown> = Effect.map(
  Remote.services,
  (services) => ({
    // untraced, because a span would keep an error as it is before its secrets are hidden
    open: Effect.fnUntraced(function*(config: ServerConfig.SseServer | ServerConfig.HttpServer) {
      const remote = yield* Remote.make(services, config)
      const endpoint = yield* Deferred.make<void, McpError.ConnectError>()
      const { close, transport } = LegacySse.make(remote, endpoint)
      yield* Ending.sayFarewell(services.ending, config.name, transport.kind, close, remote.client.destroy)
      yield* Deferred.await(endpoint)
      return transport
    })
  })
)

/**
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<SseTransport, never, Teardown.Teardown> = Layer.effect(SseTransport, make)
