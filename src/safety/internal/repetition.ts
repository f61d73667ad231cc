// Servers are told to repeat structured content as text, for clients that know of text only. A model should read it once.

import type * as JsonRpc from "../../transport/JsonRpc.ts"

/** A longer text is not read for this. */
const longest = 2_000_000

const deepest = 128

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

const ownValue = (value: object, key: string): unknown => Object.getOwnPropertyDescriptor(value, key)?.value

const isSame = (one: unknown, other: unknown, depth = 0): boolean => {
  if (Object.is(one, other)) return true
  if (!isObject(one) || !isObject(other) || Array.isArray(one) !== Array.isArray(other) || depth > deepest) return false
  const keys = Object.keys(one)
  return keys.length === Object.keys(other).length
    && keys.every((key) => Object.hasOwn(other, key) && isSame(ownValue(one, key), ownValue(other, key), depth + 1))
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const brackets = /^\s{0,64}([[{])/

/** Whether a text is this value as JSON, or is the value. */
const says = (text: string, value: unknown): boolean => {
  if (typeof value === "string" && (text === value || text.trim() === value.trim())) return true
  if (!isObject(value)) return text.length <= 64 && text.trim() === String(value)
  const bracket = brackets.exec(text)?.[1]
  if (bracket !== (Array.isArray(value) ? "[" : "{")) return false
  return text.length > longest || isSame(parsed(text), value)
}

/** Whether texts, one after the other or one for each item, say what a value says. */
const say = (texts: ReadonlyArray<string>, value: unknown): boolean =>
  texts.some((text) => says(text, value))
  || (typeof value === "string" && texts.length > 1 && says(texts.join("\n"), value))
  || (Array.isArray(value) && value.length === texts.length && texts.every((text, at) => says(text, value[at])))

/**
 * Whether the texts of a result say already what its structured content says. Some servers put what is no object into an
 * object with one key.
 *
 * @internal
 */
export const repeats = (texts: ReadonlyArray<string>, structured: JsonRpc.Json): boolean => {
  if (texts.length === 0) return false
  if (say(texts, structured)) return true
  if (!isObject(structured) || Array.isArray(structured)) return false
  const [key, ...others] = Object.keys(structured)
  return key !== undefined && others.length === 0 && say(texts, ownValue(structured, key))
}
