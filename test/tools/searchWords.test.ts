import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { recognizing } from "../../src/tools/internal/searchRuns.ts"
import { eachRun } from "../../src/tools/internal/searchWords.ts"
import { runs } from "../support/runs.ts"

const stretchesOf = (text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  eachRun(text, (whole, from, to) => {
    found.push(whole.slice(from, to))
    return false
  })
  return found
}

/** The same, for the whole text at once, as slow as that is. */
const expected = (text: string): ReadonlyArray<string> =>
  text.normalize("NFKD").replaceAll(/[\u0300-\u036f]/g, "").normalize("NFC").match(/[\p{L}\p{M}\p{N}]+/gu) ?? []

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: fc.constantFrom(..."ab1Z -_.—…’\u0301\u0338\u20e3\ufe0f½ﬁ²あ分🎯İ각") })
)

describe("stretches of texts", () => {
  it("are the same whether a text is read piece by piece or normalised whole", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        assert.deepStrictEqual(stretchesOf(text), expected(text))
      }),
      { numRuns: runs(50_000) }
    )
  })

  it("end when that is enough, in whatever script", () => {
    for (const text of ["one two three", "один два три", "one два three", "分 類 三"]) {
      let seen = 0
      eachRun(text, () => ++seen === 2)
      assert.strictEqual(seen, 2, text)
    }
  })

  it("are remembered as what they are, wherever they stand and whatever has the same place", () => {
    const texts = fc.array(fc.oneof(anyText, fc.string({ unit: fc.constantFrom(..."ab "), minLength: 40 })), {
      maxLength: 20
    })
    fc.assert(
      fc.property(texts, (given) => {
        const made: Array<string> = []
        const known = recognizing((run) => {
          made.push(run)
          return { run }
        })
        for (const text of [...given, ...given]) {
          eachRun(text, (whole, from, to, hash) => {
            assert.strictEqual(known(whole, from, to, hash).run, whole.slice(from, to))
            // the same number for all of them: only the text decides
            assert.strictEqual(known(whole, from, to, 7).run, whole.slice(from, to))
            return false
          })
        }
        assert.strictEqual(new Set(made).size, made.length)
      })
    )
  })

  it("of a text in two bytes and of a part of a text are told the same numbers", () => {
    const numbers = (text: string) => {
      const found: Array<readonly [string, number]> = []
      eachRun(text, (whole, from, to, hash) => {
        found.push([whole.slice(from, to), hash])
        return false
      })
      return found
    }
    const plain = "a description of many words, longer than what is copied"
    assert.deepStrictEqual(numbers(`${plain} 分`).slice(0, -1), numbers(plain))
    assert.deepStrictEqual(numbers(`xx ${plain}`.slice(3)), numbers(plain))
  })
})
