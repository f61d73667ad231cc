/**
 * What has the format of a secret, whoever it belongs to.
 *
 * @internal
 */
import * as Addresses from "./addresses.ts"
import * as Assignments from "./assignments.ts"
import * as Finder from "./finder.ts"
import * as Pattern from "./pattern.ts"
import * as PrivateKeys from "./privateKeys.ts"
import * as Runs from "./runs.ts"
import * as SecretValue from "./secretValue.ts"
import type { Span } from "./spans.ts"
import { vendors } from "./vendors.ts"

/** @internal */
export interface Formats {
  readonly scan: (text: string) => ReadonlyArray<Span>
}

/** The words that are looked for, and what is read where one stands. */
const authority = "://"
const armour = "-----begin"
const privateLines = "private-lines: "
const keyKind = "\"kty"

/** What is looked for by one word. */
interface Row {
  readonly word: string
  readonly isName: boolean
  readonly patterns: ReadonlyArray<{ readonly id: string; readonly index: number; readonly pattern: Pattern.Pattern }>
}

/** @internal */
export const make = (): Formats => {
  const patterns = vendors.map(({ id, pattern }) => ({ id, pattern: Pattern.make(pattern) }))
  const byWord = new Map<string, Array<Row["patterns"][number]>>()
  for (const [index, { id, pattern }] of patterns.entries()) {
    const word = pattern.keyword.toLowerCase()
    const same = byWord.get(word)
    if (same === undefined) byWord.set(word, [{ id, index, pattern }])
    else same.push({ id, index, pattern })
  }
  const words = [...new Set([authority, armour, privateLines, keyKind, ...Assignments.keywords, ...byWord.keys()])]
  const names: ReadonlySet<string> = new Set(Assignments.keywords)
  const rows = words.map((word): Row => ({ word, isName: names.has(word), patterns: byWord.get(word) ?? [] }))
  const finder = Finder.make(words, true)

  const scan = (text: string, isInner: boolean): ReadonlyArray<Span> => {
    const spans: Array<Span> = []
    let dead: Float64Array | undefined
    const read = Assignments.reader(text)
    let named = 0
    let keyEnd = 0
    const token = (at: number, row: Row): number | undefined => {
      for (const { id, index, pattern } of row.patterns) {
        // from within characters that have led nowhere, they lead nowhere again
        if (dead !== undefined && at < dead[index]!) continue
        const found = Pattern.match(pattern, text, at)
        if ("end" in found) {
          if (SecretValue.isShown(text.slice(at + pattern.keyword.length, found.end))) continue
          spans.push({ id, at: found.at, end: found.end })
          return found.end
        }
        if (found.dead > at) (dead ??= new Float64Array(patterns.length))[index] = found.dead
      }
      return undefined
    }
    const place = (
      id: string,
      found: { readonly at: number; readonly end: number } | undefined
    ): number | undefined => {
      if (found !== undefined) spans.push({ id, ...found })
      return found?.end
    }
    finder.each(text, (at, word) => {
      const row = rows[word]!
      if (row.word === authority) return place("address", Addresses.find(text, at))
      if (row.word === armour) return place("private-key", PrivateKeys.find(text, at))
      if (row.word === privateLines) return place("private-key", PrivateKeys.findLines(text, at))
      if (row.word === keyKind) {
        if (at < keyEnd) return undefined
        const { end, parts } = PrivateKeys.findParts(text, at, keyEnd)
        for (const part of parts) place("private-key", part)
        keyEnd = end
        return undefined
      }
      const end = token(at, row)
      if (end !== undefined || !row.isName || at < named) return end
      const { next, span } = read(at, row.word)
      // one look at a name is enough, however many words of a credential it holds
      named = next
      return span === undefined ? undefined : place("named", { at: span.from, end: span.to })
    })
    Runs.scan(text, (span) => spans.push(span), (plain) => isInner ? undefined : scan(plain, true)[0]?.id)
    return spans
  }

  return { scan: (text) => scan(text, false) }
}
