/**
 * Where any of many words stands in a text, in one pass: the low bits of three characters say at once that almost
 * everywhere none begins.
 *
 * @internal
 */

/** The shortest word that can be looked for. */
const shortest = 3

const slots = 1 << 15

/** Where to look on; `undefined`: at the next character. */
type Visit = (at: number, word: number) => number | undefined

/** @internal */
export interface Finder {
  /** Visits the words in order; of several at one place, the longest first, until one of them says where to look on. */
  readonly each: (text: string, visit: Visit) => void
}

const lower = (code: number): number => code >= 65 && code <= 90 ? code + 32 : code

const slotOf = (word: string): number => {
  let slot = 0
  for (let at = 0; at < shortest; at++) slot = (slot << 5 | word.charCodeAt(at) & 31) & slots - 1
  return slot
}

/**
 * Words in lower case are found in any case where `fold` says so.
 *
 * @internal
 */
export const make = (words: ReadonlyArray<string>, fold: boolean): Finder => {
  const begins = new Uint8Array(words.length === 0 ? 0 : slots)
  const buckets = new Map<number, Array<number>>()
  for (const [index, word] of words.entries()) {
    const slot = slotOf(word)
    begins[slot] = 1
    const bucket = buckets.get(slot)
    if (bucket === undefined) buckets.set(slot, [index])
    else bucket.push(index)
  }
  for (const bucket of buckets.values()) bucket.sort((one, other) => words[other]!.length - words[one]!.length)

  const stands = (text: string, at: number, word: string): boolean => {
    if (!fold) return text.startsWith(word, at)
    if (at + word.length > text.length) return false
    for (let offset = 0; offset < word.length; offset++) {
      if (lower(text.charCodeAt(at + offset)) !== word.charCodeAt(offset)) return false
    }
    return true
  }

  return {
    each: (text, visit) => {
      if (begins.length === 0) return
      let slot = 0
      let from = 0
      for (let next = 0; next < text.length; next++) {
        slot = (slot << 5 | text.charCodeAt(next) & 31) & slots - 1
        const at = next - shortest + 1
        if (begins[slot] === 0 || at < from) continue
        for (const word of buckets.get(slot)!) {
          if (!stands(text, at, words[word]!)) continue
          const on = visit(at, word)
          if (on === undefined) continue
          from = on
          break
        }
      }
    }
  }
}
