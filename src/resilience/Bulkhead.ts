/**
 * How many calls a server has to bear at once, and how many may wait for their turn.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Calls at once per server; a server's `concurrency` wins. */
  readonly concurrency: number
  /** Calls that may wait per server. */
  readonly queue: number
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { concurrency: 64, queue: 1_024 }

/**
 * The places of one server.
 *
 * @since 0.1.0
 * @category models
 */
export interface Places {
  /** Runs when there is a place, first come first served; fails at once when too many wait. */
  readonly within: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E | McpError.Overloaded, R>
  readonly taken: () => number
  readonly waiting: () => number
}

/**
 * @since 0.1.0
 * @category tags
 */
export class Bulkhead extends Context.Tag("effect-mcp-runtime/resilience/Bulkhead")<Bulkhead, {
  /** The places of a server, the same for all who ask; a changed `concurrency` holds from the next call on. */
  readonly for: (config: ServerConfig.ServerConfig) => Places
}>() {}
