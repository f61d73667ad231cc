/**
 * The words that occur in tools, as they are written: looked through from end to end for those that begin so or come
 * near, which for so few takes a fraction of a millisecond and needs nothing but the words themselves.
 *
 * @internal
 */
import type { Vocabulary } from "./searchQuery.ts"
import type { Word } from "./searchTerms.ts"

/** @internal */
export interface Words extends Vocabulary {
  readonly add: (word: Word) => void
}

/** Words beyond these are found as they are written only: no server can make completing and correcting slow. */
const mostWords = 32_768

/** How many words of one beginning are looked at, and how many that may be near: a real word has far fewer of both. */
const mostBegun = 1_000
const mostCompared = 300

/** The first characters of a word, of which three are most of what tells words apart. */
const headLength = 3
const headOf = (word: string): number => {
  let head = 0
  for (let at = 0; at < headLength; at++) head |= ((at < word.length ? word.charCodeAt(at) : 0) & 255) << (8 * at)
  return head
}

/** Which characters a word has, roughly: one edit puts in one of them at most, and takes out one at most. */
const charactersOf = (word: string): number => {
  let characters = 0
  for (let at = 0; at < word.length; at++) characters |= 1 << (word.charCodeAt(at) & 31)
  return characters
}

/** Whether there are more of them than one, or than two, which is all that is ever asked. */
const isMore = (bits: number, distance: number): boolean => {
  let left = bits
  for (let taken = 0; taken < distance; taken++) left &= left - 1
  return left !== 0
}

/** The edits between two words whose lengths differ by no more than the most, or more than the most. */
const editsBetween = (a: string, b: string, most: number): number => {
  const row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const from = Math.max(1, i - most)
    const to = Math.min(b.length, i + most)
    let diagonal = row[from - 1]!
    let least = row[from - 1] = from === 1 ? i : most + 1
    for (let j = from; j <= to; j++) {
      const above = j === i + most ? most + 1 : row[j]!
      const edits = a.charCodeAt(i - 1) === b.charCodeAt(j - 1)
        ? diagonal
        : 1 + Math.min(diagonal, above, row[j - 1]!)
      diagonal = row[j]!
      row[j] = edits
      if (edits < least) least = edits
    }
    if (least > most) return least
  }
  return row[b.length]!
}

interface Near {
  readonly word: Word
  readonly distance: number
}

/** The nearest first, of those the one that comes first in the alphabet, whatever was known first. */
const byDistance = (a: Near, b: Near): number =>
  a.distance - b.distance || (a.word.word < b.word.word ? -1 : a.word.word > b.word.word ? 1 : 0)

/**
 * The words of what is there: a word counts as long as its stem does.
 *
 * @internal
 */
export const make = (isThere: (stem: string) => boolean): Words => {
  const known = new Map<string, Word>()
  const words: Array<Word> = []
  const lengths = new Uint8Array(mostWords)
  const heads = new Int32Array(mostWords)
  const characters = new Int32Array(mostWords)

  const stems = (near: Array<Near>, most: number): ReadonlyArray<string> => {
    const found = new Set<string>()
    for (const { word: { stem } } of near.toSorted(byDistance)) {
      if (found.size === most) break
      found.add(stem)
    }
    return Array.from(found)
  }

  return {
    add: (word) => {
      const at = words.length
      if (at === mostWords || known.has(word.word)) return
      known.set(word.word, word)
      words.push(word)
      lengths[at] = Math.min(255, word.word.length)
      heads[at] = headOf(word.word)
      characters[at] = charactersOf(word.word)
    },
    stemOf: (word) => {
      const stem = known.get(word)?.stem
      return stem !== undefined && isThere(stem) ? stem : undefined
    },
    hasStem: isThere,
    completions: (prefix, most) => {
      const found: Array<Near> = []
      const head = headOf(prefix)
      const told = prefix.length >= headLength ? -1 : (1 << (8 * prefix.length)) - 1
      let looked = 0
      for (let at = 0; at < words.length && looked < mostBegun; at++) {
        if (((heads[at]! ^ head) & told) !== 0) continue
        looked += 1
        const word = words[at]!
        if (word.word.startsWith(prefix) && isThere(word.stem)) found.push({ word, distance: word.word.length })
      }
      return stems(found, most)
    },
    nearest: (wanted, distance, most) => {
      const found: Array<Near> = []
      const had = charactersOf(wanted)
      let closest = distance
      let compared = 0
      for (let at = 0; at < words.length && compared < mostCompared; at++) {
        const has = characters[at]!
        if (isMore(had & ~has, closest) || isMore(has & ~had, closest)) continue
        if (Math.abs(lengths[at]! - wanted.length) > closest) continue
        compared += 1
        const word = words[at]!
        const edits = editsBetween(wanted, word.word, closest)
        if (edits > closest || !isThere(word.stem)) continue
        if (edits < closest) found.length = 0
        closest = edits
        // who misspells a word seldom does so in its first letter
        found.push({ word, distance: word.word[0] === wanted[0] ? 0 : 1 })
      }
      return stems(found, most)
    }
  }
}
