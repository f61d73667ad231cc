import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as UntrustedText from "../../src/text/UntrustedText.ts"
import { runs } from "../support/runs.ts"

const hostile = FastCheck.array(
  FastCheck.constantFrom(
    ..."ab \\\"\n\t\r\u0000\u001b\u009b\u00a0\u200b\u200d\u202e\u2066\u3164\ufeff\u0301\u2800\ud83d\udd27日",
    "\u{e0041}",
    "\u{e0100}",
    "   "
  ),
  { maxLength: 20 }
).map((parts) => parts.join(""))

describe("UntrustedText", () => {
  it("leaves nothing in a text that a terminal obeys or does not show", () => {
    FastCheck.assert(
      FastCheck.property(hostile, (text) => {
        const escaped = UntrustedText.escape(text)
        // oxlint-disable-next-line no-misleading-character-class -- each of these is meant by itself
        assert.notMatch(escaped, /[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Zl}\p{Zp}\u200b\u200d\u3164\ufeff]/u)
        assert.strictEqual(UntrustedText.escape(escaped), escaped)
      }),
      { numRuns: runs(5000) }
    )
  })

  it("says how much an excerpt leaves out", () => {
    assert.strictEqual(UntrustedText.excerpt("a\u001bb", 3), "a\\x1bb")
    assert.strictEqual(UntrustedText.excerpt("abcdef", 4), "abcd… (2 more characters)")
    assert.strictEqual(UntrustedText.quote("a\nb"), "\"a\\nb\"")
    assert.strictEqual(UntrustedText.quote("abcdef", 4), "\"abcd… (2 more characters)\"")
  })

  it("shows a person every character, so that different texts look different", () => {
    FastCheck.assert(
      FastCheck.property(hostile, hostile, (one, other) => {
        const shown = UntrustedText.visiblyQuoted(one)
        assert.notMatch(shown, /[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u00a0\u2800]| {3}/u)
        assert.strictEqual(shown === UntrustedText.visiblyQuoted(other), one === other)
      }),
      { numRuns: runs(5000) }
    )
    assert.strictEqual(UntrustedText.visiblyQuoted("a     b\u00a0\\"), "\"a\\u{20*5}b\\u{a0}\\\\\"")
  })

  it("names characters that are not ASCII by their numbers, each once", () => {
    assert.deepStrictEqual(UntrustedText.codePoints("p\u0430yp\u0430l 🔧"), ["U+0430", "U+1F527"])
    assert.deepStrictEqual(UntrustedText.codePoints("paypal"), [])
  })
})
