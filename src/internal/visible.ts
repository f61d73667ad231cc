/**
 * Texts of a stranger for the eyes of a person who decides by them: every character is there, none can hide another or
 * look like nothing.
 *
 * @internal
 */
import * as UntrustedText from "../text/UntrustedText.ts"

/** Blanks that look like a space or like nothing, marks that change the character before them, halves of characters. */
const blank = /(?! )[\p{Zs}\p{Cs}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}\u2800]|\p{M}{4,}/gu

const code = (char: string): string => `\\u{${char.codePointAt(0)!.toString(16)}}`

/**
 * Spaces in a row are counted, so that they push nothing out of sight. In the text each backslash must be one of two, so
 * that whatever follows a single one is ours.
 *
 * @internal
 */
export const shown = (text: string): string =>
  UntrustedText.escape(text)
    .replace(blank, (chars) => Array.from(chars, code).join(""))
    .replace(/ {3,}/g, (spaces) => `\\u{20*${spaces.length}}`)

/**
 * In quotes, so that its beginning and end are seen, with every backslash written twice.
 *
 * @internal
 */
export const quoted = (text: string): string => `"${shown(text.replace(/["\\]/g, "\\$&"))}"`

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
