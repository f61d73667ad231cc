/**
 * Words with their meanings through the machine; those that are none as they stand are read as what they look like.
 *
 * @internal
 */
import { asciiWord } from "../../../text/unicode.ts"
import * as Automaton from "./automaton.ts"
import * as Lexicon from "./lexicon.ts"
import { flags, split, type Words } from "./words.ts"

/** Shorter runs of letters are words; longer ones may be several. */
const shortestRun = 14
const longestRun = 240

/** More of these than three make a name of several words. */
const leastParts = 3

const figures: ReadonlyMap<string, string> = new Map([
  ["0", "o"],
  ["1", "i"],
  ["3", "e"],
  ["4", "a"],
  ["5", "s"],
  ["6", "g"],
  ["7", "t"],
  ["8", "b"],
  ["9", "g"]
])

const spelled = (word: string, one: string): string => {
  let letters = ""
  for (const char of word) letters += char === "1" ? one : figures.get(char) ?? char
  return letters
}

const hasFigureAndLetter = (word: string): boolean => /[0-9]/.test(word) && /[a-z]/.test(word)

/** What a word may be instead, and how it is disguised. */
const alternatives = (word: string): ReadonlyArray<readonly [word: string, disguise: string]> => {
  const found: Array<readonly [string, string]> = []
  if (hasFigureAndLetter(word) && word.length < 24) {
    for (const one of ["i", "l"]) found.push([spelled(word, one), "leet"])
  }
  if (/[^\u0000-\u007f]/.test(word) && word.length < 24) {
    const skeleton = asciiWord(word)
    if (skeleton !== undefined) found.push([skeleton, "homoglyphs"])
  }
  return found
}

const partsOf = (word: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  for (let at = 0; at < word.length;) {
    const length = Automaton.words.beginning(word, at, Math.min(24, word.length - at))
    if (length >= 2) parts.push(word.slice(at, at + length))
    at += Math.max(1, length)
  }
  return parts
}

const faultLength = 6

/** `RateLimitError`, `IOException`. */
const isFault = (text: string, from: number, to: number): boolean =>
  text.startsWith("error", to - 5) || (to - from > 9 && text.startsWith("exception", to - 9))

/** A member of an object or an argument of a function is no next word of a phrase, nor is that of the next sentence. */
const isApart = (code: number): boolean => code === 0x2e || code === 0x28

/** The words that a run of letters without spaces is made of, if it is. */
const runOf = (word: string): Words | null => {
  const parts = partsOf(word)
  return parts.length >= leastParts ? split(parts.join(" ")) : null
}

/** Whether the words from a place on are those of a phrase. */
const follows = (words: Words, rest: ReadonlyArray<Lexicon.Part>, from: number): boolean => {
  for (let next = 0; next < rest.length; next++) {
    const token = from + next
    if (token >= words.count || isApart(words.text.charCodeAt(words.ends[token - 1]!))) return false
    const other = words.other(token)
    const is = other === undefined
      ? Lexicon.fits(rest[next]!, words.text, words.starts[token]!, words.ends[token]!)
      : Lexicon.fits(rest[next]!, other, 0, other.length)
    if (!is) return false
  }
  return true
}

/** Tells what the word of a token, which stands from here to there in some text, is known as. */
const meet = (
  words: Words,
  token: number,
  word: string,
  from: number,
  to: number,
  tell: (entry: Lexicon.Entry) => void
): void => {
  const head = Automaton.words.head(word, from, to)
  if (head !== undefined) {
    if (head.single !== undefined) tell(head.single)
    const next = token + 1
    if (head.phrases.length > 0 && next < words.count) {
      const other = words.other(next)
      const phrases = other === undefined
        ? head.before(words.text, words.starts[next]!, words.ends[next]!)
        : head.before(other, 0, other.length)
      for (const entry of phrases) if (follows(words, entry.rest, next)) tell(entry)
    }
  }
  for (const entry of Automaton.words.opened(word, from, to - from)) {
    if (Lexicon.fits(entry, word, from, to) && follows(words, entry.rest, token + 1)) tell(entry)
  }
}

/** @internal */
export const understand = (words: Words, elicitation: boolean): {
  readonly run: Automaton.Run
  readonly disguised: (first: number, last: number) => string | undefined
} => {
  const run = new Automaton.Run(elicitation)
  const disguises = new Map<number, string>()
  const { text } = words
  /** Takes the word that stands from here to there in some text, in the place of a token. */
  const take = (word: string, from: number, to: number, token: number): boolean => {
    let known = false
    meet(words, token, word, from, to, ({ concepts, rest }) => {
      known = true
      run.take(concepts, token, words.positions[token]!, rest.length, words.sentences[token]!, words.leads(token))
    })
    return known
  }
  /** Takes the words that one token is made of. */
  const several = (inner: Words, token: number, disguise: string): void => {
    const scale = 1 / (inner.count + 1)
    for (let at = 0; at < inner.count; at++) {
      const word = inner.word(at)
      meet(inner, at, word, 0, word.length, ({ concepts, rest }) => {
        const position = words.positions[token]! + at * scale
        run.take(concepts, token, position, rest.length * scale, words.sentences[token]!, inner.leads(at))
      })
    }
    disguises.set(token, disguise)
  }
  const dense = (token: number): void => {
    const from = words.starts[token]!
    const to = words.ends[token]!
    const position = words.positions[token]!
    const sentence = words.sentences[token]!
    for (let at = from; at < to; at++) {
      Automaton.words.within(text, at, to, (concepts, length) => {
        run.take(concepts, token, position + (at - from) / 3, (length - 1) / 3, sentence, true)
      })
    }
  }
  for (let token = 0; token < words.count; token++) {
    const seen = words.flags[token]!
    if ((seen & flags.dense) !== 0) {
      dense(token)
      continue
    }
    const from = words.starts[token]!
    const to = words.ends[token]!
    const other = words.other(token)
    if (other === undefined ? take(text, from, to, token) : take(other, 0, other.length, token)) continue
    if (to - from > faultLength && other === undefined && isFault(text, from, to)) {
      take("error", 0, "error".length, token)
      continue
    }
    if (
      other !== undefined || (to - from < shortestRun && (seen & (flags.joined | flags.figures | flags.foreign)) === 0)
    ) continue
    const word = text.slice(from, Math.min(to, from + longestRun + 1))
    if ((seen & flags.joined) !== 0) {
      const parts = word.split("_").filter((part) => part !== "")
      if (parts.length >= leastParts && parts.length < 24) several(split(parts.join(" ")), token, "identifier")
      continue
    }
    for (const [instead, disguise] of alternatives(word)) {
      if (take(instead, 0, instead.length, token)) disguises.set(token, disguise)
    }
    if (word.length >= shortestRun && word.length <= longestRun && /^[a-z]+$/.test(word)) {
      const inner = runOf(word)
      if (inner !== null) several(inner, token, "run-together")
    }
  }
  return {
    run,
    disguised: (first, last) => {
      if (disguises.size === 0) return undefined
      for (let token = first; token <= last; token++) {
        const disguise = disguises.get(token)
        if (disguise !== undefined) return disguise
      }
      return undefined
    }
  }
}
