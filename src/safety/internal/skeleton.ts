import { takenFor } from "../../text/unicode.ts"

/**
 * A text as somebody takes it who sees no difference between letters that look alike, sees nothing of what is invisible,
 * and reads what is written in escapes: one character for each that counts, and where it came from.
 *
 * @internal
 */
export interface Skeleton {
  /** Letters and digits in lower case (foreign ones as `?`), `<`, `/`, `_`, a blank, and `.` for all other signs. */
  readonly text: string
  readonly starts: ReadonlyArray<number>
  readonly ends: ReadonlyArray<number>
}

/** What a sloppy reader takes the look-alikes of the table for, and what they take these letters and signs for. */
const sloppy: Readonly<Record<string, string>> = {
  i: "l",
  "1": "l",
  "0": "o",
  "\u0446": "u",
  "\u00ab": "<",
  "\\": "/",
  "-": "_"
}

const plain = new Map([
  ...Object.entries(sloppy),
  ...["<", "/", "_"].map((char) => [char, char] as const),
  ...Array.from(takenFor(/[a-z</\\_-]/), ([char, ascii]) => [char, sloppy[ascii] ?? ascii] as const)
])

const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{M}]|[^\P{Cc}\t\n\r\f\v\u0085]/u
const blank = /\s/u
const letterOrDigit = /[\p{L}\p{N}]/u

/** What one character is taken for, or nothing. */
const taken = (char: string): string => {
  const direct = plain.get(char)
  if (direct !== undefined) return direct
  if (invisible.test(char)) return ""
  if (blank.test(char)) return " "
  if (char >= "a" && char <= "z") return char
  return letterOrDigit.test(char) ? "?" : "."
}

/** Lower case comes last: compatibility forms have capitals too. */
const reduced = (char: string): string => {
  let all = ""
  for (const part of char.normalize("NFKC").toLowerCase()) all += taken(part)
  // a letter with an accent is one character, and so is a sign that is struck through
  return all === "?" || all === "." ? Array.from(char.normalize("NFKD").toLowerCase(), taken).join("") : all
}

const ascii = Array.from({ length: 128 }, (_, code) => reduced(String.fromCharCode(code)))

const known = new Map<string, string>()

const reducedOnce = (char: string): string => {
  const before = known.get(char)
  if (before !== undefined) return before
  const now = reduced(char)
  // enough for the letters of any text, and bounded
  if (known.size < 4096) known.set(char, now)
  return now
}

/** The references of HTML that matter; the others stand for something else. */
const references = new Map([
  ["lt", "<"],
  ["sol", "/"],
  ["bsol", "\\"],
  ["lowbar", "_"],
  ["underbar", "_"],
  ["hyphen", "-"],
  ["dash", "-"],
  ["nbsp", " "],
  ["tab", " "],
  ["newline", " "],
  ["shy", ""],
  ["zwj", ""],
  ["zwnj", ""],
  ["zerowidthspace", ""],
  ["nobreak", ""]
])

// The semicolon may be missing, and then the name ends where it is complete.
const reference = new RegExp(`&(?:amp;)*(?:#x([0-9a-f]+)|#([0-9]+)|(${[...references.keys()].join("|")}));?`, "iy")
const escape = /\\(?:u\{([0-9a-f]+)\}|u([0-9a-f]{4})|x([0-9a-f]{2}))/iy
const percent = /%(?:25)*([0-9a-f]{2})/iy

const characterOf = (digits: string, base: number): string => {
  const code = Number.parseInt(digits, base)
  return code <= 0x10ffff ? String.fromCodePoint(code) : "."
}

interface Escaped {
  readonly char: string
  readonly end: number
}

/** What is written here in an escape of any kind. */
const escapedAt = (text: string, at: number): Escaped | undefined => {
  const pattern = text[at] === "&" ? reference : text[at] === "\\" ? escape : percent
  pattern.lastIndex = at
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [, first, second, third] = match
  const end = pattern.lastIndex
  if (pattern !== reference) return { char: characterOf((first ?? second ?? third)!, 16), end }
  if (first !== undefined) return { char: characterOf(first, 16), end }
  if (second !== undefined) return { char: characterOf(second, 10), end }
  const char = references.get(third!.toLowerCase())
  return char === undefined ? undefined : { char, end }
}

const isEscape = (code: number): boolean => code === 0x26 || code === 0x5c || code === 0x25

/** Characters that carry ASCII out of sight. */
const tag = (char: string): string => {
  const code = char.codePointAt(0)!
  return code >= 0xe0020 && code <= 0xe007e ? String.fromCharCode(code - 0xe0000) : char
}

/**
 * In one pass. With `tags`, those characters are read rather than overlooked.
 *
 * @internal
 */
export const skeleton = (text: string, tags = false): Skeleton => {
  const starts: Array<number> = []
  const ends: Array<number> = []
  const parts: Array<string> = []
  const add = (chars: string, start: number, end: number): void => {
    for (const char of chars) {
      parts.push(char)
      starts.push(start)
      ends.push(end)
    }
  }
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at)
    const escaped = isEscape(code) ? escapedAt(text, at) : undefined
    if (escaped !== undefined) {
      add(reducedOnce(escaped.char), at, escaped.end)
      at = escaped.end
    } else if (code < 128) {
      add(ascii[code]!, at, at + 1)
      at++
    } else {
      const char = String.fromCodePoint(text.codePointAt(at)!)
      add(reducedOnce(tags ? tag(char) : char), at, at + char.length)
      at += char.length
    }
  }
  return { text: parts.join(""), starts, ends }
}
