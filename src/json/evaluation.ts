/** The state of judging one value by one schema, and the keywords that apply other schemas or judge scalars. */
import { isObject } from "./Json.ts"
import { localPointer, pointed } from "./schema.ts"

/**
 * The value cannot be judged: the schema says something that is not supported, or the work is over its limit. Keywords
 * throw it, and `JsonSchema` makes it a verdict.
 */
export class Unchecked extends Error {}

/** The place of a value, from the inside out. */
export interface Path {
  readonly parent: Path | undefined
  readonly key: string | number
}

/** The parts of a value that keywords have evaluated, for `unevaluatedProperties` and `unevaluatedItems`. */
export interface Seen {
  readonly properties: Set<string>
  readonly indexes: Set<number>
  /** All items below this index. */
  items: number
}

export interface Evaluation {
  readonly root: unknown
  /** Whether `$ref` hides the keywords beside it, as it does up to draft-07. */
  readonly refsAlone: boolean
  /** Whether `unevaluatedProperties` or `unevaluatedItems` occur. */
  readonly track: boolean
  readonly matches: (pattern: string, text: string) => boolean
  readonly evaluate: (schema: unknown, value: unknown, path: Path | undefined, seen: Seen | undefined) => boolean
  /** The steps that are left for this value. */
  steps: number
  depth: number
  fault: { readonly path: Path | undefined; readonly detail: string } | undefined
}

export interface Keyword {
  (
    on: Evaluation,
    operand: unknown,
    value: unknown,
    schema: { readonly [key: string]: unknown },
    path: Path | undefined,
    seen: Seen | undefined
  ): boolean
}

export type Keywords = ReadonlyArray<readonly [name: string, keyword: Keyword]>

export const emptySeen = (): Seen => ({ properties: new Set(), indexes: new Set(), items: 0 })

export const mergeSeen = (into: Seen, from: Seen): void => {
  for (const key of from.properties) into.properties.add(key)
  for (const index of from.indexes) into.indexes.add(index)
  into.items = Math.max(into.items, from.items)
}

export const spend = (on: Evaluation, steps: number): void => {
  on.steps -= steps
  if (on.steps < 0) throw new Unchecked("judging the value by it takes too long")
}

export const fail = (on: Evaluation, path: Path | undefined, detail: string): false => {
  on.fault = { path, detail }
  return false
}

export const malformed = (keyword: string): Unchecked => new Unchecked(`its "${keyword}" is malformed`)

export const asNumber = (operand: unknown, keyword: string): number => {
  if (typeof operand !== "number") throw malformed(keyword)
  return operand
}

export const asArray = (operand: unknown, keyword: string): ReadonlyArray<unknown> => {
  if (!Array.isArray(operand)) throw malformed(keyword)
  return operand
}

export const asObject = (operand: unknown, keyword: string): { readonly [key: string]: unknown } => {
  if (!isObject(operand)) throw malformed(keyword)
  return operand
}

/** A keyword that bounds the size of the values that have one. */
export const sized = (
  name: string,
  sizeOf: (value: unknown) => number | undefined,
  holds: (size: number, limit: number) => boolean,
  detail: (limit: number) => string
): readonly [string, Keyword] => [
  name,
  (on, operand, value, _schema, path) => {
    const limit = asNumber(operand, name)
    const size = sizeOf(value)
    return size === undefined || holds(size, limit) || fail(on, path, detail(limit))
  }
]

const schemasOf = (operand: unknown, keyword: string): ReadonlyArray<unknown> => {
  const schemas = asArray(operand, keyword)
  if (schemas.length === 0) throw malformed(keyword)
  return schemas
}

const allOf: Keyword = (on, operand, value, _schema, path, seen) =>
  schemasOf(operand, "allOf").every((schema) => on.evaluate(schema, value, path, seen))

const anyOf: Keyword = (on, operand, value, _schema, path, seen) => {
  let holds = false
  for (const schema of schemasOf(operand, "anyOf")) {
    holds = on.evaluate(schema, value, path, seen) || holds
    // for `unevaluated…` all branches count and not only the first that holds
    if (holds && seen === undefined) return true
  }
  return holds || fail(on, path, "none of the alternatives holds")
}

const oneOf: Keyword = (on, operand, value, _schema, path, seen) => {
  let holding: Seen | true | undefined
  for (const schema of schemasOf(operand, "oneOf")) {
    const local = seen === undefined ? undefined : emptySeen()
    if (!on.evaluate(schema, value, path, local)) continue
    if (holding !== undefined) return fail(on, path, "more than one of the alternatives holds")
    holding = local ?? true
  }
  if (holding === undefined) return fail(on, path, "none of the alternatives holds")
  if (seen !== undefined && holding !== true) mergeSeen(seen, holding)
  return true
}

const not: Keyword = (on, operand, value, _schema, path) =>
  !on.evaluate(operand, value, path, undefined) || fail(on, path, "is what it must not be")

const conditional: Keyword = (on, operand, value, schema, path, seen) => {
  const branch = on.evaluate(operand, value, path, seen) ? schema["then"] : schema["else"]
  return branch === undefined || on.evaluate(branch, value, path, seen)
}

/** Only references into the schema itself are followed; nothing is ever fetched. */
const reference: Keyword = (on, operand, value, _schema, path, seen) => {
  if (typeof operand !== "string") throw malformed("$ref")
  if (localPointer(on.root, operand) === undefined) throw new Unchecked("it refers to a place outside of it")
  spend(on, operand.length / 16)
  const target = pointed(on.root, operand)
  if (target === undefined) throw new Unchecked("it refers to a place that does not exist")
  return on.evaluate(target, value, path, seen)
}

const unsupported: Keyword = () => {
  throw new Unchecked("it uses dynamic references")
}

export const applicators: Keywords = [
  ["allOf", allOf],
  ["anyOf", anyOf],
  ["oneOf", oneOf],
  ["not", not],
  ["if", conditional],
  ["$ref", reference],
  ["$dynamicRef", unsupported],
  ["$recursiveRef", unsupported]
]

const typeOf = (value: unknown): string => value === null ? "null" : Array.isArray(value) ? "array" : typeof value

const names: ReadonlySet<unknown> = new Set(["null", "boolean", "number", "integer", "string", "array", "object"])

const type: Keyword = (on, operand, value, schema, path) => {
  if (value === null && schema["nullable"] === true) return true
  const types: ReadonlyArray<unknown> = Array.isArray(operand) ? operand : [operand]
  spend(on, types.length / 8)
  const isOfType = (type: unknown): boolean => {
    if (!names.has(type)) throw malformed("type")
    return type === "integer" ? Number.isInteger(value) : typeOf(value) === type
  }
  return types.some(isOfType) || fail(on, path, `expected ${types.join(" or ")}, got ${typeOf(value)}`)
}

const equal = (on: Evaluation, a: unknown, b: unknown): boolean => {
  spend(on, 1)
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equal(on, item, b[index]))
  }
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(on, a[key], b[key]))
}

const enumeration: Keyword = (on, operand, value, _schema, path) => {
  const members = asArray(operand, "enum")
  if (members.length === 0) throw malformed("enum")
  return members.some((member) => equal(on, member, value)) || fail(on, path, "not one of the values allowed")
}

const constant: Keyword = (on, operand, value, _schema, path) =>
  equal(on, operand, value) || fail(on, path, "not the value required")

const numberOf = (value: unknown): number | undefined => typeof value === "number" ? value : undefined

const bound = (name: string, holds: (value: number, limit: number) => boolean) =>
  sized(name, numberOf, holds, (limit) => `violates ${name} ${limit}`)

const multipleOf: Keyword = (on, operand, value, _schema, path) => {
  const divisor = asNumber(operand, "multipleOf")
  if (divisor <= 0) throw malformed("multipleOf")
  if (typeof value !== "number") return true
  const quotient = value / divisor
  if (!Number.isFinite(quotient)) throw new Unchecked("its \"multipleOf\" is beyond exact arithmetic")
  // 0.3 is a multiple of 0.1 although their binary forms are not
  const isExact = Math.abs(quotient - Math.round(quotient)) <= Math.abs(quotient) * 1e-12
  return isExact || fail(on, path, `no multiple of ${divisor}`)
}

/** A character is a code point, so a text has between half as many and exactly as many as its length. */
const characters = (on: Evaluation, text: string): number => {
  spend(on, text.length / 64)
  let count = 0
  for (let at = 0; at < text.length; at += text.codePointAt(at)! > 0xffff ? 2 : 1) count++
  return count
}

const minLength: Keyword = (on, operand, value, _schema, path) => {
  const limit = asNumber(operand, "minLength")
  return typeof value !== "string" || value.length >= limit * 2 ||
    (value.length >= limit && characters(on, value) >= limit) || fail(on, path, `shorter than ${limit} characters`)
}

const maxLength: Keyword = (on, operand, value, _schema, path) => {
  const limit = asNumber(operand, "maxLength")
  return typeof value !== "string" || value.length <= limit ||
    (value.length <= limit * 2 && characters(on, value) <= limit) || fail(on, path, `longer than ${limit} characters`)
}

const pattern: Keyword = (on, operand, value, _schema, path) => {
  if (typeof operand !== "string") throw malformed("pattern")
  if (typeof value !== "string") return true
  spend(on, 1 + value.length)
  return on.matches(operand, value) || fail(on, path, "does not match the pattern")
}

export const scalars: Keywords = [
  ["type", type],
  ["enum", enumeration],
  ["const", constant],
  bound("minimum", (value, limit) => value >= limit),
  bound("maximum", (value, limit) => value <= limit),
  bound("exclusiveMinimum", (value, limit) => value > limit),
  bound("exclusiveMaximum", (value, limit) => value < limit),
  ["multipleOf", multipleOf],
  ["minLength", minLength],
  ["maxLength", maxLength],
  ["pattern", pattern]
]
