/**
 * Whether the letters of a name belong together: "highly restrictive" in the sense of UTS #39.
 *
 * @internal
 */

/** What UAX #31 recommends for identifiers. Others have letters that look like these, and no keyboard in use. */
const alone = [
  "Arabic",
  "Armenian",
  "Bengali",
  "Cyrillic",
  "Devanagari",
  "Ethiopic",
  "Georgian",
  "Greek",
  "Gujarati",
  "Gurmukhi",
  "Hebrew",
  "Kannada",
  "Khmer",
  "Lao",
  "Malayalam",
  "Myanmar",
  "Oriya",
  "Sinhala",
  "Tamil",
  "Telugu",
  "Thaana",
  "Thai",
  "Tibetan"
]

/** East Asia writes with several, and Latin among them. */
const together = [
  ["Latin", "Han", "Hiragana", "Katakana"],
  ["Latin", "Han", "Bopomofo"],
  ["Latin", "Han", "Hangul"]
]

const only = (scripts: ReadonlyArray<string>): RegExp =>
  new RegExp(`^[${["Common", "Inherited", ...scripts].map((script) => `\\p{scx=${script}}`).join("")}]*$`, "u")

let known: ReadonlyArray<RegExp> | undefined

/** @internal */
export const belongTogether = (name: string): boolean => {
  // for names of ASCII, which almost all are, nothing of this is made
  known ??= [...together.map(only), ...alone.map((script) => only([script]))]
  return known.some((scripts) => scripts.test(name))
}
