import * as JsonRpc from "../../../transport/JsonRpc.ts"
import {
  asArray,
  asNumber,
  asObject,
  type Evaluation,
  fail,
  type Keyword,
  malformed,
  type Path,
  spend
} from "./evaluation.ts"

const missing = (
  on: Evaluation,
  names: ReadonlyArray<unknown>,
  value: { readonly [key: string]: unknown },
  path: Path | undefined
): boolean => {
  spend(on, names.length / 8)
  for (const name of names) {
    if (typeof name !== "string") throw malformed("required")
    if (!Object.hasOwn(value, name)) return !fail(on, path, `lacks the property "${name}"`)
  }
  return false
}

const required: Keyword = (on, operand, value, _schema, path) => {
  const names = asArray(operand, "required")
  return !JsonRpc.isObject(value) || !missing(on, names, value, path)
}

const properties: Keyword = (on, operand, value, _schema, path, seen) => {
  const schemas = asObject(operand, "properties")
  if (!JsonRpc.isObject(value)) return true
  for (const key of Object.keys(value)) {
    spend(on, 1)
    if (!Object.hasOwn(schemas, key)) continue
    if (!on.evaluate(schemas[key], value[key], { parent: path, key }, undefined)) return false
    seen?.properties.add(key)
  }
  return true
}

const matching = (on: Evaluation, pattern: string, key: string): boolean => {
  spend(on, 1 + key.length)
  return on.matches(pattern, key)
}

const patternProperties: Keyword = (on, operand, value, _schema, path, seen) => {
  const schemas = Object.entries(asObject(operand, "patternProperties"))
  if (!JsonRpc.isObject(value)) return true
  spend(on, schemas.length / 8)
  for (const key of Object.keys(value)) {
    for (const [pattern, schema] of schemas) {
      if (!matching(on, pattern, key)) continue
      if (!on.evaluate(schema, value[key], { parent: path, key }, undefined)) return false
      seen?.properties.add(key)
    }
  }
  return true
}

const additionalProperties: Keyword = (on, operand, value, schema, path, seen) => {
  if (!JsonRpc.isObject(value)) return true
  const named = schema["properties"] === undefined ? {} : asObject(schema["properties"], "properties")
  const patterns = schema["patternProperties"] === undefined
    ? []
    : Object.keys(asObject(schema["patternProperties"], "patternProperties"))
  for (const key of Object.keys(value)) {
    spend(on, 1)
    if (Object.hasOwn(named, key) || patterns.some((pattern) => matching(on, pattern, key))) continue
    if (operand === false) return fail(on, path, `has the property "${key}", which is not declared`)
    if (!on.evaluate(operand, value[key], { parent: path, key }, undefined)) return false
    seen?.properties.add(key)
  }
  return true
}

const propertyNames: Keyword = (on, operand, value, _schema, path) =>
  !JsonRpc.isObject(value) ||
  Object.keys(value).every((key) => on.evaluate(operand, key, { parent: path, key }, undefined))

const minProperties: Keyword = (on, operand, value, _schema, path) => {
  const limit = asNumber(operand, "minProperties")
  return !JsonRpc.isObject(value) || Object.keys(value).length >= limit ||
    fail(on, path, `fewer than ${limit} properties`)
}

const maxProperties: Keyword = (on, operand, value, _schema, path) => {
  const limit = asNumber(operand, "maxProperties")
  return !JsonRpc.isObject(value) || Object.keys(value).length <= limit ||
    fail(on, path, `more than ${limit} properties`)
}

const dependent =
  (keyword: string, lists: boolean, schemas: boolean): Keyword => (on, operand, value, _schema, path, seen) => {
    const dependencies = asObject(operand, keyword)
    if (!JsonRpc.isObject(value)) return true
    for (const [key, dependency] of Object.entries(dependencies)) {
      spend(on, 1)
      if (!Object.hasOwn(value, key)) continue
      const list = Array.isArray(dependency)
      if (list ? !lists : !schemas) throw malformed(keyword)
      if (list ? missing(on, dependency, value, path) : !on.evaluate(dependency, value, path, seen)) return false
    }
    return true
  }

/** @internal */
export const unevaluatedProperties: Keyword = (on, operand, value, _schema, path, seen) => {
  if (!JsonRpc.isObject(value) || seen === undefined) return true
  for (const key of Object.keys(value)) {
    if (seen.properties.has(key)) continue
    if (operand === false) return fail(on, path, `has the property "${key}", which is not declared`)
    if (!on.evaluate(operand, value[key], { parent: path, key }, undefined)) return false
    seen.properties.add(key)
  }
  return true
}

/** @internal */
export const objects: ReadonlyArray<readonly [string, Keyword]> = [
  ["required", required],
  ["properties", properties],
  ["patternProperties", patternProperties],
  ["additionalProperties", additionalProperties],
  ["propertyNames", propertyNames],
  ["minProperties", minProperties],
  ["maxProperties", maxProperties],
  ["dependentRequired", dependent("dependentRequired", true, false)],
  ["dependentSchemas", dependent("dependentSchemas", false, true)],
  ["dependencies", dependent("dependencies", true, true)]
]
