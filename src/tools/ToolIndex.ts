/**
 * All tools of all servers under names that a model can use: pure data, made anew whenever something changes.
 *
 * @since 0.1.0
 */
import * as internal from "./internal/indexing.ts"
import type * as Tool from "./Tool.ts"
import type * as ToolName from "./ToolName.ts"

/**
 * What one server contributes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Contribution {
  readonly server: string
  readonly tools: ReadonlyArray<Tool.Tool>
  readonly enabledTools: ReadonlyArray<string> | undefined
  readonly disabledTools: ReadonlyArray<string> | undefined
}

/**
 * A tool and its names. `server` and `tool.name` are its identity; `name` is what a model sees.
 *
 * @since 0.1.0
 * @category models
 */
export interface Entry {
  readonly name: string
  readonly server: string
  readonly tool: Tool.Tool
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ToolIndex {
  /** In the order of the servers' names and then of the tools' names, whatever was started first. */
  readonly entries: ReadonlyArray<Entry>
  /** By the tool's own name; more than one if several servers have a tool of that name. */
  readonly toolsByName: ReadonlyMap<string, ReadonlyArray<Entry>>
  readonly byQualifiedName: ReadonlyMap<string, Entry>
  readonly find: (server: string, tool: string) => Entry | undefined
  /**
   * The tool of a name: the one with this qualified name, else the one whose server and tool the name spells out in either
   * style, else the only tool with this bare name. A bare name that begins with `mcp_` is not resolved.
   */
  readonly resolve: (name: string) => Entry | undefined
  /** The tools of one server. */
  readonly ofServer: (server: string) => ReadonlyArray<Entry>
  /** Names that come near, best first, for an error that helps. */
  readonly suggest: (name: string) => ReadonlyArray<string>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly style: ToolName.Style
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { style: "double" }

/**
 * Indexes the tools that pass their server's filter. Names and order depend on nothing but the identities of the tools,
 * by code units. Of two tools of one identity the first counts.
 *
 * Should two identities ever have one name, which takes a search for equal hashes, then each gets a longer one that says
 * nothing, and neither the name that both had.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: (contributions: Iterable<Contribution>, options?: Partial<Options>) => ToolIndex = (
  contributions,
  options
) => internal.make(contributions, internal.naming({ ...defaults, ...options }.style))
