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
  if (typeof value === "bigint") throw new TypeError("not JSON")
  if (isList(value)) return value.map((one) => copy(one, depth + 1) ?? null)
  if (!isObject(value)) return value
  if (typeof value["toJSON"] !== "function") return object(value, depth)
  // `toJSON` is called once, because its result must be both shown and sent; without a result the key is left out
  const text = JSON.stringify(value) as string | undefined
  return text === undefined ? undefined : copy(JSON.parse(text), depth)
}

const object = (value: JsonRpc.JsonObject, depth: number): JsonRpc.JsonObject =>
  Object.fromEntries(Object.entries(value).map(([key, one]) => [key, copy(one, depth + 1)]))

/**
 * A copy of the arguments; `undefined` if they are too deep, or no JSON.
 *
 * @internal
 */
export const copied = (args: JsonRpc.JsonObject): JsonRpc.JsonObject | undefined => {
  try {
    const all = copy(args, 0)
    return isObject(all) ? all : undefined
  } catch {
    return undefined
  }
}
