/**
 * Invisible characters, look-alikes, and the width of characters. Uses `\p{…}` where Unicode has a property, and lists
 * elsewhere.
 */
import { lookAlikes } from "./asciiLookAlikes.ts"

// The patterns are in functions, because V8 compiles a pattern with \p together with the code around it: 3 ms for all.

/** Kinds of invisible characters. The first row that matches decides. */
const table = () =>
  [
    ["noncharacter", /\p{Noncharacter_Code_Point}/u],
    ["control", /\p{Cc}/u],
    ["surrogate", /\p{Cs}/u],
    ["private-use", /\p{Co}/u],
    ["tags", /[\u{e0000}-\u{e007f}]/u],
    ["mark", /[\u061c\u200e\u200f]/u],
    ["bidi", /\p{Bidi_Control}/u],
    ["joiner", /[\u034f\u180e]/u],
    ["variation", /\p{Variation_Selector}/u],
    ["zero-width", /[\u200b-\u200d\u2060\ufeff]/u],
    ["soft-hyphen", /\u00ad/u],
    ["blank", /\u2800/u],
    ["annotation", /[\ufff0-\ufffc]/u],
    // oxlint-disable-next-line no-misleading-character-class -- each of these is meant by itself
    ["filler", /[\u115f\u1160\u17b4\u17b5\u3164\uffa0\u{e0000}-\u{e0fff}]/u],
    ["operator", /\p{Default_Ignorable_Code_Point}/u]
  ] as const

export type Kind = ReturnType<typeof table>[number][0]

let kinds: ReturnType<typeof table> | undefined

/** Caches the row of each code point of the basic plane, from 1. 0 means unknown, and the last index no row. */
const rows = new Uint8Array(0x10000)

/** The kind of a code point; `undefined` for visible characters, tab, line feed and carriage return. */
export const kindOf = (point: number): Kind | undefined => {
  if (point < 0x20 ? point === 0x09 || point === 0x0a || point === 0x0d : point < 0x7f) return undefined
  const all = kinds ??= table()
  const known = rows[point]
  if (known !== undefined && known > 0) return all[known - 1]?.[0]
  const char = String.fromCodePoint(point)
  const at = all.findIndex(([, characters]) => characters.test(char))
  if (point < rows.length) rows[point] = at === -1 ? all.length + 1 : at + 1
  return all[at]?.[0]
}

/** True if a text may have an invisible character, or has a combining mark: many marks cover the letter below them. */
export const mayHide = (text: string): boolean =>
  /[^\P{C}\t\n\r]|[\p{M}\p{Default_Ignorable_Code_Point}\u2800\ufff0-\ufffc]/u.test(text)

/** True if a text has a space or an invisible character. */
export const hasBlank = (text: string): boolean => /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text)

/** Replaces control and invisible characters, and unpaired surrogates. */
export const replaceUnsafe = (text: string, replace: (char: string) => string): string =>
  text.replace(
    /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\ufff9-\ufffc]|(?!\p{Variation_Selector})\p{Default_Ignorable_Code_Point}|(?<!\p{Unified_Ideograph})[\u{e0100}-\u{e01ef}]/gu,
    replace
  )

/** Replaces characters that look like a space or nothing, and runs of four or more marks, which cover text. */
export const replaceBlank = (text: string, replace: (chars: string) => string): string =>
  text.replace(
    /(?! )[\p{Zs}\p{Cs}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}\u2800]|\p{M}{4,}/gu,
    replace
  )

const shapedScripts =
  "Arab Syrc Nkoo Mand Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Tibt Mymr Khmr Mong Phag Bali " +
  "Java Sund Limb Lepc Cham Lana Mtei Kthi Cakm Gran Brah Adlm Rohg Mani"

/** Letters whose form depends on an adjacent joiner, without punctuation and accents that scripts share. */
export const shaped = (): RegExp =>
  new RegExp(
    `(?![\\0-\\u058f\\u1d00-\\u33ff])[${shapedScripts.split(" ").map((script) => `\\p{scx=${script}}`).join("")}]`,
    "u"
  )

const is = (characters: () => RegExp): (point: number) => boolean => {
  let made: RegExp | undefined
  return (point) => point >= 0 && (made ??= characters()).test(String.fromCodePoint(point))
}

export const isShaped = is(shaped)
/** Scripts without spaces, in which a zero-width space marks a possible line break. */
export const unspaced = (): RegExp =>
  /[\p{sc=Thai}\p{sc=Laoo}\p{sc=Tibt}\p{sc=Mymr}\p{sc=Khmr}\p{sc=Tale}\p{sc=Talu}\p{sc=Hira}\p{sc=Kana}\p{sc=Hani}]/u
export const isUnspaced = is(unspaced)
export const isHan = is(() => /\p{sc=Hani}/u)
export const isHangul = is(() => /[\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff]/u)
export const isMongolian = is(() => /[\u1800-\u18af]/u)
/** A picture, or a character that may follow one in its sequence. */
export const isPictographic = is(() =>
  /[\p{Extended_Pictographic}\p{Regional_Indicator}\p{Emoji_Modifier}\ufe0f\u20e3]/u
)
/** A character that variation selector 15 or 16 may follow, digits for keycaps among them. */
export const isEmoji = is(() => /\p{Emoji}/u)
export const isLetter = is(() => /[\p{L}\p{N}]/u)
export const isMark = is(() => /\p{M}/u)
/** A character of zero width. */
export const isUnseen = is(() => /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{M}\p{Cc}\ufff0-\ufffc]/u)

/** True if a text has right-to-left letters. */
export const hasRightToLeft = (text: string): boolean =>
  /(?=[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}])[\p{L}\p{N}]/u.test(text)

/** The look-alikes of these ASCII characters, each with its ASCII character. */
export const takenFor = (characters: RegExp): ReadonlyMap<string, string> =>
  new Map(
    lookAlikes.flatMap(([ascii, same, near]) =>
      characters.test(ascii) ? Array.from(same + near, (char) => [char, ascii] as const) : []
    )
  )

const letters = takenFor(/[a-z]/)

/** Replaces look-alikes in a word by ASCII letters; `undefined` if one of its letters looks like no ASCII letter. */
export const asciiWord = (word: string): string | undefined => {
  const letter = (char: string): string => char <= "\u007f" ? char : letters.get(char) ?? ""
  const all = Array.from(word, letter)
  return all.includes("") ? undefined : all.join("")
}

const ascii = /^[\u0000-\u007f]*$/

export const isAscii = (text: string): boolean => ascii.test(text)

/** Folds case. Upper case comes in between because `ẞ` and `ß`, or `Σ`, `σ` and `ς`, are equal only after that. */
export const caseFolded = (text: string): string =>
  isAscii(text) ? text.toLowerCase() : text.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ")

/** East Asian characters and emoji take two columns of a terminal, marks none. */
const columnsOf = (char: string): number =>
  /\p{Mn}|\p{Me}/u.test(char)
    ? 0
    : /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u
        .test(char)
    ? 2
    : 1

/** The width of an escaped text on a terminal. */
export const width = (text: string): number =>
  /^[\u0020-\u02ff\u2010-\u25ff]*$/.test(text)
    ? text.length
    : Array.from(text).reduce((sum, char) => sum + columnsOf(char), 0)

/** Cuts a text to this width, with an ellipsis. */
export const fitted = (text: string, columns: number): string => {
  if (width(text) <= columns) return text
  let room = columns - 1
  let end = 0
  for (const char of text) {
    room -= columnsOf(char)
    if (room < 0) break
    end += char.length
  }
  return columns < 1 ? "" : `${text.slice(0, end)}…`
}

/** Pads a text with spaces to this width. */
export const padded = (text: string, columns: number): string => text + " ".repeat(Math.max(0, columns - width(text)))
