/**
 * All readings of a text through the rules, and what is left of what they find.
 *
 * @internal
 */
import * as UntrustedText from "../../../text/UntrustedText.ts"
import type { Channel, Level, Signal } from "../../InjectionScan.ts"
import * as Automaton from "./automaton.ts"
import * as Folding from "./folding.ts"
import * as Quoting from "./quoting.ts"
import * as Readings from "./readings.ts"
import * as Understanding from "./understanding.ts"
import * as Words from "./words.ts"

const ranks: { readonly [L in Level]: number } = { low: 0, medium: 1, high: 2 }
const levels: ReadonlyArray<Level> = ["low", "medium", "high"]

const longestExcerpt = 160

/** Of so many signals the rest says nothing new. */
const mostKept = 256

/** Talk about attacks is near when it is within so many words. */
const nearby = 40

const excerptOf = (text: string): string => {
  let excerpt = ""
  for (const char of text.slice(0, longestExcerpt)) {
    const visible = UntrustedText.escape(char)
    if (excerpt.length + visible.length > longestExcerpt) break
    excerpt += visible
  }
  return excerpt
}

/** A signal before it is shown: of many hits few are kept. */
interface Candidate {
  readonly category: Signal["category"]
  readonly rank: number
  readonly at: number
  readonly obfuscation: string | undefined
  readonly excerpt: () => string
}

/** What is kept, found by family and by where in the text it stands. */
class Kept {
  readonly all: Array<Candidate> = []
  readonly #cells = new Map<string, Array<number>>()

  /** The place of one of the same family nearby. */
  near(category: Candidate["category"], at: number): number {
    const cell = Math.floor(at / longestExcerpt)
    for (let next = cell - 1; next <= cell + 1; next++) {
      for (const place of this.#cells.get(`${category} ${next}`) ?? []) {
        if (Math.abs(at - this.all[place]!.at) < longestExcerpt) return place
      }
    }
    return -1
  }

  put(candidate: Candidate, place: number): void {
    const cell = `${candidate.category} ${Math.floor(candidate.at / longestExcerpt)}`
    const index = place === -1 ? this.all.length : place
    this.all[index] = candidate
    const places = this.#cells.get(cell)
    if (places === undefined) this.#cells.set(cell, [index])
    else if (!places.includes(index)) places.push(index)
  }
}

const read = (source: string, reading: Folding.Reading, channel: Channel, kept: Kept): void => {
  const isCapital = (at: number): boolean => {
    const code = source.charCodeAt(Folding.originOf(reading, at))
    return code >= 0x41 && code <= 0x5a
  }
  const words = Words.split(reading.text, reading.obfuscation === undefined ? isCapital : undefined)
  const { disguised, run } = Understanding.understand(words, channel === "elicitation")
  for (
    const { first, last, rule } of run.hits.toSorted((left, right) => ranks[right.rule.level] - ranks[left.rule.level])
  ) {
    const end = Math.min(last, words.count - 1)
    const from = words.starts[first]!
    const to = words.ends[end]!
    const at = Folding.originOf(reading, from)
    let rank = ranks[rule.level]
    const same = kept.near(rule.category, at)
    const known = kept.all[same]?.rank ?? -1
    // what can only be as grave as what is known is not looked at any closer
    if (known >= rank || (same === -1 && kept.all.length >= mostKept)) continue
    if (run.vetoed(rule, words.sentences[first]!, words.sentences[end]!)) continue
    const disguise = disguised(first, end)
    const isQuoted = Quoting.isQuoted(reading.text, from, to)
    const near = (concept: number): boolean => run.near(concept, words.positions[first]!, words.positions[end]!, nearby)
    if (rule.category === "fake-role" && near(Automaton.template)) rank -= 1
    if (isQuoted || disguise === "identifier" || near(Automaton.mention)) rank = Math.min(rank, 1)
    if (isQuoted && rule.level !== "high") rank -= 1
    rank = Math.max(0, rank)
    if (known >= rank) continue
    const plain = reading.obfuscation === undefined
    const until = plain ? Folding.originOf(reading, Math.max(from, to - 1)) + 1 : to
    const candidate: Candidate = {
      category: rule.category,
      rank,
      at,
      obfuscation: reading.obfuscation ?? disguise ?? (plain && until - at > to - from + 2 ? "characters" : undefined),
      excerpt: () => excerptOf(plain ? source.slice(at, until) : reading.text.slice(from, to))
    }
    kept.put(candidate, same)
  }
}

/** @internal */
export const scan = (text: string, channel: Channel, maxSignals: number): ReadonlyArray<Signal> => {
  const kept = new Kept()
  for (const reading of Readings.of(text)) read(text, reading, channel, kept)
  return kept.all
    .toSorted((left, right) => right.rank - left.rank)
    .slice(0, maxSignals)
    .toSorted((left, right) => left.at - right.at)
    .map(({ at, category, excerpt, obfuscation, rank }) => ({
      category,
      level: levels[rank]!,
      at,
      excerpt: excerpt(),
      obfuscation
    }))
}
