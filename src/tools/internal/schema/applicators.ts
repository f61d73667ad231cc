import * as JsonRpc from "../../../transport/JsonRpc.ts"
import {
  asSchemas,
  emptySeen,
  type Evaluation,
  fail,
  type Keyword,
  malformed,
  mergeSeen,
  type Seen,
  spend,
  Unchecked
} from "./evaluation.ts"

const allOf: Keyword = (on, operand, value, _schema, path, seen) =>
  asSchemas(operand, "allOf").every((schema) => on.evaluate(schema, value, path, seen))

// Where `unevaluated…` asks what was looked at, all branches count and not only the first that holds.
const anyOf: Keyword = (on, operand, value, _schema, path, seen) => {
  let holds = false
  for (const schema of asSchemas(operand, "anyOf")) {
    holds = on.evaluate(schema, value, path, seen) || holds
    if (holds && seen === undefined) return true
  }
  return holds || fail(on, path, "none of the alternatives holds")
}

const oneOf: Keyword = (on, operand, value, _schema, path, seen) => {
  let holding: Seen | true | undefined
  for (const schema of asSchemas(operand, "oneOf")) {
    const local = seen === undefined ? undefined : emptySeen()
    if (!on.evaluate(schema, value, path, local)) continue
    if (holding !== undefined) return fail(on, path, "more than one of the alternatives holds")
    holding = local ?? true
  }
  if (holding === undefined) return fail(on, path, "none of the alternatives holds")
  if (seen !== undefined && holding !== true) mergeSeen(seen, holding)
  return true
}

const not: Keyword = (on, operand, value, _schema, path) =>
  !on.evaluate(operand, value, path, undefined) || fail(on, path, "is what it must not be")

const conditional: Keyword = (on, operand, value, schema, path, seen) => {
  const branch = on.evaluate(operand, value, path, seen) ? schema["then"] : schema["else"]
  return branch === undefined || on.evaluate(branch, value, path, seen)
}

const unescape = (token: string): string => {
  const text = token.replaceAll("~1", "/").replaceAll("~0", "~")
  if (!text.includes("%")) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

// Only places inside the schema itself: nothing is ever fetched.
const resolve = (on: Evaluation, ref: unknown): unknown => {
  if (typeof ref !== "string") throw malformed("$ref")
  const id = JsonRpc.isObject(on.root) && typeof on.root["$id"] === "string" ? on.root["$id"] : undefined
  const local = id !== undefined && ref.startsWith(`${id}#`) ? ref.slice(id.length) : ref
  if (local === "#" || local === id) return on.root
  if (!local.startsWith("#/")) throw new Unchecked("it refers to a place outside of it")
  let node: unknown = on.root
  spend(on, local.length / 16)
  for (const token of local.slice(2).split("/")) {
    const key = unescape(token)
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) {
      throw new Unchecked("it refers to a place that does not exist")
    }
    node = (node as { readonly [key: string]: unknown })[key] // an array's items are own properties too
  }
  return node
}

const reference: Keyword = (on, operand, value, _schema, path, seen) =>
  on.evaluate(resolve(on, operand), value, path, seen)

const unsupported: Keyword = () => {
  throw new Unchecked("it uses dynamic references")
}

/** @internal */
export const applicators: ReadonlyArray<readonly [string, Keyword]> = [
  ["allOf", allOf],
  ["anyOf", anyOf],
  ["oneOf", oneOf],
  ["not", not],
  ["if", conditional],
  ["$ref", reference],
  ["$dynamicRef", unsupported],
  ["$recursiveRef", unsupported]
]
