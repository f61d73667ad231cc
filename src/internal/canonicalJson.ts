import type * as JsonRpc from "../transport/JsonRpc.ts"

const byCodeUnits = (one: string, other: string): number => one < other ? -1 : one > other ? 1 : 0

/**
 * The one way to write a JSON value: equal for equal values, whatever the order of their keys.
 *
 * @internal
 */
export const canonicalJson = (value: JsonRpc.Json): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const entries = Object.entries(value).toSorted(([one], [other]) => byCodeUnits(one, other))
  return `{${
    entries.flatMap(([key, one]) => one === undefined ? [] : [`${JSON.stringify(key)}:${canonicalJson(one)}`]).join()
  }}`
}
