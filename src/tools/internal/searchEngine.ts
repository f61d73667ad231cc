/**
 * The index itself: BM25 over the parts of tools, by `minisearch`. No other module knows of it.
 *
 * @internal
 */
import MiniSearch from "minisearch"
import SearchableMap from "minisearch/SearchableMap"
import { type Field, fields, type SearchDocument } from "./searchDocument.ts"
import type { Vocabulary, WeightedTerms } from "./searchQuery.ts"

/** @internal */
export interface Found {
  readonly id: number
  readonly score: number
}

/** @internal */
export interface SearchEngine {
  readonly vocabulary: Vocabulary
  readonly add: (id: number, document: SearchDocument) => void
  readonly remove: (id: number) => void
  /** In no order. */
  readonly search: (terms: WeightedTerms, accepts: (id: number) => boolean) => ReadonlyArray<Found>
}

const boost: Readonly<Record<Field, number>> = { name: 3, server: 1.5, summary: 1.5, rest: 0.5 }

/**
 * A match of a term costs about a microsecond. The terms that tell most come first, and those that would cost more than
 * this are left out: they are in so many tools that they tell little.
 */
const mostMatches = 2_500

/** Words beyond these are found as they are written only: no server can make completing and correcting slow. */
const mostWords = 50_000

/** How many words are looked through for completions of one prefix. */
const looked = 256

const vocabularyOf = (words: SearchableMap<string>, stems: ReadonlySet<string>): Vocabulary => {
  const distinct = (found: ReadonlyArray<readonly [word: string, stem: string]>, most: number) =>
    Array.from(new Set(found.map(([, stem]) => stem))).slice(0, most)
  return {
    stemOf: (word) => words.get(word),
    hasStem: (stem) => stems.has(stem),
    completions: (prefix, most) => {
      const found: Array<readonly [string, string]> = []
      for (const entry of words.atPrefix(prefix)) {
        if (found.push(entry) === looked) break
      }
      return distinct(found.toSorted(([a], [b]) => a.length - b.length), most)
    },
    nearest: (word, distance, most) => {
      const found = Array.from(words.fuzzyGet(word, distance), ([other, [stem, edits]]) => ({ other, stem, edits }))
      // who misspells a word seldom does so in its first letter
      const first = (other: string) => other[0] === word[0] ? 0 : 0.5
      return distinct(
        found.toSorted((a, b) => a.edits + first(a.other) - b.edits - first(b.other)).map((
          { other, stem }
        ) => [other, stem]),
        most
      )
    }
  }
}

/** Which words of a query are among these, one bit for each. */
const bits = (terms: ReadonlyArray<{ readonly word: number } | undefined>): number => {
  let found = 0
  for (const term of terms) if (term !== undefined) found |= 1 << term.word
  return found
}

const count = (bits: number): number => {
  let found = 0
  for (let left = bits; left !== 0; left &= left - 1) found += 1
  return found
}

/** @internal */
export const make = (): SearchEngine => {
  const words = new SearchableMap<string>()
  const known = new Set<string>()
  const stems = new Set<string>()
  const holding = new Map<string, number>()
  let added: SearchDocument["terms"] | undefined
  let asked: ReadonlyArray<string> = []
  // Terms are made before: the library is given each field's name for its text, and the field's terms for its words.
  const index = new MiniSearch<{ readonly id: number }>({
    fields: [...fields],
    extractField: (document, field) => field === "id" ? document.id : field,
    stringifyField: (_value, field) => field,
    tokenize: (_text, field) => [...(field === undefined ? asked : added?.[field as Field] ?? [])], // of `fields` above
    processTerm: (term) => term,
    // its vacuuming runs on timers of its own; whoever holds this engine makes a new one instead
    autoVacuum: false,
    searchOptions: { boost: { ...boost }, prefix: false, fuzzy: false }
  })

  const affordable = (terms: WeightedTerms) => {
    const rarity = (term: string) => Math.log(1 + index.documentCount / (holding.get(term) ?? 1))
    let matches = 0
    return Array.from(terms)
      .toSorted(([a, { weight: first }], [b, { weight: second }]) => second * rarity(b) - first * rarity(a))
      .filter(([term], at) => {
        const more = holding.get(term) ?? 0
        if (at > 0 && matches + more > mostMatches) return false
        matches += more
        return true
      })
  }

  return {
    vocabulary: vocabularyOf(words, stems),
    add: (id, document) => {
      for (const { stem, word } of document.words) {
        if (known.has(word) || known.size >= mostWords) continue
        known.add(word)
        words.set(word, stem)
        stems.add(stem)
      }
      for (const part of fields) {
        for (const term of document.terms[part]) holding.set(term, (holding.get(term) ?? 0) + 1)
      }
      added = document.terms
      index.add({ id })
      added = undefined
    },
    remove: (id) => index.discard(id),
    search: (terms, accepts) => {
      const worthIt = affordable(terms)
      asked = worthIt.map(([term]) => term)
      const weights = worthIt.map(([, { weight }]) => weight)
      const all = bits(Array.from(terms.values()))
      const found = index.search("", {
        boostTerm: (_term, at) => weights[at] ?? 0,
        filter: (result) => accepts(Number(result.id))
      })
      return found.map(({ id, queryTerms, score }) => {
        const met = bits(queryTerms.map((term) => terms.get(term)))
        // the library multiplies by the number of terms that were met; several may stand for one word
        return { id: Number(id), score: score / queryTerms.length * (count(met) / count(all)) }
      })
    }
  }
}
