/**
 * Finds the tools for a task by what a person or a model says of it: words in any form, half a word, a slip of the hand.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as internal from "./internal/searchIndex.ts"
import type * as ToolIndex from "./ToolIndex.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** How many tools are found where nobody says how many. */
  readonly limit: number
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { limit: 8 }

/**
 * A tool that was found. Its description is its server's word, as it came.
 *
 * @since 0.1.0
 * @category models
 */
export interface Hit {
  readonly server: string
  readonly tool: string
  /** What a model calls it by. */
  readonly name: string
  /** Higher is better, within one answer only. */
  readonly score: number
  readonly description: string | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface SearchOptions {
  /** At most 100. */
  readonly limit?: number | undefined
  /** Only tools of this server. */
  readonly server?: string | undefined
  /** Only tools of which this is true. */
  readonly accepts?: ((entry: ToolIndex.Entry) => boolean) | undefined
}

/**
 * @since 0.1.0
 * @category tags
 */
export class ToolSearch extends Context.Tag("effect-mcp-runtime/tools/ToolSearch")<ToolSearch, {
  /**
   * From now on these are the tools that are found, and no others. Only what has changed is looked at, a little in each
   * turn of the event loop; meanwhile what is done already is found.
   */
  readonly index: (tools: ReadonlyArray<ToolIndex.Entry>) => Effect.Effect<void>
  /** Best first. Takes a few milliseconds, whatever is asked. */
  readonly search: (query: string, options?: SearchOptions) => Effect.Effect<ReadonlyArray<Hit>>
}>() {}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (options?: Partial<Options>): Effect.Effect<ToolSearch["Type"]> =>
  internal.make({ ...defaults, ...options })

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<ToolSearch> => Layer.effect(ToolSearch, make(options))
