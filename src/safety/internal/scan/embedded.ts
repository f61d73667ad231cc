/**
 * What a text says once it is decoded: escapes of HTML, URLs, JSON and mail, base64, and characters by their numbers.
 *
 * @internal
 */
import type { Reading } from "./folding.ts"
import { originOf } from "./folding.ts"
import * as Rewriting from "./rewriting.ts"

const entities: ReadonlyMap<string, string> = new Map([
  ["lt", "<"],
  ["gt", ">"],
  ["amp", "&"],
  ["quot", "\""],
  ["apos", "'"],
  ["nbsp", " "],
  ["ensp", " "],
  ["emsp", " "],
  ["thinsp", " "],
  ["colon", ":"],
  ["period", "."],
  ["comma", ","],
  ["excl", "!"],
  ["sol", "/"],
  ["bsol", "\\"],
  ["newline", "\n"],
  ["tab", "\t"],
  ["lpar", "("],
  ["rpar", ")"],
  ["lsqb", "["],
  ["rsqb", "]"],
  ["verbar", "|"],
  ["shy", ""],
  ["zwnj", ""],
  ["zwj", ""],
  ["zerowidthspace", ""]
])

/** The backslashes are counted, since a run of any length would be read again from each of them. */
const escapes =
  /&#x([0-9a-fA-F]{1,6});?|&#(\d{1,7});?|&([a-zA-Z]{2,14});|((?:%[0-9a-fA-F]{2})+)|\\{1,4}u\{([0-9a-fA-F]{1,6})\}|\\{1,4}u([0-9a-fA-F]{4})|\\{1,4}x([0-9a-fA-F]{2})|\\{1,4}([/])|((?:=[0-9A-F]{2})+)/g

const character = (digits: string, base: number): string => {
  const point = Number.parseInt(digits, base)
  return point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff) ? String.fromCodePoint(point) : ""
}

const bytesOf = (text: string): string => {
  const bytes = Uint8Array.from(text.slice(1).split(/[%=]/), (digits) => Number.parseInt(digits, 16))
  return new TextDecoder().decode(bytes)
}

const unescaped = (match: RegExpExecArray): readonly [by: string, how: string] | undefined => {
  const [whole, hex, decimal, name, url, braced, unit, byte, letter, mail] = match
  if (hex !== undefined) return [character(hex, 16), "html-entities"]
  if (decimal !== undefined) return [character(decimal, 10), "html-entities"]
  if (name !== undefined) {
    const known = entities.get(name.toLowerCase())
    return known === undefined ? undefined : [known, "html-entities"]
  }
  if (url !== undefined) return [bytesOf(whole), "url-encoded"]
  if (braced !== undefined) return [character(braced, 16), "unicode-escapes"]
  if (unit !== undefined) return [String.fromCharCode(Number.parseInt(unit, 16)), "unicode-escapes"]
  if (byte !== undefined) return [character(byte, 16), "hex-escapes"]
  if (letter !== undefined) return [letter, "string-escapes"]
  return mail === undefined ? undefined : [bytesOf(whole), "quoted-printable"]
}

const unescape = (reading: Reading): Reading | undefined => {
  if (!/[&%\\=]/.test(reading.text)) return undefined
  const replacements: Array<Rewriting.Replacement> = []
  let how: string | undefined
  let isUrl = false
  for (const match of reading.text.matchAll(escapes)) {
    const found = unescaped(match)
    if (found === undefined) continue
    how ??= found[1]
    isUrl ||= found[1] === "url-encoded"
    replacements.push({ from: match.index, to: match.index + match[0].length, by: found[0] })
  }
  return Rewriting.rewrite(reading, replacements, isUrl ? "url-encoded" : how ?? "escapes")
}

const words = /(?:[A-Za-z]{2,20}\+){3,}[A-Za-z]{2,20}/g

const plusses = (reading: Reading): Reading | undefined => {
  if (!reading.text.includes("+")) return undefined
  const replacements = [...reading.text.matchAll(words)].map((match) => ({
    from: match.index,
    to: match.index + match[0].length,
    by: match[0].replaceAll("+", " ")
  }))
  return Rewriting.rewrite(reading, replacements, "url-encoded")
}

/** Text, as far as one can tell from its bytes: hardly anything but letters, spaces and punctuation. */
const legible = (bytes: Uint8Array): string | undefined => {
  let printable = 0
  for (const byte of bytes) if (byte >= 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) printable += 1
  if (printable !== bytes.length) return undefined
  const text = new TextDecoder().decode(bytes)
  return text.includes("\ufffd") ? undefined : text
}

const alphabet = (code: number): number => {
  if (code >= 0x41 && code <= 0x5a) return code - 0x41
  if (code >= 0x61 && code <= 0x7a) return code - 0x61 + 26
  if (code >= 0x30 && code <= 0x39) return code - 0x30 + 52
  if (code === 0x2b || code === 0x2d) return 62
  return code === 0x2f || code === 0x5f ? 63 : -1
}

const shortestBase64 = 16
/** Lines at least this long may go on in the next. */
const wrapped = 48

/** What was decoded in one text, piece after piece, so that many short ones cost no more than one long. */
const together = (
  pieces: ReadonlyArray<readonly [text: string, at: number]>,
  obfuscation: string
): ReadonlyArray<Reading> => {
  if (pieces.length === 0) return []
  const text = pieces.map(([piece]) => piece).join(between)
  const origins = new Int32Array(text.length)
  let length = 0
  for (const [piece, at] of pieces) {
    origins.fill(at, length, length + piece.length + between.length)
    length += piece.length + between.length
  }
  return [{ text, origins, obfuscation }]
}

/** Nothing is read across a blank line. */
const between = "\n\n"

const base64 = (reading: Reading): ReadonlyArray<Reading> => {
  const { text } = reading
  const found: Array<readonly [text: string, at: number]> = []
  for (let at = 0; at < text.length; at++) {
    if (alphabet(text.charCodeAt(at)) === -1) continue
    const from = at
    const digits: Array<number> = []
    let line = 0
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      const digit = alphabet(code)
      if (digit !== -1) {
        digits.push(digit)
        line += 1
      } else if ((code === 0x0a || code === 0x0d) && line >= wrapped && alphabet(text.charCodeAt(at + 1)) !== -1) {
        line = 0
      } else break
    }
    if (digits.length < shortestBase64) continue
    const bytes = new Uint8Array((digits.length * 3) >> 2)
    let length = 0
    let bits = 0
    let width = 0
    for (const digit of digits) {
      bits = ((bits << 6) | digit) & 0xffff
      width += 6
      if (width >= 8) {
        width -= 8
        bytes[length++] = (bits >> width) & 0xff
      }
    }
    const decoded = legible(bytes.subarray(0, length))
    if (decoded !== undefined) found.push([decoded, originOf(reading, from)])
  }
  return together(found, "base64")
}

const digitsOf = (text: string, digit: RegExp, base: number): Uint8Array =>
  Uint8Array.from(text.match(digit) ?? [], (digits) => Number.parseInt(digits, base))

const numbers: ReadonlyArray<readonly [pattern: RegExp, how: string, bytes: (text: string) => Uint8Array]> = [
  [/[01]{8}(?:[ ,]{0,2}[01]{8}){7,}/g, "binary", (text) => digitsOf(text, /[01]{8}/g, 2)],
  [
    /(?:0x)?[0-9a-fA-F]{2}(?:[ ,:]{0,2}(?:0x)?[0-9a-fA-F]{2}){11,}/g,
    "hex",
    (text) => Buffer.from(text.replaceAll("0x", "").replace(/[ ,:]+/g, ""), "hex")
  ],
  [/\b1?\d\d(?:[ ,;]{1,2}1?\d\d){9,}\b/g, "character-codes", (text) => digitsOf(text, /\d+/g, 10)]
]

const byNumber = (reading: Reading): ReadonlyArray<Reading> =>
  numbers.flatMap(([pattern, how, bytes]) => {
    const found: Array<readonly [text: string, at: number]> = []
    for (const match of reading.text.matchAll(pattern)) {
      const text = legible(bytes(match[0]))
      if (text !== undefined) found.push([text, originOf(reading, match.index)])
    }
    return together(found, how)
  })

/** @internal */
export const of = (text: string, from?: Reading): ReadonlyArray<Reading> => {
  const reading: Reading = from ?? { text, origins: undefined, obfuscation: undefined }
  const plain = unescape(reading)
  const added = plusses(reading)
  return [
    ...(plain === undefined ? [] : [plain]),
    ...(added === undefined ? [] : [added]),
    ...base64(reading),
    ...byNumber(reading)
  ]
}
