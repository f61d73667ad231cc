/** JSON values: their types, and the check that a caller's value is one. */
import * as Data from "effect/Data"
import * as Either from "effect/Either"

/** Any JSON value. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject

/** A JSON object. Its keys may come from a server, so read them with `Object.hasOwn` or a literal. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** Whether a value is an object and not an array. */
export const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Where a value is not JSON, and why. */
export interface Fault {
  readonly path: string
  readonly detail: string
}

/** Deeper values are refused, cyclic ones among them; a server could not read them either. */
const maxDepth = 512

const unwritable: ReadonlySet<string> = new Set(["bigint", "function", "symbol"])

/** Rejects values that `JSON.stringify` refuses, drops, or turns into `null` silently. */
const scalarFault = (value: unknown): string | undefined => {
  if (typeof value === "number" && !Number.isFinite(value)) return `${value} is not JSON`
  return unwritable.has(typeof value) ? `a ${typeof value} is not JSON` : undefined
}

/** The value that `JSON.stringify` writes in the place of this one. */
const written = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function"
    ? value.toJSON(key)
    : value

class NotJson extends Data.Error<Fault> {}

/**
 * A copy of an object as `JSON.stringify` writes it, or its first fault. The copy is what is judged and sent, because
 * `toJSON` methods and getters can give another value each time. It has at most `maxNodes` array items and object keys.
 */
export const toObject = (value: unknown, maxNodes: number, path: string): Either.Either<JsonObject, Fault> => {
  let nodes = 0
  const copy = (given: unknown, key: string, path: string, depth: number): unknown => {
    const value = written(given, key)
    if (typeof value !== "object" || value === null) {
      const detail = scalarFault(value)
      if (detail !== undefined) throw new NotJson({ path, detail })
      return value
    }
    if (depth > maxDepth) {
      throw new NotJson({ path: path.slice(0, 64), detail: `cyclic, or nested more than ${maxDepth} levels` })
    }
    nodes += Array.isArray(value) ? value.length : Object.keys(value).length
    if (nodes > maxNodes) throw new NotJson({ path: "", detail: "larger than the message limit" })
    const inside = (item: unknown, key: string) => copy(item, key, `${path}/${key}`, depth + 1)
    return Array.isArray(value)
      ? value.map((item, at) => inside(item, `${at}`))
      : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inside(item, key)]))
  }
  try {
    const copied = copy(value, "", path, 0)
    // the cast: everything that is not JSON is a fault
    return isObject(copied) ? Either.right(copied as JsonObject) : Either.left({ path, detail: "not an object" })
  } catch (error) {
    const detail = "one of its getters or toJSON methods threw an error"
    return Either.left(error instanceof NotJson ? { path: error.path, detail: error.detail } : { path, detail })
  }
}
