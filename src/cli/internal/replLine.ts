/**
 * A line as it was typed: its words, and what may complete it.
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

const most = 200

/** What is typed without quotes, and shown as it is. */
const plain = /^[\w./:@-]+$/

/**
 * What the last word of a line may become, and that word.
 *
 * @internal
 */
export const completions = (
  line: string,
  commands: Iterable<string>,
  tools: Iterable<string>
): readonly [hits: Array<string>, word: string] => {
  const blank = Math.max(line.lastIndexOf(" "), line.lastIndexOf("\t"))
  const word = line.slice(blank + 1)
  const before = line.slice(0, blank + 1).trim()
  const among = before === "" ? commands : before === "call" ? tools : []
  const hits = Array.from(among).filter((one) => one.startsWith(word) && plain.test(one)).slice(0, most)
  return [hits.map((one) => `${one} `), word]
}
