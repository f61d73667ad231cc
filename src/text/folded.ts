/** Normalizes text before it is compared with known words, so that disguised words match. */
import { isUnseen, takenFor } from "./unicode.ts"

export interface Folded {
  /**
   * Lower case, without accents and invisible characters, look-alikes and compatibility forms as ASCII, escapes decoded.
   * Blanks are spaces, and line ends are `\n`.
   */
  readonly text: string
  /** The offset in the source of each unit of `text`, followed by the length of the source. */
  readonly starts: Int32Array
}

// A character that looks like both a letter and a sign is folded to the letter.
const plain = new Map([...takenFor(/[^a-z]/), ...takenFor(/[a-z]/)])

const taken = (char: string): string => {
  const known = plain.get(char)
  if (known !== undefined) return known
  if (/[\n\r\v\f\u0085\u2028\u2029]/.test(char)) return "\n"
  if (/[^\S\ufeff]|\u2800/.test(char)) return " "
  return isUnseen(char.codePointAt(0)!) ? "" : char
}

/** Lower case comes after the compatibility form, which may have capitals; accents are marks of the decomposed form. */
const foldedChar = (char: string): string => {
  const parts = Array.from(char.normalize("NFKC").toLowerCase(), taken).join("")
  return Array.from(parts.normalize("NFD"), taken).join("").normalize("NFC")
}

const known = new Map<string, string>()

const foldedOnce = (char: string): string => {
  const found = known.get(char) ?? foldedChar(char)
  // 4,096 are enough for the letters of any text
  if (known.size < 4096) known.set(char, found)
  return found
}

/** The HTML references for signs of tags, names and quotes, for blanks, and for nothing. */
const meanings = {
  "<": "lt",
  ">": "gt",
  "&": "amp",
  "'": "apos",
  "\"": "quot",
  "/": "sol",
  "\\": "bsol",
  "_": "lowbar underbar",
  "-": "hyphen dash",
  " ": "nbsp tab",
  "\n": "newline",
  "": "shy zwj zwnj zerowidthspace nobreak"
}

const references = new Map(
  Object.entries(meanings).flatMap(([char, names]) => names.split(" ").map((name) => [name, char] as const))
)

// without a semicolon a reference ends where its name is complete
const escape = new RegExp(
  `&(?:amp;)*(?:#x([0-9a-f]+)|#([0-9]+)|(${[...references.keys()].join("|")}));?|` +
    /\\(?:u\{([0-9a-f]+)\}|u([0-9a-f]{4})|x([0-9a-f]{2})|([nrt"'`\\/]))|/.source +
    /(%(?:25)*[c-f][0-9a-f](?:%(?:25)*[89ab][0-9a-f]){1,3}|%(?:25)*[0-9a-f]{2})/.source,
  "iy"
)

const controls: Readonly<Record<string, string>> = { n: "\n", r: "\n", t: "\t" }

/** One byte is Latin-1, several are UTF-8. */
const bytesOf = (hex: string): string => Buffer.from(hex, "hex").toString(hex.length === 2 ? "latin1" : "utf8")

/** The escape of a program, of HTML or of a URL at this position, with its character. */
export const escapedAt = (text: string, at: number): { readonly char: string; readonly end: number } | undefined => {
  escape.lastIndex = at
  const match = escape.exec(text)
  if (match === null) return undefined
  const [, hex, decimal, name, braced, unicode, code, char, percent] = match
  const end = escape.lastIndex
  if (name !== undefined) return { char: references.get(name.toLowerCase())!, end }
  if (char !== undefined) return { char: controls[char.toLowerCase()] ?? char, end }
  if (percent !== undefined) return { char: bytesOf(percent.replaceAll(/%(?:25)*/g, "")), end }
  const point = decimal === undefined ? Number.parseInt(hex ?? braced ?? unicode ?? code!, 16) : Number(decimal)
  return { char: point <= 0x10ffff ? String.fromCodePoint(point) : ".", end }
}

/** Printable ASCII without characters that start an escape. */
const asciiRun = /[\t\n\x20-\x24\x27-\x5b\x5d-\x7e]+/y

const isTag = (point: number): boolean => point >= 0xe0020 && point <= 0xe007e

/** The hidden ASCII of tag characters. */
export const hasTags = (text: string): boolean => /[\u{e0020}-\u{e007e}]/u.test(text)

/** Folds a text in one pass. `readTags` reads tag characters as their ASCII, separated by blanks, instead of removing them. */
export const folded = (text: string, readTags = false): Folded => {
  let starts = new Int32Array(text.length + 32)
  let length = 0
  let result = ""
  let inTags = false
  const add = (piece: string, start: number, step: number): void => {
    if (length + piece.length >= starts.length) {
      const larger = new Int32Array(2 * (length + piece.length))
      larger.set(starts)
      starts = larger
    }
    for (let unit = 0; unit < piece.length; unit++) starts[length++] = start + unit * step
    result += piece
  }
  for (let at = 0; at < text.length;) {
    asciiRun.lastIndex = at
    const run = asciiRun.exec(text)?.[0]
    const point = text.codePointAt(at)!
    const tag = readTags && isTag(point)
    if (tag !== inTags) add(" ", at, 0)
    inTags = tag
    if (run !== undefined) {
      add(run.toLowerCase().replaceAll("\t", " "), at, 1)
      at += run.length
      continue
    }
    const { char, end } = escapedAt(text, at) ??
      { char: String.fromCodePoint(point), end: at + (point > 0xffff ? 2 : 1) }
    add(foldedOnce(tag ? String.fromCodePoint(point - 0xe0000) : char), at, 0)
    at = end
  }
  starts[length] = text.length
  return { text: result, starts: starts.subarray(0, length + 1) }
}
