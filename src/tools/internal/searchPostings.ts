/**
 * Which tools have which terms, and how well they answer some of them: BM25+ over the parts of tools.
 *
 * @internal
 */
import { type Field, fields } from "./searchDocument.ts"
import type { WeightedTerms } from "./searchQuery.ts"

/**
 * A term, and the places where it is. Those of documents that were removed stay; `live` does not count them.
 *
 * @internal
 */
export interface Term {
  /** The number of a document times the number of fields, and the field. A document has a term in one field only. */
  places: Array<number>
  live: number
  /** For whoever makes documents. */
  seen: number
}

/** The terms of a document, by field. */
type Document = ReadonlyArray<ReadonlyArray<Term>>

/** @internal */
export interface Postings {
  readonly has: (term: string) => boolean
  readonly termOf: (text: string) => Term
  /** The number of the document: they are counted from zero. */
  readonly add: (document: Document) => number
  readonly remove: (id: number) => void
  /** Whether the document of this number has the same terms. */
  readonly holds: (id: number, document: Document) => boolean
  /** Tells of every document that has one of the terms, in no order. */
  readonly search: (terms: WeightedTerms, found: (id: number, score: number) => void) => void
}

const boost: Readonly<Record<Field, number>> = { name: 3, server: 1.5, summary: 1.5, rest: 0.5 }

/** The usual constants: how much the length of a field counts, and what a term is worth in however long a field. */
const saturation = 1.2
const lengthMatters = 0.7
const least = 0.5

/** Lengths from here on count as this one. */
const longest = 255

const kindOf = (field: number, length: number): number => field * (longest + 1) + Math.min(longest, length)

/**
 * Terms that tell most come first, and those that would make it more places than this are left out: a place takes some
 * nanoseconds, and such terms are in so many tools that they tell little.
 */
const mostPlaces = 50_000

/** A large map stands still for long when it grows, and many small ones never do. */
const shards = 64

const shardOf = (term: string): number => {
  let hash = term.length
  for (let at = 0; at < term.length; at++) hash = Math.imul(hash, 31) + term.charCodeAt(at)
  return (hash ^ (hash >>> 15)) & (shards - 1)
}

const nowhere: Array<number> = []

const countBits = (bits: number): number => {
  let found = 0
  for (let left = bits; left !== 0; left &= left - 1) found += 1
  return found
}

/** @internal */
export const make = (): Postings => {
  const terms = Array.from({ length: shards }, () => new Map<string, Term>())
  const documents: Array<Document | undefined> = []
  /** Of each place, which field it is and how long that is: `kindOf` them. */
  const kinds: Array<number> = []
  const totals = fields.map(() => 0)
  let count = 0

  const find = (text: string): Term | undefined => terms[shardOf(text)]!.get(text)

  const measure = (document: Document, sign: 1 | -1): void => {
    count += sign
    for (let field = 0; field < document.length; field++) {
      const own = document[field]!
      totals[field]! += sign * Math.min(longest, own.length)
      for (const term of own) term.live += sign
    }
  }

  const rarity = (live: number): number => Math.log(1 + (count - live + 0.5) / (live + 0.5))

  const affordable = (asked: WeightedTerms) => {
    let many = 0
    return Array.from(asked, ([text, { weight, word }]) => {
      const { live, places } = find(text) ?? { live: 0, places: nowhere }
      return { places, bit: 1 << word, worth: live === 0 ? 0 : weight * rarity(live) }
    })
      .toSorted((a, b) => b.worth - a.worth)
      .filter(({ places, worth }, at) => {
        if (worth === 0 || (at > 0 && many + places.length > mostPlaces)) return false
        many += places.length
        return true
      })
  }

  /** What a term is worth in each field, by the length of the field. */
  const norms = (): Float64Array => {
    const norm = new Float64Array(kindOf(fields.length, 0))
    for (const [field, name] of fields.entries()) {
      const usual = totals[field] === 0 ? 0 : count / totals[field]!
      for (let length = 0; length <= longest; length++) {
        const relative = usual === 0 ? 1 : length * usual
        const part = (1 + saturation) / (1 + saturation * (1 - lengthMatters + lengthMatters * relative))
        norm[kindOf(field, length)] = boost[name] * (least + part)
      }
    }
    return norm
  }

  return {
    has: (text) => (find(text)?.live ?? 0) > 0,
    termOf: (text) => {
      const shard = terms[shardOf(text)]!
      let term = shard.get(text)
      if (term === undefined) shard.set(text, term = { places: nowhere, live: 0, seen: 0 })
      return term
    },
    add: (document) => {
      const id = documents.push(document) - 1
      for (let field = 0; field < document.length; field++) {
        const own = document[field]!
        const place = kinds.push(kindOf(field, own.length)) - 1
        for (const term of own) {
          // most terms of hostile servers have one place, and the first `push` makes room for many
          if (term.places === nowhere) term.places = [place]
          else term.places.push(place)
        }
      }
      measure(document, 1)
      return id
    },
    remove: (id) => {
      const document = documents[id]
      if (document === undefined) return
      documents[id] = undefined
      measure(document, -1)
    },
    holds: (id, document) =>
      documents[id]?.every((own, field) => {
        const others = document[field]!
        return own.length === others.length && own.every((term, at) => term === others[at])
      }) === true,
    search: (asked, found) => {
      let words = 0
      for (const { word } of asked.values()) words |= 1 << word
      const norm = norms()
      const scores = new Float64Array(documents.length)
      const met = new Int32Array(documents.length)
      const touched: Array<number> = []
      for (const { bit, places, worth } of affordable(asked)) {
        for (const place of places) {
          const id = (place / fields.length) | 0
          const before = met[id]!
          if (before === 0) touched.push(id)
          met[id] = before | bit
          scores[id]! += worth * norm[kinds[place]!]!
        }
      }
      // who answers all words of a question is better than who answers one of them well
      for (const id of touched) {
        if (documents[id] !== undefined) found(id, scores[id]! * countBits(met[id]!) / countBits(words))
      }
    }
  }
}
