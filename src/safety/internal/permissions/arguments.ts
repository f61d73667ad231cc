/**
 * What a rule says of the arguments of a call.
 *
 * @internal
 */
import * as Either from "effect/Either"
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import type * as PermissionRule from "../../PermissionRule.ts"
import * as Location from "./location.ts"
import { folded } from "./readings.ts"

interface Wanted {
  /** `a.b` is an argument of that name, or `b` within `a`. */
  readonly name: string
  readonly isAnything: boolean
  readonly fits: (text: string) => boolean
}

/** How much of the arguments is looked into; what is larger is taken for what is looked for. */
const maxParts = 10_000

const name = /^[^\s=,()"'*]+$/

/** `\,` is a comma and `\\` a backslash; any other backslash is itself. */
const split = (text: string): ReadonlyArray<string> => {
  const all: Array<string> = []
  let part = ""
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    const next = text[at + 1]
    if (char === "\\" && (next === "," || next === "\\")) {
      part += next
      at++
    } else if (char === ",") {
      all.push(part)
      part = ""
    } else part += char
  }
  return [...all, part]
}

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
  const wrong = all.find(([key]) => !name.test(key))
  return wrong === undefined ? Either.right(all) : Either.left("an argument has no name that it could have")
}

const scalar = (value: unknown): string | undefined =>
  typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? `${value}` : undefined

const isObject = (value: unknown): value is JsonRpc.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Every argument must be one that is named, and beside what is named within one there may be nothing else in it. */
const narrowly = (wanted: ReadonlyArray<Wanted>) => (args: JsonRpc.JsonObject): boolean => {
  const found = new Set<string>()
  // no deeper than the longest name goes
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

/** What is longer, where nothing speaks of it, is contents and not arguments. */
const maxText = 16_384

/** Some servers read texts as JSON where they expect something else. */
const parsed = (text: string, isSpokenOf: boolean): unknown => {
  if ((text.length > maxText && !isSpokenOf) || !/^\s*[[{]/.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

const affirmative: ReadonlySet<string> = new Set(["true", "1", "yes", "on", "y", "t"])
const negative: ReadonlySet<string> = new Set(["false", "0", "no", "off", "n", "f"])

/** What a server may take for the same, whatever it is written as. */
const alike = (pattern: string): (text: string) => boolean => {
  const own = folded(pattern)
  const fits = Location.matcher(pattern, false)
  if (own === "true") return (text) => affirmative.has(folded(text).trim()) || fits(text)
  if (own === "false") return (text) => negative.has(folded(text).trim()) || fits(text)
  const number = own.trim() === "" ? Number.NaN : Number(own)
  // no number is longer that says anything
  return Number.isNaN(number) ?
    fits :
    (text) => (text.length < 1_024 && text.trim() !== "" && Number(text) === number) || fits(text)
}

/** Something that is looked through, and what is looked for in it: names below it, or any value if there are none. */
interface Open {
  readonly value: unknown
  readonly names: ReadonlySet<string>
  readonly isMeant: boolean
}

const nothing: ReadonlySet<string> = new Set()

/**
 * Whether there is anything of that name that fits: at any depth, within lists and texts that are JSON, however the name
 * is written. Step by step and not by recursion: arguments may be as deep as they like.
 */
const anywhere = (args: JsonRpc.JsonObject, { fits, isAnything, name }: Wanted): boolean => {
  const wanted = folded(name)
  const open: Array<Open> = [{ value: args, names: nothing, isMeant: false }]
  for (let seen = 0; open.length > 0; seen++) {
    if (seen > maxParts) return true
    const { isMeant, names, value } = open.pop()!
    if (typeof value !== "object" || value === null) {
      const text = value === null ? "null" : scalar(value)
      if (text === undefined) continue
      if (isMeant && fits(text)) return true
      const inner = typeof value === "string" ? parsed(value, isMeant || names.size > 0) : undefined
      if (inner !== undefined) open.push({ value: inner, names, isMeant })
      continue
    }
    const keys = Object.keys(value)
    if (keys.length > maxParts) return true
    if (Array.isArray(value)) {
      for (const one of value) open.push({ value: one, names, isMeant })
      continue
    }
    const own = value as JsonRpc.JsonObject // only its own keys are asked for
    for (const key of keys) {
      const here = folded(key)
      const below = new Set<string>()
      let isIt = isMeant
      for (const one of [wanted, ...names]) {
        if (one === here) isIt = true
        else if (one.startsWith(`${here}.`)) below.add(one.slice(here.length + 1))
      }
      if (isIt && isAnything && own[key] !== undefined) return true
      open.push({ value: own[key], names: below, isMeant: isIt })
    }
  }
  return false
}

const broadly = (wanted: ReadonlyArray<Wanted>) => (args: JsonRpc.JsonObject): boolean =>
  wanted.every((one) => anywhere(args, one))

/** @internal */
export const compile = (
  written: string | undefined,
  given: Readonly<Record<string, string>> | undefined,
  narrow: boolean
): Either.Either<((subject: PermissionRule.Subject) => boolean) | undefined, string> =>
  Either.map(entries(written, given), (all) => {
    if (all.length === 0) return undefined
    const wanted = all.map(([name, pattern]): Wanted => ({
      name,
      isAnything: Location.isAnything(pattern),
      fits: narrow ? Location.matcher(pattern, true) : alike(pattern)
    }))
    const fits = narrow ? narrowly(wanted) : broadly(wanted)
    // of a call that is not made yet nothing can be said
    return ({ args, kind }) => kind !== "resource" && args !== undefined && fits(args)
  })
