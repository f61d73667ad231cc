/**
 * Tokens by their formats. The rows are made from the rules of gitleaks and our own by `scripts/secretFormats.mjs`, which
 * writes only patterns that are linear where a keyword stands.
 */
import data from "./secretFormats.json" with { type: "json" }
import type { Span } from "./textViews.ts"

interface Format {
  /** In lower case. */
  readonly keywords: ReadonlyArray<string>
  /** Begins with a keyword. The token is from the first to the last group, or the whole match. */
  readonly pattern: string
  /** The least bits of a character of the token, for formats that begin with few letters. */
  readonly entropy?: number
}

const rows: ReadonlyArray<Format> = data.rows

const entropyOf = (text: string): number => {
  const counts = new Map<string, number>()
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= count / text.length * Math.log2(count / text.length)
  return bits
}

const longestShown = 96

/** True for `xxxxxxxx` and `your-token-here`. */
const isShown = (body: string): boolean =>
  body.length <= longestShown && (/^[xX*.0-]+$/.test(body) || /^(?:[a-z]+[-_])+[a-z]+$/.test(body))

export const make = () => {
  const byKeyword = new Map<string, Array<number>>()
  for (const [row, { keywords }] of rows.entries()) {
    for (const keyword of keywords) byKeyword.set(keyword, [...(byKeyword.get(keyword) ?? []), row])
  }
  const keywords = Array.from(byKeyword.keys())
  /** Compiled when their keyword first occurs in a text. */
  const compiled: Array<RegExp | undefined> = []

  return {
    keywords,
    /** The token that a keyword begins, and `undefined` for its span if it only shows a format: `ghp_xxxxxxxx`. */
    match: (text: string, at: number, index: number) => {
      const keyword = keywords[index]!
      let longest: Span | undefined
      let least = 0
      for (const row of byKeyword.get(keyword)!) {
        const { entropy = 0, pattern } = rows[row]!
        const expression = compiled[row] ??= new RegExp(pattern, "dy")
        expression.lastIndex = at
        const places = expression.exec(text)?.indices
        if (places === undefined || places.at(-1)![1] <= (longest?.end ?? at)) continue
        longest = { at: (places[1] ?? places[0]!)[0], end: places.at(-1)![1] }
        least = entropy
      }
      if (longest === undefined) return undefined
      const { end } = longest
      const isOne = !isShown(text.slice(at + keyword.length, end)) &&
        (least === 0 || entropyOf(text.slice(longest.at, end)) >= least)
      return { span: isOne ? longest : undefined, end }
    }
  }
}
