/** The keywords of a JSON Schema that judge arrays and objects. */
import { canonicalJson } from "./canonical.ts"
import {
  asArray,
  asNumber,
  asObject,
  type Evaluation,
  fail,
  type Keyword,
  type Keywords,
  malformed,
  type Path,
  type Seen,
  sized,
  spend
} from "./evaluation.ts"
import { isObject } from "./Json.ts"

/** One schema per position. */
const tuple = (
  on: Evaluation,
  schemas: ReadonlyArray<unknown>,
  items: ReadonlyArray<unknown>,
  path: Path | undefined,
  seen: Seen | undefined
): boolean => {
  const count = Math.min(schemas.length, items.length)
  for (let index = 0; index < count; index++) {
    if (!on.evaluate(schemas[index], items[index], { parent: path, key: index }, undefined)) return false
  }
  if (seen !== undefined) seen.items = Math.max(seen.items, count)
  return true
}

/** One schema for all items from an index on. */
const rest = (
  on: Evaluation,
  schema: unknown,
  items: ReadonlyArray<unknown>,
  from: number,
  path: Path | undefined,
  seen: Seen | undefined
): boolean => {
  for (let index = from; index < items.length; index++) {
    if (!on.evaluate(schema, items[index], { parent: path, key: index }, undefined)) return false
  }
  if (seen !== undefined) seen.items = Infinity
  return true
}

const prefixItems: Keyword = (on, operand, value, _schema, path, seen) => {
  const schemas = asArray(operand, "prefixItems")
  return !Array.isArray(value) || tuple(on, schemas, value, path, seen)
}

const items: Keyword = (on, operand, value, schema, path, seen) => {
  if (!Array.isArray(value)) return true
  if (Array.isArray(operand)) return tuple(on, operand, value, path, seen)
  const prefix = schema["prefixItems"]
  return rest(on, operand, value, Array.isArray(prefix) ? prefix.length : 0, path, seen)
}

const additionalItems: Keyword = (on, operand, value, schema, path, seen) => {
  const first = schema["items"]
  return !Array.isArray(value) || !Array.isArray(first) || rest(on, operand, value, first.length, path, seen)
}

const contains: Keyword = (on, operand, value, schema, path, seen) => {
  if (!Array.isArray(value)) return true
  const min = schema["minContains"] === undefined ? 1 : asNumber(schema["minContains"], "minContains")
  const max = schema["maxContains"] === undefined ? Infinity : asNumber(schema["maxContains"], "maxContains")
  let count = 0
  for (let index = 0; index < value.length; index++) {
    if (!on.evaluate(operand, value[index], { parent: path, key: index }, undefined)) continue
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
    if (texts.size <= index) return fail(on, { parent: path, key: index }, "the same as an item before it")
  }
  return true
}

export const unevaluatedItems: Keyword = (on, operand, value, _schema, path, seen) => {
  if (!Array.isArray(value) || seen === undefined) return true
  for (let index = seen.items; index < value.length; index++) {
    if (seen.indexes.has(index)) continue
    if (!on.evaluate(operand, value[index], { parent: path, key: index }, undefined)) return false
  }
  seen.items = Infinity
  return true
}

const lengthOf = (value: unknown): number | undefined => Array.isArray(value) ? value.length : undefined

export const arrays: Keywords = [
  ["prefixItems", prefixItems],
  ["items", items],
  ["additionalItems", additionalItems],
  ["contains", contains],
  sized("minItems", lengthOf, (size, limit) => size >= limit, (limit) => `fewer than ${limit} items`),
  sized("maxItems", lengthOf, (size, limit) => size <= limit, (limit) => `more than ${limit} items`),
  ["uniqueItems", uniqueItems]
]

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
  return on.matches(pattern, key)
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
    ? fail(on, path, `has the property "${key}", which is not declared`)
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

export const unevaluatedProperties: Keyword = (on, operand, value, _schema, path, seen) => {
  if (!isObject(value) || seen === undefined) return true
  for (const key of Object.keys(value)) {
    if (seen.properties.has(key)) continue
    if (!undeclared(on, operand, value, key, path)) return false
    seen.properties.add(key)
  }
  return true
}

const countOf = (value: unknown): number | undefined => isObject(value) ? Object.keys(value).length : undefined

export const objects: Keywords = [
  ["required", required],
  ["properties", properties],
  ["patternProperties", patternProperties],
  ["additionalProperties", additionalProperties],
  ["propertyNames", propertyNames],
  sized("minProperties", countOf, (size, limit) => size >= limit, (limit) => `fewer than ${limit} properties`),
  sized("maxProperties", countOf, (size, limit) => size <= limit, (limit) => `more than ${limit} properties`),
  ["dependentRequired", dependent("dependentRequired", { lists: true, schemas: false })],
  ["dependentSchemas", dependent("dependentSchemas", { lists: false, schemas: true })],
  ["dependencies", dependent("dependencies", { lists: true, schemas: true })]
]
