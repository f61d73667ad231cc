/**
 * The rules as one machine: it reads the meanings of words once, from left to right, and remembers for each step of each
 * rule where it was last taken.
 *
 * @internal
 */
import type { Category, Level } from "../../InjectionScan.ts"
import { named } from "./ideas.ts"
import { indirect, named as alsoNamed } from "./indirect.ts"
import { languages } from "./languages.ts"
import { Lexicon } from "./lexicon.ts"
import { rules } from "./rules.ts"
import { vocabulary } from "./vocabulary.ts"
import { markPrefix } from "./words.ts"

/** @internal */
export interface Rule {
  readonly category: Category
  readonly level: Level
  readonly elicitation: boolean
  readonly vetoes: ReadonlyArray<number>
  /** Words between this step and the one before, or those that hold all of a bag. */
  readonly gaps: ReadonlyArray<number>
  readonly crosses: ReadonlyArray<boolean>
  readonly bag: boolean
  /** Its first place in the memory of a run. */
  readonly base: number
}

interface Step {
  readonly rule: Rule
  readonly index: number
  readonly leads: boolean
  /** What of its rule is asked at each word, so that it lies together. */
  readonly at: number
  readonly gap: number
  readonly crosses: boolean
  readonly bag: boolean
}

/** The steps a word may take: those for elicitations as well, and those only for words that lead. */
interface Taken {
  readonly all: ReadonlyArray<Step>
  readonly led: ReadonlyArray<Step>
  readonly unled: ReadonlyArray<Step>
}

/** @internal */
export interface Hit {
  readonly rule: Rule
  readonly first: number
  readonly last: number
}

const defaultGap = 3

const lexicon = new Lexicon()
const steps: Array<Array<Step>> = []
const compiled: Array<Rule> = []
let memory = 0

const conceptOf = (name: string): number => {
  if (name === name.toUpperCase() && /[A-Z]/.test(name)) return lexicon.concept(name)
  const concept = lexicon.concept(`"${name}"`)
  lexicon.add(name, concept)
  return concept
}

const put = (written: string, rule: Rule, index: number): void => {
  const leads = written.startsWith("^")
  for (const name of (leads ? written.slice(1) : written).split("|")) {
    const list = steps[conceptOf(name)] ??= []
    list.push({
      rule,
      index,
      leads,
      at: rule.base + index,
      gap: rule.gaps[index] ?? 0,
      crosses: rule.crosses[index]!,
      bag: rule.bag
    })
  }
}

const compile = (text: string, category: Category, level: Level): void => {
  const parts = text.split(" ")
  const elicitation = parts[0] === "@elicitation"
  if (elicitation) parts.shift()
  const vetoes = parts.filter((part) => part.startsWith("!")).map((part) => conceptOf(part.slice(1)))
  const rest = parts.filter((part) => !part.startsWith("!"))
  const bag = rest.includes("&")
  const written: Array<string> = []
  const gaps: Array<number> = []
  const crosses: Array<boolean> = []
  let gap = defaultGap
  let cross = false
  for (const part of rest) {
    if (part === "&") continue
    if (part.startsWith("/")) gap = Number(part.slice(1))
    else if (/^~?\d+$/.test(part)) {
      cross = part.startsWith("~")
      gap = Number(part.replace("~", ""))
    } else {
      written.push(part)
      gaps.push(gap)
      crosses.push(cross)
      gap = defaultGap
      cross = false
    }
  }
  const rule: Rule = { category, level, elicitation, vetoes, gaps: bag ? [gap] : gaps, crosses, bag, base: memory }
  memory += written.length
  compiled.push(rule)
  written.forEach((part, index) => put(part, rule, index))
}

for (const [name, words] of Object.entries(vocabulary)) {
  for (const word of words.split(" ")) lexicon.add(word, lexicon.concept(name))
}
for (const [name, lists] of Object.entries(languages)) {
  for (const list of lists) for (const word of list.split(" ")) lexicon.add(word, lexicon.concept(name))
}
for (const [name, words] of [...Object.entries(named), ...Object.entries(alsoNamed)]) {
  for (const word of words.split(" ")) lexicon.add(word, lexicon.concept(name))
}
for (const [category, levels] of [...Object.entries(rules), ...Object.entries(indirect)]) {
  for (const [level, texts] of Object.entries(levels)) {
    for (const text of texts) compile(text, category as Category, level as Level)
  }
}

/** The ways a hand slips in the words that matter most: a letter left out, or two in the wrong order. */
const slips = (word: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (let at = 1; at < word.length; at++) {
    found.push(word.slice(0, at) + word.slice(at + 1))
    if (at + 1 < word.length) found.push(word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2))
  }
  return found
}
const slipping: ReadonlyArray<readonly [words: string, concept: string]> = [
  ["ignore disregard", "IGNORE"],
  ["previous previously preceding", "PRIOR"],
  ["instructions instruction directives guidelines", "GUIDE"],
  ["password credentials", "SECRET"],
  ["password credentials", "ASKEDSECRET"]
]
for (const [words, concept] of slipping) {
  for (const word of words.split(" ")) {
    for (const slip of slips(word)) if (slip.length > 4) lexicon.add(slip, lexicon.concept(concept))
  }
}
const markNames =
  "CHAT SYSROLE TURN NEWHEAD INSTRHEAD RESPHEAD BEGINSYS ENDMARK ENDUNTRUSTED ENDTAG HEAVYTAG TURNTAG CALLTAG RESULTTAG SYSJSON TURNJSON IMAGE LINK SECRETPATH SETTINGSPATH URL URLDATA HOST EMAIL PATH SNAKE SAMPLEPATH UNSAFESETTING"
for (const name of markNames.split(" ")) lexicon.add(`${markPrefix}${name.toLowerCase()}`, lexicon.concept(name))

const ignore = lexicon.concept("IGNORE")
const foreignIgnore = lexicon.concept("XIGNORE")
const drop = lexicon.concept("DROP")
const follow = lexicon.concept("FOLLOW")
const approved = lexicon.concept("APPROVED")
const not = lexicon.concept("NOT")

/** Concepts whose places are remembered: those that rules yield to, and talk about attacks and templates. */
const kept: ReadonlySet<number> = new Set([
  ...compiled.flatMap(({ vetoes }) => vetoes),
  lexicon.concept("MENTION"),
  lexicon.concept("TEMPLATE")
])

/** @internal */
export const mention = lexicon.concept("MENTION")

/** @internal */
export const template = lexicon.concept("TEMPLATE")

/** @internal */
export const words = lexicon

const taking: ReadonlyArray<Taken | undefined> = Array.from(steps, (list: Array<Step> | undefined) => {
  if (list === undefined) return undefined
  const all = list.toSorted((left, right) => right.index - left.index)
  const led = all.filter(({ rule }) => !rule.elicitation)
  return { all, led, unled: led.filter((step) => !step.leads) }
})

const none = -1_000_000

const mostHits = 2048

/** @internal */
export class Run {
  readonly #elicitation: boolean
  readonly #ends = new Float64Array(memory).fill(none)
  readonly #sentences = new Int32Array(memory).fill(-1)
  readonly #firsts = new Int32Array(memory)
  readonly #sentencesOf = new Map<number, Array<number>>()
  readonly #positionsOf = new Map<number, Array<number>>()
  readonly hits: Array<Hit> = []
  #notAt = none
  #notSentence = -1
  #notLeads = false

  constructor(elicitation: boolean) {
    this.#elicitation = elicitation
  }

  /** A word of these concepts; `more` is the number of words it takes beyond the first. */
  take(
    concepts: ReadonlyArray<number>,
    token: number,
    position: number,
    more: number,
    sentence: number,
    leads: boolean
  ): void {
    for (const concept of concepts) {
      if (concept === not) {
        this.#notAt = position + more
        this.#notSentence = sentence
        this.#notLeads = leads
      }
      const denied = sentence === this.#notSentence && position - this.#notAt <= 3 && position > this.#notAt
      if (
        denied && (concept === ignore || concept === drop || concept === foreignIgnore) && position - this.#notAt <= 2
      ) continue
      if (denied && concept === approved && position - this.#notAt <= 1) continue
      this.#step(concept, token, position, more, sentence, leads)
      if (denied && concept === follow) this.#step(ignore, token, position, more, sentence, leads || this.#notLeads)
    }
  }

  #step(concept: number, token: number, position: number, more: number, sentence: number, leads: boolean): void {
    if (kept.has(concept)) {
      append(this.#sentencesOf, concept, sentence)
      append(this.#positionsOf, concept, position)
    }
    const taken = taking[concept]
    if (taken === undefined) return
    const end = position + more
    for (const step of this.#elicitation ? taken.all : leads ? taken.led : taken.unled) {
      if (step.leads && !leads) continue
      const { at } = step
      if (step.bag) this.#bag(step.rule, at, token, position, end, sentence)
      else if (step.index === 0) this.#set(step, token, token + more, end, sentence)
      else {
        const before = at - 1
        const since = position - this.#ends[before]!
        if (since <= 0 || since - 1 > step.gap) continue
        if (!step.crosses && this.#sentences[before] !== sentence) continue
        this.#set(step, this.#firsts[before]!, token + more, end, sentence)
      }
    }
  }

  #set({ at, index, rule }: Step, first: number, last: number, end: number, sentence: number): void {
    this.#ends[at] = end
    this.#sentences[at] = sentence
    this.#firsts[at] = first
    if (index === rule.gaps.length - 1) this.#hit(rule, first, last)
  }

  /** Of the orders of one reading those beyond this number say nothing new. */
  #hit(rule: Rule, first: number, last: number): void {
    if (this.hits.length < mostHits) this.hits.push({ rule, first, last })
  }

  #bag(rule: Rule, at: number, token: number, position: number, end: number, sentence: number): void {
    this.#ends[at] = end
    this.#sentences[at] = sentence
    this.#firsts[at] = token
    let first = token
    const size = rule.crosses.length
    for (let index = 0; index < size; index++) {
      const other = rule.base + index
      if (other === at) continue
      if (this.#sentences[other] !== sentence || position - this.#ends[other]! > rule.gaps[0]!) return
      if (this.#ends[other] === end) return
      first = Math.min(first, this.#firsts[other]!)
    }
    this.#hit(rule, first, token)
  }

  /** Whether a rule yields to a word in one of these sentences. */
  vetoed(rule: Rule, from: number, to: number): boolean {
    return rule.vetoes.some((veto) => isWithin(this.#sentencesOf.get(veto), from, to))
  }

  /** Whether a concept is within a number of words of a place. */
  near(concept: number, from: number, to: number, within: number): boolean {
    return isWithin(this.#positionsOf.get(concept), from - within, to + within)
  }
}

/** Whether one of these numbers, which only grow, is in a range. */
const isWithin = (grown: ReadonlyArray<number> | undefined, from: number, to: number): boolean => {
  if (grown === undefined) return false
  let low = 0
  let high = grown.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (grown[middle]! < from) low = middle + 1
    else high = middle
  }
  return low < grown.length && grown[low]! <= to
}

const append = (lists: Map<number, Array<number>>, concept: number, value: number): void => {
  const list = lists.get(concept)
  if (list === undefined) lists.set(concept, [value])
  else list.push(value)
}
