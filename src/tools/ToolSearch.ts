/** Finds tools for a description of a task, with other word forms, word beginnings, typos and synonyms. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { inTurns } from "./inTurns.ts"
import type * as SearchIndex from "./searchIndex.ts"
import type * as ToolIndex from "./ToolIndex.ts"

/** A tool that was found. Its description is untrusted text of its server. */
export interface Hit {
  readonly server: string
  readonly tool: string
  /** The name for models. */
  readonly name: string
  /** Higher is better, within one answer only. */
  readonly score: number
  readonly description: string | undefined
}

export interface SearchOptions {
  /** Default 8, at most 100. */
  readonly limit?: number | undefined
  /** Only tools of this server. */
  readonly server?: string | undefined
}

export class ToolSearch extends Context.Tag("effect-mcp-runtime/tools/ToolSearch")<ToolSearch, {
  /**
   * Makes these the tools that are found, and no others. Only changed tools are read, a few in each turn of the event
   * loop; a search meanwhile finds those that are done.
   */
  readonly index: (tools: ReadonlyArray<ToolIndex.Entry>) => Effect.Effect<void>
  /** The tools that fit, best first; those of a server that the query names come before others. */
  readonly search: (query: string, options?: SearchOptions) => Effect.Effect<ReadonlyArray<Hit>>
}>() {}

const defaultLimit = 8
const maxLimit = 100

export const make = (): Effect.Effect<ToolSearch["Type"]> =>
  Effect.map(Effect.makeSemaphore(1), (semaphore) => {
    let index: SearchIndex.SearchIndex | undefined

    return {
      index: (tools) =>
        semaphore.withPermits(1)(Effect.gen(function*() {
          // on demand, so that a start does not pay for the library
          const current = index ??= (yield* Effect.promise(() => import("./searchIndex.ts"))).make()
          yield* inTurns(current.others(tools), current.remove)
          const ranks = new Map<string, number>()
          yield* inTurns(tools, (entry) => {
            const rank = (ranks.get(entry.server) ?? 0) + 1
            ranks.set(entry.server, rank)
            current.put(entry, rank)
          })
        })),
      search: (query, { limit = defaultLimit, server } = {}) =>
        Effect.sync(() => {
          const most = Number.isFinite(limit) ? Math.max(1, Math.min(maxLimit, Math.floor(limit))) : defaultLimit
          return (index?.find(query) ?? [])
            .filter(({ entry }) => server === undefined || entry.server === server)
            .slice(0, most)
            .map(({ entry: { name, server, tool: { description, name: tool } }, score }) => (
              { server, tool, name, score, description }
            ))
        })
    }
  })

export const layer = (): Layer.Layer<ToolSearch> => Layer.effect(ToolSearch, make())
