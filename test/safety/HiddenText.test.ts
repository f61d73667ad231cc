import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { readFileSync } from "node:fs"
import * as HiddenText from "../../src/safety/HiddenText.ts"
import { runs } from "../support/runs.ts"

interface Case {
  readonly id: string
  readonly text: string
  readonly expected: string
  readonly benign: boolean
}

const cases: ReadonlyArray<Case> =
  JSON.parse(readFileSync(new URL("../fixtures/safety/unicode-smuggling.json", import.meta.url), "utf8")).cases

interface Fresh {
  readonly name: string
  readonly text: string
  readonly level?: keyof typeof ranks
  readonly decoded?: string
  readonly benign: boolean
}

const fresh: ReadonlyArray<Fresh> =
  JSON.parse(readFileSync(new URL("../fixtures/safety/fresh-hidden.json", import.meta.url), "utf8")).cases

const ranks = { low: 1, medium: 2, high: 3 } as const
const worst = (findings: ReadonlyArray<HiddenText.Finding>): number =>
  Math.max(0, ...findings.map(({ level }) => ranks[level]))

const channels = ["metadata", "result"] as const

describe("HiddenText.clean", () => {
  it("leaves what scripts and pictures are made of, as the very text that came", () => {
    const legitimate = [
      ...cases.filter(({ benign }) => benign).map(({ text }) => text),
      "👨‍👩‍👧‍👦 👍🏽 🏳️‍🌈 1️⃣ 🇩🇪 ©️",
      "می‌خواهم",
      "ক্‍ষ",
      "שלום\u200f (abc)\u200e",
      "\u2067שלום\u2069",
      "ภาษา\u200bไทย",
      "line\r\n\ttab"
    ]
    assert.isAbove(legitimate.length, 15)
    for (const text of legitimate) {
      const { findings, text: cleaned } = HiddenText.clean(text, "result")
      assert.strictEqual(cleaned, text)
      assert.isBelow(worst(findings), ranks.medium)
    }
  })

  for (const as of channels) {
    it(`strips and flags each hostile case in a ${as} as its row says`, () => {
      const hostile = cases.filter(({ expected }) => /^(strip\+)?flag:/.test(expected))
      assert.isAbove(hostile.length, 15)
      for (const { expected, id, text } of hostile) {
        const { findings, text: cleaned } = HiddenText.clean(text, as)
        const level = /flag:(low|medium|high)/.exec(expected)![1] as keyof typeof ranks
        assert.strictEqual(worst(findings), ranks[level], id)
        if (expected.startsWith("strip")) assert.isBelow(cleaned.length, text.length, id)
        else assert.strictEqual(cleaned, text, id)
      }
    })
  }

  it("finds what others hid, and reads what it says", () => {
    const hostile = fresh.filter(({ benign }) => !benign)
    assert.isAbove(hostile.length, 50)
    for (const { decoded, level, name, text } of hostile) {
      const { findings } = HiddenText.clean(text, "result")
      assert.isAtLeast(worst(findings), ranks[level!], name)
      if (decoded !== undefined) assert.isTrue(findings.some((one) => one.decoded?.includes(decoded)), name)
    }
  })

  it("leaves the scripts that others write as the very text that came", () => {
    const legitimate = fresh.filter(({ benign }) => benign)
    assert.isAbove(legitimate.length, 40)
    for (const { text } of legitimate) {
      const { findings, text: cleaned } = HiddenText.clean(text, "result")
      assert.strictEqual(cleaned, text)
      assert.isBelow(worst(findings), ranks.medium, text)
    }
  })

  it("reads what tags, variation selectors and zero-width bits say", () => {
    const says = (text: string) => HiddenText.clean(text, "result").findings[0]?.decoded
    const word = "run it"
    assert.strictEqual(
      says(`a${[...word].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join("")}`),
      word
    )
    const selectors = [...word].map((char) => String.fromCodePoint(0xe0100 + char.charCodeAt(0) - 16)).join("")
    assert.strictEqual(says(`😀${selectors}`), word)
    const bits = [...word].map((char) => char.charCodeAt(0).toString(2).padStart(8, "0")).join("")
    assert.strictEqual(says(`a${bits.replaceAll("0", "\u200b").replaceAll("1", "\u200c")}`), word)
  })

  it("takes a black flag with another region for what it is", () => {
    const tags = [..."ignore"].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join("")
    const { findings, text } = HiddenText.clean(`🏴${tags}\u{e007f}`, "result")
    assert.strictEqual(text, "🏴")
    assert.strictEqual(worst(findings), ranks.high)
  })

  it("replaces what is no character, and caps the marks upon a letter", () => {
    assert.strictEqual(HiddenText.clean("a\uffff\ud800b\u{1fffe}", "result").text, "a\ufffd\ufffdb\ufffd")
    assert.strictEqual(HiddenText.clean(`e${"\u0301".repeat(64)}x`, "result").text, `e${"\u0301".repeat(8)}x`)
  })

  it("takes out a byte order mark, replacements for objects and soft hyphens, and says so", () => {
    const found = (text: string) => {
      const { findings, text: cleaned } = HiddenText.clean(text, "result")
      return [cleaned, findings.map(({ at, count, kind, level }) => `${kind} ${level} ${at} ${count}`).join()]
    }
    assert.deepStrictEqual(found("\ufeffid,name"), ["id,name", "zero-width low 0 1"])
    assert.deepStrictEqual(found("a\ufffcb"), ["ab", "annotation low 1 1"])
    assert.deepStrictEqual(found("Donau\u00addampf"), ["Donaudampf", "zero-width low 5 1"])
    // one may break a line, more of them carry something
    assert.deepStrictEqual(found("a\u00ad\u00ad\u00adb"), ["ab", "zero-width medium 1 3"])
    assert.deepStrictEqual(found("a \u00adb"), ["a b", "zero-width medium 2 1"])
  })

  it("makes control characters visible", () => {
    assert.strictEqual(HiddenText.clean("a\u001b[2Jb\u0007", "result").text, "a\\x1b[2Jb\\x07")
  })

  it("flags words of two alphabets, and no formulas", () => {
    assert.strictEqual(HiddenText.clean("re\u0430d_file", "metadata").findings[0]?.kind, "confusable")
    assert.deepStrictEqual(HiddenText.clean("5 kΩ, 3 μm, Δx, Привет, мир", "metadata").findings, [])
  })

  it("leaves nothing hidden in any text, and a text without findings as it came", () => {
    const pieces = [
      "a",
      "é",
      "م",
      "क",
      "्",
      "😀",
      "🏴",
      "葛",
      "\u200b",
      "\u200c",
      "\u200d",
      "\u202e",
      "\u2066",
      "\u2069",
      "\ufe0f",
      "\u{e0100}",
      "\u{e0041}",
      "\u{e007f}",
      "\u0301",
      "\u3164",
      "\ufeff",
      "\u001b",
      "\ud800",
      "\udc00",
      "\uffff",
      "\ue000",
      "\u00ad",
      "\ufffc",
      "\u180e"
    ]
    const text = FastCheck.array(FastCheck.constantFrom(...pieces), { maxLength: 24 }).map((parts) => parts.join(""))
    FastCheck.assert(
      FastCheck.property(text, FastCheck.constantFrom(...channels), (text, as) => {
        const once = HiddenText.clean(text, as)
        assert.notMatch(once.text, /[\u0000-\u0008\u202a-\u202e\uffff]|[\ud800-\udbff](?![\udc00-\udfff])/)
        assert.notMatch(once.text.replaceAll(/🏴[\u{e0061}-\u{e007a}]{5}\u{e007f}/gu, ""), /[\u{e0000}-\u{e007f}]/u)
        for (const { at, count } of once.findings) assert.isTrue(at >= 0 && at < text.length && count > 0)
        if (once.findings.length === 0) assert.strictEqual(once.text, text)
      }),
      { numRuns: runs(1_000) }
    )
  })
})
