/** JSON values: their types, and the check that a caller's value is one. */

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

/** The first fault of a value that is to be sent as JSON, within `maxNodes` array items and object keys. */
export const notJson = (value: unknown, maxNodes: number, path: string): Fault | undefined => {
  let nodes = 0
  const visit = (given: unknown, key: string, path: string, depth: number): Fault | undefined => {
    const value = written(given, key)
    if (typeof value !== "object" || value === null) {
      const detail = scalarFault(value)
      return detail === undefined ? undefined : { path, detail }
    }
    if (depth > maxDepth) return { path: path.slice(0, 64), detail: `cyclic, or nested more than ${maxDepth} levels` }
    for (const [key, item] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
      if (++nodes > maxNodes) return { path: "", detail: "larger than the message limit" }
      const fault = visit(item, `${key}`, `${path}/${key}`, depth + 1)
      if (fault !== undefined) return fault
    }
    return undefined
  }
  try {
    return visit(value, "", path, 0)
  } catch {
    return { path, detail: "a getter or a toJSON method of it has thrown" }
  }
}

/** `notJson` for the arguments of a call, which must be an object. */
export const argumentsFault = (args: unknown, maxNodes: number): Fault | undefined =>
  notJson(args, maxNodes, "arguments") ??
    (isObject(written(args, "")) ? undefined : { path: "arguments", detail: "not an object" })

/** Casts arguments to JSON, which is safe only after `argumentsFault`; each call passes it before it is sent. */
export const unchecked = (args: object): JsonObject => args as JsonObject
