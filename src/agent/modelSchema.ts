/**
 * The JSON Schema of a tool's arguments as APIs take it: known keywords only, and at the root an object with properties in
 * place of a choice between schemas. The choice becomes one object with the properties of all, and a sentence.
 */
import { isObject, type Json, type JsonObject } from "../json/Json.ts"
import { entriesOf, type Holds, keywords as allKeywords, listOf, pointed, textsOf } from "../json/schema.ts"

/** The schemas that inlining may make of one, and how deep they may be nested. */
const maxSchemas = 5000
const maxDepth = 64

export interface Options {
  /** Replaces each `$ref` by its target; one that leads back to itself, by a schema that takes anything. */
  readonly inline: boolean
}

type Mutable = Record<string, Json | undefined>

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

/** The keywords that are kept, but for the special ones, by the kind of their value. */
const keywords: ReadonlyMap<string, Holds | (typeof scalars)[number][0]> = new Map([
  ...Array.from(allKeywords).filter(([keyword]) => !specialKeywords.has(keyword)),
  ...scalars.flatMap(([holds, keywords]) => keywords.split(" ").map((keyword) => [keyword, holds] as const))
])

const types = new Set(["array", "boolean", "integer", "null", "number", "object", "string"])

const formats = new Set(
  ("date date-time duration email hostname idn-email idn-hostname ipv4 ipv6 iri iri-reference json-pointer regex " +
    "relative-json-pointer time uri uri-reference uri-template uuid").split(" ")
)

/** Takes `__proto__` for a key like any other. */
export const fromEntries = (
  entries: Iterable<readonly [string, Json | undefined]>
): JsonObject => Object.fromEntries(entries)

const same = (a: Json | undefined, b: Json | undefined): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)

const typeOf = (type: Json | undefined, nullable: boolean): Json | undefined => {
  const known = (typeof type === "string" ? [type] : textsOf(type)).filter((one) => types.has(one))
  if (known.length === 0) return undefined
  if (nullable && !known.includes("null")) known.push("null")
  return known.length === 1 && typeof type === "string" ? known[0] : known
}

/** References that are kept, because they lead to the same place in the result. */
const keepable = /^#\/(\$defs|definitions)\/[^/~%]+$/

/** Left out with inlining, because nothing refers to them. */
const definitionKeys = new Set(["$defs", "definitions"])

const withKnownKeywords = (source: JsonObject, { inline }: Options): JsonObject => {
  let schemas = 0

  const schema = (value: Json, depth: number, within: ReadonlyArray<string>): JsonObject => {
    if (value === false) return { not: {} }
    if (!isObject(value) || depth > maxDepth || ++schemas > maxSchemas) return {}
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

  const plain = (value: JsonObject, depth: number, within: ReadonlyArray<string>): JsonObject => {
    const out: Mutable = {}
    const inner = (one: Json) => schema(one, depth + 1, within)
    const type = typeOf(value["type"], value["nullable"] === true)
    if (type !== undefined) out["type"] = type
    for (const [key, one] of entriesOf(value)) {
      if (inline && definitionKeys.has(key)) continue
      switch (keywords.get(key)) {
        case "schema":
          if (typeof one === "boolean") out[key] = one
          else if (isObject(one)) out[key] = inner(one)
          break
        case "schemas":
          if (listOf(one).length > 0) out[key] = listOf(one).map(inner)
          break
        case "map":
          if (isObject(one)) out[key] = fromEntries(entriesOf(one).map(([name, each]) => [name, inner(each)]))
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

/** Keywords whose form depends on the draft, and those whose values are checked. */
const special = (
  value: JsonObject,
  out: Mutable,
  inner: (one: Json) => JsonObject
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

const unique = (values: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const seen = new Set<string>()
  return values.filter((value) => {
    const text = JSON.stringify(value)
    return !seen.has(text) && seen.add(text) !== undefined
  })
}

/** Keywords that must not be at the root. */
const forbidden = new Set(["$ref", "allOf", "anyOf", "const", "enum", "not", "oneOf", "type"])

/** The nesting and the number of choices that are read. */
const maxChoices = 1000
const maxNesting = 16

interface Part {
  readonly properties: Map<string, Json>
  readonly required: ReadonlyArray<string>
  readonly description: string | undefined
}

const joined = (into: Map<string, Json>, [name, schema]: readonly [string, Json], by: string): void => {
  const before = into.get(name)
  if (before === undefined) into.set(name, schema)
  else if (!same(before, schema)) into.set(name, { [by]: [before, schema] })
}

const object = (schema: JsonObject): JsonObject => {
  let parts = 0

  const part = (value: JsonObject, depth: number): Part => {
    const properties = new Map(entriesOf(value["properties"]))
    const required = new Set(textsOf(value["required"]))
    const notes: Array<string> = []
    let description = typeof value["description"] === "string" ? value["description"] : undefined
    const inner = (one: Json): Part =>
      depth < maxNesting && isObject(one) && ++parts <= maxChoices ? part(one, depth + 1) : nothing

    const ref = value["$ref"]
    const referred = typeof ref === "string" && ref !== "#" ? pointed(schema, ref) : undefined
    for (const all of [...(referred === undefined ? [] : [referred]), ...listOf(value["allOf"])].map(inner)) {
      for (const one of all.properties) joined(properties, one, "allOf")
      for (const name of all.required) required.add(name)
      description ??= all.description
    }
    for (const key of ["anyOf", "oneOf"]) {
      const branches = listOf(value[key]).map(inner).filter(({ properties, required }) =>
        properties.size > 0 || required.length > 0
      )
      if (branches.length === 0) continue
      const alternatives = new Map<string, Json>()
      for (const branch of branches) {
        for (const one of branch.properties) joined(alternatives, one, "anyOf")
      }
      for (const one of alternatives) joined(properties, one, "allOf")
      const [first] = branches
      for (const name of first?.required ?? []) {
        if (branches.every((branch) => branch.required.includes(name))) required.add(name)
      }
      const wanted = branches.map((branch) => branch.required.filter((name) => !required.has(name)))
      if (wanted.some((names) => names.length > 0)) {
        notes.push(`Needed besides: ${wanted.map((names) => names.join(" and ") || "nothing").join(", or ")}.`)
      }
    }
    return {
      properties,
      required: [...required],
      description: notes.length === 0 ? description : [description, ...notes].filter(Boolean).join(" ")
    }
  }

  const { description, properties, required } = part(schema, 0)
  const rest = entriesOf(schema).filter(([key]) => !forbidden.has(key))
  // parts that each allow no other properties would together allow none at all
  const composed = ["$ref", "allOf", "anyOf", "oneOf"].some((key) => schema[key] !== undefined)
  return fromEntries([
    ["type", "object"],
    ...rest.filter(([key]) => !composed || !/^(additional|unevaluated)Properties$/.test(key)),
    ...(description === undefined ? [] : [["description", description] as const]),
    ["properties", fromEntries(properties)],
    ...(required.length === 0 ? [] : [["required", required] as const])
  ])
}

const nothing: Part = { properties: new Map(), required: [], description: undefined }

/** Without definitions that nothing refers to, because they cost tokens. */
const needed = (schema: JsonObject): JsonObject => {
  const { $defs, definitions, ...rest } = schema
  const reached = new Set<string>()
  const follow = (value: Json): void => {
    if (Array.isArray(value)) return listOf(value).forEach(follow)
    for (const [key, one] of entriesOf(value)) {
      if (key !== "$ref" || typeof one !== "string") follow(one)
      else if (!reached.has(one)) {
        reached.add(one)
        follow(pointed(schema, one) ?? null)
      }
    }
  }
  follow(rest)
  const left = (key: string, all: Json | undefined) => {
    const kept = entriesOf(all).filter(([name]) => reached.has(`#/${key}/${name}`))
    return kept.length === 0 ? {} : { [key]: fromEntries(kept) }
  }
  return { ...rest, ...left("$defs", $defs), ...left("definitions", definitions) }
}

export const make = (schema: JsonObject, options: Options): JsonObject =>
  needed(object(withKnownKeywords(schema, options)))
