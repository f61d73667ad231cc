/** The part of a rule in parentheses: patterns for the arguments of a call. */
import * as Either from "effect/Either"
import { isObject, type JsonObject } from "../json/Json.ts"
import * as ValuePattern from "./valuePattern.ts"

interface Wanted {
  /** `a.b` is an argument of that name, or `b` within `a`. */
  readonly name: string
  readonly isAnything: boolean
  readonly fits: ValuePattern.Fits
}

export type Matches = (args: JsonObject | undefined) => boolean

/** Values that are looked at. Larger arguments are covered by every rule that holds back. */
const maxParts = 10_000

/** `\,` is a comma and `\\` a backslash; any other backslash is itself. */
const split = (text: string): ReadonlyArray<string> =>
  text.split(/(?<=(?<!\\)(?:\\\\)*),/).map((part) => part.replace(/\\([,\\])/g, "$1"))

const entries = (
  written: string | undefined,
  given: Readonly<Record<string, string>> | undefined
): Either.Either<ReadonlyArray<readonly [string, string]>, string> => {
  const all = Object.entries(given ?? {})
  for (const part of written === undefined ? [] : split(written)) {
    const at = part.indexOf("=")
    if (at === -1) return Either.left("an argument needs a name and a pattern: `tool(name=pattern)`")
    all.push([part.slice(0, at).trim(), part.slice(at + 1).trim()])
  }
  return all.every(([key]) => /^[^\s=,()"'*]+$/.test(key))
    ? Either.right(all)
    : Either.left("an argument name is empty, or contains a space, a quote or one of = , ( ) *")
}

const scalar = (value: unknown): string | undefined =>
  typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? `${value}` : undefined

/** Every argument must be named by the rule, and every name of the rule must be there. */
const narrowly = (wanted: ReadonlyArray<Wanted>) => (args: JsonObject): boolean => {
  const found = new Set<string>()
  // recursion ends with the longest name of the rule
  const covers = (value: unknown, at: string): boolean => {
    const here = wanted.filter(({ name }) => name === at)
    if (here.length > 0) {
      found.add(at)
      const text = scalar(value)
      return here.every(({ fits, isAnything }) => isAnything ? value !== undefined : text !== undefined && fits(text))
    }
    if (!isObject(value) || !wanted.some(({ name }) => name.startsWith(`${at}.`))) return false
    const keys = Object.keys(value)
    return keys.length > 0 && keys.every((key) => covers(value[key], `${at}.${key}`))
  }
  return Object.keys(args).every((key) => covers(args[key], key)) && wanted.every(({ name }) => found.has(name))
}

/** A longer text is content, unless the rule names its argument. */
const maxText = 16_384

/** The value in a text that is JSON, because some servers read such texts. */
const parsed = (text: string, isNamed: boolean): unknown => {
  if ((text.length > maxText && !isNamed) || !/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const booleans = [["true", "1", "yes", "on", "y", "t"], ["false", "0", "no", "off", "n", "f"]] as const

/** Fits each spelling of a boolean or number, because servers read them differently. */
const alike = (pattern: string): ValuePattern.Fits => {
  const wanted = ValuePattern.folded(pattern).trim()
  const fits = ValuePattern.matcher(pattern, false)
  const spellings = booleans.find(([word]) => word === wanted) as ReadonlyArray<string> | undefined
  if (spellings !== undefined) return (text) => spellings.includes(ValuePattern.folded(text).trim()) || fits(text)
  const number = wanted === "" ? Number.NaN : Number(wanted)
  if (Number.isNaN(number)) return fits
  return (text) => (text.length < 1_024 && text.trim() !== "" && Number(text) === number) || fits(text)
}

/** A value to look at, and the rest of the name to look for in it; `isNamed` if the name ends here. */
interface Open {
  readonly value: unknown
  readonly names: ReadonlySet<string>
  readonly isNamed: boolean
}

/**
 * Whether a value of that name fits, at any depth, in lists and in texts that are JSON, whatever the case of the name.
 * A loop, because arguments may be nested deeper than the stack.
 */
const anywhere = (args: JsonObject, { fits, isAnything, name }: Wanted): boolean => {
  const wanted = ValuePattern.folded(name)
  const open: Array<Open> = [{ value: args, names: new Set(), isNamed: false }]
  for (let seen = 0; open.length > 0; seen++) {
    if (seen > maxParts) return true
    const { isNamed, names, value } = open.pop()!
    if (Array.isArray(value)) {
      if (value.length > maxParts) return true
      for (const item of value) open.push({ value: item, names, isNamed })
    } else if (isObject(value)) {
      const keys = Object.keys(value)
      if (keys.length > maxParts) return true
      for (const key of keys) {
        const here = ValuePattern.folded(key)
        const all = [wanted, ...names]
        const inside = all.flatMap((each) => each.startsWith(`${here}.`) ? [each.slice(here.length + 1)] : [])
        const isIt = isNamed || all.includes(here)
        if (isIt && isAnything && value[key] !== undefined) return true
        open.push({ value: value[key], names: new Set(inside), isNamed: isIt })
      }
    } else {
      const text = value === null ? "null" : scalar(value)
      if (isNamed && text !== undefined && fits(text)) return true
      const inside = typeof value === "string" ? parsed(value, isNamed || names.size > 0) : undefined
      if (inside !== undefined) open.push({ value: inside, names, isNamed })
    }
  }
  return false
}

/**
 * `undefined` for a rule without arguments. A call without arguments, one that is not made yet, matches no other rule.
 */
export const compile = (
  written: string | undefined,
  given: Readonly<Record<string, string>> | undefined,
  isNarrow: boolean
): Either.Either<Matches | undefined, string> =>
  Either.map(entries(written, given), (all) => {
    if (all.length === 0) return undefined
    const wanted = all.map(([name, pattern]): Wanted => ({
      name,
      isAnything: ValuePattern.isAnything(pattern),
      fits: isNarrow ? ValuePattern.matcher(pattern, true) : alike(pattern)
    }))
    const fits = isNarrow ? narrowly(wanted) : (args: JsonObject) => wanted.every((each) => anywhere(args, each))
    return (args) => args !== undefined && fits(args)
  })
