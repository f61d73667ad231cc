import * as JsonRpc from "../../../transport/JsonRpc.ts"
import { type Evaluation, spend } from "./evaluation.ts"

/** @internal */
export const equal = (on: Evaluation, a: unknown, b: unknown): boolean => {
  spend(on, 1)
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equal(on, item, b[index]))
  }
  if (!JsonRpc.isObject(a) || !JsonRpc.isObject(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(on, a[key], b[key]))
}

/**
 * A text that two values share exactly if they are equal.
 *
 * @internal
 */
export const canonical = (on: Evaluation, value: unknown): string => {
  spend(on, 1)
  if (Array.isArray(value)) return `[${value.map((item) => canonical(on, item)).join(",")}]`
  if (!JsonRpc.isObject(value)) return typeof value === "string" ? JSON.stringify(value) : String(value)
  const entries = Object.keys(value).toSorted().map((key) => `${JSON.stringify(key)}:${canonical(on, value[key])}`)
  return `{${entries.join(",")}}`
}
