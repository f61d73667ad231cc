/**
 * Converts the JSON Schema of a tool's arguments for model APIs: known keywords only, and an object at the root. A choice
 * between schemas at the root becomes one object with all properties, and a sentence in its description.
 */
import { isObject, type Json, type JsonObject } from "../json/Json.ts"
import { entriesOf, type Holds, keywords, listOf, pointed, textsOf, walk } from "../json/schema.ts"

/** The limits of inlining: the number of schemas and their depth. */
const maxSchemas = 5000
const maxDepth = 64

type Inner = (schema: Json) => JsonObject

/** The copy of a keyword's value; `undefined` leaves the keyword out. */
type Copy = (value: Json, inner: Inner) => Json | undefined

/** Without the keys whose value is `undefined`. */
export const defined = (schema: JsonObject): JsonObject => Object.fromEntries(entriesOf(schema))

/** Maps the entries of an object. `__proto__` is an ordinary key in the result. */
const mapOf = (value: Json, inner: Inner): JsonObject =>
  Object.fromEntries(entriesOf(value).map(([name, each]) => [name, inner(each)]))

const nonEmpty = (values: ReadonlyArray<Json>): Json | undefined => values.length === 0 ? undefined : values

const unique = (values: ReadonlyArray<Json>): ReadonlyArray<Json> =>
  Array.from(new Map(values.map((value) => [JSON.stringify(value), value])).values())

const holding: { readonly [H in Holds]: Copy } = {
  schema: (value, inner) => typeof value === "boolean" ? value : isObject(value) ? inner(value) : undefined,
  schemas: (value, inner) => nonEmpty(listOf(value).map(inner)),
  map: (value, inner) => isObject(value) ? mapOf(value, inner) : undefined,
  data: (value) => value
}

const where = (isValid: (value: Json) => boolean): Copy => (value) => isValid(value) ? value : undefined

const isNumber = (value: Json): value is number => typeof value === "number"

const formats = new Set<Json>(
  ("date date-time duration email hostname idn-email idn-hostname ipv4 ipv6 iri iri-reference json-pointer regex " +
    "relative-json-pointer time uri uri-reference uri-template uuid").split(" ")
)

const rows: ReadonlyArray<readonly [copy: Copy, keywords: string]> = [
  ...Array.from(keywords, ([keyword, holds]) => [holding[holds], keyword] as const),
  [where((value) => typeof value === "string"), "contentEncoding contentMediaType description pattern title"],
  [
    where((value) => isNumber(value) && Number.isInteger(value) && value >= 0),
    "maxContains maxItems maxLength maxProperties minContains minItems minLength minProperties"
  ],
  [where(isNumber), "exclusiveMaximum exclusiveMinimum maximum minimum"],
  [where((value) => isNumber(value) && value > 0), "multipleOf"],
  [where((value) => typeof value === "boolean"), "deprecated readOnly uniqueItems writeOnly"],
  [where((value) => formats.has(value)), "format"],
  [where(Array.isArray), "examples"],
  [(value) => nonEmpty(unique(listOf(value))), "enum"],
  [(value) => nonEmpty(textsOf(value)), "required"],
  // handled separately, because they depend on the draft or on other keywords
  [() => undefined, "additionalItems dependencies example items"]
]

/** The copied keywords. */
const copies: ReadonlyMap<string, Copy> = new Map(
  rows.flatMap(([copy, keywords]) => keywords.split(" ").map((keyword) => [keyword, copy] as const))
)

const types = new Set(["array", "boolean", "integer", "null", "number", "object", "string"])

const typeOf = (type: Json | undefined, nullable: boolean): Json | undefined => {
  const known = (typeof type === "string" ? [type] : textsOf(type)).filter((one) => types.has(one))
  if (known.length === 0) return undefined
  if (nullable && !known.includes("null")) known.push("null")
  return known.length === 1 && typeof type === "string" ? known[0] : known
}

/** References that are still valid in the result. */
const keepable = /^#\/(\$defs|definitions)\/[^/~%]+$/

/** Omitted when inlining, because nothing refers to them. */
const definitionKeys = new Set(["$defs", "definitions"])

const withKnownKeywords = (source: JsonObject, inline: boolean): JsonObject => {
  let schemas = 0

  const schema = (value: Json, depth: number, within: ReadonlyArray<string>): JsonObject => {
    if (value === false) return { not: {} }
    if (!isObject(value) || depth > maxDepth || ++schemas > maxSchemas) return {}
    const rest = plain(value, (one) => schema(one, depth + 1, within))
    const ref = value["$ref"]
    if (typeof ref !== "string") return rest
    const target = pointed(source, ref)
    const isKept = ref === "#" || (keepable.test(ref) && target !== undefined)
    if (isKept && !inline) return { $ref: ref, ...rest }
    return target === undefined || within.includes(ref)
      ? rest
      : { ...schema(target, depth + 1, [...within, ref]), ...rest }
  }

  const plain = (value: JsonObject, inner: Inner): JsonObject => {
    const { nullable, type, ...rest } = value
    const copied = entriesOf(rest).map(([key, one]) =>
      [key, inline && definitionKeys.has(key) ? undefined : copies.get(key)?.(one, inner)] as const
    )
    const copy = { type: typeOf(type, nullable === true), ...Object.fromEntries(copied) }
    return defined(currentDraft(value, copy, inner))
  }

  return schema(source, 0, [])
}

/** Converts keywords whose form depends on the draft to the current draft. */
const currentDraft = (value: JsonObject, copy: JsonObject, inner: Inner): JsonObject => {
  const { additionalItems, dependencies, dependentRequired, items } = value
  const out: Record<string, Json | undefined> = { ...copy }
  for (const [limit, exclusive] of [["minimum", "exclusiveMinimum"], ["maximum", "exclusiveMaximum"]] as const) {
    if (value[exclusive] !== true || out[limit] === undefined) continue
    out[exclusive] = out[limit]
    delete out[limit]
  }
  if (Array.isArray(items)) {
    out["prefixItems"] = nonEmpty(listOf(items).map(inner)) ?? out["prefixItems"]
    const isBoolean = typeof additionalItems === "boolean"
    out["items"] = additionalItems === undefined || isBoolean ? additionalItems : inner(additionalItems)
  } else if (items !== undefined) out["items"] = items === false ? items : inner(items)
  const isList = [out["type"], ...listOf(out["type"])].includes("array")
  if (isList && out["prefixItems"] === undefined) out["items"] ??= {}
  const lists = entriesOf(dependencies ?? dependentRequired).filter(([, one]) => Array.isArray(one))
  if (lists.length > 0) out["dependentRequired"] = Object.fromEntries(lists.map(([key, one]) => [key, textsOf(one)]))
  const others = entriesOf(dependencies).filter(([, one]) => !Array.isArray(one))
  if (others.length > 0) out["dependentSchemas"] = mapOf(Object.fromEntries(others), inner)
  return out
}

/** Keywords that APIs reject at the root. */
const forbidden = new Set(["$ref", "allOf", "anyOf", "const", "enum", "not", "oneOf", "type"])

/** The limits of the choices that are merged. */
const maxChoices = 1000
const maxNesting = 16

interface Part {
  readonly properties: Map<string, Json>
  readonly required: ReadonlyArray<string>
  readonly description: string | undefined
}

/** Adds properties. A property with two different schemas gets both under a keyword. */
const join = (into: Map<string, Json>, properties: ReadonlyMap<string, Json>, keyword: string): void => {
  for (const [name, schema] of properties) {
    const before = into.get(name)
    const isOnly = before === undefined || JSON.stringify(before) === JSON.stringify(schema)
    into.set(name, isOnly ? schema : { [keyword]: [before, schema] })
  }
}

const object = (schema: JsonObject): JsonObject => {
  let parts = 0

  const part = (value: Json, depth: number): Part => {
    if (!isObject(value) || depth > maxNesting || ++parts > maxChoices) return nothing
    const properties = new Map(entriesOf(value["properties"]))
    const required = new Set(textsOf(value["required"]))
    const notes: Array<string> = []
    let description = typeof value["description"] === "string" ? value["description"] : undefined
    const inner = (one: Json) => part(one, depth + 1)

    const ref = value["$ref"]
    const referred = typeof ref === "string" && ref !== "#" ? pointed(schema, ref) : undefined
    for (const all of [...(referred === undefined ? [] : [referred]), ...listOf(value["allOf"])].map(inner)) {
      join(properties, all.properties, "allOf")
      for (const name of all.required) required.add(name)
      description ??= all.description
    }
    for (const key of ["anyOf", "oneOf"]) {
      const branches = listOf(value[key]).map(inner).filter(({ properties, required }) =>
        properties.size > 0 || required.length > 0
      )
      const alternatives = new Map<string, Json>()
      for (const branch of branches) join(alternatives, branch.properties, "anyOf")
      join(properties, alternatives, "allOf")
      for (const name of branches[0]?.required ?? []) {
        if (branches.every((branch) => branch.required.includes(name))) required.add(name)
      }
      const wanted = branches.map((branch) => branch.required.filter((name) => !required.has(name)))
      if (wanted.some((names) => names.length > 0)) {
        notes.push(`Also required: ${wanted.map((names) => names.join(" and ") || "nothing").join(", or ")}.`)
      }
    }
    return {
      properties,
      required: [...required],
      description: notes.length === 0 ? description : [description, ...notes].filter(Boolean).join(" ")
    }
  }

  const { description, properties, required } = part(schema, 0)
  // dropped, because merged parts that each forbid other properties would forbid all properties
  const composed = ["$ref", "allOf", "anyOf", "oneOf"].some((key) => schema[key] !== undefined)
  const isKept = (key: string) => !forbidden.has(key) && !(composed && /^(additional|unevaluated)Properties$/.test(key))
  return defined({
    type: "object",
    ...Object.fromEntries(entriesOf(schema).filter(([key]) => isKept(key))),
    description,
    properties: Object.fromEntries(properties),
    required: nonEmpty(required)
  })
}

const nothing: Part = { properties: new Map(), required: [], description: undefined }

/** Removes definitions without references, because they cost tokens. */
const needed = (schema: JsonObject): JsonObject => {
  const { $defs, definitions, ...rest } = schema
  const reached = new Set<string>()
  const follow = (value: Json | undefined): void => {
    if (typeof value !== "object" || value === null) return
    walk(value, (key, ref) => {
      if (key !== "$ref" || typeof ref !== "string" || reached.has(ref)) return true
      reached.add(ref)
      follow(pointed(schema, ref))
      return true
    })
  }
  follow(rest)
  const left = (key: string, all: Json | undefined) => {
    const kept = entriesOf(all).filter(([name]) => reached.has(`#/${key}/${name}`))
    return kept.length === 0 ? {} : { [key]: Object.fromEntries(kept) }
  }
  return { ...rest, ...left("$defs", $defs), ...left("definitions", definitions) }
}

/** `inline` replaces each `$ref` by its target, and a recursive one by a schema that accepts any value. */
export const make = (schema: JsonObject, inline: boolean): JsonObject =>
  needed(object(withKnownKeywords(schema, inline)))
