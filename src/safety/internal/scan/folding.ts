/**
 * A text as a reader sees it: small letters of one shape, without accents, without what is not seen.
 *
 * @internal
 */
import { kindOf, takenFor } from "../../../text/unicode.ts"

/**
 * A reading of a text: what it says, and where in the text as it came each of its characters has its origin.
 *
 * @internal
 */
export interface Reading {
  readonly text: string
  /** Absent where characters are where they were. */
  readonly origins: Int32Array | undefined
  /** Why this is not the text as it stands. */
  readonly obfuscation: string | undefined
}

/** @internal */
export const originOf = ({ origins, text }: Reading, at: number): number => {
  if (origins === undefined) return at
  return text.length === 0 ? 0 : origins[Math.min(Math.max(at, 0), text.length - 1)]!
}

/* oxlint-disable no-misleading-character-class -- each of these is meant by itself */
const dropped =
  /^[\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u093c\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]$/
/* oxlint-enable no-misleading-character-class */

const accents = /[\u0300-\u036f]/g

const plainer: ReadonlyMap<string, string> = new Map([
  ...takenFor(/['"*-]/),
  ["\u0131", "i"],
  ["\u0142", "l"],
  ["\u0141", "l"],
  ["\u00f8", "o"],
  ["\u00d8", "o"],
  ["\u0111", "d"],
  ["\u00e6", "ae"],
  ["\u00df", "ss"],
  ["\u0622", "\u0627"],
  ["\u0623", "\u0627"],
  ["\u0625", "\u0627"],
  ["\u0649", "\u064a"],
  ["\u3002", "\u3002"],
  ["\u2026", "."]
])

const lineBreak = /[\u0085\u2028\u2029]/

const foldedOf = (char: string, point: number): string => {
  const known = plainer.get(char)
  if (known !== undefined) return known
  const kind = kindOf(point)
  if (kind === "control" || kind === "private-use" || kind === "blank") return lineBreak.test(char) ? "\n" : " "
  if (kind !== undefined || dropped.test(char)) return ""
  if (point >= 0x1f1e6 && point <= 0x1f1ff) return String.fromCharCode(0x61 + point - 0x1f1e6)
  if (point >= 0x1f130 && point <= 0x1f189) return String.fromCharCode(0x61 + ((point - 0x1f130) % 32) % 26)
  const compatible = char.normalize("NFKC").toLowerCase()
  if (lineBreak.test(compatible)) return "\n"
  if (compatible.trim() === "") return " "
  const first = compatible.codePointAt(0)!
  if (first >= 0x530 && (first < 0x1e00 || first > 0x1fff)) return compatible
  const bare = compatible.normalize("NFD").replace(accents, "")
  return plainer.get(bare) ?? bare
}

/** What each character of the basic plane is folded to, filled as they come. */
const table: Array<string | undefined> = Array.from({ length: 0x10000 }, () => undefined)

const fold = (point: number): string => {
  if (point > 0xffff) return foldedOf(String.fromCodePoint(point), point)
  return table[point] ??= foldedOf(String.fromCharCode(point), point)
}

const ascii = /^[\u0000-\u007f]*$/

/** @internal */
export const foldWord = (word: string): string => {
  let folded = ""
  for (const char of word) folded += fold(char.codePointAt(0)!)
  return folded
}

/** The text folded, each character with its origin. @internal */
export const read = (text: string, from?: Reading): Reading => {
  const obfuscation = from?.obfuscation
  if (ascii.test(text)) return { text: text.toLowerCase(), origins: from?.origins, obfuscation }
  let origins = new Int32Array(text.length + 64)
  let folded = ""
  let length = 0
  for (let at = 0; at < text.length; at++) {
    let point = text.charCodeAt(at)
    const start = at
    if (point >= 0xd800 && point <= 0xdbff) {
      point = text.codePointAt(at)!
      if (point > 0xffff) at += 1
    }
    const piece = point < 0x80 ? lower(point) : fold(point)
    if (length + piece.length > origins.length) {
      const larger = new Int32Array(origins.length * 2)
      larger.set(origins)
      origins = larger
    }
    const origin = from?.origins === undefined ? start : from.origins[start]!
    for (let unit = 0; unit < piece.length; unit++) origins[length++] = origin
    folded += piece
  }
  return { text: folded, origins: origins.subarray(0, length), obfuscation }
}

const smallAscii: ReadonlyArray<string> = Array.from(
  { length: 0x80 },
  (_, code) => String.fromCharCode(code).toLowerCase()
)

const lower = (code: number): string => smallAscii[code]!
