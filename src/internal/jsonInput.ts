/**
 * Checks that a caller's values can be sent as JSON, because their types do not guarantee it.
 *
 * @internal
 */
import * as JsonRpc from "../transport/JsonRpc.ts"

/** @internal */
export interface Fault {
  readonly path: string
  readonly detail: string
}

// Cyclic values are deeper than any bound; a server could not read this deep either.
const maxDepth = 512

// What JSON.stringify would silently drop or turn into null is a mistake of the caller, and is told.
const scalarFault = (value: unknown): string | undefined => {
  switch (typeof value) {
    case "number":
      return Number.isFinite(value) ? undefined : `${value} is no JSON`
    case "bigint":
    case "function":
    case "symbol":
      return `a ${typeof value} is no JSON`
    default:
      return undefined
  }
}

/** @internal */
export const notJson = (value: unknown, maxNodes: number, path: string): Fault | undefined => {
  let nodes = 0
  const visit = (value: unknown, path: string, depth: number): Fault | undefined => {
    if (typeof value !== "object" || value === null) {
      const detail = scalarFault(value)
      return detail === undefined ? undefined : { path, detail }
    }
    if (depth > maxDepth) return { path: path.slice(0, 64), detail: `cyclic, or nested more than ${maxDepth} levels` }
    if (Array.isArray(value)) {
      nodes += value.length
      if (nodes > maxNodes) return { path: "", detail: "larger than the message limit" }
      for (let index = 0; index < value.length; index++) {
        const item: unknown = value[index]
        if (isPlain(item)) continue
        const fault = visit(item, `${path}/${index}`, depth + 1)
        if (fault !== undefined) return fault
      }
      return undefined
    }
    if ("toJSON" in value && typeof value.toJSON === "function") return undefined
    for (const [key, item] of Object.entries(value)) {
      if (++nodes > maxNodes) return { path: "", detail: "larger than the message limit" }
      if (isPlain(item)) continue
      const fault = visit(item, `${path}/${key}`, depth + 1)
      if (fault !== undefined) return fault
    }
    return undefined
  }
  return visit(value, path, 0)
}

const isPlain = (value: unknown): boolean =>
  typeof value === "string" || typeof value === "boolean" || value === null || value === undefined

/**
 * The same check for the arguments of a call, which must be an object.
 *
 * @internal
 */
export const argumentsFault = (args: unknown, maxNodes: number): Fault | undefined =>
  JsonRpc.isObject(args)
    ? notJson(args, maxNodes, "arguments")
    : { path: "arguments", detail: "not an object" }

/**
 * Casts arguments to JSON. The cast is safe only after the check, which every call passes before it is sent.
 *
 * @internal
 */
export const unchecked = (args: object): JsonRpc.JsonObject => args as JsonRpc.JsonObject
