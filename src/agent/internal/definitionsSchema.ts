/**
 * Schemas of servers in the form that APIs of models take: of the draft of 2020-12, with known keywords only, and with an
 * object at the root. What cannot be said in that form is left out, for the server judges its arguments anyway.
 *
 * @internal
 */
import { entriesOf, type Holds, keywords as allKeywords, listOf, pointed, textsOf } from "../../json/schema.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"

/** So many schemas one schema may become by inlining, and so deep may they lie in each other. */
const most = { schemas: 5000, depth: 64 }

/** @internal */
export interface Options {
  /** Whether each `$ref` is replaced by what it means; where it leads back to itself, by a schema that takes anything. */
  readonly inline: boolean
}

type Mutable = Record<string, JsonRpc.Json | undefined>

/** Keywords whose meaning depends on the draft, or on the keywords beside them. */
const specialKeywords = new Set(
  "additionalItems dependencies enum example examples items required".split(" ")
)

const scalars = [
  ["text", "contentEncoding contentMediaType description pattern title"],
  ["count", "maxContains maxItems maxLength maxProperties minContains minItems minLength minProperties"],
  ["number", "exclusiveMaximum exclusiveMinimum maximum minimum"],
  ["flag", "deprecated readOnly uniqueItems writeOnly"]
] as const

/** Every keyword that is kept, by what it holds; the special ones are not in it. */
const keywords: ReadonlyMap<string, Holds | (typeof scalars)[number][0]> = new Map([
  ...Array.from(allKeywords).filter(([keyword]) => !specialKeywords.has(keyword)),
  ...scalars.flatMap(([holds, keywords]) => keywords.split(" ").map((keyword) => [keyword, holds] as const))
])

const types = new Set(["array", "boolean", "integer", "null", "number", "object", "string"])

const formats = new Set(
  ("date date-time duration email hostname idn-email idn-hostname ipv4 ipv6 iri iri-reference json-pointer regex " +
    "relative-json-pointer time uri uri-reference uri-template uuid").split(" ")
)

/** A key may be `__proto__`, and is then a key like any other. @internal */
export const fromEntries = (
  entries: Iterable<readonly [string, JsonRpc.Json | undefined]>
): JsonRpc.JsonObject => Object.fromEntries(entries)

/** @internal */
export const same = (a: JsonRpc.Json | undefined, b: JsonRpc.Json | undefined): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b)

const typeOf = (type: JsonRpc.Json | undefined, nullable: boolean): JsonRpc.Json | undefined => {
  const known = (typeof type === "string" ? [type] : textsOf(type)).filter((one) => types.has(one))
  if (known.length === 0) return undefined
  if (nullable && !known.includes("null")) known.push("null")
  return known.length === 1 && typeof type === "string" ? known[0] : known
}

/** References that are kept, as they lead to the same place in what we make. */
const keepable = /^#\/(\$defs|definitions)\/[^/~%]+$/

/** Definitions that nothing leads to are gone with inlining. */
const definitionKeys = new Set(["$defs", "definitions"])

/** @internal */
export const make = (source: JsonRpc.JsonObject, { inline }: Options): JsonRpc.JsonObject => {
  let schemas = 0

  const schema = (value: JsonRpc.Json, depth: number, within: ReadonlyArray<string>): JsonRpc.JsonObject => {
    if (value === false) return { not: {} }
    if (!JsonRpc.isObject(value) || depth > most.depth || ++schemas > most.schemas) return {}
    const ref = value["$ref"]
    if (typeof ref !== "string") return plain(value, depth, within)
    const { $ref: _, ...beside } = value
    const isKept = ref === "#" || (keepable.test(ref) && pointed(source, ref) !== undefined)
    if (isKept && !inline) return { $ref: ref, ...plain(beside, depth, within) }
    const target = pointed(source, ref)
    const rest = plain(beside, depth, within)
    return target === undefined || within.includes(ref)
      ? rest
      : { ...schema(target, depth + 1, [...within, ref]), ...rest }
  }

  const plain = (value: JsonRpc.JsonObject, depth: number, within: ReadonlyArray<string>): JsonRpc.JsonObject => {
    const out: Mutable = {}
    const inner = (one: JsonRpc.Json) => schema(one, depth + 1, within)
    const type = typeOf(value["type"], value["nullable"] === true)
    if (type !== undefined) out["type"] = type
    for (const [key, one] of entriesOf(value)) {
      if (inline && definitionKeys.has(key)) continue
      switch (keywords.get(key)) {
        case "schema":
          if (typeof one === "boolean") out[key] = one
          else if (JsonRpc.isObject(one)) out[key] = inner(one)
          break
        case "schemas":
          if (listOf(one).length > 0) out[key] = listOf(one).map(inner)
          break
        case "map":
          if (JsonRpc.isObject(one)) out[key] = fromEntries(entriesOf(one).map(([name, each]) => [name, inner(each)]))
          break
        case "text":
          if (typeof one === "string") out[key] = one
          break
        case "count":
          if (typeof one === "number" && Number.isInteger(one) && one >= 0) out[key] = one
          break
        case "number":
          if (typeof one === "number") out[key] = one
          break
        case "flag":
          if (typeof one === "boolean") out[key] = one
          break
        case "data":
          out[key] = one
          break
      }
    }
    special(value, out, inner)
    return out
  }

  return schema(source, 0, [])
}

/** Keywords that older drafts wrote otherwise, or that hold more than a value. */
const special = (
  value: JsonRpc.JsonObject,
  out: Mutable,
  inner: (one: JsonRpc.Json) => JsonRpc.JsonObject
): void => {
  const { dependencies, enum: choices, examples, format, items, multipleOf } = value
  if (typeof format === "string" && formats.has(format)) out["format"] = format
  if (typeof multipleOf === "number" && multipleOf > 0) out["multipleOf"] = multipleOf
  if (Array.isArray(examples)) out["examples"] = examples
  if (listOf(choices).length > 0) out["enum"] = unique(listOf(choices))
  const required = textsOf(value["required"])
  if (required.length > 0) out["required"] = required
  for (const [limit, exclusive] of [["minimum", "exclusiveMinimum"], ["maximum", "exclusiveMaximum"]] as const) {
    if (value[exclusive] !== true || typeof out[limit] !== "number") continue
    out[exclusive] = out[limit]
    delete out[limit]
  }
  if (Array.isArray(items)) {
    if (items.length > 0) out["prefixItems"] = listOf(items).map(inner)
    const more = value["additionalItems"]
    if (typeof more === "boolean") out["items"] = more
    else if (more !== undefined) out["items"] = inner(more)
  } else if (typeof items === "boolean") out["items"] = items ? {} : items
  else if (items !== undefined) out["items"] = inner(items)
  const isList = out["type"] === "array" || (Array.isArray(out["type"]) && out["type"].includes("array"))
  if (isList && out["items"] === undefined && out["prefixItems"] === undefined) out["items"] = {}
  const lists = entriesOf(dependencies ?? value["dependentRequired"]).filter(([, one]) => Array.isArray(one))
  if (lists.length > 0) out["dependentRequired"] = fromEntries(lists.map(([key, one]) => [key, textsOf(one)]))
  const others = entriesOf(dependencies).filter(([, one]) => !Array.isArray(one))
  if (others.length > 0) out["dependentSchemas"] = fromEntries(others.map(([key, one]) => [key, inner(one)]))
}

const unique = (values: ReadonlyArray<JsonRpc.Json>): ReadonlyArray<JsonRpc.Json> => {
  const seen = new Set<string>()
  return values.filter((value) => {
    const text = JSON.stringify(value)
    return !seen.has(text) && seen.add(text) !== undefined
  })
}
