/**
 * What is asked, as terms that are there, each with what it is worth: words that nobody wrote are completed, corrected
 * or taken apart.
 *
 * @internal
 */
import { isFaint } from "./searchFillers.ts"
import { ofProse } from "./searchTerms.ts"
import { meanings } from "./searchThesaurus.ts"

const queryLength = 400
const mostWords = 20
const mostVariants = 4

/** How many words that nobody wrote are looked into: in a question with more of them the others hardly matter. */
const mostUnknown = 6

/**
 * The words that occur in what is searched, as they are written.
 *
 * @internal
 */
export interface Vocabulary {
  /** The stem of a word, if it occurs. */
  readonly stemOf: (word: string) => string | undefined
  /** Whether this is the stem of a word that occurs. */
  readonly hasStem: (stem: string) => boolean
  /** Stems of words that begin so, the shortest words first. */
  readonly completions: (prefix: string, most: number) => ReadonlyArray<string>
  /** Stems of the words than which none is nearer, by the number of characters put in, taken out or replaced. */
  readonly nearest: (word: string, distance: number, most: number) => ReadonlyArray<string>
}

/**
 * What each term is worth, and which word of the query it stands for.
 *
 * @internal
 */
export type WeightedTerms = ReadonlyMap<string, { readonly weight: number; readonly word: number }>

const completed = 0.7
const corrected = 0.7
const meant = 0.7
const faint = 0.4
const completedAnyway = 0.3

/** The words that come of it when two neighbouring characters change places, the commonest slip of all. */
const swaps = (word: string): ReadonlyArray<string> =>
  Array.from(
    { length: Math.max(0, word.length - 1) },
    (_, at) => `${word.slice(0, at)}${word[at + 1]}${word[at]}${word.slice(at + 2)}`
  )

const misspelled = (word: string, vocabulary: Vocabulary): ReadonlyArray<string> => {
  if (word.length < 4) return []
  const swapped = swaps(word).flatMap((other) => vocabulary.stemOf(other) ?? [])
  if (swapped.length > 0) return swapped.slice(0, mostVariants)
  return vocabulary.nearest(word, word.length < 7 ? 1 : 2, mostVariants)
}

/** `webpage` for `web page`. */
const halves = (word: string, vocabulary: Vocabulary): ReadonlyArray<string> => {
  for (let at = 3; at <= word.length - 3; at++) {
    const first = vocabulary.stemOf(word.slice(0, at))
    const second = vocabulary.stemOf(word.slice(at))
    if (first !== undefined && second !== undefined) return [first, second]
  }
  return []
}

/** @internal */
export const weigh = (query: string, vocabulary: Vocabulary): WeightedTerms => {
  const words = ofProse(query.slice(0, queryLength)).slice(0, mostWords)
  const terms = new Map<string, { weight: number; word: number }>()
  let unknown = 0
  const put = (term: string, weight: number, word: number): void => {
    if ((terms.get(term)?.weight ?? 0) < weight) terms.set(term, { weight, word })
  }
  for (const [at, { stem, terms: [, ...others], word }] of words.entries()) {
    const instead = (stem: string, weight: number): void => {
      put(stem, weight, at)
      for (const meaning of meanings(stem)) put(meaning, weight * meant, at)
    }
    const last = at === words.length - 1
    const worth = isFaint(word) ? faint : 1
    put(stem, worth, at)
    for (const other of others) put(other, other.startsWith("=") ? worth * meant : worth, at)
    const joined = last ? undefined : vocabulary.stemOf(word + words[at + 1]!.word)
    if (joined !== undefined) instead(joined, 1)
    if (vocabulary.hasStem(stem)) {
      if (last && word.length > 2) {
        for (const other of vocabulary.completions(word, mostVariants)) put(other, completedAnyway, at)
      }
      continue
    }
    unknown += 1
    if (unknown > mostUnknown) continue
    const parts = halves(word, vocabulary)
    for (const part of parts) instead(part, 1)
    if (parts.length > 0 || others.length > 0) continue
    const begun = last || word.length > 4 ? vocabulary.completions(word, mostVariants) : []
    for (const other of begun) instead(other, completed)
    if (begun.length > 0) continue
    for (const other of misspelled(word, vocabulary)) instead(other, corrected)
  }
  return terms
}
