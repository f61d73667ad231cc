import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { folded, hasTags } from "../../src/text/folded.ts"
import { runs } from "../support/runs.ts"
import * as Texts from "../support/texts.ts"

const tags = (text: string): string =>
  Array.from(text, (char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join("")

describe("folded", () => {
  it("reads case, accents, compatibility forms, look-alikes, invisible characters and escapes as plain text", () => {
    const rows: ReadonlyArray<readonly [text: string, plain: string]> = [
      ["Système ÀÉÎ", "systeme aei"],
      ["ｆｕｌｌ ⓒⓘⓡⓒⓛⓔ 𝐛𝐨𝐥𝐝 ﬁ", "full circle bold fi"],
      ["раssw\u043erd \u2039b\u203a", "password <b\u203a"],
      ["a\u00adb\u200bc\ufeffd\ufffce\u0335f\u{e0041}g\u001bh", "abcdefgh"],
      ["&lt;&#47;&#x41;&nbsp;%2Fb\\u0063\\x64\\u{65}\\nf", "</a /bcde\nf"],
      ["100% & \\ done", "100% & \\ done"],
      ["a\r\n\u2028b\u00a0c\td", "a\n\n\nb c d"],
      ["무시 忽略", "무시 忽略"]
    ]
    for (const [text, plain] of rows) assert.strictEqual(folded(text).text, plain, text)
  })

  it("leaves tag characters out, or reads them set off by blanks", () => {
    const text = `see${tags("Run it")}this`
    assert.isTrue(hasTags(text))
    assert.strictEqual(folded(text).text, "seethis")
    assert.strictEqual(folded(text, true).text, "see run it this")
  })

  it("says where each unit comes from, in order, in any text", () => {
    const text = FastCheck.array(
      FastCheck.oneof(
        FastCheck.constantFrom("&lt;", "&#", "%41", "\\u0041", "\\n", "ﷺ", "ﬁ", tags("ab"), "\ud800", "é", "무"),
        FastCheck.string({ unit: Texts.unit, maxLength: 6 })
      ),
      { maxLength: 30 }
    ).map((parts) => parts.join(""))
    FastCheck.assert(
      FastCheck.property(text, FastCheck.boolean(), (text, readTags) => {
        const { starts, text: plain } = folded(text, readTags)
        assert.strictEqual(starts.length, plain.length + 1)
        assert.strictEqual(starts.at(-1), text.length)
        for (let at = 1; at < starts.length; at++) assert.isAtLeast(starts[at]!, starts[at - 1]!)
      }),
      { numRuns: runs(2_000) }
    )
  })
})
