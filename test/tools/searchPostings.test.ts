import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { fields } from "../../src/tools/internal/searchDocument.ts"
import * as Postings from "../../src/tools/internal/searchPostings.ts"
import type { WeightedTerms } from "../../src/tools/internal/searchQuery.ts"
import { runs } from "../support/runs.ts"

/** The terms of a tool, by field: a term is in one of them only. */
type Texts = ReadonlyArray<ReadonlyArray<string>>

const words = ["a", "b", "c", "d", "e", "f", "g", "constructor", "__proto__", "画"]

/** Each word in one of the fields, or in none. */
const texts: FastCheck.Arbitrary<Texts> = FastCheck.array(FastCheck.nat(fields.length), {
  minLength: words.length,
  maxLength: words.length
}).map((chosen) => fields.map((_, field) => words.filter((_, at) => chosen[at] === field)))

const asked: FastCheck.Arbitrary<WeightedTerms> = FastCheck.uniqueArray(
  FastCheck.tuple(
    FastCheck.constantFrom(...words, "nowhere"),
    FastCheck.record({ weight: FastCheck.double({ min: 0.1, max: 1, noNaN: true }), word: FastCheck.nat(19) })
  ),
  { minLength: 1, maxLength: 6, selector: ([term]) => term }
).map((terms) => new Map(terms))

const add = (postings: Postings.Postings, document: Texts) =>
  postings.add(document.map((own) => own.map(postings.termOf)))

const found = (postings: Postings.Postings, terms: WeightedTerms) => {
  const scores = new Map<number, number>()
  postings.search(terms, (id, score) => {
    assert.isFalse(scores.has(id))
    scores.set(id, score)
  })
  return scores
}

const boosts = [3, 1.5, 1.5, 0.5]

/** BM25+ as it is written in books, by looking at everything again and again. */
const scoreOf = (document: Texts, all: ReadonlyArray<Texts>, terms: WeightedTerms): number => {
  const met = new Set<number>()
  let score = 0
  for (const [term, { weight, word }] of terms) {
    const field = document.findIndex((own) => own.includes(term))
    if (field < 0) continue
    const having = all.filter((other) => other.some((own) => own.includes(term))).length
    const average = all.reduce((total, other) => total + other[field]!.length, 0) / all.length
    const normal = 1 - 0.7 + 0.7 * document[field]!.length / average
    const rarity = Math.log(1 + (all.length - having + 0.5) / (having + 0.5))
    score += weight * boosts[field]! * rarity * (0.5 + (1 * (1.2 + 1)) / (1 + 1.2 * normal))
    met.add(word)
  }
  const wanted = new Set(Array.from(terms.values(), ({ word }) => word))
  return score * met.size / wanted.size
}

describe("searchPostings", () => {
  it("finds and scores as one who looks through everything, whatever has come and gone", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.tuple(texts, FastCheck.boolean()), { minLength: 1, maxLength: 20 }),
        asked,
        (documents, terms) => {
          const postings = Postings.make()
          const live = new Map<number, Texts>()
          for (const [document, stays] of documents) {
            const id = add(postings, document)
            if (stays) live.set(id, document)
            else postings.remove(id)
          }
          const all = Array.from(live.values())
          const scores = found(postings, terms)
          for (const [id, document] of live) {
            assert.approximately(scores.get(id) ?? 0, scoreOf(document, all, terms), 1e-9)
            scores.delete(id)
          }
          assert.deepStrictEqual(Array.from(scores), [])
          for (const word of words) {
            assert.strictEqual(postings.has(word), all.some((document) => document.some((own) => own.includes(word))))
          }
        }
      ),
      { numRuns: runs(500) }
    )
  })

  it("knows whether a document is the same as before", () => {
    FastCheck.assert(
      FastCheck.property(texts, texts, (document, other) => {
        const postings = Postings.make()
        add(postings, other)
        const id = add(postings, document)
        const holds = (one: Texts) => postings.holds(id, one.map((own) => own.map(postings.termOf)))
        assert.isTrue(holds(document))
        assert.strictEqual(holds(other), JSON.stringify(document) === JSON.stringify(other))
        postings.remove(id)
        assert.isFalse(holds(document))
      })
    )
  })

  it("removes once only", () => {
    const postings = Postings.make()
    const id = add(postings, [["a"], [], [], []])
    add(postings, [["a"], [], [], []])
    postings.remove(id)
    postings.remove(id)
    postings.remove(7)
    const terms = new Map([["a", { weight: 1, word: 0 }]])
    assert.deepStrictEqual(Array.from(found(postings, terms).keys()), [1])
    assert.approximately(found(postings, terms).get(1)!, scoreOf([["a"]], [[["a"]]], terms), 1e-9)
  })

  it("leaves out of a question what tells least, where all of it would be too much", () => {
    const postings = Postings.make()
    const common = ["one", "two", "three"]
    for (let at = 0; at < 20_000; at++) add(postings, [[at % 5_000 === 0 ? "rare" : "other"], [], [], common])
    const terms = new Map([...common, "rare"].map((term, word) => [term, { weight: 1, word }]))
    const scores = found(postings, terms)
    assert.strictEqual(scores.size, 20_000)
    const best = Array.from(scores).toSorted(([, a], [, b]) => b - a).slice(0, 4).map(([id]) => id)
    assert.sameMembers(best, [0, 5_000, 10_000, 15_000])
    // there is room for two of the three, and the third is a word that nobody meets
    const few = (count: number) => found(postings, new Map(Array.from(terms).slice(0, count))).get(1)!
    assert.approximately(few(3), few(2) * 2 / 3, 1e-9)
  })
})
