/**
 * From words to what they mean to the rules.
 *
 * @internal
 */
import { foldWord } from "./folding.ts"

/** @internal */
export interface Part {
  readonly word: string
  readonly open: boolean
}

/** A word or a phrase, and the concepts it belongs to. @internal */
export interface Entry extends Part {
  readonly rest: ReadonlyArray<Part>
  readonly concepts: Array<number>
}

/** Scripts written without spaces: their words are looked for at each letter. @internal */
export const isDense = (code: number): boolean =>
  (code >= 0x0e00 && code <= 0x0e7f) || (code >= 0x3040 && code <= 0x30ff) || (code >= 0x3400 && code <= 0x9fff)

const mask = 0x3fff

const hashOf = (text: string, at: number, length: number): number => {
  const first = text.charCodeAt(at)
  if (length < 2 || isDense(first)) return (first * 31) & mask
  const second = text.charCodeAt(at + 1)
  return ((first * 31 + second) * 31 + (length > 2 ? text.charCodeAt(at + 2) : 0)) & mask
}

const partOf = (written: string): Part => {
  const open = written.endsWith("*")
  return { word: foldWord(open ? written.slice(0, -1) : written).replaceAll("'", ""), open }
}

const nothing: ReadonlyArray<Entry> = []

const hashOfAll = (text: string, from: number, to: number): number => {
  let hash = 0
  for (let at = from; at < to; at++) hash = Math.imul(hash, 31) + text.charCodeAt(at)
  return (hash ^ hash >>> 14) & mask
}

/** What begins with one word: that word alone, and phrases, found by their second word where there are many of them. */
class Head {
  readonly word: string
  single: Entry | undefined = undefined
  readonly phrases: Array<Entry> = []
  readonly #bySecond = new Map<number, Array<Entry>>()
  #isIndexed = true

  constructor(word: string) {
    this.word = word
  }

  add(entry: Entry): void {
    const [second] = entry.rest
    if (second === undefined) {
      this.single = entry
      return
    }
    this.phrases.push(entry)
    this.#isIndexed &&= !second.open
    const hash = hashOfAll(second.word, 0, second.word.length)
    const same = this.#bySecond.get(hash)
    if (same === undefined) this.#bySecond.set(hash, [entry])
    else same.push(entry)
  }

  /** The phrases that may go on with this word. */
  before(text: string, from: number, to: number): ReadonlyArray<Entry> {
    return this.#isIndexed ? this.#bySecond.get(hashOfAll(text, from, to)) ?? nothing : this.phrases
  }
}

/** Whether a part of a phrase is the word that stands from here to there. @internal */
export const fits = ({ open, word }: Part, text: string, from: number, to: number): boolean =>
  (open ? to - from >= word.length : to - from === word.length) && text.startsWith(word, from)

/** @internal */
export class Lexicon {
  readonly #buckets: Array<Array<Entry> | undefined> = Array.from({ length: mask + 1 }, () => undefined)
  readonly #heads: Array<Array<Head> | undefined> = Array.from({ length: mask + 1 }, () => undefined)
  readonly #open: Array<Array<Entry> | undefined> = Array.from({ length: mask + 1 }, () => undefined)
  readonly #byWriting = new Map<string, Entry>()
  readonly #concepts = new Map<string, number>()

  /** The number of a concept, given when it is first spoken of. */
  concept(name: string): number {
    const known = this.#concepts.get(name)
    if (known !== undefined) return known
    this.#concepts.set(name, this.#concepts.size)
    return this.#concepts.size - 1
  }

  get size(): number {
    return this.#concepts.size
  }

  /** Adds a word, a phrase (its words joined by `_`) or a beginning (with `*`) to a concept. */
  add(writing: string, concept: number): void {
    const known = this.#byWriting.get(writing)
    if (known !== undefined) {
      if (!known.concepts.includes(concept)) known.concepts.push(concept)
      return
    }
    const [first, ...rest] = writing.split("_").filter((part) => part !== "").map(partOf)
    if (first === undefined || first.word === "") return
    const entry: Entry = { ...first, rest, concepts: [concept] }
    this.#byWriting.set(writing, entry)
    const { length } = first.word
    const isShort = first.open && length < 3 && !isDense(first.word.charCodeAt(0))
    if (isShort) this.#shortOf(first.word).push(entry)
    else if (first.open) (this.#open[hashOf(first.word, 0, length)] ??= []).push(entry)
    else this.#headOf(first.word).add(entry)
    if (rest.length === 0 && !isShort) this.#put(hashOf(first.word, 0, length), entry)
  }

  /** The longest first. */
  #put(hash: number, entry: Entry): void {
    const bucket = this.#buckets[hash] ??= []
    const shorter = bucket.findIndex(({ word }) => word.length < entry.word.length)
    bucket.splice(shorter === -1 ? bucket.length : shorter, 0, entry)
  }

  #headOf(word: string): Head {
    const heads = this.#heads[hashOfAll(word, 0, word.length)] ??= []
    const known = heads.find((head) => head.word === word)
    if (known !== undefined) return known
    const head = new Head(word)
    heads.push(head)
    return head
  }

  /** A beginning of two letters may be followed by any third: it is found by a table of its own. */
  readonly #short = new Map<string, Array<Entry>>()

  #shortOf(word: string): Array<Entry> {
    const bucket = this.#short.get(word) ?? []
    this.#short.set(word, bucket)
    return bucket
  }

  /** What begins with the word that stands from here to there. */
  head(text: string, from: number, to: number): Head | undefined {
    const heads = this.#heads[hashOfAll(text, from, to)]
    if (heads === undefined) return undefined
    for (const head of heads) if (head.word.length === to - from && text.startsWith(head.word, from)) return head
    return undefined
  }

  /** The beginnings that the word may have; whether it has them is to be asked of `fits`. */
  opened(text: string, from: number, length: number): ReadonlyArray<Entry> {
    const bucket = this.#open[hashOf(text, from, length)]
    if (length < 2 || text.charCodeAt(from) < 0x80) return bucket ?? nothing
    const short = this.#short.get(text.slice(from, from + 2))
    return short === undefined ? bucket ?? nothing : bucket === undefined ? short : [...bucket, ...short]
  }

  /** Tells each word that begins at a place of a text without spaces. */
  within(text: string, at: number, end: number, tell: (concepts: ReadonlyArray<number>, length: number) => void): void {
    const bucket = this.#buckets[hashOf(text, at, 1)]
    if (bucket === undefined) return
    for (const { concepts, word } of bucket) {
      if (at + word.length <= end && text.startsWith(word, at)) tell(concepts, word.length)
    }
  }

  /** The words of ASCII that a run of letters without spaces begins with at a place. */
  beginning(text: string, at: number, longest: number): number {
    for (const { word } of this.#buckets[hashOf(text, at, Math.min(3, longest))] ?? nothing) {
      if (word.length <= longest && text.startsWith(word, at)) return word.length
    }
    return 0
  }
}
