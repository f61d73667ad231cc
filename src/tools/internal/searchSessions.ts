/**
 * Sessions, bounded in number and in what each of them remembers.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as AutoSearch from "../AutoSearch.ts"
import type * as SearchSession from "../SearchSession.ts"
import type * as ToolIndex from "../ToolIndex.ts"
import * as ToolSearch from "../ToolSearch.ts"
import * as SearchOffered from "./searchOffered.ts"

const search: SearchSession.Offered = { ...AutoSearch.definition, entry: undefined }

const lineLength = 160

const line = ({ description, name }: ToolSearch.Hit): string => {
  const first = description?.trimStart().split(/[\r\n]/, 1)[0] ?? ""
  return first === "" ? `- ${name}` : `- ${name}: ${UntrustedText.excerpt(first, lineLength)}`
}

const told = (hits: ReadonlyArray<ToolSearch.Hit>): string =>
  hits.length === 0
    ? "No tool was found. Say it in other words, or leave words out."
    : `These tools can be called from now on, the best first:\n${hits.map(line).join("\n")}`

/** The last of a map or set are the ones used last. */
const shrink = (all: Map<string, unknown> | Set<string>, most: number): void => {
  for (const key of all.keys()) {
    if (all.size <= most) return
    all.delete(key)
  }
}

/** @internal */
export const make = (
  options: SearchSession.Options
): Effect.Effect<SearchSession.SearchSessions["Type"], never, ToolSearch.ToolSearch> =>
  Effect.map(ToolSearch.ToolSearch, (index) => {
    const sessions = new Map<string, Set<string>>()
    const offered = SearchOffered.make(options)

    const activatedOf = (id: string): Set<string> => {
      const activated = sessions.get(id) ?? new Set()
      sessions.delete(id)
      sessions.set(id, activated)
      shrink(sessions, options.maxSessions)
      return activated
    }

    /** Whether all are too much; no more of them are measured than it takes to know. */
    const isSearching = (
      entries: ReadonlyArray<ToolIndex.Entry>,
      model: AutoSearch.Model
    ): Effect.Effect<boolean> => {
      const isToSearch = (size: number) => AutoSearch.shouldUseAutoSearch(options, model, size)
      // what even the largest size does not change needs no measuring
      if (options.mode !== "auto" || !isToSearch(Infinity)) {
        return Effect.succeed(entries.length > 0 && isToSearch(Infinity))
      }
      return Effect.map(offered.size(entries, AutoSearch.thresholdOf(options, model)), isToSearch)
    }

    return {
      session: (id, { accepts, model, tools }) => ({
        offer: Effect.gen(function*() {
          const all = yield* tools
          const entries = accepts === undefined ? all : all.filter(accepts)
          const searching = yield* isSearching(entries, model)
          const activated = activatedOf(id)
          const shown = searching ? entries.filter(({ name }) => activated.has(name)) : entries
          const definitions = yield* offered.definitions(shown)
          return { searching, definitions: searching ? [search, ...definitions] : definitions }
        }),
        search: ({ limit, query, server }) =>
          Effect.gen(function*() {
            yield* index.index(yield* tools)
            const hits = yield* index.search(query, { limit: limit ?? options.limit, server, accepts })
            const activated = activatedOf(id)
            // the best is the last to be dropped
            for (const { name } of hits.toReversed()) {
              activated.delete(name)
              activated.add(name)
            }
            shrink(activated, options.maxActivated)
            const active = hits.filter(({ name }) => activated.has(name))
            return { hits: active, activated: active.map(({ name }) => name), text: told(active) }
          }),
        activated: () => Array.from(sessions.get(id) ?? [])
      }),
      end: (id) => {
        sessions.delete(id)
      }
    }
  })
