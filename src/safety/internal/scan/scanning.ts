/**
 * All readings of a text through the rules, and what is left of what they find.
 *
 * @internal
 */
import * as UntrustedText from "../../../UntrustedText.ts"
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

const isPart = (signal: Signal, of: Signal): boolean =>
  signal.category === of.category && Math.abs(signal.at - of.at) < longestExcerpt

const read = (source: string, reading: Folding.Reading, channel: Channel): ReadonlyArray<Signal> => {
  const words = Words.split(reading.text)
  const { disguised, run } = Understanding.understand(words, channel === "elicitation")
  const signals: Array<Signal> = []
  for (const { first, last, rule } of run.hits) {
    const end = Math.min(last, words.count - 1)
    if (run.vetoed(rule, words.sentences[first]!, words.sentences[end]!)) continue
    const from = words.starts[first]!
    const to = words.ends[end]!
    const disguise = disguised(first, end)
    let rank = ranks[rule.level]
    const isQuoted = Quoting.isQuoted(reading.text, from, to)
    const near = (concept: number): boolean => run.near(concept, words.positions[first]!, words.positions[end]!, nearby)
    if (rule.category === "fake-role" && near(Automaton.template)) rank -= 1
    if (isQuoted || disguise === "identifier" || near(Automaton.mention)) rank = Math.min(rank, 1)
    if (isQuoted && rule.level !== "high") rank -= 1
    const at = Folding.originOf(reading, from)
    const plain = reading.obfuscation === undefined
    const until = plain ? Folding.originOf(reading, Math.max(from, to - 1)) + 1 : to
    signals.push({
      category: rule.category,
      level: levels[Math.max(0, rank)]!,
      at,
      excerpt: excerptOf(plain ? source.slice(at, until) : reading.text.slice(from, to)),
      obfuscation: reading.obfuscation ?? disguise ?? (plain && until - at > to - from + 2 ? "characters" : undefined)
    })
  }
  return signals
}

/** @internal */
export const scan = (text: string, channel: Channel, maxSignals: number): ReadonlyArray<Signal> => {
  const kept: Array<Signal> = []
  for (const reading of Readings.of(text)) {
    const found = read(text, reading, channel).toSorted((left, right) => ranks[right.level] - ranks[left.level])
    for (const signal of found) {
      const same = kept.findIndex((one) => isPart(signal, one))
      if (same === -1) {
        if (kept.length < mostKept) kept.push(signal)
      } else if (ranks[kept[same]!.level] < ranks[signal.level]) kept[same] = signal
    }
  }
  return kept
    .toSorted((left, right) => ranks[right.level] - ranks[left.level])
    .slice(0, maxSignals)
    .toSorted((left, right) => left.at - right.at)
}
