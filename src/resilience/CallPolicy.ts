/**
 * Which calls that failed are made once more, and when.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import type * as Tool from "../tools/Tool.ts"

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
  /** Whether there was a connection to try it on; if not, the supervisor has already tried all it may. */
  readonly connected: boolean
  /** The tool, where its definition is known from the server itself. */
  readonly tool: Tool.Tool | undefined
  /** What the caller says: whether running it twice does no harm. */
  readonly replay: boolean | undefined
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
