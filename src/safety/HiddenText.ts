/**
 * What hides in the text of a server: characters that a person does not see and a model reads.
 *
 * @since 0.1.0
 */
import * as internal from "./internal/hidden/cleaning.ts"

/**
 * What was found: `tags` (ASCII moved out of sight), `bidi` (orders to write the other way), `zero-width`, `filler`
 * (blanks that count as letters), `variation` (selectors where there is nothing to select), `annotation`, `control` (what
 * a terminal obeys), `combining` (more marks than a letter has), `private-use`, `noncharacter`, `surrogate` (half a
 * character) and `confusable` (a word of two alphabets that looks like one).
 *
 * @since 0.1.0
 * @category models
 */
export type Kind =
  | "tags"
  | "bidi"
  | "zero-width"
  | "filler"
  | "variation"
  | "annotation"
  | "control"
  | "combining"
  | "private-use"
  | "noncharacter"
  | "surrogate"
  | "confusable"

/**
 * @since 0.1.0
 * @category models
 */
export interface Finding {
  readonly kind: Kind
  readonly level: "low" | "medium" | "high"
  /** Where it began in the text as it came. */
  readonly at: number
  /** How many characters in a row. */
  readonly count: number
  /** What they said to a machine, as it came: escape it before showing it. */
  readonly decoded: string | undefined
}

/**
 * Takes out what hides, makes control characters visible, and tells what it was. What a script or a picture is made of
 * stays: joiners of Persian and Hindi, sequences of emoji, variants of Han characters. A text with nothing to change is
 * given back as it is. Names and descriptions (`metadata`) are judged more strictly than results.
 *
 * @since 0.1.0
 * @category combinators
 */
export const clean = (
  text: string,
  as: "metadata" | "result"
): { readonly text: string; readonly findings: ReadonlyArray<Finding> } => internal.clean(text, as)
