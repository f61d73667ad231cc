/** The index of a tool search: tools as bounded terms, and the tools that answer a query. Imported when a search is used. */
import MiniSearch from "minisearch"
import { properties, text } from "../json/describe.ts"
import type { JsonObject } from "../json/Json.ts"
import { nameTermsIn, stem, termsIn, wantedBy, words } from "./searchWords.ts"
import type * as ToolIndex from "./ToolIndex.ts"

/** What is read of a tool at most, because all of it is untrusted: the rest is not indexed. */
const nameLength = 128
const descriptionLength = 1_000
const descriptionTerms = 50
const mostParameters = 40
const parameterLength = 200
const parametersLength = 1_000
const parameterTerms = 40

/** Of further tools of a server only the names are read, because each could have terms of its own. */
const mostWhole = 1_000

const queryLength = 400
const mostQueryWords = 20
/** How many terms of unknown words in a query are completed or corrected. */
const mostUnknown = 6

const boost = { name: 2.5, title: 2, description: 1.5, parameters: 1, server: 1 }

/** Of a completed or corrected word, in proportion to the word itself. */
const inexactWeight = 0.4
const namedServerBoost = 5

/** A tool as terms, with blanks between them. */
type Document = { readonly id: string } & { readonly [field in keyof typeof boost]: string }

/** The names of parameters, and their descriptions. */
const parametersOf = (schema: JsonObject): string =>
  properties(schema).slice(0, mostParameters).map(({ name, schema }) =>
    `${name.slice(0, nameLength)} ${text(schema, "description")?.slice(0, parameterLength) ?? ""}`
  ).join("\n").slice(0, parametersLength)

const idOf = ({ server, tool }: ToolIndex.Entry): string => JSON.stringify([server, tool.name])

const documentOf = (entry: ToolIndex.Entry, isWhole: boolean): Document => {
  const { server, tool } = entry
  const { description = "", inputSchema, name, title = tool.annotations.title ?? "" } = tool
  return {
    id: idOf(entry),
    name: nameTermsIn(name.slice(0, nameLength)),
    title: termsIn(title.slice(0, nameLength)),
    description: isWhole ? termsIn(description.slice(0, descriptionLength), descriptionTerms) : "",
    parameters: isWhole ? termsIn(parametersOf(inputSchema), parameterTerms) : "",
    server: nameTermsIn(server.slice(0, nameLength))
  }
}

export interface SearchIndex {
  /** The tools that are none of these. */
  readonly others: (tools: ReadonlyArray<ToolIndex.Entry>) => ReadonlyArray<ToolIndex.Entry>
  readonly remove: (entry: ToolIndex.Entry) => void
  /** Adds or replaces a tool, which is its server's tool number `rank`. An indexed definition is not read again. */
  readonly put: (entry: ToolIndex.Entry, rank: number) => void
  /**
   * The tools that answer a query, best first. A word that no tool has is completed and corrected, and the last word is
   * completed in any case. A server whose name is in the query comes before others.
   */
  readonly find: (query: string) => ReadonlyArray<{ readonly entry: ToolIndex.Entry; readonly score: number }>
}

export const make = (): SearchIndex => {
  const items = new Map<string, {
    readonly entry: ToolIndex.Entry
    readonly document: Document
    readonly isWhole: boolean
  }>()
  const index = new MiniSearch<Document>({
    fields: Object.keys(boost),
    tokenize: (terms) => terms === "" ? [] : terms.split(" "),
    processTerm: (term) => term,
    searchOptions: { boost, bm25: { k: 1, b: 0.7, d: 0.5 }, weights: { fuzzy: inexactWeight, prefix: inexactWeight } }
  })

  const remove = (entry: ToolIndex.Entry): void => {
    const known = items.get(idOf(entry))
    if (known === undefined) return
    index.remove(known.document)
    items.delete(known.document.id)
  }

  return {
    others: (offered) => {
      const wanted = new Set(offered.map(idOf))
      return Array.from(items.values()).flatMap(({ document, entry }) => wanted.has(document.id) ? [] : [entry])
    },
    remove,
    put: (entry, rank) => {
      const known = items.get(idOf(entry))
      const isWhole = rank <= mostWhole
      if (known?.entry.tool === entry.tool && known.isWhole === isWhole) {
        items.set(known.document.id, { ...known, entry })
        return
      }
      remove(entry)
      const document = documentOf(entry, isWhole)
      index.add(document)
      items.set(document.id, { entry, document, isWhole })
    },
    find: (query) => {
      const queryWords = words(query.slice(0, queryLength)).slice(0, mostQueryWords)
      const wanted = wantedBy(queryWords)
      const terms = Array.from(wanted.keys())
      const wordOf = (term: string): number => wanted.get(term)?.word ?? 0
      const isSynonym = (term: string): boolean => wanted.get(term)?.kind === "synonym"
      const boostTerm = (term: string): number => wanted.get(term)?.weight ?? 0

      const exact = new Set(index.search(terms.join(" "), { boostTerm }).flatMap(({ queryTerms }) => queryTerms))
      const known = new Set(Array.from(exact).filter((term) => !isSynonym(term)).map(wordOf))
      const unknown = new Set(
        terms.filter((term) => wanted.get(term)?.kind === "word" && !known.has(wordOf(term))).slice(0, mostUnknown)
      )
      const last = stem(queryWords.at(-1) ?? "")
      const found = index.search(terms.join(" "), {
        boostTerm,
        fuzzy: (term) => unknown.has(term) && term.length > 3 && (term.length < 5 ? 1 : 2),
        prefix: (term) => term.length > 2 && (term === last || (unknown.has(term) && term.length > 4))
      })
      return found.flatMap(({ id, queryTerms, score }) => {
        const item = items.get(id)
        if (item === undefined) return []
        const met = new Set(queryTerms.map(wordOf)).size
        const isNamed = met > 1 &&
          item.document.server.split(" ").every((term) => wanted.has(term) && !isSynonym(term))
        // the library multiplies by the number of terms, of which one word of the query can have several
        const share = met / queryWords.length / queryTerms.length
        return [{ entry: item.entry, score: score * share * (isNamed ? namedServerBoost : 1) }]
      }).toSorted((a, b) => b.score - a.score || (a.entry.name < b.entry.name ? -1 : 1))
    }
  }
}
