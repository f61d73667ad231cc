/** Every limit and duration in one place. Each can be set per server; a duration is a hard cap, not a hope. */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"

export const defaults = {
  /** Connecting, over all its phases. */
  startupTimeout: Duration.seconds(60),
  /**
   * The install of the server by a launcher (npx, uvx, …); `startupTimeout` begins when it is done. It applies
   * where the processes show the install: on Linux, and not for docker, pipx and deno, which have `startupTimeout` alone.
   */
  installTimeout: Duration.minutes(5),
  /** A call without an answer or progress. */
  requestTimeout: Duration.minutes(5),
  /** A whole call, with or without progress. */
  toolTimeout: Duration.hours(27),
  /** A list (all its pages together), a read, a prompt, a completion. */
  listTimeout: Duration.seconds(30),
  /** A health probe. */
  pingTimeout: Duration.seconds(5),
  /** Written bytes that the peer does not read; after that it counts as lost. */
  stallTimeout: Duration.seconds(30),
  /** The silence of a stdio server after `server/discover`, before it is asked `initialize` as well. */
  discoverPatience: Duration.seconds(2),
  /** Keep-alive of an idle socket. */
  keepAlive: Duration.seconds(50),
  /** One message, decoded: a stdio line, an SSE event, an HTTP body, a WebSocket message. */
  maxMessageBytes: 16 * 1024 * 1024,
  /** The end of stderr that is kept. */
  stderrBytes: 64 * 1024,
  /** Bytes that may wait to be written. */
  writeQueueBytes: 8 * 1024 * 1024,
  /** The beginning of the body of an HTTP error that is read. */
  errorBodyBytes: 8 * 1024,
  /** Pages of a list. */
  maxPages: 100,
  /** Items of a list. */
  maxItems: 10_000,
  /** Bytes of a cursor. */
  maxCursorBytes: 64 * 1024,
  /** Rounds of input that one request may ask for. */
  maxInputRounds: 10,
  /** Requests of the server in progress; more are refused. */
  maxServerRequests: 64,
  /** Bytes of one tool's schemas. */
  maxSchemaBytes: 1024 * 1024
}

export interface Limits extends Readonly<typeof defaults> {}

/** The limits of servers that do not configure their own. */
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
