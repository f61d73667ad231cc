/**
 * Looks in a server's text for instructions to a model. The findings are advice: a patient attacker finds words that are
 * not in the list, so nothing is granted or refused because of them.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Json } from "../json/Json.ts"
import { pointer } from "../json/schema.ts"
import { folded } from "../text/folded.ts"
import { unspaced } from "../text/unicode.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as Tool from "../tools/Tool.ts"
import * as data from "./injectionPhrases.ts"

/** `low`: worth a look. `medium`: quoted, or possibly harmless. `high`: an instruction to a model. */
export type Level = "low" | "medium" | "high"

/** The goal of an instruction: `override`, `exfiltration`, `secrecy` and others of the data. */
export type Category = keyof typeof data.phrases

/** Where a text came from. Requests for passwords are looked for in elicitations only. */
export type Channel =
  | "name"
  | "title"
  | "description"
  | "param_description"
  | "instructions"
  | "result"
  | "resource"
  | "prompt"
  | "error"
  | "log"
  | "progress"
  | "elicitation"

export interface Signal {
  readonly category: Category
  readonly level: Level
  /** The place in the text as it came. */
  readonly at: number
  /** Escaped, at most 160 characters. */
  readonly excerpt: string
}

export interface Options {
  readonly channel?: Channel | undefined
  readonly maxSignals?: number | undefined
}

export const defaults = { channel: "result", maxSignals: 32 } as const satisfies Required<Options>

/** Scans the output of tools. An application can provide another scanner, such as a model, with `layer`. */
export class InjectionScan extends Context.Reference<InjectionScan>()("effect-mcp-runtime/safety/InjectionScan", {
  defaultValue: (): { readonly scan: (text: string, channel: Channel) => Effect.Effect<ReadonlyArray<Signal>> } => ({
    scan: (text, channel) => Effect.sync(() => scan(text, { channel }))
  })
}) {}

export const layer = (service: InjectionScan["Type"]): Layer.Layer<InjectionScan> =>
  Layer.succeed(InjectionScan, service)

const levels: ReadonlyArray<Level> = ["low", "medium", "high"]

/** Characters of a finding that are shown; findings of one category that begin nearer than that are one. */
const longestExcerpt = 160

/** Findings that are kept, so that memory is bounded; at most half of them are not of the highest level. */
const mostKept = 1024

/** A phrase within so many words of talk about attacks is taken for part of it. */
const nearby = 40

/** Other words that may stand between two words of a phrase, if its row does not say. */
const usualGap = 3

type Phrase = data.Phrase & { readonly category: Category }

const phrases: ReadonlyArray<Phrase> = Object.entries(data.phrases).flatMap(([category, rows]) =>
  rows.map((row): Phrase => ({ ...row, category: category as Category }))
)

interface Token {
  readonly word: string
  /** Places in the folded text. */
  readonly start: number
  readonly end: number
  /** Counts words; a character of a script without spaces is a third of one. */
  readonly position: number
  readonly sentence: number
  /** Counts commas and colons, too. */
  readonly clause: number
  /** The separator from the token before: nothing, a blank, one of `./:`, the end of a sentence (`!`), else `,`. */
  readonly join: string
  readonly isLineStart: boolean
  /** The classes of the expressions that end here. */
  classes: ReadonlyArray<string>
}

const joins: ReadonlyArray<readonly [gap: RegExp, join: string]> = [
  // ends of sentences, of items of lists and of values of JSON, braces, and the parenthesis of a call
  [/[.!?;]["')\]]*\s|[。！？]|\n\s*[\n*•#-]|"\s*,\s*"|[{}]|^\(["'`]?$/, "!"],
  [/^[\s_\-'"`*~]+$/, " "],
  [/^\.$/, "."],
  [/^[/\\]+$/, "/"],
  [/:/, ":"]
]

const joinOf = (gap: string): string =>
  gap === "" || gap === " " ? gap : joins.find(([pattern]) => pattern.test(gap))?.[1] ?? ","

/** Words, spaced letters, names of hidden files, and the signs of templates, tags, queries, placeholders and pipes. */
const makePattern = (): RegExp => {
  const single = `[${unspaced().source.slice(1, -1)}\\p{sc=Hang}]`
  return new RegExp(
    [
      "https?://|(?<![a-z0-9])[a-z]([ ._*+|-])[a-z](?:\\1[a-z]){1,64}(?![a-z0-9])",
      "[a-z0-9]{1,64}(?:'[a-z]{1,8}){0,4}(?![^\\0-\\x7f])",
      single,
      `(?:(?!${single})[\\p{L}\\p{N}]){1,64}`,
      "(?<![\\p{L}\\p{N}])\\.[a-z][a-z0-9]{1,32}",
      "<\\|(?=[a-z_]{2,24}\\|>)|<</?(?=[a-z])|</?(?=[a-z])|\\[/?(?=[a-z ]{2,24}\\])",
      "[?&][\\w.-]{1,32}=|\\{\\{|\\$[{(]|@(?=[a-z0-9-]{1,63}\\.[a-z])|\\|(?= ?(?:ba|z)?sh\\b)"
    ].join("|"),
    "gu"
  )
}

let pattern: RegExp | undefined

/** Drops the signs between spaced letters, and apostrophes but that of a genitive. The name in a query is `?=`. */
const wordOf = (match: string): string =>
  match.endsWith("=")
    ? "?="
    : /^[a-z0-9].*[^a-z0-9:/]/.test(match) && !match.endsWith("'s")
    ? match.replaceAll(/[^a-z0-9]/g, "")
    : match

const isSign = (word: string): boolean => /^[^\p{L}\p{N}]/u.test(word)

const tokens = function*(text: string): Generator<Token> {
  let last: Token | undefined
  for (const { 0: match, index } of text.matchAll(pattern ??= makePattern())) {
    const gap = index === last?.end ? "" : text.slice(last?.end ?? 0, index)
    const join = joinOf(gap)
    last = {
      word: wordOf(match),
      start: index,
      end: index + match.length,
      position: (last?.position ?? 0) + (match > "\u0e00" ? 1 / 3 : 1),
      sentence: (last?.sentence ?? 0) + (join === "!" ? 1 : 0),
      clause: (last?.clause ?? 0) + (/[!,:]/.test(join) ? 1 : 0),
      join,
      isLineStart: last === undefined || gap.includes("\n") || (gap === "" && last.isLineStart && isSign(last.word)),
      classes: []
    }
    yield last
  }
}

/** An expression of a class, from its last word to its first. */
interface Entry {
  readonly words: ReadonlyArray<Pick<Token, "word" | "join">>
  readonly ofClass: string
  readonly isVerb: boolean
  readonly isHead: boolean
}

/** The words of the longest expression, and the one before it. */
const mostRecent = 12

type Table<A> = Map<string, ReadonlyArray<A>>

const put = <A>(table: Table<A>, key: string, value: A): void => {
  table.set(key, [...(table.get(key) ?? []), value])
}

const singular = (word: string): string => word.replace(/s$/, "")

/** The data as tables: entries by their last word, and for each class its places in phrases. */
const compile = () => {
  const verbs: Table<Entry> = new Map()
  const nouns: Table<Entry> = new Map()
  const prefixes: Table<Entry> = new Map()
  const places: Table<readonly [phrase: number, slot: number]> = new Map()
  const known = new Map<string, ReadonlyArray<Entry>>()
  for (const [group, classes] of Object.entries(data.classes)) {
    for (const [ofClass, list] of Object.entries(classes)) {
      for (const expression of list.trim().split(/,\s+/)) {
        // a sign like `</` is a token only before a name
        const [last = { word: expression, join: "" }, ...before] = Array.from(tokens(folded(expression).text))
          .toReversed()
        const entry = { words: [last, ...before], ofClass, isVerb: group === "verbs", isHead: group === "heads" }
        if (expression.endsWith("*")) put(prefixes, last.word, entry)
        // a verb with an s is no imperative
        else if (entry.isVerb) put(verbs, last.word, entry)
        else put(nouns, singular(last.word), entry)
      }
    }
  }
  const lengths = phrases.map(({ words }, phrase) => {
    const slots = words.split(" ")
    // the last slot comes first, so that a word does not fill two of them
    for (let slot = slots.length - 1; slot >= 0; slot--) {
      for (const name of slots[slot]!.split("|")) put(places, name, [phrase, slot])
    }
    return slots.length
  })
  const longestPrefix = Math.max(...Array.from(prefixes.keys(), ({ length }) => length))
  const lookUp = (word: string): ReadonlyArray<Entry> => {
    const letters = /\d/.test(word) ? word.replaceAll(/[013457]/g, (digit) => data.digits[digit]!) : word
    const forms = word === letters ? [word] : [word, letters]
    const starts = Array.from(letters.slice(0, longestPrefix), (_, at) => letters.slice(0, at + 1))
    return [
      ...forms.flatMap((form) => verbs.get(form) ?? []),
      ...forms.flatMap((form) => nouns.get(singular(form)) ?? []),
      ...starts.flatMap((start) => prefixes.get(start) ?? [])
    ]
  }
  const entriesOf = (word: string): ReadonlyArray<Entry> => {
    const entries = known.get(word) ?? lookUp(word)
    // 4,096 are enough for the words of most texts; a longer word is a slice, for which V8 would keep the whole text
    if (known.size < 4096 && word.length <= 12) known.set(word, entries)
    return entries
  }
  return { entriesOf, lengths, places }
}

let compiled: ReturnType<typeof compile> | undefined

const headEnd = /[\s*_]{0,8}(?:[\])>(]|:(?=\s|$))/y

/** The first word of an expression whose last word is the latest token. */
const firstOf = ({ isHead, words }: Entry, recent: ReadonlyArray<Token>, text: string): Token | undefined => {
  const end = recent.length - 1
  const isHere = words.every(({ word }, back) =>
    back === 0 || (recent[end - back]?.word === word && recent[end - back + 1]!.join === words[back - 1]!.join)
  )
  const first = isHere ? recent[end - words.length + 1] : undefined
  if (first === undefined || !isHead) return first
  headEnd.lastIndex = recent[end]!.end
  return first.isLineStart && headEnd.test(text) ? first : undefined
}

/** A verb is no instruction behind a negation, or where it tells what something can do. */
const isNarrated = (verb: Token, recent: ReadonlyArray<Token>): boolean => {
  const before = recent[recent.indexOf(verb) - 1]?.classes ?? []
  return verb.join === " " && !before.includes("must") && (before.includes("not") || before.includes("narrates"))
}

/** True behind a quote that does not begin a value of JSON. */
const isQuoted = (text: string, start: number): boolean =>
  /["'`]/.test(text[start - 1] ?? "") && !/[:,[{]\s*$/.test(text.slice(Math.max(0, start - 9), start - 1))

interface Found {
  readonly category: Category
  readonly rank: number
  readonly from: Token
  readonly to: Token
  /** Whether it stands in talk about attacks, which lowers its level. */
  isTalk: boolean
}

const rankOf = ({ isTalk, rank }: Found): number => isTalk ? Math.max(0, rank - 1) : rank

const find = (text: string, channel: Channel): ReadonlyArray<Found> => {
  const { entriesOf, lengths, places } = compiled ??= compile()
  const reached = lengths.map((): Array<{ readonly first: Token; readonly last: Token } | undefined> => [])
  const found: Array<Found> = []
  const latest = new Map<Category, number>()
  const recent: Array<Token> = []
  let talk = -nearby - 1

  const emit = ({ category, channels, level = "high" }: Phrase, from: Token, to: Token): void => {
    if (channels !== undefined && !channels.includes(channel)) return
    const rank = levels.indexOf(level)
    const now = { category, rank, from, to, isTalk: from.position - talk <= nearby || isQuoted(text, from.start) }
    const near = latest.get(category) ?? -1
    const before = found[near]
    if (before !== undefined && from.start - before.from.start < longestExcerpt) {
      const isLonger = from === before.from && rankOf(now) === rankOf(before)
      if (isLonger || rankOf(now) > rankOf(before)) found[near] = now
    } else if (found.length < (rankOf(now) === levels.length - 1 ? mostKept : mostKept / 2)) {
      latest.set(category, found.push(now) - 1)
    }
  }

  const advance = (index: number, slot: number, first: Token, last: Token, narrated: boolean): void => {
    const phrase = phrases[index]!
    const parts = reached[index]!
    const before = parts[slot - 1]
    if (slot > 0) {
      if (before === undefined || first.start < before.last.end) return
      if (first.position - before.last.position > (phrase.gap ?? usualGap) + 1) return
      if (first.sentence !== before.last.sentence && phrase.far !== true) return
      if (first.clause !== before.last.clause && phrase.inClause === true) return
    }
    if (narrated && before?.last !== recent[recent.indexOf(first) - 1]) return
    const from = before?.first ?? first
    parts[slot] = { first: from, last }
    if (slot === lengths[index]! - 1) emit(phrase, from, last)
  }

  for (const token of tokens(text)) {
    recent.push(token)
    if (recent.length > mostRecent) recent.shift()
    for (const entry of entriesOf(token.word)) {
      const first = firstOf(entry, recent, text)
      if (first === undefined) continue
      token.classes = [...token.classes, entry.ofClass]
      const narrated = entry.isVerb && isNarrated(first, recent)
      for (const [phrase, slot] of places.get(entry.ofClass) ?? []) advance(phrase, slot, first, token, narrated)
      if (entry.ofClass !== "mention") continue
      talk = token.position
      for (let at = found.length - 1; at >= 0 && talk - found[at]!.to.position <= nearby; at--) found[at]!.isTalk = true
    }
  }
  return found
}

const excerptOf = (text: string): string => {
  let excerpt = ""
  for (const char of text.slice(0, longestExcerpt)) {
    const visible = UntrustedText.escape(char)
    if (excerpt.length + visible.length > longestExcerpt) break
    excerpt += visible
  }
  return excerpt
}

/** The instructions in a text, in its order; of too many the gravest. Takes linear time. */
export const scan = (text: string, options: Options = defaults): ReadonlyArray<Signal> => {
  const { starts, text: plain } = folded(text, true)
  return find(plain, options.channel ?? defaults.channel)
    .toSorted((left, right) => rankOf(right) - rankOf(left))
    .slice(0, options.maxSignals ?? defaults.maxSignals)
    .toSorted((left, right) => left.from.start - right.from.start)
    .map((found) => {
      const at = starts[found.from.start]!
      const excerpt = excerptOf(text.slice(at, starts[found.to.end]))
      return { category: found.category, level: levels[rankOf(found)]!, at, excerpt }
    })
}

/** Deeper schemas are not offered to models. */
const deepest = 64

/** Every string and key of a definition, with its place and the channel it belongs to. */
const strings = function*(
  value: Json | undefined,
  path: string,
  channel: Channel,
  depth: number
): Generator<readonly [text: string, path: string, channel: Channel]> {
  if (typeof value === "string") yield [value, path, channel]
  if (typeof value !== "object" || value === null || depth > deepest) return
  for (const [key, item] of Object.entries(value)) {
    if (!Array.isArray(value)) yield [key, pointer(path, key), "name"]
    const inner = depth > 0 ? "param_description" : key === "name" || key === "title" ? key : "description"
    yield* strings(item, pointer(path, key), inner, depth + 1)
  }
}

/** The same for every string of a tool's definition; of too many the gravest. `path` is a JSON pointer. */
export const scanTool = (tool: Tool.Tool): ReadonlyArray<Signal & { readonly path: string }> => {
  const { description, inputSchema, name, outputSchema, raw, title } = tool
  const shown = { name, title, description, inputSchema, outputSchema }
  const definition = { ...raw, ...Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined)) }
  const found: Array<Signal & { readonly path: string }> = []
  for (const [text, path, channel] of strings(definition, "", "description", 0)) {
    for (const signal of text.length < 4 ? [] : scan(text, { channel })) found.push({ ...signal, path })
  }
  const gravest = found.toSorted((one, other) => levels.indexOf(other.level) - levels.indexOf(one.level))
  return gravest.slice(0, defaults.maxSignals).toSorted((one, other) => found.indexOf(one) - found.indexOf(other))
}
