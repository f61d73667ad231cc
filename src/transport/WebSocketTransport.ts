/**
 * MCP over a WebSocket: one JSON message per text frame, subprotocol `mcp`.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ServerConfig from "../config/ServerConfig.ts"
import type * as Teardown from "../resilience/Teardown.ts"
import * as Ending from "./ending.ts"
import * as KnownHeaders from "./internal/knownHeaders.ts"
import * as Remote from "./internal/remote.ts"
import * as WebSocketLink from "./internal/webSocketLink.ts"
import * as WebSocketOpen from "./internal/webSocketOpen.ts"
import type * as Transport from "./Transport.ts"

/**
 * @since 0.1.0
 * @category tags
 */
export class WebSocketTransport
  extends Context.Tag("effect-mcp-runtime/transport/WebSocketTransport")<WebSocketTransport, {
    readonly open: Transport.Open<ServerConfig.WebSocketServer>
  }>()
{}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<WebSocketTransport["Type"], never, Teardown.Teardown> = Effect.map(
  Remote.services,
  ({ ending, headers, limits: base }) => ({
    // untraced, because a span would keep an error as it is before its secrets are hidden
    open: Effect.fnUntraced(function*(config: ServerConfig.WebSocketServer) {
      const limits = ServerConfig.limits(config, base)
      const source = yield* KnownHeaders.make(yield* headers.resolve(config))
      const socket = yield* WebSocketOpen.open(config, limits, source)
      const link = WebSocketLink.make(config.name, socket, limits)
      yield* Ending.sayFarewell(ending, config.name, link.transport.kind, link.close, link.destroy)
      yield* Effect.forkScoped(link.keepAlive)
      return link.transport
    })
  })
)

/**
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<WebSocketTransport, never, Teardown.Teardown> = Layer.effect(WebSocketTransport, make)
