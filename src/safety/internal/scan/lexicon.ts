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

/** Whether a part of a phrase is the word that stands from here to there. @internal */
export const fits = ({ open, word }: Part, text: string, from: number, to: number): boolean =>
  (open ? to - from >= word.length : to - from === word.length) && text.startsWith(word, from)

/** @internal */
export class Lexicon {
  readonly #buckets: Array<Array<Entry> | undefined> = Array.from({ length: mask + 1 }, () => undefined)
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
    if (first.open && length < 3 && !isDense(first.word.charCodeAt(0))) {
      for (const bucket of this.#bucketsOfShort(first.word)) bucket.push(entry)
    } else this.#bucket(hashOf(first.word, 0, length)).push(entry)
  }

  #bucket(hash: number): Array<Entry> {
    return this.#buckets[hash] ??= []
  }

  /** A beginning of two letters may be followed by any third: it is found by a table of its own. */
  readonly #short = new Map<string, Array<Entry>>()

  #bucketsOfShort(word: string): ReadonlyArray<Array<Entry>> {
    const bucket = this.#short.get(word) ?? []
    this.#short.set(word, bucket)
    return [bucket]
  }

  /** Those that may be the word; whether they are is to be asked of `fits`. */
  candidates(text: string, from: number, length: number): ReadonlyArray<Entry> {
    const bucket = this.#buckets[hashOf(text, from, length)]
    if (length < 2 || text.charCodeAt(from) < 0x80) return bucket ?? nothing
    const short = this.#short.get(text.slice(from, from + 2))
    return short === undefined ? bucket ?? nothing : bucket === undefined ? short : [...bucket, ...short]
  }

  /** Tells each word that begins at a place of a text without spaces. */
  within(text: string, at: number, end: number, tell: (concepts: ReadonlyArray<number>, length: number) => void): void {
    const bucket = this.#buckets[hashOf(text, at, 1)]
    if (bucket === undefined) return
    for (const { concepts, rest, word } of bucket) {
      if (rest.length === 0 && at + word.length <= end && text.startsWith(word, at)) tell(concepts, word.length)
    }
  }

  /** The words of ASCII that a run of letters without spaces begins with at a place. */
  beginning(text: string, at: number, longest: number): number {
    let best = 0
    const bucket = this.#buckets[hashOf(text, at, Math.min(3, longest))]
    if (bucket === undefined) return 0
    for (const { rest, word } of bucket) {
      if (rest.length === 0 && word.length > best && word.length <= longest && text.startsWith(word, at)) {
        best = word.length
      }
    }
    return best
  }
}
