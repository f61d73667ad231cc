/**
 * The tools of an application together with those of MCP servers: its own are there at once, whatever the servers do.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type * as McpEvent from "../McpEvent.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import * as internal from "./internal/hostTools.ts"
import type * as ToolHandler from "./ToolHandler.ts"

/**
 * A tool of the application, in its own form.
 *
 * @since 0.1.0
 * @category models
 */
export interface CoreTool {
  readonly name: string
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options<Core extends CoreTool> {
  readonly core: ReadonlyArray<Core>
  /** How long the tools of servers may be waited for, each time that tools are asked for. */
  readonly wait?: Duration.DurationInput | undefined
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults = { wait: Duration.zero }

/**
 * @since 0.1.0
 * @category models
 */
export interface Tools<Core extends CoreTool> {
  /** As they were given, always. */
  readonly core: ReadonlyArray<Core>
  /** What of MCP is ready. None has a name of the application's. */
  readonly mcp: ReadonlyArray<ToolHandler.Definition>
  /** Names that MCP has as well, where the application's own win. */
  readonly shadowed: ReadonlyArray<string>
  readonly missing: ReadonlyArray<ToolCatalog.Missing>
  readonly searching: boolean
}

/**
 * @since 0.1.0
 * @category models
 */
export interface HostTools<Core extends CoreTool> {
  /**
   * The tools, for the next turn of a model. Where servers are missing that were not missing before, or for another
   * reason, a warning says so, as an event and in the log.
   */
  readonly tools: (options?: Omit<ToolHandler.DefinitionsOptions, "wait">) => Effect.Effect<Tools<Core>>
  /** The tools that are ready, and again whenever they are others; in no session. */
  readonly changes: Stream.Stream<Tools<Core>>
}

/**
 * @since 0.1.0
 * @category models
 */
export type Requirements = McpEvent.McpEvents | McpRuntime.McpRuntime | ToolHandler.ToolHandler

/**
 * Asks the servers for their tools in the background, until the scope closes.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <Core extends CoreTool>(
  options: Options<Core>
): Effect.Effect<HostTools<Core>, never, Requirements | Scope.Scope> =>
  internal.make({ core: options.core, wait: Duration.decode(options.wait ?? defaults.wait) })
