/** The shape that a JSON Schema describes, for people and for the values that they type. */
import { isObject, type Json, type JsonObject } from "./Json.ts"
import { listOf, pointed } from "./schema.ts"

type Schema = JsonObject

/** The limit for schemas that lead to themselves. */
const deepest = 16

/** Deeper arrays are written as `…[]`. */
const deepestArray = 5

/** The work that is left for one schema. A server chooses it, and references to itself multiply with each level. */
interface Budget {
  steps: number
}

const newBudget = (): Budget => ({ steps: 10_000 })

const own = (value: JsonObject, key: string): Json | undefined => Object.hasOwn(value, key) ? value[key] : undefined

const propertiesOf = (schema: Schema): JsonObject => {
  const map = own(schema, "properties")
  return isObject(map) ? map : {}
}

/** The fields and items that each alternative copies. */
const sizeOf = (schema: Schema): number =>
  Object.keys(schema).length + Object.keys(propertiesOf(schema)).length +
  listOf(own(schema, "required")).length + listOf(own(schema, "type")).length

/**
 * The schemas of which a value must fit one, with references followed and `allOf` joined. Parts beyond the budget become
 * `{}`, which allows any value.
 */
export const alternatives = (
  root: Schema,
  schema: Json | undefined,
  budget = newBudget(),
  depth = 0
): ReadonlyArray<Schema> => {
  if (!isObject(schema) || depth > deepest || budget.steps < 0) return [{}]
  budget.steps -= 1 + sizeOf(schema) / 8
  const ref = own(schema, "$ref")
  const target = typeof ref === "string" ? pointed(root, ref) : undefined
  if (isObject(target)) return alternatives(root, { ...target, ...without(schema, "$ref") }, budget, depth + 1)
  const either = [...listOf(own(schema, "anyOf")), ...listOf(own(schema, "oneOf"))]
  const all = listOf(own(schema, "allOf"))
  budget.steps -= (either.length + all.length) / 8
  const base = without(without(schema, "anyOf"), "oneOf")
  if (either.length > 0 && own(base, "type") === undefined) {
    return either.flatMap((one) =>
      budget.steps < 0 ? [{}] : alternatives(root, isObject(one) ? { ...base, ...one } : one, budget, depth + 1)
    )
  }
  return [
    all.filter(isObject).reduce<Schema>((joined, one) => {
      budget.steps -= sizeOf(joined) / 8
      return budget.steps < 0 ? joined : join(joined, alternatives(root, one, budget, depth + 1)[0]!)
    }, without(base, "allOf"))
  ]
}

const without = (schema: Schema, key: string): Schema =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => name !== key))

const join = (one: Schema, other: Schema): Schema => {
  const properties = { ...propertiesOf(one), ...propertiesOf(other) }
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    required: [...listOf(own(one, "required")), ...listOf(own(other, "required"))]
  }
}

export interface Property {
  readonly name: string
  readonly schema: Json | undefined
  readonly required: boolean
}

export const properties = (schema: Schema): ReadonlyArray<Property> => {
  const required = new Set(listOf(own(schema, "required")))
  return Object.entries(propertiesOf(schema))
    .map(([name, one]) => ({ name, schema: one, required: required.has(name) }))
}

export const property = (schema: Schema, name: string): Json | undefined => own(propertiesOf(schema), name)

/** Whether properties that are not declared are accepted. */
export const isOpen = (schema: Schema): boolean => {
  const more = own(schema, "additionalProperties")
  return more === true || isObject(more) || isObject(own(schema, "patternProperties")) ||
    (properties(schema).length === 0 && more !== false)
}

export const additional = (schema: Schema): Json | undefined => own(schema, "additionalProperties")

export const items = (schema: Schema): Json | undefined => {
  const all = own(schema, "items")
  return Array.isArray(all) ? undefined : all
}

/** The allowed values, if they are listed. */
export const choices = (schema: Schema): ReadonlyArray<Json> | undefined => {
  const one = own(schema, "const")
  if (one !== undefined) return [one]
  const list = own(schema, "enum")
  return Array.isArray(list) ? listOf(list) : undefined
}

/** The types in the order of their declaration; none if any type is allowed. */
export const types = (schema: Schema): ReadonlyArray<string> => {
  const type = own(schema, "type")
  const named = (Array.isArray(type) ? listOf(type) : [type]).filter((one) => typeof one === "string")
  if (named.length > 0) return own(schema, "nullable") === true ? [...named, "null"] : named
  if (own(schema, "properties") !== undefined) return ["object"]
  return own(schema, "items") === undefined ? [] : ["array"]
}

/** Longer lists are cut. */
const most = 8

/** A value as JSON; an ellipsis for one that is too long to be repeated. */
const literal = (value: Json, budget: Budget): string => {
  if (budget.steps < 0) return "…"
  const text = JSON.stringify(value)
  budget.steps -= text.length / 16
  return text
}

/** The type in one line, as a programmer writes it. */
export const typeText = (root: Schema, schema: Json | undefined, depth = 0, budget = newBudget()): string => {
  if (schema === false) return "never"
  const texts = alternatives(root, schema, budget).flatMap((one): ReadonlyArray<string> => {
    const listed = choices(one)
    if (listed !== undefined) {
      return listed.slice(0, most).map((value) => literal(value, budget)).concat(listed.length > most ? ["…"] : [])
    }
    const named = types(one)
    return (named.length === 0 ? ["any"] : named).map((type) => {
      if (type === "array") {
        const inner = depth >= deepestArray ? "…" : typeText(root, items(one), depth + 1, budget)
        return inner.includes(" | ") ? `(${inner})[]` : `${inner}[]`
      }
      if (type !== "object") return type
      const inside = properties(one)
      if (inside.length === 0) return "object"
      return depth >= 2 ? "{ … }" : `{ ${members(root, inside, depth + 1, budget).join(", ")} }`
    })
  })
  return [...new Set(texts)].join(" | ")
}

const members = (
  root: Schema,
  inside: ReadonlyArray<Property>,
  depth: number,
  budget: Budget
): ReadonlyArray<string> => [
  ...inside.slice(0, most).map(({ name, required, schema }) =>
    `${name}${required ? "" : "?"}: ${typeText(root, schema, depth, budget)}`
  ),
  ...(inside.length > most ? ["…"] : [])
]

/** The parameters of a tool, required ones first. */
export const parameters = (root: Schema): ReadonlyArray<Property> => {
  const each = alternatives(root, root).map(properties)
  const always = each.map((all) => new Set(all.filter(({ required }) => required).map(({ name }) => name)))
  const once = new Map<string, Property>()
  for (const { name, schema } of each.flat()) {
    if (!once.has(name)) once.set(name, { name, schema, required: always.every((names) => names.has(name)) })
  }
  return [...once.values()].toSorted((a, b) => Number(b.required) - Number(a.required))
}

export const text = (schema: Json | undefined, key: "description" | "title" | "format"): string | undefined => {
  const value = isObject(schema) ? own(schema, key) : undefined
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined
}

export const initial = (schema: Json | undefined): Json | undefined =>
  isObject(schema) ? own(schema, "default") : undefined
