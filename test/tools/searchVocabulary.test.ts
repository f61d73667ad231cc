import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { weigh } from "../../src/tools/internal/searchQuery.ts"
import * as Vocabulary from "../../src/tools/internal/searchVocabulary.ts"
import { runs } from "../support/runs.ts"

const known = (words: Iterable<string>, isThere: (stem: string) => boolean = () => true) => {
  const vocabulary = Vocabulary.make(isThere)
  for (const word of words) vocabulary.add({ word, stem: word, terms: [word] })
  return vocabulary
}

const word = FastCheck.string({
  unit: FastCheck.constantFrom("a", "b", "c", "q", "1", "é"),
  minLength: 1,
  maxLength: 8
})

const many = FastCheck.uniqueArray(word, { maxLength: 60 })

/** The edits between two words, as it is written in books. */
const edits = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[b.length]!
}

const all = Number.MAX_SAFE_INTEGER

const alphabetical = (a: string, b: string) => a < b ? -1 : a > b ? 1 : 0

describe("searchVocabulary", () => {
  it("completes as one who looks through everything, the shortest first", () => {
    FastCheck.assert(
      FastCheck.property(many, word, (words, prefix) => {
        const wanted = words.filter((one) => one.startsWith(prefix))
          .toSorted((a, b) => a.length - b.length || alphabetical(a, b))
        assert.deepStrictEqual(known(words).completions(prefix, all), wanted)
        assert.deepStrictEqual(known(words).completions(prefix, 2), wanted.slice(0, 2))
      }),
      { numRuns: runs(500) }
    )
  })

  it("corrects as one who looks through everything, with what is nearest only", () => {
    FastCheck.assert(
      FastCheck.property(many, word, FastCheck.constantFrom(1, 2), (words, wrong, distance) => {
        const least = Math.min(...words.map((one) => edits(wrong, one)))
        const wanted = least > distance ? [] : words.filter((one) => edits(wrong, one) === least)
        const nearest = known(words).nearest(wrong, distance, all)
        assert.sameMembers([...nearest], wanted)
        // of those, who begins like it comes first
        const begins = nearest.map((one) => one[0] === wrong[0])
        assert.deepStrictEqual(begins, begins.toSorted((a, b) => Number(b) - Number(a)))
      }),
      { numRuns: runs(500) }
    )
  })

  it("answers the same whatever was known first", () => {
    FastCheck.assert(
      FastCheck.property(many, word, (words, asked) => {
        const one = known(words)
        const other = known(words.toReversed())
        assert.deepStrictEqual(one.completions(asked, 3), other.completions(asked, 3))
        assert.deepStrictEqual(one.nearest(asked, 2, 3), other.nearest(asked, 2, 3))
      })
    )
  })

  it("knows no more of what is gone", () => {
    const gone = new Set(["forecast"])
    const vocabulary = known(["forecast", "forecasts", "forepast"], (stem) => !gone.has(stem))
    assert.isUndefined(vocabulary.stemOf("forecast"))
    assert.deepStrictEqual(vocabulary.completions("forec", 4), ["forecasts"])
    assert.deepStrictEqual(vocabulary.nearest("foreast", 2, 4), ["forepast"])
    gone.clear()
    assert.strictEqual(vocabulary.stemOf("forecast"), "forecast")
  })

  it("has room for so many words, and for none after them", () => {
    const numbered = Array.from({ length: 32_768 }, (_, at) => `w${at}`)
    const vocabulary = known([...numbered, "w0", "zebra"])
    assert.strictEqual(vocabulary.stemOf("w32767"), "w32767")
    assert.isUndefined(vocabulary.stemOf("zebra"))
    assert.deepStrictEqual(vocabulary.completions("zeb", 4), [])
    assert.deepStrictEqual(vocabulary.nearest("zebro", 1, 4), [])
  })

  it("looks at no more words than it takes, however many begin alike or are alike", () => {
    const asked = new Set<string>()
    const isThere = (stem: string) => {
      asked.add(stem)
      return true
    }
    const alike = Array.from({ length: 10_000 }, (_, at) => `create${at}`)
    const vocabulary = known(alike, isThere)
    vocabulary.completions("create", 4)
    assert.strictEqual(asked.size, 1_000)
    asked.clear()
    assert.isAbove(vocabulary.nearest("create99", 2, 4).length, 0)
    assert.isAtMost(asked.size, 300)
  })
})

describe("a question with words that nobody wrote", () => {
  it("has the first of them corrected, and those that somebody wrote found wherever they are", () => {
    const right = ["quartz", "walnut", "zephyr", "jigsaw", "fjords", "kitten", "oxygen", "pigeon", "violin", "bridge"]
    const wrong = right.map((word) => `${word.slice(0, -1)}x`)
    const there = new Set([...right, "meadow"])
    const terms = weigh([...wrong, "meadow"].join(" "), known(there, (stem) => there.has(stem)))
    assert.deepStrictEqual(right.filter((word) => terms.has(word)), right.slice(0, 6))
    assert.isTrue(terms.has("meadow"))
  })
})
