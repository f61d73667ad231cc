/** Every limit and duration in one place. Each can be set per server; a duration is a hard cap, not a hope. */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"

export interface Limits {
  /** Connecting, over all its phases. */
  readonly startupTimeout: Duration.Duration
  /**
   * How long a launcher (npx, uvx, …) may install the server first; `startupTimeout` begins when it is done. It applies
   * where the processes show the install: on Linux, and not for docker, pipx and deno, which have `startupTimeout` alone.
   */
  readonly installTimeout: Duration.Duration
  /** A call without an answer or progress. */
  readonly requestTimeout: Duration.Duration
  /** A call, whatever progress it reports. */
  readonly toolTimeout: Duration.Duration
  /** A list (all its pages together), a read, a prompt, a completion. */
  readonly listTimeout: Duration.Duration
  /** A health probe. */
  readonly pingTimeout: Duration.Duration
  /** How long a peer may leave written bytes unread before it counts as lost. */
  readonly stallTimeout: Duration.Duration
  /** How long a silent stdio server is asked only `server/discover` before it is asked `initialize` as well. */
  readonly discoverPatience: Duration.Duration
  /** Keep-alive of an idle socket. */
  readonly keepAlive: Duration.Duration
  /** One message, decoded: a stdio line, an SSE event, an HTTP body, a WebSocket message. */
  readonly maxMessageBytes: number
  /** What is kept of stderr. */
  readonly stderrBytes: number
  /** What may wait to be written. */
  readonly writeQueueBytes: number
  /** What is read of the body of an HTTP error. */
  readonly errorBodyBytes: number
  /** Pages of a list. */
  readonly maxPages: number
  /** Items of a list. */
  readonly maxItems: number
  /** Bytes of a cursor. */
  readonly maxCursorBytes: number
  /** Rounds of input that one request may ask for. */
  readonly maxInputRounds: number
  /** Requests of the server that are handled at once, and that may wait. */
  readonly maxServerRequests: number
  /** Bytes of one tool's schemas. */
  readonly maxSchemaBytes: number
}

export const defaults: Limits = {
  startupTimeout: Duration.seconds(60),
  installTimeout: Duration.minutes(5),
  requestTimeout: Duration.minutes(5),
  toolTimeout: Duration.hours(27),
  listTimeout: Duration.seconds(30),
  pingTimeout: Duration.seconds(5),
  stallTimeout: Duration.seconds(30),
  discoverPatience: Duration.seconds(2),
  keepAlive: Duration.seconds(50),
  maxMessageBytes: 16 * 1024 * 1024,
  stderrBytes: 64 * 1024,
  writeQueueBytes: 8 * 1024 * 1024,
  errorBodyBytes: 8 * 1024,
  maxPages: 100,
  maxItems: 10_000,
  maxCursorBytes: 64 * 1024,
  maxInputRounds: 10,
  maxServerRequests: 64,
  maxSchemaBytes: 1024 * 1024
}

/** The limits in force where a server sets none of its own. */
export class CurrentLimits
  extends Context.Reference<CurrentLimits>()("effect-mcp-runtime/config/Limits/CurrentLimits", {
    defaultValue: () => defaults
  })
{}

/** Other limits, set in code. */
export const layer = (limits?: Partial<Limits>): Layer.Layer<CurrentLimits> =>
  Layer.succeed(CurrentLimits, { ...defaults, ...limits })

const milliseconds = (name: string) =>
  Config.integer(name).pipe(
    Config.validate({ message: "expected a positive number of milliseconds", validation: (ms) => ms > 0 }),
    Config.map(Duration.millis)
  )

/** The limits that an operator sets: `MCP_TIMEOUT` and `MCP_TOOL_TIMEOUT` in milliseconds, `MCP_MAX_MESSAGE_BYTES`. */
export const config: Config.Config<Limits> = Config.all({
  startupTimeout: Config.withDefault(milliseconds("MCP_TIMEOUT"), defaults.startupTimeout),
  toolTimeout: Config.withDefault(milliseconds("MCP_TOOL_TIMEOUT"), defaults.toolTimeout),
  maxMessageBytes: Config.withDefault(Config.integer("MCP_MAX_MESSAGE_BYTES"), defaults.maxMessageBytes)
}).pipe(Config.map((operator) => Object.assign({}, defaults, operator)))

export const layerConfig: Layer.Layer<CurrentLimits, ConfigError.ConfigError> = Layer.effect(CurrentLimits, config)
