/** What each conversation with a model has found among the tools, and therefore is offered. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { excerpt } from "../text/UntrustedText.ts"
import * as AutoSearch from "./AutoSearch.ts"
import { inTurns } from "./inTurns.ts"
import type * as Tool from "./Tool.ts"
import type * as ToolIndex from "./ToolIndex.ts"
import * as ToolSearch from "./ToolSearch.ts"

export interface Options extends AutoSearch.Options {
  /** How many tools a search finds if the model does not say. */
  readonly limit: number
  /** How many found tools a session offers; those found longest ago are dropped. */
  readonly maxActivated: number
  /** How many sessions are remembered; those not used for longest begin anew. */
  readonly maxSessions: number
}

export const defaults: Options = { ...AutoSearch.defaults, limit: 5, maxActivated: 64, maxSessions: 1_000 }

/** A definition to offer. Without an entry it is the search itself. */
export interface Offered extends AutoSearch.Definition {
  readonly entry: ToolIndex.Entry | undefined
}

export interface Offer {
  /** Whether the search is offered in place of all tools. */
  readonly searching: boolean
  readonly definitions: ReadonlyArray<Offered>
}

export interface Found {
  /** The tools that can be called from now on, best first. */
  readonly hits: ReadonlyArray<ToolSearch.Hit>
  /** The result as text for the model. What servers wrote in it is escaped, and still untrusted. */
  readonly text: string
}

export interface SearchSession {
  /** What to offer in this turn of the model: all tools, or the search and what it has found. */
  readonly offer: Effect.Effect<Offer>
  /** Finds tools and makes them part of what is offered. */
  readonly search: (query: AutoSearch.Query) => Effect.Effect<Found>
  /** The names that were found, the latest last. */
  readonly activated: () => ReadonlyArray<string>
}

export interface SessionOptions {
  readonly model: AutoSearch.Model
  /** All tools; run each time, so that changes are found. */
  readonly tools: Effect.Effect<ReadonlyArray<ToolIndex.Entry>>
}

export class SearchSessions extends Context.Tag("effect-mcp-runtime/tools/SearchSession/SearchSessions")<
  SearchSessions,
  {
    /** The session with this id: what it has found before is still offered. */
    readonly session: (id: string, options: SessionOptions) => SearchSession
    /** Forgets a session. */
    readonly end: (id: string) => void
  }
>() {}

/** Drops the oldest keys. */
const shrink = (keys: Map<unknown, unknown> | Set<unknown>, most: number): void => {
  for (const key of keys.keys()) {
    if (keys.size <= most) return
    keys.delete(key)
  }
}

const lineLength = 160

const lineOf = ({ description, name }: ToolSearch.Hit): string => {
  const first = description?.trimStart().split(/[\r\n]/, 1)[0] ?? ""
  return first === "" ? `- ${name}` : `- ${name}: ${excerpt(first, lineLength)}`
}

const textOf = (hits: ReadonlyArray<ToolSearch.Hit>): string =>
  hits.length === 0
    ? "No tool was found. Use other words, or fewer."
    : `You can now call these tools, best match first:\n${hits.map(lineOf).join("\n")}`

export const make = (
  config?: Partial<Options>
): Effect.Effect<SearchSessions["Type"], never, ToolSearch.ToolSearch> =>
  Effect.map(ToolSearch.ToolSearch, (index) => {
    const options = { ...defaults, ...config }
    const sessions = new Map<string, Set<string>>()
    // entries are made anew with every change of any tool, and tools are not
    const definitions = new WeakMap<Tool.Tool, AutoSearch.Definition>()

    const activatedOf = (id: string): Set<string> => {
      const activated = sessions.get(id) ?? new Set()
      sessions.delete(id)
      sessions.set(id, activated)
      shrink(sessions, options.maxSessions)
      return activated
    }

    /** The definition of a tool, made and measured once and not in every turn of a model. */
    const definitionOf = ({ name, tool }: ToolIndex.Entry): AutoSearch.Definition => {
      const known = definitions.get(tool)
      if (known?.name === name) return known
      const { description = tool.title, inputSchema } = tool
      const definition = { name, description, inputSchema }
      definitions.set(tool, definition)
      return definition
    }

    return {
      session: (id, { model, tools }) => ({
        offer: Effect.gen(function*() {
          const entries = yield* tools
          const sizes = yield* inTurns(entries, (entry) => AutoSearch.sizeOf(definitionOf(entry)))
          const total = sizes.reduce((total, size) => total + size, 0)
          const searching = AutoSearch.shouldUseAutoSearch(options, model, total)
          const activated = activatedOf(id)
          const shown = searching ? entries.filter(({ name }) => activated.has(name)) : entries
          const fitting = yield* AutoSearch.withinBudgets(shown.map(definitionOf), options)
          const offered: Array<Offered> = fitting
            .map(({ description, inputSchema, name }, at) => ({ name, description, inputSchema, entry: shown[at] }))
          if (searching) offered.unshift({ ...AutoSearch.definition, entry: undefined })
          return { searching, definitions: offered }
        }),
        search: ({ limit, query, server }) =>
          Effect.gen(function*() {
            yield* index.index(yield* tools)
            const hits = yield* index.search(query, { limit: limit ?? options.limit, server })
            const activated = activatedOf(id)
            // the best is the last to be dropped
            for (const { name } of hits.toReversed()) {
              activated.delete(name)
              activated.add(name)
            }
            shrink(activated, options.maxActivated)
            const active = hits.filter(({ name }) => activated.has(name))
            return { hits: active, text: textOf(active) }
          }),
        activated: () => Array.from(sessions.get(id) ?? [])
      }),
      end: (id) => {
        sessions.delete(id)
      }
    }
  })

export const layer = (options?: Partial<Options>): Layer.Layer<SearchSessions, never, ToolSearch.ToolSearch> =>
  Layer.effect(SearchSessions, make(options))
