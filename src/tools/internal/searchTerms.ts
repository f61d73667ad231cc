/**
 * What words are indexed and looked up as.
 *
 * @internal
 */
import { isFiller } from "./searchFillers.ts"
import { denied, stem } from "./searchStem.ts"
import { meanings, spellOut } from "./searchThesaurus.ts"
import { runs, split } from "./searchWords.ts"

/** @internal */
export interface Word {
  readonly word: string
  readonly stem: string
  /** The stem, and what the word means beside it. */
  readonly terms: ReadonlyArray<string>
}

const known = (word: string): Word => {
  const base = stem(word)
  const opposite = denied(word)
  return {
    word,
    stem: base,
    terms: [base, ...meanings(base), ...spellOut(word).map(stem), ...(opposite === undefined ? [] : [opposite])]
  }
}

/** The same stretches come again and again. A server with many others only makes this slower. */
const cacheSize = 20_000

const cached = (prose: boolean) => {
  const cache = new Map<string, ReadonlyArray<Word>>()
  return (text: string): ReadonlyArray<ReadonlyArray<Word>> =>
    runs(text).map((run) => {
      let found = cache.get(run)
      if (found === undefined) {
        if (cache.size >= cacheSize) cache.clear()
        cache.set(run, found = split(run, prose).filter((word) => !isFiller(word)).map(known))
      }
      return found
    })
}

/**
 * The telling words of a text, by the stretches in which they stand.
 *
 * @internal
 */
export const ofProse: (text: string) => ReadonlyArray<ReadonlyArray<Word>> = cached(true)

/**
 * The telling words of an identifier.
 *
 * @internal
 */
export const ofName: (text: string) => ReadonlyArray<ReadonlyArray<Word>> = cached(false)
