import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { wildcard } from "../../src/text/wildcard.ts"
import { runs } from "../support/runs.ts"

/** The meaning of a pattern, without regard to time. */
const model = (pattern: ReadonlyArray<string>, text: ReadonlyArray<string>, anyOne?: "?"): boolean => {
  const [first, ...rest] = pattern
  if (first === undefined) return text.length === 0
  if (first === "*") return model(rest, text, anyOne) || (text.length > 0 && model(pattern, text.slice(1), anyOne))
  return text.length > 0 && (first === anyOne || first === text[0]) && model(rest, text.slice(1), anyOne)
}

const joined = (maxLength: number, ...parts: ReadonlyArray<string>) =>
  FastCheck.array(FastCheck.constantFrom(...parts), { maxLength }).map((all) => all.join(""))

const text = joined(10, "a", "b", "ab", "?", "🔧", "\ud83d")
const pattern = joined(7, "a", "b", "ab", "*", "?", "🔧", "\ud83d", ".")

describe("wildcard", () => {
  for (const anyOne of [undefined, "?"] as const) {
    it(`matches what a naive model matches ${anyOne === undefined ? "with * alone" : "with * and ?"}`, () => {
      FastCheck.assert(
        FastCheck.property(pattern, text, (pattern, text) => {
          // without a question mark, the halves of a surrogate pair are characters of their own
          const characters = (text: string) => anyOne === undefined ? text.split("") : Array.from(text)
          assert.strictEqual(wildcard(pattern, anyOne)(text), model(characters(pattern), characters(text), anyOne))
        }),
        { numRuns: runs(20_000) }
      )
    })
  }

  it("takes a question mark literally unless it is declared", () => {
    assert.isTrue(wildcard("https://a/b?c=*")("https://a/b?c=1"))
    assert.isFalse(wildcard("https://a/b?c=*")("https://a/bXc=1"))
  })

  it("stays linear for patterns that repeat themselves", () => {
    const text = "a".repeat(1 << 20)
    for (const half of [500, 10_000, 100_000]) {
      assert.isFalse(wildcard(`*${"a".repeat(half)}b${"a".repeat(half)}*`)(text))
    }
    assert.isFalse(wildcard("*a".repeat(10_000) + "b")(text))
  })
})
