/**
 * What a JSON Schema says about the shape of a value, for people and for what they type.
 *
 * @internal
 */
import type * as JsonRpc from "../../transport/JsonRpc.ts"

/** @internal */
export type Schema = JsonRpc.JsonObject

/** A schema that leads to itself has no end. */
const deepest = 16

const isObject = (value: JsonRpc.Json | undefined): value is JsonRpc.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const own = (value: JsonRpc.JsonObject, key: string): JsonRpc.Json | undefined =>
  Object.hasOwn(value, key) ? value[key] : undefined

const listOf = (value: JsonRpc.Json | undefined): ReadonlyArray<JsonRpc.Json> =>
  Array.isArray(value) ? value as ReadonlyArray<JsonRpc.Json> : []

const unescaped = (step: string): string => step.replaceAll("~1", "/").replaceAll("~0", "~")

const pointed = (root: Schema, ref: string): Schema | undefined => {
  if (ref === "#") return root
  if (!ref.startsWith("#/")) return undefined
  let at: JsonRpc.Json | undefined = root
  for (const step of ref.slice(2).split("/").map(unescaped)) {
    at = Array.isArray(at)
      ? (at as ReadonlyArray<JsonRpc.Json>)[Number(step)]
      : isObject(at)
      ? own(at, step)
      : undefined
  }
  return isObject(at) ? at : undefined
}

/**
 * The schemas of which a value has to fit one, references followed and `allOf` joined.
 *
 * @internal
 */
export const alternatives = (root: Schema, schema: JsonRpc.Json | undefined, depth = 0): ReadonlyArray<Schema> => {
  if (!isObject(schema) || depth > deepest) return [{}]
  const ref = own(schema, "$ref")
  const target = typeof ref === "string" ? pointed(root, ref) : undefined
  if (target !== undefined) return alternatives(root, { ...target, ...without(schema, "$ref") }, depth + 1)
  const either = [...listOf(own(schema, "anyOf")), ...listOf(own(schema, "oneOf"))]
  const base = without(without(schema, "anyOf"), "oneOf")
  if (either.length > 0 && own(base, "type") === undefined) {
    return either.flatMap((one) => alternatives(root, isObject(one) ? { ...base, ...one } : one, depth + 1))
  }
  const all = listOf(own(schema, "allOf")).filter(isObject)
  if (all.length === 0) return [base]
  return [
    all.reduce<Schema>((joined, one) => join(joined, alternatives(root, one, depth + 1)[0]!), without(base, "allOf"))
  ]
}

const without = (schema: Schema, key: string): Schema =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => name !== key))

const join = (one: Schema, other: Schema): Schema => {
  const properties = [own(one, "properties"), own(other, "properties")].filter(isObject)
  return {
    ...one,
    ...other,
    ...(properties.length === 0
      ? {}
      : { properties: Object.fromEntries(properties.flatMap((each) => Object.entries(each))) }),
    required: [...listOf(own(one, "required")), ...listOf(own(other, "required"))]
  }
}

/** @internal */
export interface Property {
  readonly name: string
  readonly schema: JsonRpc.Json | undefined
  readonly required: boolean
}

/** @internal */
export const properties = (schema: Schema): ReadonlyArray<Property> => {
  const map = own(schema, "properties")
  const required = new Set(listOf(own(schema, "required")))
  return isObject(map)
    ? Object.entries(map).map(([name, one]) => ({ name, schema: one, required: required.has(name) }))
    : []
}

/** @internal */
export const property = (schema: Schema, name: string): JsonRpc.Json | undefined => {
  const map = own(schema, "properties")
  return isObject(map) ? own(map, name) : undefined
}

/**
 * Whether names are taken that are not declared.
 *
 * @internal
 */
export const isOpen = (schema: Schema): boolean => {
  const more = own(schema, "additionalProperties")
  return more === true || isObject(more) || isObject(own(schema, "patternProperties")) ||
    (properties(schema).length === 0 && more !== false)
}

/** @internal */
export const additional = (schema: Schema): JsonRpc.Json | undefined => own(schema, "additionalProperties")

/** @internal */
export const items = (schema: Schema): JsonRpc.Json | undefined => {
  const all = own(schema, "items")
  return Array.isArray(all) ? undefined : all
}

/**
 * The values that are allowed, if these are listed.
 *
 * @internal
 */
export const choices = (schema: Schema): ReadonlyArray<JsonRpc.Json> | undefined => {
  const one = own(schema, "const")
  if (one !== undefined) return [one]
  const list = own(schema, "enum")
  return Array.isArray(list) ? listOf(list) : undefined
}

/**
 * The types in the order in which they are declared; none if that is left open.
 *
 * @internal
 */
export const types = (schema: Schema): ReadonlyArray<string> => {
  const type = own(schema, "type")
  const named = (Array.isArray(type) ? listOf(type) : [type]).filter((one) => typeof one === "string")
  if (named.length > 0) return own(schema, "nullable") === true ? [...named, "null"] : named
  if (own(schema, "properties") !== undefined) return ["object"]
  return own(schema, "items") === undefined ? [] : ["array"]
}

/** What is longer is not read to its end. */
const most = 8

const literal = (value: JsonRpc.Json): string => JSON.stringify(value)

/**
 * The type in one line, as a programmer writes it.
 *
 * @internal
 */
export const typeText = (root: Schema, schema: JsonRpc.Json | undefined, depth = 0): string => {
  if (schema === false) return "never"
  const texts = alternatives(root, schema).flatMap((one): ReadonlyArray<string> => {
    const listed = choices(one)
    if (listed !== undefined) {
      return listed.slice(0, most).map(literal).concat(listed.length > most ? ["…"] : [])
    }
    const named = types(one)
    return (named.length === 0 ? ["any"] : named).map((type) => {
      if (type === "array") {
        const inner = typeText(root, items(one), depth + 1)
        return inner.includes(" | ") ? `(${inner})[]` : `${inner}[]`
      }
      if (type !== "object") return type
      const inside = properties(one)
      if (inside.length === 0) return "object"
      return depth >= 2 ? "{ … }" : `{ ${members(root, inside, depth + 1).join(", ")} }`
    })
  })
  return [...new Set(texts)].join(" | ")
}

const members = (root: Schema, inside: ReadonlyArray<Property>, depth: number): ReadonlyArray<string> => [
  ...inside.slice(0, most).map(({ name, required, schema }) =>
    `${name}${required ? "" : "?"}: ${typeText(root, schema, depth)}`
  ),
  ...(inside.length > most ? ["…"] : [])
]

/**
 * The parameters of a tool, those that are required first.
 *
 * @internal
 */
export const parameters = (root: Schema): ReadonlyArray<Property> => {
  const each = alternatives(root, root).map(properties)
  const seen = new Set<string>()
  const once = each.flat().filter(({ name }) => !seen.has(name) && seen.add(name).size > 0)
    .map(({ name, schema }): Property => {
      const required = each.every((all) => all.some((one) => one.name === name && one.required))
      return { name, schema, required }
    })
  return [...once.filter(({ required }) => required), ...once.filter(({ required }) => !required)]
}

/** @internal */
export const text = (schema: JsonRpc.Json | undefined, key: "description" | "title" | "format"): string | undefined => {
  const value = isObject(schema) ? own(schema, key) : undefined
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined
}

/** @internal */
export const initial = (schema: JsonRpc.Json | undefined): JsonRpc.Json | undefined =>
  isObject(schema) ? own(schema, "default") : undefined
