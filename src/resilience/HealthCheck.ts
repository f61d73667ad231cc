/**
 * Asks connections that nobody uses whether their servers are still there.
 *
 * A server that answers anything is alive. One that leaves the probe unanswered is asked for a list that it declares,
 * because some servers answer everything but a ping; if it answers that, it is asked that way from then on. Silence to
 * both is a strike, and after a few in a row the connection counts as lost.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Session from "../client/Session.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import * as internal from "./internal/watch.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** How long a connection must have been without use before it is probed, and from one probe to the next. */
  readonly interval: Duration.DurationInput
  /** How long one question may go unanswered; a ping no longer than the server's `pingTimeout` either. */
  readonly timeout: Duration.DurationInput
  /** Silent probes in a row after which the connection counts as lost. */
  readonly strikes: number
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { interval: Duration.seconds(30), timeout: Duration.seconds(5), strikes: 3 }

/**
 * What the watch needs to know of the use of a connection, and whom it tells.
 *
 * @since 0.1.0
 * @category models
 */
export interface Use {
  readonly inFlight: () => number
  /** When it was last used with success, in milliseconds of the clock. */
  readonly lastUsed: () => number
  readonly onProbe: (probe: { readonly at: number; readonly ok: boolean }) => void
}

/**
 * @since 0.1.0
 * @category tags
 */
export class HealthCheck extends Context.Tag("effect-mcp-runtime/resilience/HealthCheck")<HealthCheck, {
  /** Never succeeds while the server answers; gives the error that the connection is to be replaced with. */
  readonly watch: (
    config: ServerConfig.ServerConfig,
    session: Session.Session,
    use: Use
  ) => Effect.Effect<McpError.ConnectError>
}>() {}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (options?: Partial<Options>): HealthCheck["Type"] => {
  const { interval, strikes, timeout } = { ...defaults, ...options }
  const rules: internal.Rules = {
    interval: Math.max(1, Duration.toMillis(interval)),
    timeout: Duration.decode(timeout),
    strikes: Math.max(1, strikes)
  }
  return { watch: (config, session, use) => internal.watch(rules, config.name, session, use) }
}

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<HealthCheck> => Layer.succeed(HealthCheck, make(options))

/**
 * The numbers are an operator's.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<Partial<Options>>
): Layer.Layer<HealthCheck, ConfigError.ConfigError> =>
  Layer.effect(HealthCheck, Effect.map(Config.unwrap(options), make))

/**
 * Nobody is asked.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<HealthCheck> = Layer.succeed(HealthCheck, { watch: () => Effect.never })
