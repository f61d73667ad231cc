/**
 * The one table of characters that mislead a reader: which do not show, which look like others, and how wide they are.
 * Built on `\p{…}` where Unicode has a property, and on lists where it has none.
 */

/** Kinds of characters that a reader does not see. */
export type Kind =
  | "tags"
  | "bidi"
  | "mark"
  | "zero-width"
  | "operator"
  | "filler"
  | "blank"
  | "soft-hyphen"
  | "joiner"
  | "variation"
  | "annotation"
  | "control"
  | "private-use"
  | "noncharacter"
  | "surrogate"

// The patterns stand in functions, because V8 reads a pattern with \p when it compiles what is around it: 3 ms for all.

/** The first row that matches decides. */
const table = (): ReadonlyArray<readonly [kind: Kind, characters: RegExp]> => [
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
]

let kinds: ReturnType<typeof table> | undefined

/** Caches the row of each code point of the basic plane, from 1; 0 is not looked up yet, and the last is no row. */
const rows = new Uint8Array(0x10000)

/** The kind of a code point; `undefined` for what shows, and for tab, line feed and carriage return. */
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

/** True if a text may have a character of a kind, or has a combining mark: many marks cover the letter below them. */
export const mayHide = (text: string): boolean =>
  /[^\P{C}\t\n\r]|[\p{M}\p{Default_Ignorable_Code_Point}\u2800\ufff0-\ufffc]/u.test(text)

/** Replaces the characters that a terminal obeys or does not show, and halves of surrogate pairs. */
export const replaceUnsafe = (text: string, replace: (char: string) => string): string =>
  text.replace(
    /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\ufff9-\ufffc]|(?!\p{Variation_Selector})\p{Default_Ignorable_Code_Point}|(?<!\p{Unified_Ideograph})[\u{e0100}-\u{e01ef}]/gu,
    replace
  )

/** Replaces characters that look like a space or like nothing, and four or more marks in a row, which cover text. */
export const replaceBlank = (text: string, replace: (chars: string) => string): string =>
  text.replace(
    /(?! )[\p{Zs}\p{Cs}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}\u2800]|\p{M}{4,}/gu,
    replace
  )

const shapedScripts =
  "Arab Syrc Nkoo Mand Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Tibt Mymr Khmr Mong Phag Bali " +
  "Java Sund Limb Lepc Cham Lana Mtei Kthi Cakm Gran Brah Adlm Rohg Mani"

/** Letters whose form depends on a joiner beside them, without punctuation and accents that other scripts share. */
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
/** Scripts without spaces, in which a zero-width space marks where a line may break. */
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
/** A character that takes no room by itself. */
export const isUnseen = is(() => /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{M}\p{Cc}\ufff0-\ufffc]/u)

/** Whether a text has letters that are written from right to left. */
export const hasRightToLeft = (text: string): boolean =>
  /(?=[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}])[\p{L}\p{N}]/u.test(text)

/**
 * Characters by the one of ASCII that they are taken for: `same` cannot be told apart in common fonts, `near` only by a
 * reader who looks closely.
 */
export const lookAlikes: ReadonlyArray<readonly [ascii: string, same: string, near: string]> = [
  ["a", "\u0430\u0410\u03b1\u0391", "\u0251\u1d00\u13aa"],
  ["b", "\u0412\u0392", "\u0184\u0432\u0253\u0299\u042c\u044c\u13cf"],
  ["c", "\u0441\u0421", "\u03f2\u1d04\u217d\u13df\u0188\u2ca5\u10ea"],
  ["d", "\u0501", "\u217e\u1d05\u0257\u13a0"],
  ["e", "\u0435\u0415\u0395", "\u1d07\u212e\u0454\u03b5\u0404\u13ac\u025b\u04bd"],
  ["f", "", "\u0493\ua730\u0192\u03dd\u0584"],
  ["g", "\u050c\u0581", "\u0261\u0262\u0123\u13c0"],
  ["h", "\u04bb\u041d\u0397\u0570", "\u029c\u043d\u13bb\u04a2"],
  ["i", "\u0456\u0406\u04cf\u03b9\u0399", "\u0131\u026a\u0269\u13a5\ua647"],
  ["j", "\u0458\u0408\u03f3\u037f\u0575", "\u1d0a\u13ab"],
  ["k", "\u043a\u041a\u03ba\u039a", "\u1d0b\u13e6"],
  ["l", "\u04c0\u056c\u053c", "\u217c\u029f\u0196\u13de\u01c0\u0142\u2cd0"],
  ["m", "\u041c\u039c", "\u043c\u1d0d\u217f\u13b7\u028d\u03fb"],
  ["n", "\u0578\u039d", "\u057c\u03b7\u0274\u0438\u0418\u03c0"],
  ["o", "\u043e\u041e\u03bf\u039f\u03c3\u0585\u0555", "\u1d0f\u0c66\u0d20\u2c9f\u101d\u10ff\u00f8\u0966\u06f0\u0660"],
  ["p", "\u0440\u0420\u03c1\u03a1", "\u1d18\u13e2\u1d29\u2ca3\u01bf"],
  ["q", "\u051b\u051a\u0566", "\u024b"],
  ["r", "", "\u0433\u0280\u0403\u1d26\u13a1"],
  ["s", "\u0455\u0405\u054f", "\ua731\u13da\u0282"],
  ["t", "\u0422\u03a4", "\u0442\u03c4\u1d1b\u13a2\u2ca7\u01ad"],
  ["u", "\u057d\u054d\u03c5", "\u1d1c\u028b"],
  ["v", "\u0475\u0474\u03bd", "\u1d20\u13d9"],
  ["w", "\u051d\u051c", "\u0461\u1d21\u13b3\u03c9"],
  ["x", "\u0445\u0425\u03c7\u03a7", "\u217a"],
  ["y", "\u0443\u0423\u04af\u04ae\u03b3\u03a5", "\u028f\u0263"],
  ["z", "\u0396", "\u1d22\u13c3\u0290"],
  [
    "<",
    "",
    "\u2039\u2329\u27e8\u276e\u2770\u276c\u29fc\u226a\u22d6\u02c2\u1438\u16b2\u226e\u2a79\u3008\u300a\u2264\u2a7d\u00ab"
  ],
  ["/", "\u2044\u2215\u2571\u29f8", "\u27cb\u3033\u30ce\u2cc6\u1735"],
  ["\\", "\u2216\u2572\u29f5\u29f9", ""],
  ["-", "\u02d7\u2010\u2012\u2013\u2043\u2212", "\u2011\u2014\u2015\u2500\u2501\u2550\uff0d"],
  ["_", "\u02cd", "\u2017\u203f\u2040\u2054\u2581\u30fc\u0640"],
  ["'", "", "\u2018\u2019\u201a\u201b\u02bc\u00b4\u2032\u055a\uff07"],
  ["\"", "", "\u201c\u201d\u201e\u201f\u00bb\u300c\u300d\u300e\u300f\u2033\uff02"],
  ["*", "\u204e\u2217", "\u2022\u00b7\u2219\u30fb\u25cf"],
  [":", "\u02d0\u02f8\u2236\ua789", ""],
  ["|", "\u01c0\u2223", ""],
  ["!", "\u01c3", ""],
  [".", "\u2027", ""]
]

/** The look-alikes of some characters of ASCII, each with the one that it is taken for. */
export const takenFor = (characters: RegExp): ReadonlyMap<string, string> =>
  new Map(
    lookAlikes.flatMap(([ascii, same, near]) =>
      characters.test(ascii) ? Array.from(same + near, (char) => [char, ascii] as const) : []
    )
  )

const letters = takenFor(/[a-z]/)

/** Whether a letter can be taken for one of ASCII. */
export const isLikeAscii = (char: string): boolean => letters.has(char)

/** A word as the letters of ASCII that it can be taken for; `undefined` if one of its letters looks like none. */
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

/** East Asian characters and pictures take two columns of a terminal, marks none. */
const columnsOf = (char: string): number =>
  /\p{Mn}|\p{Me}/u.test(char)
    ? 0
    : /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u
        .test(char)
    ? 2
    : 1

/** The columns of a terminal that an escaped text takes. */
export const width = (text: string): number =>
  /^[\u0020-\u02ff\u2010-\u25ff]*$/.test(text)
    ? text.length
    : Array.from(text).reduce((sum, char) => sum + columnsOf(char), 0)

/** The beginning of a text that fits into so many columns, with an ellipsis in place of the rest. */
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

/** A text with spaces behind it, up to so many columns. */
export const padded = (text: string, columns: number): string => text + " ".repeat(Math.max(0, columns - width(text)))
