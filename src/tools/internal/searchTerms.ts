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
  const terms = [base]
  for (const meaning of meanings(base)) terms.push(meaning)
  for (const part of spellOut(word)) terms.push(stem(part))
  const opposite = denied(word)
  if (opposite !== undefined) terms.push(opposite)
  return { word, stem: base, terms }
}

/**
 * The telling words of a stretch of letters and digits, in prose or in a name.
 *
 * @internal
 */
export const ofRun = (run: string, prose: boolean): ReadonlyArray<Word> => {
  const found: Array<Word> = []
  for (const word of split(run, prose)) {
    if (!isFiller(word)) found.push(known(word))
  }
  return found
}

/**
 * The telling words of a text, in order.
 *
 * @internal
 */
export const ofProse = (text: string): ReadonlyArray<Word> => {
  const found: Array<Word> = []
  eachRun(text, (whole, from, to) => {
    found.push(...ofRun(whole.slice(from, to), true))
    return false
  })
  return found
}
