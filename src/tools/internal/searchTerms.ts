/**
 * What words are indexed and looked up as.
 *
 * @internal
 */
import { isFiller } from "./searchFillers.ts"
import { denied, stem } from "./searchStem.ts"
import { meanings, spellOut } from "./searchThesaurus.ts"
import { eachRun, split } from "./searchWords.ts"

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

/**
 * The telling words of a stretch of letters and digits, in prose or in a name.
 *
 * @internal
 */
export const ofRun = (run: string, prose: boolean): ReadonlyArray<Word> =>
  split(run, prose).filter((word) => !isFiller(word)).map(known)

/**
 * The telling words of a text, in order.
 *
 * @internal
 */
export const ofProse = (text: string): ReadonlyArray<Word> => {
  const found: Array<Word> = []
  eachRun(text, (run) => {
    found.push(...ofRun(run, true))
    return false
  })
  return found
}
