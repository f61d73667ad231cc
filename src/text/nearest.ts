/** Finds the names nearest to a mistyped name, for `Did you mean …?`. */

/** Only the start of a longer text is compared, which bounds the time for untrusted names. */
const longest = 128

/** Lower case, with each run of ASCII punctuation as one gap, because case and punctuation are mistyped most. */
const folded = (text: string): string =>
  `_${text.slice(0, longest)}_`.toLowerCase().replaceAll(/[\u0000-\u002f\u003a-\u0060\u007b-\u007f]+/g, "_")

/** The edit distance: insert, delete, replace, and swap of two neighbors. */
const distance = (a: string, b: string): number => {
  let before: ReadonlyArray<number> = []
  let last = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? before[j - 2]! + 1 : replaced
      row.push(Math.min(replaced, swapped, last[j]! + 1, row[j - 1]! + 1))
    }
    before = last
    last = row
  }
  return last[b.length]!
}

/** True if the edit distance is at most one. */
export const isOneEdit = (a: string, b: string): boolean => Math.abs(a.length - b.length) <= 1 && distance(a, b) <= 1

/** From 0 to 1: the share of common character pairs of two folded texts. */
const sharedPairs = (asked: ReadonlySet<string>, text: string): number => {
  let shared = 0
  for (let at = 1; at < text.length; at++) if (asked.has(text.slice(at - 1, at + 1))) shared += 1
  const share = 2 * Math.min(asked.size, shared) / Math.max(1, asked.size + text.length - 1)
  // a name that contains the whole query is near at any length
  return shared >= asked.size && asked.size > 3 ? Math.max(share, 0.5) : share
}

// Measured on the tools of published servers: below these scores, names share little but their language.
const leastShared = 0.4
const leastScore = 0.9

/** A name this much worse than the best one is dropped. */
const spread = 0.35

/** The length of four characters folded, which adds one at each end. */
const shortest = 6

/** The number of names, those with the most common pairs, that are compared by edit distance. */
const compared = 24

/** The best first; names of the same score keep their order. */
const best = <A>(scored: ReadonlyArray<readonly [value: A, score: number]>, limit: number) =>
  scored.toSorted(([, a], [, b]) => b - a).slice(0, limit)

/**
 * At most `limit` candidates, nearest first. `spellings` are the names of a candidate; the nearest of them counts. Pairs
 * of characters find words in another order, edits rank what they find.
 */
export const nearestOf = <A>(
  asked: string,
  candidates: Iterable<A>,
  spellings: (candidate: A) => ReadonlyArray<string>,
  limit: number
): ReadonlyArray<A> => {
  const wanted = folded(asked)
  const start = wanted.slice(0, -1)
  // a prefix is near at any length of the name, and short names have too few pairs to compare
  const isNear = (name: string): boolean =>
    (start.length > 2 && name.startsWith(start)) || (name.length <= shortest && isOneEdit(wanted, name))
  const pairs = new Set(Array.from({ length: wanted.length - 1 }, (_, at) => wanted.slice(at, at + 2)))
  const pairScore = (name: string): number => Math.max(isNear(name) ? leastShared : 0, sharedPairs(pairs, name))
  const editScore = (name: string): number =>
    Math.max(
      isNear(name) ? leastScore - leastShared : 0,
      1 - distance(wanted, name) / (Math.max(wanted.length, name.length) - 1)
    )
  const near: Array<readonly [readonly [A, ReadonlyArray<string>], number]> = []
  for (const candidate of candidates) {
    const names = spellings(candidate).map(folded)
    const shared = Math.max(...names.map(pairScore))
    if (shared >= leastShared) near.push([[candidate, names], shared])
  }
  const ranked = best(near, compared).flatMap(([[candidate, names], shared]) => {
    const score = shared + Math.max(...names.map(editScore))
    return score < leastScore ? [] : [[candidate, score] as const]
  })
  const least = Math.max(0, ...ranked.map(([, score]) => score)) - spread
  return best(ranked.filter(([, score]) => score >= least), limit).map(([candidate]) => candidate)
}

/** At most three names, nearest first. */
export const nearest = (asked: string, names: Iterable<string>): ReadonlyArray<string> =>
  nearestOf(asked, names, (name) => [name], 3)

/** `Did you mean "a" or "b"?`, or `undefined`. */
export const suggestion = (names: ReadonlyArray<string>): string | undefined =>
  names.length === 0 ? undefined : `Did you mean ${names.map((name) => `"${name}"`).join(" or ")}?`
