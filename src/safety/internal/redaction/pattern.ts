/**
 * The formats of tokens in the few words of regular expressions that can be matched without ever going back: literal
 * text and classes of characters, one after the other, each class as often as it goes.
 *
 * `\b` is not written: a token begins where no word goes on, and one whose length is given ends where its characters do.
 *
 * @internal
 */

interface Run {
  readonly _tag: "Run"
  readonly set: Uint8Array
  readonly min: number
  readonly max: number
}

type Step = Run | { readonly _tag: "Literal"; readonly text: string }

/** @internal */
export interface Pattern {
  /** The characters before the keyword. */
  readonly lead: Run | undefined
  /** What the pattern is looked for by. */
  readonly keyword: string
  readonly rest: ReadonlyArray<Step>
}

const sized = /^\{(\d+)(,?)(\d*)\}/

/** Many formats are of the same characters. */
const sets = new Map<string, Uint8Array>()

const setOf = (body: string): Uint8Array => {
  const known = sets.get(body)
  if (known !== undefined) return known
  const set = new Uint8Array(128)
  for (let at = 0; at < body.length; at++) {
    const first = body.charCodeAt(at)
    const last = body[at + 1] === "-" && at + 2 < body.length ? body.charCodeAt(at += 2) : first
    set.fill(1, first, last + 1)
  }
  sets.set(body, set)
  return set
}

const digits = setOf("0-9")

const steps = (source: string): ReadonlyArray<Step> => {
  const found: Array<Step> = []
  let literal = ""
  let at = 0
  while (at < source.length) {
    const char = source[at]!
    const escaped = char === "\\" ? source[at + 1] : undefined
    if (char !== "[" && escaped !== "d") {
      literal += escaped ?? char
      at += escaped === undefined ? 1 : 2
      continue
    }
    if (literal !== "") found.push({ _tag: "Literal", text: literal })
    literal = ""
    const close = char === "[" ? source.indexOf("]", at) : at + 1
    const set = char === "[" ? setOf(source.slice(at + 1, close)) : digits
    const size = sized.exec(source.slice(close + 1))
    const min = Number(size?.[1] ?? 1)
    const max = size?.[2] === "," ? (size[3] === "" ? Infinity : Number(size[3])) : min
    found.push({ _tag: "Run", set, min, max })
    at = close + 1 + (size?.[0].length ?? 0)
  }
  if (literal !== "") found.push({ _tag: "Literal", text: literal })
  return found
}

/** @internal */
export const make = (source: string): Pattern => {
  const [first, second, ...rest] = steps(source)
  if (first?._tag === "Literal") {
    return { lead: undefined, keyword: first.text, rest: second === undefined ? rest : [second, ...rest] }
  }
  return { lead: first, keyword: second?._tag === "Literal" ? second.text : "", rest }
}

const isWord = (code: number): boolean =>
  code >= 48 && code <= 57 || code >= 65 && code <= 90 || code >= 97 && code <= 122 || code === 95

/** An escape, of JSON, of an address or of a terminal, up to its last character. */
const escape = /(?:\\[nrtbfv]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%[0-9a-fA-F]{2}|\[[0-9;]{0,8}m)$/

/**
 * Whether a token can begin here.
 *
 * @internal
 */
export const begins = (text: string, at: number): boolean =>
  at === 0 || !isWord(text.charCodeAt(at - 1)) || escape.test(text.slice(Math.max(0, at - 10), at))

const rest = /^(?:\\[nrtbfv]|%[0-9a-fA-F]{2}|\[[0-9;]{0,8}m)/

/**
 * How many of the characters from here on belong to an escape that begins before them, although they look like the
 * beginning of a word.
 *
 * @internal
 */
export const glued = (text: string, at: number): number => {
  if (at === 0) return 0
  const found = rest.exec(text.slice(at - 1, at + 10))
  return found === null ? 0 : found[0].length - 1
}

const has = (set: Uint8Array, text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  return code < 128 && set[code] === 1
}

/**
 * The place of the token whose keyword stands at `at`. Where there is none, how far the characters went that another
 * try from within them would go to as well.
 *
 * @internal
 */
export const match = (
  { keyword, lead, rest }: Pattern,
  text: string,
  at: number
): { readonly at: number; readonly end: number } | { readonly dead: number } => {
  if (!text.startsWith(keyword, at)) return { dead: at }
  let from = at
  if (lead !== undefined) {
    while (at - from < lead.max && from > 0 && has(lead.set, text, from - 1)) from--
    if (at - from < lead.min) return { dead: at }
  }
  if (!begins(text, from)) return { dead: at }
  let next = at + keyword.length
  let dead = at
  for (const step of rest) {
    if (step._tag === "Literal") {
      if (!text.startsWith(step.text, next)) return { dead }
      next += step.text.length
      continue
    }
    const began = next
    while (next - began < step.max && has(step.set, text, next)) next++
    if (dead === at && step.max === Infinity) dead = next
    if (next - began < step.min) return { dead }
    if (next - began === step.max && step === rest.at(-1) && has(step.set, text, next)) return { dead }
  }
  return { at: from, end: next }
}
