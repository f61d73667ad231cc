/**
 * Arguments that nobody can change any more.
 *
 * @internal
 */
import type * as JsonRpc from "../../../transport/JsonRpc.ts"

/** Deeper arguments are refused by whoever sends them. */
const maxDepth = 512

const isList = (value: JsonRpc.Json | undefined): value is ReadonlyArray<JsonRpc.Json> => Array.isArray(value)

const isObject = (value: JsonRpc.Json | undefined): value is JsonRpc.JsonObject =>
  typeof value === "object" && value !== null && !isList(value)

const copy = (value: JsonRpc.Json | undefined, depth: number): JsonRpc.Json | undefined => {
  if (depth > maxDepth) throw new RangeError("too deep")
  if (isList(value)) return value.map((one) => copy(one, depth + 1) ?? null)
  return isObject(value) ? object(value, depth) : value
}

const object = (value: JsonRpc.JsonObject, depth: number): JsonRpc.JsonObject => {
  // what it will be sent as, and what is no JSON is told of by whoever sends it
  const plain = typeof value["toJSON"] === "function" ? JSON.parse(JSON.stringify(value)) as JsonRpc.JsonObject : value
  return Object.fromEntries(Object.entries(plain).map(([key, one]) => [key, copy(one, depth + 1)]))
}

/**
 * A copy of the arguments, or nothing if they are deeper than anybody can look.
 *
 * @internal
 */
export const copied = (args: JsonRpc.JsonObject): JsonRpc.JsonObject | undefined => {
  try {
    return object(args, 0)
  } catch {
    return undefined
  }
}
