/**
 * What is known of each server's tools: in memory, and between runs where the application wants it.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import type * as Transport from "../transport/Transport.ts"
import type * as Tool from "./Tool.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** How long a list is believed where the server gives no hint of its own. */
  readonly timeToLive: Duration.DurationInput
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { timeToLive: Duration.minutes(5) }

/**
 * The tools of a server, as they were at one time. Those of a `snapshot` were kept from an earlier run: they have no
 * annotations, because a file must not be able to relax a permission.
 *
 * @since 0.1.0
 * @category models
 */
export interface Manifest {
  readonly source: "server" | "snapshot"
  readonly tools: ReadonlyArray<Tool.Tool>
  readonly rejected: ReadonlyArray<Tool.RejectedTool>
  /** Milliseconds since 1970. */
  readonly fetchedAt: number
  /** The generation of the connection that gave them; 0 for a snapshot. */
  readonly generation: number
}

/**
 * A connection that tools can be fetched from.
 *
 * @since 0.1.0
 * @category models
 */
export interface Source {
  readonly generation: number
  readonly era: Transport.Era
  readonly list: Effect.Effect<Tool.ToolList, McpError.RuntimeError>
}

/**
 * The tools of one server.
 *
 * @since 0.1.0
 * @category models
 */
export interface ServerTools {
  /** What is known, however old. */
  readonly current: () => Manifest | undefined
  /** Whether what is known comes from the server, is not too old, and was not invalidated. */
  readonly isFresh: () => boolean
  /**
   * Fetches the list, once for all who ask at the same time. A caller who is interrupted takes the fetch from nobody
   * else. What an older fetch gives never replaces what a newer one gave.
   */
  readonly fetch: (source: Source) => Effect.Effect<Manifest, McpError.RuntimeError>
  /** From now on what is known is old. A fetch that has begun before does not make it fresh again. */
  readonly invalidate: () => void
  /** Called synchronously when other tools than before are known; returns how to stop. */
  readonly onChange: (listener: (manifest: Manifest) => void) => () => void
}

/**
 * @since 0.1.0
 * @category tags
 */
export class ToolCache extends Context.Tag("effect-mcp-runtime/tools/ToolCache")<ToolCache, {
  /**
   * The tools of a server with this configuration, the same for all who ask. A change of what the server is (its
   * command, address, environment, credentials) makes it another server. What was kept from an earlier run is loaded
   * before this succeeds; that it cannot be read costs nothing but an event.
   */
  readonly for: (config: ServerConfig.ServerConfig) => Effect.Effect<ServerTools>
  /** Forgets a server that is no longer configured. */
  readonly forget: (config: ServerConfig.ServerConfig) => Effect.Effect<void>
}>() {}
