/** Text that a server or a file chose, made safe to stand in an error, a log line, a question or a terminal. */
import { replaceBlank, replaceUnsafe } from "./unicode.ts"

const escapes = new Map([["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"]])

const escaped = (char: string): string => {
  const code = char.codePointAt(0)!.toString(16)
  return escapes.get(char) ?? (code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u{${code}}`)
}

/** Writes control, bidirectional and invisible characters as visible escapes. */
export const escape = (text: string): string => replaceUnsafe(text, escaped)

/** The beginning of a text, escaped, with a note of how much was left out. */
export const excerpt = (text: string, limit = 1024): string =>
  text.length <= limit ? escape(text) : `${escape(text.slice(0, limit))}… (${text.length - limit} more characters)`

/** An excerpt in quotes, for an error message. */
export const quote = (text: string, limit = 256): string => `"${excerpt(text, limit)}"`

const code = (char: string): string => `\\u{${char.codePointAt(0)!.toString(16)}}`

/**
 * A whole text for a person who decides by it: nothing is left out, and no character can hide or push away another. Runs
 * of spaces are counted. The caller doubles each backslash of the text, so that a single one is always an escape of this
 * function.
 */
export const visible = (text: string): string =>
  replaceBlank(escape(text), (chars) => Array.from(chars, code).join(""))
    .replace(/ {3,}/g, (spaces) => `\\u{20*${spaces.length}}`)

/** `visible` of any text, in quotes, so that its beginning and end show. */
export const visiblyQuoted = (text: string): string => `"${visible(text.replace(/["\\]/g, "\\$&"))}"`

/** The characters of a text that are not ASCII, by their numbers: `U+0430`. */
export const codePoints = (text: string): ReadonlyArray<string> =>
  Array.from(
    new Set(Array.from(text).filter((char) => char > "\u007f")),
    (char) => `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`
  )

/** `a, b and 3 more`. */
export const listed = (items: ReadonlyArray<string>, most: number): string =>
  items.slice(0, most).join(", ") + (items.length > most ? ` and ${items.length - most} more` : "")
