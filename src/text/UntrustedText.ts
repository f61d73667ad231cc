/** Makes text from servers and files safe for errors, logs, questions and terminals. */
import { replaceBlank, replaceUnsafe } from "./unicode.ts"

const escapes = new Map([["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"]])

const escaped = (char: string): string => {
  const code = char.codePointAt(0)!.toString(16)
  return escapes.get(char) ?? (code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u{${code}}`)
}

/** Writes control, bidirectional and invisible characters as visible escapes. */
export const escape = (text: string): string => replaceUnsafe(text, escaped)

/** The start of a text, escaped, with a note of how much was cut. */
export const excerpt = (text: string, limit = 1024): string =>
  text.length <= limit ? escape(text) : `${escape(text.slice(0, limit))}… (${text.length - limit} more characters)`

/** An excerpt in quotes, for an error message. */
export const quote = (text: string, limit = 256): string => `"${excerpt(text, limit)}"`

const code = (char: string): string => `\\u{${char.codePointAt(0)!.toString(16)}}`

/**
 * Makes a whole text visible for a person who decides on it: nothing is cut, and no character can hide or move another.
 * Runs of spaces are counted. The caller doubles each backslash of the text, so that a single one is always an escape.
 */
export const visible = (text: string): string =>
  replaceBlank(escape(text), (chars) => Array.from(chars, code).join(""))
    .replace(/ {3,}/g, (spaces) => `\\u{20*${spaces.length}}`)

/** A visible text in quotes, which mark its start and end. */
export const visiblyQuoted = (text: string): string => `"${visible(text.replace(/["\\]/g, "\\$&"))}"`

/** The non-ASCII characters of a text as code points: `U+0430`. */
export const codePoints = (text: string): ReadonlyArray<string> =>
  Array.from(
    new Set(Array.from(text).filter((char) => char > "\u007f")),
    (char) => `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`
  )

/** `a, b and 3 more`. */
export const listed = (items: ReadonlyArray<string>, most: number): string =>
  items.slice(0, most).join(", ") + (items.length > most ? ` and ${items.length - most} more` : "")
