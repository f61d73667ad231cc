import { equal } from "./equality.ts"
import { asArray, asNumber, type Evaluation, fail, type Keyword, malformed, spend, Unchecked } from "./evaluation.ts"

const typeOf = (value: unknown): string => value === null ? "null" : Array.isArray(value) ? "array" : typeof value

const names: ReadonlySet<unknown> = new Set(["null", "boolean", "number", "integer", "string", "array", "object"])

const isOfType = (value: unknown, type: unknown): boolean => {
  if (!names.has(type)) throw malformed("type")
  return type === "integer" ? Number.isInteger(value) : typeOf(value) === type
}

const type: Keyword = (on, operand, value, schema, path) => {
  if (value === null && schema["nullable"] === true) return true
  const types: ReadonlyArray<unknown> = Array.isArray(operand) ? operand : [operand]
  spend(on, types.length / 8)
  return types.some((type) => isOfType(value, type)) ||
    fail(on, path, `expected ${types.join(" or ")}, got ${typeOf(value)}`)
}

const enumeration: Keyword = (on, operand, value, _schema, path) => {
  const members = asArray(operand, "enum")
  if (members.length === 0) throw malformed("enum")
  return members.some((member) => equal(on, member, value)) || fail(on, path, "not one of the values allowed")
}

const constant: Keyword = (on, operand, value, _schema, path) =>
  equal(on, operand, value) || fail(on, path, "not the value required")

const bound = (keyword: string, holds: (value: number, bound: number) => boolean): Keyword =>
(
  on,
  operand,
  value,
  _schema,
  path
) => {
  const limit = asNumber(operand, keyword)
  return typeof value !== "number" || holds(value, limit) || fail(on, path, `violates ${keyword} ${limit}`)
}

const multipleOf: Keyword = (on, operand, value, _schema, path) => {
  const divisor = asNumber(operand, "multipleOf")
  if (divisor <= 0) throw malformed("multipleOf")
  if (typeof value !== "number") return true
  const quotient = value / divisor
  if (!Number.isFinite(quotient)) throw new Unchecked("its \"multipleOf\" is beyond exact arithmetic")
  // 0.3 is a multiple of 0.1, whatever their binary forms say.
  const exact = Math.abs(quotient - Math.round(quotient)) <= Math.abs(quotient) * 1e-12
  return exact || fail(on, path, `no multiple of ${divisor}`)
}

// A character is a code point, so a text has between half as many and exactly as many as its length.
const characters = (on: Evaluation, text: string): number => {
  spend(on, text.length / 64)
  let count = text.length
  for (let i = 0; i < text.length - 1; i++) {
    const high = text.charCodeAt(i)
    if (high < 0xd800 || high > 0xdbff) continue
    const low = text.charCodeAt(i + 1)
    if (low < 0xdc00 || low > 0xdfff) continue
    count--
    i++
  }
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

/** @internal */
export const scalars: ReadonlyArray<readonly [string, Keyword]> = [
  ["type", type],
  ["enum", enumeration],
  ["const", constant],
  ["minimum", bound("minimum", (value, limit) => value >= limit)],
  ["maximum", bound("maximum", (value, limit) => value <= limit)],
  ["exclusiveMinimum", bound("exclusiveMinimum", (value, limit) => value > limit)],
  ["exclusiveMaximum", bound("exclusiveMaximum", (value, limit) => value < limit)],
  ["multipleOf", multipleOf],
  ["minLength", minLength],
  ["maxLength", maxLength],
  ["pattern", pattern]
]
