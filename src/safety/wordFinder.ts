/** Finds the occurrences of many words in a text, in one pass and without one regular expression for all of them. */

/** The shortest word that can be found. */
const shortest = 3

const slots = 1 << 15

/** Returns where to go on; `undefined` for the next character. */
type Visit = (at: number, word: number) => number | undefined

/** Visits the words in the order of the text, and the longest first of those at one place. */
export type WordFinder = (text: string, visit: Visit) => void

/** A slot for the low bits of three characters, which are the same in both cases of a letter. */
const next = (slot: number, code: number): number => (slot << 5 | code & 31) & (slots - 1)

/** A finder of words of at least three characters. With `foldsCase`, words in lower case are found in any case. */
export const make = (words: ReadonlyArray<string>, foldsCase: boolean): WordFinder => {
  const isUsed = new Uint8Array(slots)
  const bySlot = new Map<number, Array<number>>()
  for (const [index, word] of Array.from(words.entries()).toSorted(([, a], [, b]) => b.length - a.length)) {
    let slot = 0
    for (let at = 0; at < shortest; at++) slot = next(slot, word.charCodeAt(at))
    isUsed[slot] = 1
    bySlot.set(slot, [...(bySlot.get(slot) ?? []), index])
  }
  const stands = (text: string, at: number, word: string): boolean =>
    foldsCase ? text.slice(at, at + word.length).toLowerCase() === word : text.startsWith(word, at)

  return (text, visit) => {
    let slot = 0
    let from = 0
    for (let end = 0; end < text.length; end++) {
      slot = next(slot, text.charCodeAt(end))
      const at = end - shortest + 1
      if (isUsed[slot] === 0 || at < from) continue
      for (const index of bySlot.get(slot)!) {
        const resumed = stands(text, at, words[index]!) ? visit(at, index) : undefined
        if (resumed === undefined) continue
        from = resumed
        break
      }
    }
  }
}
