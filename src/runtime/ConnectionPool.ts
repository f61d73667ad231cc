/**
 * All the servers of an application, each with one link that connects, reconnects, idles and closes it.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type * as Connector from "../client/Connector.ts"
import type * as McpClient from "../client/McpClient.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import type * as McpEvent from "../McpEvent.ts"
import type * as ReconnectPolicy from "../resilience/ReconnectPolicy.ts"
import type * as Teardown from "../resilience/Teardown.ts"
import * as internal from "./pool.ts"
import type * as ServerStatus from "./ServerStatus.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** How many servers connect at a time. */
  readonly batchSize: number
  /** Whether servers that differ in nothing but their names, titles and filters are started once. */
  readonly shareIdentical: boolean
  /** How long calls may go on over a connection that a reload has replaced. */
  readonly drainTimeout: Duration.DurationInput
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { batchSize: 3, shareIdentical: false, drainTimeout: Duration.seconds(30) }

/**
 * A connection in use. `generation` grows with each connection of a server and is never used twice.
 *
 * @since 0.1.0
 * @category models
 */
export interface Live {
  /** The name under which it was asked for. */
  readonly server: string
  readonly config: ServerConfig.ServerConfig
  readonly generation: number
  readonly session: McpClient.McpClient
}

/**
 * A connection that is there to be used now. Whoever calls `begin` is certain to call `end`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Line {
  readonly live: Live
  readonly begin: () => void
  readonly end: (exit: Exit.Exit<unknown, unknown>) => void
}

/**
 * One server as it is now.
 *
 * @since 0.1.0
 * @category models
 */
export interface Member {
  readonly config: ServerConfig.ServerConfig
  readonly status: ServerStatus.ServerStatus
  /** The connection, if there is one. */
  readonly live: Live | undefined
  /** The name of the server whose connection it uses, if that is another. */
  readonly sharedWith: string | undefined
  /** The last answer or silence of a health probe. */
  readonly health: { readonly at: number; readonly ok: boolean } | undefined
  readonly reconnects: number
}

/**
 * @since 0.1.0
 * @category tags
 */
export class ConnectionPool extends Context.Tag("effect-mcp-runtime/runtime/ConnectionPool")<ConnectionPool, {
  /**
   * Uses the connection of a server, and waits for one if there is none: for the attempt under way, or for the series
   * of attempts that this begins. What could not be sent says so (`outcome` is `not-sent`).
   */
  readonly use: <A, E, R>(
    server: string,
    f: (live: Live) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | McpError.ConnectError | McpError.ServerUnavailable | McpError.NotFound, R>
  /** What `use` begins with where nothing has to be waited for, as a step of its own. */
  readonly line: (server: string) => Line | undefined
  /** The servers in the order of their configuration. */
  readonly members: () => ReadonlyArray<Member>
  readonly member: (server: string) => Member | undefined
  readonly find: (server: string) => Effect.Effect<Member, McpError.NotFound>
  readonly config: (server: string) => ServerConfig.ServerConfig | undefined
  /** All of them, and the same array until that changes. */
  readonly configs: () => ReadonlyArray<ServerConfig.ServerConfig>
  /** Whether a use of the server would begin at once. */
  readonly isConnected: (server: string) => boolean
  /** Every change of a status from now on, in order; ends with the pool. */
  readonly changes: Stream.Stream<ServerStatus.Change>
  /** Called synchronously with every change; returns how to stop. */
  readonly onChange: (listener: (change: ServerStatus.Change) => void) => () => void
  /** Runs beside each connection from now on, in its scope, and ends with it. */
  readonly onConnected: (
    run: (live: Live) => Effect.Effect<void, never, Scope.Scope>
  ) => Effect.Effect<void, never, Scope.Scope>
  /** How many tools the server is known to have, for its status. */
  readonly setTools: (server: string, tools: number) => void
  /** Connects now, whatever there was before, and waits for the outcome. */
  readonly connect: (
    server: string
  ) => Effect.Effect<void, McpError.ConnectError | McpError.ServerUnavailable | McpError.NotFound>
  /** Ends the connection, forgets its failures, and connects anew. */
  readonly reconnect: (
    server: string
  ) => Effect.Effect<void, McpError.ConnectError | McpError.ServerUnavailable | McpError.NotFound>
  /** Ends the connection and stays so until `connect` or `reconnect`. */
  readonly disconnect: (server: string) => Effect.Effect<void, McpError.NotFound>
  readonly enable: (server: string) => Effect.Effect<void, McpError.NotFound>
  readonly disable: (server: string) => Effect.Effect<void, McpError.NotFound>
  readonly disconnectAll: Effect.Effect<void>
  /**
   * Makes these the servers. New ones start at once and are not waited for; the connection of a changed one serves on
   * until its successor is ready, and for good if that fails.
   */
  readonly reload: (configs: ReadonlyArray<ServerConfig.ServerConfig>) => Effect.Effect<McpEvent.ReloadReport>
}>() {}

/**
 * What a pool is made of.
 *
 * @since 0.1.0
 * @category models
 */
export type Requirements =
  | Connector.Connector
  | McpEvent.McpEvents
  | ReconnectPolicy.ReconnectPolicy
  | Teardown.Teardown

/**
 * A pool without servers; `reload` gives it some.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options?: Partial<Options>
): Effect.Effect<ConnectionPool["Type"], never, Requirements | Scope.Scope> =>
  internal.make({ ...defaults, ...options })

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<ConnectionPool, never, Requirements> =>
  Layer.scoped(ConnectionPool, make(options))

/**
 * The numbers are an operator's.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<Partial<Options>>
): Layer.Layer<ConnectionPool, ConfigError.ConfigError, Requirements> =>
  Layer.scoped(ConnectionPool, Effect.flatMap(Config.unwrap(options), make))
