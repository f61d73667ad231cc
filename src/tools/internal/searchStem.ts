/**
 * What forms of one English word have in common.
 *
 * @internal
 */
const ascii = /^[a-z]+$/
const vowel = /[aeiouy]/

/** Endings by which words are made of words, and how much is left at least: the first that fits is taken off. */
const endings: ReadonlyArray<readonly [ending: string, least: number]> = [
  ["ing", 3],
  ["ed", 3],
  ["er", 4],
  ["or", 4],
  ["ly", 4],
  ["ment", 6]
]

const singular = (word: string): string => {
  if (!word.endsWith("s") || /(ss|us|is)$/.test(word)) return word
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`
  return /(sses|shes|ches|xes|zes)$/.test(word) ? word.slice(0, -2) : word.slice(0, -1)
}

/** Without an ending, if so much is left that it may have been one: `running` is of `run`, `string` of nothing. */
const without = (word: string, ending: string, least: number): string | undefined => {
  if (!word.endsWith(ending) || word.endsWith("eed")) return undefined
  const rest = word.slice(0, -ending.length)
  if (rest.length < least || !vowel.test(rest)) return undefined
  const last = rest.at(-1)!
  return last === rest.at(-2) && !"lsz".includes(last) ? rest.slice(0, -1) : rest
}

const bare = (word: string): string => {
  for (const [ending, least] of endings) {
    const rest = without(word, ending, least)
    if (rest !== undefined) return rest
  }
  return /[st]ion$/.test(word) ? without(word, "ion", 3) ?? word : word
}

/**
 * One for `branches` and `branch`, and for `created`, `creating`, `creator` and `creation`. It need not be a word.
 *
 * @internal
 */
export const stem = (word: string): string => {
  if (word.length < 4 || !ascii.test(word)) return word
  const one = singular(word)
  const base = bare(one.length > 7 && one.endsWith("ship") ? singular(one.slice(0, -4)) : one)
  return base.length > 3 && base.endsWith("e") ? base.slice(0, -1) : base
}

/**
 * The stem of what a word denies: `track` for `untracked`.
 *
 * @internal
 */
export const denied = (word: string): string | undefined =>
  word.length > 6 && word.startsWith("un") ? stem(word.slice(2)) : undefined
