/**
 * What a rule says of the arguments of a call.
 *
 * @internal
 */
import * as Either from "effect/Either"
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import type * as PermissionRule from "../../PermissionRule.ts"
import * as Location from "./location.ts"

interface Wanted {
  readonly path: ReadonlyArray<string>
  readonly fits: (text: string) => boolean
}

/** How much of an argument is looked into; what is larger is taken for what is looked for. */
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

/** Exactly the argument of that name. */
const own = (value: unknown, path: ReadonlyArray<string>): unknown => {
  let at = value
  for (const key of path) {
    if (!isObject(at) || !Object.hasOwn(at, key)) return undefined
    at = at[key]
  }
  return at
}

/** Whatever could be taken for it: however the name is written, and within lists. */
const alike = (value: unknown, path: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  let found: ReadonlyArray<unknown> = [value]
  for (const key of path) {
    const wanted = key.toLowerCase()
    found = found.flatMap((one) => Array.isArray(one) ? one : [one]).flatMap((one) =>
      isObject(one) ? Object.keys(one).filter((name) => name.toLowerCase() === wanted).map((name) => one[name]) : []
    )
  }
  return found
}

const anyWithin = (value: unknown, fits: (text: string) => boolean): boolean => {
  const open: Array<unknown> = [value]
  for (let seen = 0; open.length > 0; seen++) {
    if (seen > maxParts) return true
    const one = open.pop()
    const text = scalar(one)
    if (text !== undefined) {
      if (fits(text)) return true
    } else if (typeof one === "object" && one !== null) {
      if (Object.keys(one).length > maxParts) return true
      open.push(...Object.values(one))
    }
  }
  return false
}

const narrowly = (wanted: ReadonlyArray<Wanted>) => {
  const known = new Set(wanted.map(({ path }) => path[0]))
  /** Beside what is named within an argument there may be nothing else in it. */
  const isWhole = (value: unknown, prefix: ReadonlyArray<string>): boolean => {
    if (wanted.some(({ path }) => path.join(".") === prefix.join("."))) return true
    if (!isObject(value)) return false
    return Object.keys(value).every((key) => {
      const at = [...prefix, key]
      return wanted.some(({ path }) => at.every((part, index) => path[index] === part)) && isWhole(value[key], at)
    })
  }
  return (args: JsonRpc.JsonObject): boolean =>
    Object.keys(args).every((key) => known.has(key) && isWhole(args[key], [key])) &&
    wanted.every(({ fits, path }) => {
      const text = scalar(own(args, path))
      return text !== undefined && fits(text)
    })
}

/** What is deep within a list is looked for, too. */
const broadly = (wanted: ReadonlyArray<Wanted>) => (args: JsonRpc.JsonObject): boolean =>
  wanted.every(({ fits, path }) => alike(args, path).some((value) => anyWithin(value, fits)))

/** @internal */
export const compile = (
  written: string | undefined,
  given: Readonly<Record<string, string>> | undefined,
  narrow: boolean
): Either.Either<(subject: PermissionRule.Subject) => boolean, string> =>
  Either.map(entries(written, given), (all) => {
    if (all.length === 0) return () => true
    const wanted = all.map(([key, pattern]): Wanted => ({
      path: key.split("."),
      fits: Location.matcher(pattern, narrow)
    }))
    const fits = narrow ? narrowly(wanted) : broadly(wanted)
    // of a call that is not made yet nothing can be said
    return ({ args, kind }) => kind === "tool" && args !== undefined && fits(args)
  })
