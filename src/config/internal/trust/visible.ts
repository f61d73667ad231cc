/**
 * Texts of a stranger for the eyes of a person who decides by them: every character is there, none can hide another or
 * look like nothing.
 *
 * @internal
 */
import * as UntrustedText from "../../../UntrustedText.ts"

/** Blanks that look like a space or like nothing, marks that change the character before them, halves of characters. */
const blank = /(?! )[\p{Zs}\p{Cs}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}\u2800]|\p{M}{4,}/gu

const code = (char: string): string => `\\u{${char.codePointAt(0)!.toString(16)}}`

/**
 * In quotes, so that its beginning and end are seen. A backslash is written twice, so that whatever follows a single one
 * is ours; spaces in a row are counted, so that they push nothing out of sight.
 *
 * @internal
 */
export const quoted = (text: string): string => {
  const escaped = UntrustedText.escape(text.replace(/["\\]/g, "\\$&"))
    .replace(blank, (chars) => Array.from(chars, code).join(""))
    .replace(/ {3,}/g, (spaces) => `\\u{20*${spaces.length}}`)
  return `"${escaped}"`
}

/**
 * The characters of a text that could be taken for others, by their numbers.
 *
 * @internal
 */
export const foreign = (text: string): ReadonlyArray<string> =>
  Array.from(
    new Set(Array.from(text).filter((char) => char > "\u007f")),
    (char) => `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`
  )
