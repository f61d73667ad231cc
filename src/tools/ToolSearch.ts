/** Finds the tools for a task by what a person or a model says of it: other forms of words, half a word, typos, synonyms. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type MiniSearch from "minisearch"
import { properties, text } from "../json/describe.ts"
import type { JsonObject } from "../json/Json.ts"
import { inTurns } from "./inTurns.ts"
import { nameTermsIn, stem, termsIn, wantedBy, words } from "./searchWords.ts"
import type * as ToolIndex from "./ToolIndex.ts"

export interface Options {
  /** How many tools are found if the query has no limit. */
  readonly limit: number
}

export const defaults: Options = { limit: 8 }

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
  /** At most 100. */
  readonly limit?: number | undefined
  /** Only tools of this server. */
  readonly server?: string | undefined
  /** Only tools of which this is true. */
  readonly accepts?: ((entry: ToolIndex.Entry) => boolean) | undefined
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

/** What is read of a tool at most, because all of it is untrusted: the rest is not indexed. */
const nameLength = 128
const descriptionLength = 1_000
const descriptionTerms = 50
const mostParameters = 40
const parameterLength = 200
const parameterTerms = 40

const queryLength = 400
const mostQueryWords = 20
/** How many terms of unknown words in a query are completed or corrected. */
const mostUnknown = 6
const mostHits = 100

/** A tool as terms. */
interface Document {
  readonly id: string
  readonly name: string
  readonly title: string
  readonly description: string
  readonly parameters: string
  readonly server: string
}

const boost = { name: 2.5, title: 2, description: 1.5, parameters: 1, server: 1 }

const correctedWeight = 0.4
const completedWeight = 0.4
const namedServerBoost = 5

/** The names of parameters, and their descriptions. */
const parametersOf = (schema: JsonObject): string =>
  properties(schema).slice(0, mostParameters)
    .map(({ name, schema }) =>
      `${name.slice(0, nameLength)} ${text(schema, "description")?.slice(0, parameterLength) ?? ""}`
    )
    .join("\n")

const idOf = ({ server, tool }: ToolIndex.Entry): string => JSON.stringify([server, tool.name])

const documentOf = (entry: ToolIndex.Entry): Document => {
  const { server, tool } = entry
  const { description = "", inputSchema, name, title = tool.annotations.title ?? "" } = tool
  return {
    id: idOf(entry),
    name: nameTermsIn(name.slice(0, nameLength)),
    title: termsIn(title.slice(0, nameLength)),
    description: termsIn(description.slice(0, descriptionLength), descriptionTerms),
    parameters: termsIn(parametersOf(inputSchema), parameterTerms),
    server: nameTermsIn(server.slice(0, nameLength))
  }
}

interface Item {
  readonly entry: ToolIndex.Entry
  readonly document: Document
}

interface Ranked {
  readonly entry: ToolIndex.Entry
  readonly score: number
}

type Index = MiniSearch<Document>

/** The library is loaded when there are tools to be indexed, so that a start does not pay for it. */
const empty: Effect.Effect<Index> = Effect.map(
  Effect.promise(() => import("minisearch")),
  ({ default: MiniSearch }) =>
    new MiniSearch<Document>({
      fields: Object.keys(boost),
      tokenize: (terms) => terms === "" ? [] : terms.split(" "),
      processTerm: (term) => term,
      searchOptions: { boost, bm25: { k: 1, b: 0.7, d: 0.5 } }
    })
)

/**
 * The tools that answer a query, best first. A word that no tool has is completed and corrected, and the last word is
 * completed in any case.
 */
const find = (index: Index, items: ReadonlyMap<string, Item>, query: string): ReadonlyArray<Ranked> => {
  const queryWords = words(query.slice(0, queryLength)).slice(0, mostQueryWords)
  const wanted = wantedBy(queryWords)
  const terms = Array.from(wanted.keys()).join(" ")
  const wordOf = (term: string): number => wanted.get(term)?.word ?? 0
  const isWritten = (term: string): boolean => (wanted.get(term)?.kind ?? "synonym") !== "synonym"
  const boostTerm = (term: string): number => wanted.get(term)?.weight ?? 0

  const exact = new Set(index.search(terms, { boostTerm }).flatMap(({ queryTerms }) => queryTerms))
  const known = new Set(Array.from(exact).filter(isWritten).map(wordOf))
  const unknown = new Set(
    Array.from(wanted.keys()).filter((term) => wanted.get(term)?.kind === "word" && !known.has(wordOf(term))).slice(
      0,
      mostUnknown
    )
  )
  const last = stem(queryWords.at(-1) ?? "")
  const results = index.search(terms, {
    boostTerm,
    fuzzy: (term) => unknown.has(term) && term.length > 3 && (term.length < 5 ? 1 : 2),
    prefix: (term) => term.length > 2 && (term === last || (unknown.has(term) && term.length > 4)),
    weights: { fuzzy: correctedWeight, prefix: completedWeight }
  })
  return results.flatMap(({ id, queryTerms, score }) => {
    const item = items.get(id)
    if (item === undefined) return []
    const met = new Set(queryTerms.map(wordOf)).size
    const isServerNamed = met > 1 && item.document.server.split(" ").every(isWritten)
    // the library multiplies by the number of terms, of which one word of the query can have several
    const share = met / queryWords.length / queryTerms.length
    return [{ entry: item.entry, score: score * share * (isServerNamed ? namedServerBoost : 1) }]
  }).toSorted((a, b) => b.score - a.score || (a.entry.name < b.entry.name ? -1 : 1))
}

export const make = (options?: Partial<Options>): Effect.Effect<ToolSearch["Type"]> =>
  Effect.map(Effect.makeSemaphore(1), (semaphore) => {
    const { limit: usualLimit } = { ...defaults, ...options }
    const items = new Map<string, Item>()
    let index: Index | undefined

    const remove = (index: Index, { document }: Item): void => {
      index.remove(document)
      items.delete(document.id)
    }

    const put = (index: Index, entry: ToolIndex.Entry): void => {
      const known = items.get(idOf(entry))
      if (known?.entry.tool === entry.tool) return void items.set(known.document.id, { ...known, entry })
      if (known !== undefined) remove(index, known)
      const document = documentOf(entry)
      index.add(document)
      items.set(document.id, { entry, document })
    }

    return {
      index: (tools) =>
        semaphore.withPermits(1)(Effect.gen(function*() {
          const current = index ??= yield* empty
          const wanted = new Set(tools.map(idOf))
          const gone = Array.from(items.values()).filter(({ document }) => !wanted.has(document.id))
          yield* inTurns(gone, (item) => remove(current, item))
          yield* inTurns(tools, (entry) => put(current, entry))
        })),
      search: (query, { accepts, limit = usualLimit, server } = {}) =>
        Effect.sync(() => {
          if (index === undefined) return []
          const most = Number.isFinite(limit) ? Math.max(1, Math.min(mostHits, Math.floor(limit))) : usualLimit
          return find(index, items, query)
            .filter(({ entry }) => (server === undefined || entry.server === server) && accepts?.(entry) !== false)
            .slice(0, most)
            .map(({ entry: { name, server, tool }, score }) => ({
              server,
              tool: tool.name,
              name,
              score,
              description: tool.description
            }))
        })
    }
  })

export const layer = (options?: Partial<Options>): Layer.Layer<ToolSearch> => Layer.effect(ToolSearch, make(options))
