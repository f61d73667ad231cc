/**
 * Keeps one server connected for as long as it is wanted: a loop that connects, watches, waits and tries again, one
 * connection at a time.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type * as Connector from "../client/Connector.ts"
import type * as McpClient from "../client/McpClient.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import type * as HealthCheck from "../resilience/HealthCheck.ts"
import type * as ReconnectPolicy from "../resilience/ReconnectPolicy.ts"
import type * as ServerStatus from "./ServerStatus.ts"
import * as internal from "./supervising.ts"

/**
 * What a link needs; it reads nothing from its surroundings, so that the first caller's are not frozen into it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly config: ServerConfig.ServerConfig
  readonly connector: Connector.Connector["Type"]
  readonly reconnect: ReconnectPolicy.Reconnect
  readonly health: HealthCheck.Options
  /** Why it is down from the beginning, if somebody has said so before. */
  readonly down?: Down | undefined
  /** How long an established connection may take to close before its server is free for the next. */
  readonly closeWithin: Duration.Duration
  /** Runs a connect when it is its turn. */
  readonly inTurn: <A, E, R>(connect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** A number that was never given before, and is greater than all before. */
  readonly nextGeneration: () => number
  /** Called synchronously with each new status; `previous` is what it was. */
  readonly onStatus: (status: ServerStatus.ServerStatus, previous: ServerStatus.ServerStatus) => void
  /** Called when another attempt is planned. */
  readonly onRetry: (attempt: number, delay: Duration.Duration, error: McpError.ConnectError) => void
  /** What runs beside each connection, in its scope, and ends with it. */
  readonly beside: (connected: Connected) => Iterable<Effect.Effect<void, never, Scope.Scope>>
}

/**
 * Why a server is down that could be up.
 *
 * @since 0.1.0
 * @category models
 */
export type Down = "configuration" | "disabled" | "disconnected"

/**
 * A connection of a server.
 *
 * @since 0.1.0
 * @category models
 */
export interface Connected {
  readonly generation: number
  readonly session: McpClient.McpClient
}

/**
 * A connection that is there to be used now. Whoever calls `begin` is certain to call `end`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Line extends Connected {
  /** That of the connection. */
  readonly scope: Scope.Scope
  readonly begin: () => void
  readonly end: (exit: Exit.Exit<unknown, unknown>) => void
}

/**
 * Why a server could not be used.
 *
 * @since 0.1.0
 * @category models
 */
export type UseError = McpError.ConnectError | McpError.ServerUnavailable

/**
 * @since 0.1.0
 * @category models
 */
export interface Link {
  readonly config: ServerConfig.ServerConfig
  /** The loop, to be run by whoever owns the link. Interrupting it ends the connection first. */
  readonly run: Effect.Effect<void>
  readonly status: () => ServerStatus.ServerStatus
  /** Why somebody has it down, if somebody has. */
  readonly switchedOff: () => Exclude<Down, "configuration"> | undefined
  readonly connected: () => Line | undefined
  readonly health: () => { readonly at: number; readonly ok: boolean } | undefined
  /** How often it was connected again. */
  readonly reconnects: () => number
  readonly use: <A, E, R>(f: (connected: Connected) => Effect.Effect<A, E, R>) => Effect.Effect<A, E | UseError, R>
  readonly setTools: (tools: number) => void
  /** Waits for the first attempt, and fails with why it has. */
  readonly first: Effect.Effect<void, UseError>
  readonly connect: Effect.Effect<void, UseError>
  readonly reconnect: Effect.Effect<void, UseError>
  readonly disconnect: Effect.Effect<void>
  readonly enable: Effect.Effect<void>
  readonly disable: Effect.Effect<void>
  /** Lets calls in flight end, for no longer than this, and takes no new ones that would have to wait. */
  readonly retire: (drain: Duration.Duration) => Effect.Effect<void>
  /** For good. Refuses callers at once; the connection ends with the loop. */
  readonly close: () => void
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make: (options: Options) => Effect.Effect<Link> = internal.make
