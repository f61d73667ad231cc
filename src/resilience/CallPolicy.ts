/**
 * The one place that decides which failed calls are sent again, and when.
 *
 * A call is sent again if it was not sent, or if a second execution is harmless: the caller says `idempotent`, or a
 * trusted server annotates the tool so. A call that an expired session refused is sent once more, unless the tool is
 * annotated as destructive and not idempotent. The connection, not this policy, waits for pauses (429, 503).
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import type * as Tool from "../tools/Tool.ts"
import * as Repeatable from "./internal/repeatable.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** How often a call is made once more. */
  readonly retries: number
  /** Before each of them; the last holds for those that follow. */
  readonly delays: ReadonlyArray<Duration.DurationInput>
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { retries: 2, delays: [Duration.millis(250), Duration.seconds(1)] }

/**
 * A call that has failed.
 *
 * @since 0.1.0
 * @category models
 */
export interface Failed {
  readonly error: McpError.RuntimeError
  /** How often it has been tried, this one included. */
  readonly attempts: number
  /** How many of the attempts may have reached the server, this one included. */
  readonly sent: number
  /** Whether there was a connection to try it on; if not, the supervisor has already tried all it may. */
  readonly connected: boolean
  /** The tool, where its definition is known from the server itself. */
  readonly tool: Tool.Tool | undefined
  /** `CallOptions.idempotent` of the call, which overrides the annotations of the tool. */
  readonly idempotent: boolean | undefined
}

/**
 * @since 0.1.0
 * @category tags
 */
export class CallPolicy extends Context.Tag("effect-mcp-runtime/resilience/CallPolicy")<CallPolicy, {
  readonly for: (config: ServerConfig.ServerConfig) => {
    /** How long to wait before the call is made again; `undefined`: it is not. */
    readonly again: (failed: Failed) => Duration.Duration | undefined
  }
}>() {}

/**
 * True for methods that a server can execute twice without harm; `tools/call` is not among them.
 *
 * @since 0.1.0
 * @category guards
 */
export const isIdempotent: (method: string) => boolean = Repeatable.isIdempotent

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (options?: Partial<Options>): CallPolicy["Type"] => {
  const { delays, retries } = { ...defaults, ...options }
  const decoded = delays.map(Duration.decode)
  return {
    for: (config) => ({
      again: (failed) => {
        if (failed.attempts > retries || !Repeatable.isRepeatable(config, failed)) return undefined
        if (Repeatable.isAtOnce(failed)) return Duration.zero
        return decoded[Math.min(failed.attempts, decoded.length) - 1] ?? Duration.zero
      }
    })
  }
}

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<CallPolicy> => Layer.succeed(CallPolicy, make(options))

/**
 * The numbers are an operator's.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<Partial<Options>>
): Layer.Layer<CallPolicy, ConfigError.ConfigError> =>
  Layer.effect(CallPolicy, Effect.map(Config.unwrap(options), make))

/**
 * No call is made again, whatever became of it.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<CallPolicy> = layer({ retries: 0 })
