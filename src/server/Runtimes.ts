/**
 * Where a gateway has its runtimes from: one that all callers share for what there is, and one for each caller whose servers
 * may ask it something or remember what it did.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as McpError from "../McpError.ts"
import type * as McpEvent from "../McpEvent.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import type * as Permissions from "../safety/Permissions.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"

/**
 * What a gateway asks of a runtime.
 *
 * @since 0.1.0
 * @category models
 */
export type Services =
  | McpEvent.McpEvents
  | McpRuntime.McpRuntime
  | Permissions.Permissions
  | ToolCatalog.ToolCatalog

/**
 * `NodeMcpServe` has them.
 *
 * @since 0.1.0
 * @category tags
 */
export class Runtimes extends Context.Tag("effect-mcp-runtime/server/Runtimes")<Runtimes, {
  /** `replace` is who answers what servers ask and who approves; `lazy`: no server starts before it is needed. */
  readonly open: (options: {
    readonly replace: Layer.Layer<never>
    readonly lazy: boolean
  }) => Effect.Effect<
    Context.Context<Services>,
    McpError.RequiredServersFailed | McpError.ConfigurationError,
    Scope.Scope
  >
}>() {}
