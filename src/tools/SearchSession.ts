/**
 * What each conversation with a model has found among the tools, and so what it is offered.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AutoSearch from "./AutoSearch.ts"
import * as internal from "./internal/searchSessions.ts"
import type * as ToolIndex from "./ToolIndex.ts"
import type * as ToolSearch from "./ToolSearch.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options extends AutoSearch.Options {
  /** How many tools a search finds where the model does not say how many. */
  readonly limit: number
  /** How many tools are active in one session; those found longest ago are no longer offered then. */
  readonly maxActivated: number
  /** How many sessions are remembered; those not used for longest begin anew. */
  readonly maxSessions: number
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { ...AutoSearch.defaults, limit: 5, maxActivated: 64, maxSessions: 1_000 }

/**
 * A definition to offer. Without an entry it is the search itself.
 *
 * @since 0.1.0
 * @category models
 */
export interface Offered extends AutoSearch.Definition {
  readonly entry: ToolIndex.Entry | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Offer {
  /** Whether there is more to be found than is offered. */
  readonly searching: boolean
  readonly definitions: ReadonlyArray<Offered>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Found {
  readonly hits: ReadonlyArray<ToolSearch.Hit>
  /** The names that can be called from now on. */
  readonly activated: ReadonlyArray<string>
  /** All that as a text for the model. What servers wrote in it is escaped, and still only what servers wrote. */
  readonly text: string
}

/**
 * @since 0.1.0
 * @category models
 */
export interface SearchSession {
  /** What to offer now: all tools, or the search and what it has found. Asked anew for every turn of the model. */
  readonly offer: Effect.Effect<Offer>
  /** Finds tools and makes them part of what is offered. */
  readonly search: (query: AutoSearch.Query) => Effect.Effect<Found>
  /** The names that were found, the latest last. */
  readonly activated: () => ReadonlyArray<string>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface SessionOptions {
  readonly model: AutoSearch.Model
  /** All tools that there are; asked each time, so that what has changed is found. */
  readonly tools: Effect.Effect<ReadonlyArray<ToolIndex.Entry>>
  /** Whether this session may know of a tool. */
  readonly accepts?: ((entry: ToolIndex.Entry) => boolean) | undefined
}

/**
 * @since 0.1.0
 * @category tags
 */
export class SearchSessions extends Context.Tag("effect-mcp-runtime/tools/SearchSession/SearchSessions")<
  SearchSessions,
  {
    /** The session of this id: what it has found before is still active. */
    readonly session: (id: string, options: SessionOptions) => SearchSession
    /** Forgets a session. */
    readonly end: (id: string) => void
  }
>() {}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options?: Partial<Options>
): Effect.Effect<SearchSessions["Type"], never, ToolSearch.ToolSearch> => internal.make({ ...defaults, ...options })

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<SearchSessions, never, ToolSearch.ToolSearch> =>
  Layer.effect(SearchSessions, make(options))
