/**
 * Asks connections that nobody uses whether their servers are still there.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as Session from "../connection/Session.ts"
import type * as McpError from "../McpError.ts"

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
