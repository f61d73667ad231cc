/** The keywords by which a JSON Schema judges a value, and the state of judging one value by one schema. */
import { canonicalJson } from "./canonical.ts"
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
  /** Nothing for a pattern that is not supported. */
  readonly matches: (pattern: string, text: string) => boolean | undefined
  readonly evaluate: (schema: unknown, value: unknown, path: Path | undefined, seen: Seen | undefined) => boolean
  /** The steps that are left for this value. */
  steps: number
  depth: number
  /** The parts under way in which a pattern that holds could count against the value, such as `not`. */
  exact: number
  /** Whether a pattern was taken for met because it is not supported. */
  assumed: boolean
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

export const emptySeen = (): Seen => ({ properties: new Set(), indexes: new Set(), items: 0 })

export const mergeSeen = (into: Seen, from: Seen): void => {
  for (const key of from.properties) into.properties.add(key)
  for (const index of from.indexes) into.indexes.add(index)
  into.items = Math.max(into.items, from.items)
}

export const spend = (on: Evaluation, steps: number): void => {
  on.steps -= steps
  if (on.steps < 0) throw new Unchecked("validating the value takes too many steps")
}

export const fail = (on: Evaluation, path: Path | undefined, detail: string): false => {
  on.fault = { path, detail }
  return false
}

/** Evaluates a part that counts against the value where it holds. */
const exactly = (on: Evaluation, ...part: Parameters<Evaluation["evaluate"]>): boolean => {
  on.exact++
  const holds = on.evaluate(...part)
  on.exact--
  return holds
}

export const unsupportedPattern = "a pattern in it is not supported"

const malformed = (keyword: string): Unchecked => new Unchecked(`its "${keyword}" is malformed`)

const asNumber = (operand: unknown, keyword: string): number => {
  if (typeof operand !== "number") throw malformed(keyword)
  return operand
}

const asArray = (operand: unknown, keyword: string): ReadonlyArray<unknown> => {
  if (!Array.isArray(operand)) throw malformed(keyword)
  return operand
}

const asObject = (operand: unknown, keyword: string): { readonly [key: string]: unknown } => {
  if (!isObject(operand)) throw malformed(keyword)
  return operand
}

/** A keyword that bounds the size of the values that have one. */
const sized = (
  name: string,
  sizeOf: (value: unknown, on: Evaluation) => number | undefined,
  holds: (size: number, limit: number) => boolean,
  detail: (limit: number) => string
): readonly [string, Keyword] => [
  name,
  (on, operand, value, _schema, path) => {
    const limit = asNumber(operand, name)
    const size = sizeOf(value, on)
    return size === undefined || holds(size, limit) || fail(on, path, detail(limit))
  }
]

const nonEmpty = (operand: unknown, keyword: string): ReadonlyArray<unknown> => {
  const items = asArray(operand, keyword)
  if (items.length === 0) throw malformed(keyword)
  return items
}

const allOf: Keyword = (on, operand, value, _schema, path, seen) =>
  nonEmpty(operand, "allOf").every((schema) => on.evaluate(schema, value, path, seen))

const anyOf: Keyword = (on, operand, value, _schema, path, seen) => {
  let holds = false
  for (const schema of nonEmpty(operand, "anyOf")) {
    holds = on.evaluate(schema, value, path, seen) || holds
    // for `unevaluated…` all branches count and not only the first that holds
    if (holds && seen === undefined) return true
  }
  return holds || fail(on, path, "none of the alternatives matches")
}

const oneOf: Keyword = (on, operand, value, _schema, path, seen) => {
  let holding: Seen | true | undefined
  for (const schema of nonEmpty(operand, "oneOf")) {
    const local = seen === undefined ? undefined : emptySeen()
    if (!exactly(on, schema, value, path, local)) continue
    if (holding !== undefined) return fail(on, path, "more than one of the alternatives matches")
    holding = local ?? true
  }
  if (holding === undefined) return fail(on, path, "none of the alternatives matches")
  if (seen !== undefined && holding !== true) mergeSeen(seen, holding)
  return true
}

const not: Keyword = (on, operand, value, _schema, path) =>
  !exactly(on, operand, value, path, undefined) || fail(on, path, "matches the schema in `not`")

const conditional: Keyword = (on, operand, value, schema, path, seen) => {
  const branch = exactly(on, operand, value, path, seen) ? schema["then"] : schema["else"]
  return branch === undefined || on.evaluate(branch, value, path, seen)
}

/** Only references into the schema itself are followed; nothing is ever fetched. */
const reference: Keyword = (on, operand, value, _schema, path, seen) => {
  if (typeof operand !== "string") throw malformed("$ref")
  if (localPointer(on.root, operand) === undefined) throw new Unchecked("it refers to a place outside the schema")
  spend(on, operand.length / 16)
  const target = pointed(on.root, operand)
  if (target === undefined) throw new Unchecked("it refers to a place that does not exist")
  return on.evaluate(target, value, path, seen)
}

const unsupported: Keyword = () => {
  throw new Unchecked("it uses dynamic references")
}

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
  if (typeof a !== "object" || typeof b !== "object") return false
  const [one, other] = [canonicalJson(a), canonicalJson(b)]
  spend(on, (one.length + other.length) / 16)
  return one === other
}

const enumeration: Keyword = (on, operand, value, _schema, path) =>
  nonEmpty(operand, "enum").some((member) => equal(on, member, value)) ||
  fail(on, path, "not one of the values allowed")

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
  return isExact || fail(on, path, `not a multiple of ${divisor}`)
}

/** The code points of a text. */
const characters = (value: unknown, on: Evaluation): number | undefined => {
  if (typeof value !== "string") return undefined
  spend(on, value.length / 64)
  let count = 0
  for (let at = 0; at < value.length; at += value.codePointAt(at)! > 0xffff ? 2 : 1) count++
  return count
}

const pattern: Keyword = (on, operand, value, _schema, path) => {
  if (typeof operand !== "string") throw malformed("pattern")
  if (typeof value !== "string") return true
  spend(on, 1 + value.length)
  const holds = on.matches(operand, value)
  if (holds !== undefined) return holds || fail(on, path, "does not match the pattern")
  if (on.exact > 0) throw new Unchecked(unsupportedPattern)
  on.assumed = true
  return true
}

/** Judges the items from an index on, each by the schema of its index. */
const evaluateItems = (
  on: Evaluation,
  schemaOf: (index: number) => unknown,
  items: ReadonlyArray<unknown>,
  from: number,
  path: Path | undefined,
  seen: Seen | undefined
): boolean => {
  for (let index = from; index < items.length; index++) {
    if (!on.evaluate(schemaOf(index), items[index], { parent: path, key: index }, undefined)) return false
  }
  if (seen !== undefined) seen.items = Math.max(seen.items, items.length)
  return true
}

const prefixItems: Keyword = (on, operand, value, _schema, path, seen) => {
  const schemas = asArray(operand, "prefixItems")
  if (!Array.isArray(value)) return true
  return evaluateItems(on, (index) => schemas[index], value.slice(0, schemas.length), 0, path, seen)
}

const items: Keyword = (on, operand, value, schema, path, seen) => {
  if (!Array.isArray(value)) return true
  if (Array.isArray(operand)) return prefixItems(on, operand, value, schema, path, seen)
  const prefix = schema["prefixItems"]
  return evaluateItems(on, () => operand, value, Array.isArray(prefix) ? prefix.length : 0, path, seen)
}

const additionalItems: Keyword = (on, operand, value, schema, path, seen) => {
  const first = schema["items"]
  if (!Array.isArray(value) || !Array.isArray(first)) return true
  return evaluateItems(on, () => operand, value, first.length, path, seen)
}

const contains: Keyword = (on, operand, value, schema, path, seen) => {
  if (!Array.isArray(value)) return true
  const min = schema["minContains"] === undefined ? 1 : asNumber(schema["minContains"], "minContains")
  const max = schema["maxContains"] === undefined ? Infinity : asNumber(schema["maxContains"], "maxContains")
  let count = 0
  for (let index = 0; index < value.length; index++) {
    if (!exactly(on, operand, value[index], { parent: path, key: index }, undefined)) continue
    count++
    seen?.indexes.add(index)
  }
  return (count >= min && count <= max) || fail(on, path, `contains ${count} of the items required`)
}

const uniqueItems: Keyword = (on, operand, value, _schema, path) => {
  if (typeof operand !== "boolean") throw malformed("uniqueItems")
  if (!operand || !Array.isArray(value)) return true
  const texts = new Set<string>()
  for (let index = 0; index < value.length; index++) {
    const text = canonicalJson(value[index])
    spend(on, 1 + text.length / 4)
    texts.add(text)
    if (texts.size <= index) return fail(on, { parent: path, key: index }, "equal to an earlier item")
  }
  return true
}

const unevaluatedItems: Keyword = (on, operand, value, _schema, path, seen) => {
  if (!Array.isArray(value) || seen === undefined) return true
  for (let index = seen.items; index < value.length; index++) {
    if (seen.indexes.has(index)) continue
    if (!on.evaluate(operand, value[index], { parent: path, key: index }, undefined)) return false
  }
  seen.items = Infinity
  return true
}

const lengthOf = (value: unknown): number | undefined => Array.isArray(value) ? value.length : undefined

/** Fails for the first required property that the value lacks. */
const requires = (
  on: Evaluation,
  names: ReadonlyArray<unknown>,
  value: { readonly [key: string]: unknown },
  path: Path | undefined
): boolean => {
  spend(on, names.length / 8)
  for (const name of names) {
    if (typeof name !== "string") throw malformed("required")
    if (!Object.hasOwn(value, name)) return fail(on, path, `lacks the property "${name}"`)
  }
  return true
}

const required: Keyword = (on, operand, value, _schema, path) => {
  const names = asArray(operand, "required")
  return !isObject(value) || requires(on, names, value, path)
}

const properties: Keyword = (on, operand, value, _schema, path, seen) => {
  const schemas = asObject(operand, "properties")
  if (!isObject(value)) return true
  for (const key of Object.keys(value)) {
    spend(on, 1)
    if (!Object.hasOwn(schemas, key)) continue
    if (!on.evaluate(schemas[key], value[key], { parent: path, key }, undefined)) return false
    seen?.properties.add(key)
  }
  return true
}

const matches = (on: Evaluation, pattern: string, key: string): boolean => {
  spend(on, 1 + key.length)
  const holds = on.matches(pattern, key)
  if (holds === undefined) throw new Unchecked(unsupportedPattern)
  return holds
}

const patternProperties: Keyword = (on, operand, value, _schema, path, seen) => {
  const schemas = Object.entries(asObject(operand, "patternProperties"))
  if (!isObject(value)) return true
  spend(on, schemas.length / 8)
  for (const key of Object.keys(value)) {
    for (const [pattern, schema] of schemas) {
      if (!matches(on, pattern, key)) continue
      if (!on.evaluate(schema, value[key], { parent: path, key }, undefined)) return false
      seen?.properties.add(key)
    }
  }
  return true
}

/** Applies a schema to the property of an object that no other keyword has declared. */
const undeclared = (
  on: Evaluation,
  schema: unknown,
  value: { readonly [key: string]: unknown },
  key: string,
  path: Path | undefined
): boolean =>
  schema === false
    ? fail(on, path, `has the property "${key}", which is not allowed`)
    : on.evaluate(schema, value[key], { parent: path, key }, undefined)

const additionalProperties: Keyword = (on, operand, value, schema, path, seen) => {
  if (!isObject(value)) return true
  const named = schema["properties"] === undefined ? {} : asObject(schema["properties"], "properties")
  const patterns = schema["patternProperties"] === undefined
    ? []
    : Object.keys(asObject(schema["patternProperties"], "patternProperties"))
  for (const key of Object.keys(value)) {
    spend(on, 1)
    if (Object.hasOwn(named, key) || patterns.some((pattern) => matches(on, pattern, key))) continue
    if (!undeclared(on, operand, value, key, path)) return false
    seen?.properties.add(key)
  }
  return true
}

const propertyNames: Keyword = (on, operand, value, _schema, path) =>
  !isObject(value) || Object.keys(value).every((key) => on.evaluate(operand, key, { parent: path, key }, undefined))

const dependent =
  (keyword: string, takes: { readonly lists: boolean; readonly schemas: boolean }): Keyword =>
  (on, operand, value, _schema, path, seen) => {
    const dependencies = asObject(operand, keyword)
    if (!isObject(value)) return true
    for (const [key, dependency] of Object.entries(dependencies)) {
      spend(on, 1)
      if (!Object.hasOwn(value, key)) continue
      const isList = Array.isArray(dependency)
      if (isList ? !takes.lists : !takes.schemas) throw malformed(keyword)
      if (!(isList ? requires(on, dependency, value, path) : on.evaluate(dependency, value, path, seen))) return false
    }
    return true
  }

const unevaluatedProperties: Keyword = (on, operand, value, _schema, path, seen) => {
  if (!isObject(value) || seen === undefined) return true
  for (const key of Object.keys(value)) {
    if (seen.properties.has(key)) continue
    if (!undeclared(on, operand, value, key, path)) return false
    seen.properties.add(key)
  }
  return true
}

const countOf = (value: unknown): number | undefined => isObject(value) ? Object.keys(value).length : undefined

/** The keywords, of which a schema applies its own in the order in which they stand in it. */
export const keywords: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ["type", type],
  ["enum", enumeration],
  ["const", constant],
  bound("minimum", (value, limit) => value >= limit),
  bound("maximum", (value, limit) => value <= limit),
  bound("exclusiveMinimum", (value, limit) => value > limit),
  bound("exclusiveMaximum", (value, limit) => value < limit),
  ["multipleOf", multipleOf],
  sized("minLength", characters, (size, limit) => size >= limit, (limit) => `shorter than ${limit} characters`),
  sized("maxLength", characters, (size, limit) => size <= limit, (limit) => `longer than ${limit} characters`),
  ["pattern", pattern],
  ["prefixItems", prefixItems],
  ["items", items],
  ["additionalItems", additionalItems],
  ["contains", contains],
  sized("minItems", lengthOf, (size, limit) => size >= limit, (limit) => `fewer than ${limit} items`),
  sized("maxItems", lengthOf, (size, limit) => size <= limit, (limit) => `more than ${limit} items`),
  ["uniqueItems", uniqueItems],
  ["required", required],
  ["properties", properties],
  ["patternProperties", patternProperties],
  ["additionalProperties", additionalProperties],
  ["propertyNames", propertyNames],
  sized("minProperties", countOf, (size, limit) => size >= limit, (limit) => `fewer than ${limit} properties`),
  sized("maxProperties", countOf, (size, limit) => size <= limit, (limit) => `more than ${limit} properties`),
  ["dependentRequired", dependent("dependentRequired", { lists: true, schemas: false })],
  ["dependentSchemas", dependent("dependentSchemas", { lists: false, schemas: true })],
  ["dependencies", dependent("dependencies", { lists: true, schemas: true })],
  ["allOf", allOf],
  ["anyOf", anyOf],
  ["oneOf", oneOf],
  ["not", not],
  ["if", conditional],
  ["$ref", reference],
  ["$dynamicRef", unsupported],
  ["$recursiveRef", unsupported]
])

/** The keywords that apply to what no other keyword of their schema has evaluated. */
export const unevaluated: ReadonlyArray<readonly [key: string, keyword: Keyword]> = [
  ["unevaluatedItems", unevaluatedItems],
  ["unevaluatedProperties", unevaluatedProperties]
]
