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

/** The same stretches come again and again, and so do short texts. A server with many others only makes this slower. */
const cacheSize = 20_000
const shortText = 200

const remembering = <A>(make: (key: string) => A) => {
  const cache = new Map<string, A>()
  return (key: string): A => {
    let found = cache.get(key)
    if (found === undefined) {
      if (cache.size >= cacheSize) cache.clear()
      cache.set(key, found = make(key))
    }
    return found
  }
}

const cached = (prose: boolean): (text: string) => ReadonlyArray<Word> => {
  const ofRun = remembering((run) => split(run, prose).filter((word) => !isFiller(word)).map(known))
  const ofText = (text: string): ReadonlyArray<Word> => runs(text).flatMap(ofRun)
  const ofShortText = remembering(ofText)
  return (text) => text.length > shortText ? ofText(text) : ofShortText(text)
}

/**
 * The telling words of a text, in order.
 *
 * @internal
 */
export const ofProse: (text: string) => ReadonlyArray<Word> = cached(true)

/**
 * The telling words of an identifier.
 *
 * @internal
 */
export const ofName: (text: string) => ReadonlyArray<Word> = cached(false)
