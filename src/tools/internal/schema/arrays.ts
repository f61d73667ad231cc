import { canonical } from "./equality.ts"
import {
  asArray,
  asNumber,
  type Evaluation,
  fail,
  type Keyword,
  malformed,
  type Path,
  type Seen
} from "./evaluation.ts"

// One schema per position; says how many items there were schemas for.
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

const minItems: Keyword = (on, operand, value, _schema, path) => {
  const limit = asNumber(operand, "minItems")
  return !Array.isArray(value) || value.length >= limit || fail(on, path, `fewer than ${limit} items`)
}

const maxItems: Keyword = (on, operand, value, _schema, path) => {
  const limit = asNumber(operand, "maxItems")
  return !Array.isArray(value) || value.length <= limit || fail(on, path, `more than ${limit} items`)
}

const uniqueItems: Keyword = (on, operand, value, _schema, path) => {
  if (typeof operand !== "boolean") throw malformed("uniqueItems")
  if (!operand || !Array.isArray(value)) return true
  const texts = new Set<string>()
  for (let index = 0; index < value.length; index++) {
    texts.add(canonical(on, value[index]))
    if (texts.size <= index) return fail(on, { parent: path, key: index }, "the same as an item before it")
  }
  return true
}

/** @internal */
export const unevaluatedItems: Keyword = (on, operand, value, _schema, path, seen) => {
  if (!Array.isArray(value) || seen === undefined) return true
  for (let index = seen.items; index < value.length; index++) {
    if (seen.indexes.has(index)) continue
    if (!on.evaluate(operand, value[index], { parent: path, key: index }, undefined)) return false
  }
  seen.items = Infinity
  return true
}

/** @internal */
export const arrays: ReadonlyArray<readonly [string, Keyword]> = [
  ["prefixItems", prefixItems],
  ["items", items],
  ["additionalItems", additionalItems],
  ["contains", contains],
  ["minItems", minItems],
  ["maxItems", maxItems],
  ["uniqueItems", uniqueItems]
]
