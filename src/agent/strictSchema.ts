/**
 * Schemas for OpenAI's strict mode, in which a model must name every property: an optional one is `null` instead, and is
 * removed before the call. Some schemas have no strict form.
 */
import { isObject, type Json, type JsonObject } from "../json/Json.ts"
import { entriesOf, listOf, textsOf } from "../json/schema.ts"
import { fromEntries } from "./modelSchema.ts"

/** The places in the arguments where `null` means that the property is absent. */
export interface Plan {
  readonly absent: ReadonlySet<string>
  readonly properties: ReadonlyMap<string, Plan>
  readonly items: Plan | undefined
}

export interface Strict {
  readonly schema: JsonObject
  readonly plan: Plan
}

/** The limits of the API, over one schema. */
const most = { properties: 5000, depth: 10, choices: 1000, characters: 120_000 }

const formats = new Set(["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"])

const kept = ["exclusiveMaximum", "exclusiveMinimum", "maximum", "maxItems", "minimum", "minItems", "multipleOf"]

/** Keywords that strict mode does not have, and that change which values a schema takes. */
const opening = ["patternProperties", "propertyNames", "if", "not", "dependentSchemas", "prefixItems", "$ref"]

const empty: Plan = { absent: new Set(), properties: new Map(), items: undefined }

const takesNull = (schema: JsonObject): boolean =>
  schema["const"] === null || schema["type"] === "null" || listOf(schema["type"]).includes("null") ||
  listOf(schema["anyOf"]).some((one) => isObject(one) && takesNull(one))

const orNull = (schema: JsonObject): JsonObject => {
  const { anyOf, enum: choices, type } = schema
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: "null" }] }
  if (schema["const"] !== undefined || (typeof type !== "string" && !Array.isArray(type))) {
    return { anyOf: [schema, { type: "null" }] }
  }
  return {
    ...schema,
    type: [...(typeof type === "string" ? [type] : listOf(type)), "null"],
    ...(Array.isArray(choices) ? { enum: [...choices, null] } : {})
  }
}

/** A property that is optional in one alternative and required in another is left as it is. */
const either = (plans: ReadonlyArray<Plan>): Plan => {
  const known = new Map<string, Array<Plan>>()
  const absent = new Set<string>()
  for (const plan of plans) {
    for (const [name, one] of plan.properties) known.set(name, [...known.get(name) ?? [], one])
    for (const name of plan.absent) absent.add(name)
  }
  for (const plan of plans) {
    for (const name of plan.properties.keys()) if (!plan.absent.has(name)) absent.delete(name)
  }
  const items = plans.flatMap((plan) => plan.items === undefined ? [] : [plan.items])
  return {
    absent,
    properties: new Map(Array.from(known, ([name, all]) => [name, either(all)])),
    items: items.length === 0 ? undefined : either(items)
  }
}

/** The strict form of a schema without references. */
export const make = (root: JsonObject): Strict | undefined => {
  const left = { ...most }

  const object = (schema: JsonObject, depth: number): Strict | undefined => {
    const { additionalProperties, properties: given } = schema
    const closed = additionalProperties === false
    const properties = entriesOf(given)
    // strict mode has no records
    if (!closed && (additionalProperties !== undefined || (properties.length === 0 && depth > 0))) return undefined
    const required = new Set(textsOf(schema["required"]))
    const made: Array<readonly [string, JsonObject]> = []
    const plans = new Map<string, Plan>()
    const absent = new Set<string>()
    for (const [name, one] of properties) {
      left.properties--
      left.characters -= name.length
      const strict = any(one, depth + 1)
      if (strict === undefined) return undefined
      const needed = required.has(name) || takesNull(strict.schema)
      if (!needed) absent.add(name)
      made.push([name, needed ? strict.schema : orNull(strict.schema)])
      plans.set(name, strict.plan)
    }
    return {
      schema: { properties: fromEntries(made), required: made.map(([name]) => name), additionalProperties: false },
      plan: { absent, properties: plans, items: undefined }
    }
  }

  const any = (value: Json, depth: number): Strict | undefined => {
    if (!isObject(value) || depth > left.depth || opening.some((key) => value[key] !== undefined)) {
      return undefined
    }
    const { allOf, anyOf, const: constant, description, enum: choices, format, oneOf, pattern, type } = value
    const words = typeof description === "string" ? { description } : {}
    const alternatives = anyOf ?? oneOf
    if (Array.isArray(allOf)) {
      const { allOf: _, ...rest } = value
      const [only] = listOf(allOf)
      return allOf.length === 1 && isObject(only) ? any({ ...only, ...rest }, depth) : undefined
    }
    if (Array.isArray(alternatives)) {
      if (value["properties"] !== undefined) return undefined
      const all = listOf(alternatives).map((one) => any(one, depth + 1))
      const strict = all.flatMap((one) => one === undefined ? [] : [one])
      if (strict.length < all.length) return undefined
      return {
        schema: { ...words, anyOf: strict.map(({ schema }) => schema) },
        plan: either(strict.map(({ plan }) => plan))
      }
    }
    const names = typeof type === "string" ? [type] : textsOf(type)
    if (names.length === 0 && constant === undefined && choices === undefined) return undefined
    const list = names.includes("array") ? any(value["items"] ?? null, depth + 1) : undefined
    const record = names.includes("object") ? object(value, depth) : undefined
    if ((names.includes("array") && list === undefined) || (names.includes("object") && record === undefined)) {
      return undefined
    }
    left.choices -= listOf(choices).length
    left.characters -= JSON.stringify([choices ?? [], constant ?? ""]).length
    return {
      schema: fromEntries([
        ...(type === undefined ? [] : [["type", type] as const]),
        ...entriesOf(words),
        ...(choices === undefined ? [] : [["enum", choices] as const]),
        ...(constant === undefined ? [] : [["const", constant] as const]),
        // patterns that look around are refused
        ...(typeof pattern === "string" && !pattern.includes("(?") ? [["pattern", pattern] as const] : []),
        ...(typeof format === "string" && formats.has(format) ? [["format", format] as const] : []),
        ...kept.flatMap((key) => value[key] === undefined ? [] : [[key, value[key]] as const]),
        ...entriesOf(record?.schema),
        ...(list === undefined ? [] : [["items", list.schema] as const])
      ]),
      plan: { ...(record?.plan ?? empty), items: list?.plan }
    }
  }

  const made = any(root, 0)
  return Object.values(left).every((rest) => rest >= 0) ? made : undefined
}

/** Arguments without absent properties. */
export const without = (value: unknown, plan: Plan): unknown => {
  if (Array.isArray(value)) {
    const { items } = plan
    return items === undefined ? value : value.map((one: unknown) => without(one, items))
  }
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => {
      if (one === null && plan.absent.has(name)) return []
      const inner = plan.properties.get(name)
      return [[name, inner === undefined ? one : without(one, inner)]]
    })
  )
}
