/**
 * Where a gateway has its runtimes from: one that all callers share for what there is, and one for each caller whose servers
 * may ask it something or remember what it did.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as InputHandlers from "../client/InputHandlers.ts"
import type * as McpError from "../McpError.ts"
import type * as McpEvent from "../McpEvent.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import type * as Approval from "../safety/Approval.ts"
import type * as Permissions from "../safety/Permissions.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"

/** What a gateway asks of a runtime. */
export type Services =
  | McpEvent.McpEvents
  | McpRuntime.McpRuntime
  | Permissions.Permissions
  | ToolCatalog.ToolCatalog

/** What distinguishes the runtime of one caller. */
export interface Seat {
  /** Answers what servers ask. */
  readonly handlers?: InputHandlers.Handlers | undefined
  readonly approval?: Approval.Approval["Type"] | undefined
  /** Starts every server at its first use. */
  readonly lazy: boolean
}

/** `NodeMcpServe` has them. */
export class Runtimes extends Context.Tag("effect-mcp-runtime/server/Runtimes")<Runtimes, {
  readonly open: (seat: Seat) => Effect.Effect<
    Context.Context<Services>,
    McpError.RequiredServersFailed | McpError.ConfigurationError,
    Scope.Scope
  >
}>() {}
