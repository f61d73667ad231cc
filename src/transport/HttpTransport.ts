/**
 * Streamable HTTP, on node's own HTTP client: one POST per message, answers as JSON or as a stream of events, the
 * session and its stream of notifications in the session era, headers that mirror the message in the stateless one.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as Teardown from "../resilience/Teardown.ts"
import * as Ending from "./ending.ts"
import * as Remote from "./internal/remote.ts"
import * as Streamable from "./internal/streamable.ts"
import * as StreamRetry from "./internal/streamRetry.ts"
import type * as Transport from "./Transport.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Requests in flight at once, each on a socket of its own; more wait their turn. */
  readonly maxInFlight: number
  /** The least delay before a stream is opened again, whatever the server's `retry:` says. */
  readonly retryFloor: Duration.DurationInput
  /** The delay where the server asks for none; it doubles with each failure. */
  readonly retryDelay: Duration.DurationInput
  /** A `retry:` above it gives the stream up. */
  readonly retryCeiling: Duration.DurationInput
  /** Failures in a row that give a stream up. */
  readonly retryFailures: number
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = {
  maxInFlight: 64,
  retryFloor: StreamRetry.defaults.floor,
  retryDelay: StreamRetry.defaults.usual,
  retryCeiling: StreamRetry.defaults.ceiling,
  retryFailures: StreamRetry.defaults.failures
}

/**
 * @since 0.1.0
 * @category tags
 */
export class HttpTransport extends Context.Tag("effect-mcp-runtime/transport/HttpTransport")<HttpTransport, {
  readonly open: Transport.Open<ServerConfig.HttpServer>
}>() {}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options?: Partial<Options>
): Effect.Effect<HttpTransport["Type"], never, Teardown.Teardown> =>
  Effect.map(Remote.services, (services) => {
    const { maxInFlight, retryCeiling, retryDelay, retryFailures, retryFloor } = { ...defaults, ...options }
    const retry: StreamRetry.Options = {
      ...StreamRetry.defaults,
      floor: retryFloor,
      usual: retryDelay,
      ceiling: retryCeiling,
      failures: retryFailures
    }
    // untraced, because a span would keep an error as it is before its secrets are hidden
    const open = Effect.fnUntraced(function*(config: ServerConfig.HttpServer) {
      const remote = yield* Remote.make(services, config)
      const { close, transport } = Streamable.make(remote, { maxInFlight, retry })
      yield* Ending.sayFarewell(services.ending, config.name, transport.kind, close, remote.client.destroy)
      return transport
    })
    return { open }
  })

/**
 * @since 0.1.0
 * @category layers
 */
export const layerWith = (
  options: Partial<Options>
): Layer.Layer<HttpTransport, never, Teardown.Teardown> => Layer.effect(HttpTransport, make(options))

/**
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<HttpTransport, never, Teardown.Teardown> = layerWith({})
