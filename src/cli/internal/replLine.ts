/**
 * A line as it was typed, as words.
 *
 * @internal
 */
import * as Either from "effect/Either"
import { Usage } from "../Usage.ts"

/**
 * As shells read them: words end at blanks, `'…'` is as it is, and a backslash takes the next character as it is, in
 * `"…"` too.
 *
 * @internal
 */
export const words = (line: string): Either.Either<ReadonlyArray<string>, Usage> => {
  const found: Array<string> = []
  let word: string | undefined
  let quote: string | undefined
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!
    if (quote === undefined && (char === " " || char === "\t")) {
      if (word !== undefined) found.push(word)
      word = undefined
    } else if (char === quote) quote = undefined
    else if (quote === undefined && (char === "'" || char === "\"")) {
      quote = char
      word ??= ""
    } else if (char === "\\" && quote !== "'" && at + 1 < line.length) word = (word ?? "") + line[++at]!
    else word = (word ?? "") + char
  }
  if (quote !== undefined) {
    return Either.left(
      new Usage({ detail: `A ${quote} is not closed.`, next: `Write \\${quote} for the character itself.` })
    )
  }
  if (word !== undefined) found.push(word)
  return Either.right(found)
}
