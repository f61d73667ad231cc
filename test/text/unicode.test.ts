import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { lookAlikes } from "../../src/text/asciiLookAlikes.ts"
import * as Unicode from "../../src/text/unicode.ts"
import { runs } from "../support/runs.ts"

const lastPoint = 0x10ffff

describe("kindOf", () => {
  it("knows the kinds of characters that do not show", () => {
    const kinds: ReadonlyArray<readonly [Unicode.Kind | undefined, ReadonlyArray<number>]> = [
      [undefined, [0x09, 0x0a, 0x0d, 0x20, 0x61, 0xe9, 0x416, 0x5d0, 0x4e00, 0x1f600]],
      ["control", [0x00, 0x07, 0x1b, 0x7f, 0x9f]],
      ["tags", [0xe0001, 0xe0041, 0xe007f]],
      ["bidi", [0x202a, 0x202e, 0x2066, 0x2069]],
      ["mark", [0x061c, 0x200e, 0x200f]],
      ["zero-width", [0x200b, 0x200c, 0x200d, 0x2060, 0xfeff]],
      ["operator", [0x2061, 0x2064, 0x206a, 0x1d173, 0x1bca0]],
      ["filler", [0x115f, 0x3164, 0xffa0, 0xe0fff]],
      ["variation", [0x180b, 0xfe00, 0xfe0f, 0xe0100, 0xe01ef]],
      ["private-use", [0xe000, 0xf8ff, 0xf0000, 0x10fffd]],
      ["noncharacter", [0xfdd0, 0xffff, 0x1fffe, 0x10ffff]],
      ["surrogate", [0xd800, 0xdfff]],
      ["annotation", [0xfff9, 0xfffb, 0xfffc]],
      ["soft-hyphen", [0xad]],
      ["joiner", [0x34f, 0x180e]],
      ["blank", [0x2800]]
    ]
    for (const [kind, points] of kinds) {
      for (const point of points) assert.strictEqual(Unicode.kindOf(point), kind, point.toString(16))
    }
  })

  it("names no character that mayHide lets pass, and replaceUnsafe escapes what a terminal obeys", () => {
    for (let point = 0; point <= lastPoint; point++) {
      const char = String.fromCodePoint(point)
      const kind = Unicode.kindOf(point)
      if (kind !== undefined && !Unicode.mayHide(char)) assert.fail(`mayHide misses ${point.toString(16)}`)
      const isEscaped = Unicode.replaceUnsafe(char, () => "") === ""
      const mustEscape = kind === "control" || kind === "bidi" || kind === "mark" || kind === "tags" ||
        kind === "zero-width" || kind === "surrogate" || kind === "filler" || char === "\ufffc"
      if (mustEscape && !isEscaped) assert.fail(`replaceUnsafe misses ${point.toString(16)}`)
    }
  })
})

describe("lookAlikes", () => {
  it("lists each character once per kind of row, and no ASCII", () => {
    for (const rows of [/[a-z]/, /[^a-z]/]) {
      const all = lookAlikes.flatMap(([ascii, same, near]) => rows.test(ascii) ? Array.from(same + near) : [])
      assert.strictEqual(new Set(all).size, all.length)
      for (const char of all) assert.isFalse(Unicode.isAscii(char))
    }
  })

  it("reads a word of look-alikes as the word of ASCII", () => {
    assert.strictEqual(Unicode.asciiWord("\u0440\u0430ss\u0461\u043erd"), "password")
    assert.isUndefined(Unicode.asciiWord("\u0436aba"))
    assert.strictEqual(Unicode.asciiWord("plain"), "plain")
  })
})

describe("caseFolded", () => {
  it("makes all cases of a text equal", () => {
    for (const [one, other] of [["Straße", "STRAẞE"], ["ΣΊΣΥΦΟΣ", "σίσυφος"], ["ABC", "abc"]] as const) {
      assert.strictEqual(Unicode.caseFolded(one), Unicode.caseFolded(other))
    }
    FastCheck.assert(
      FastCheck.property(FastCheck.string({ unit: "binary" }), (text) => {
        const folded = Unicode.caseFolded(text)
        assert.strictEqual(Unicode.caseFolded(folded), folded)
      }),
      { numRuns: runs(5000) }
    )
  })
})

describe("width", () => {
  it("counts the columns of a terminal", () => {
    for (const [text, columns] of [["abc", 3], ["日本", 4], ["e\u0301", 1], ["🔧", 2], ["", 0], ["ｱ", 1]] as const) {
      assert.strictEqual(Unicode.width(text), columns, text)
    }
  })

  it("bounds what fitted returns, and fills what padded returns", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string({ unit: "grapheme" }), FastCheck.nat(20), (text, columns) => {
        const cut = Unicode.fitted(text, columns)
        assert.isAtMost(Unicode.width(cut), Math.max(columns, 0))
        if (Unicode.width(text) <= columns) assert.strictEqual(cut, text)
        assert.isAtLeast(Unicode.width(Unicode.padded(text, columns)), columns)
      }),
      { numRuns: runs(3000) }
    )
  })
})
