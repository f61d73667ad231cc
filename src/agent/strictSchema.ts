/**
 * Schemas for OpenAI's strict mode, in which a model must name every property: an optional one is `null` instead, and is
 * removed before the call. Some schemas have no strict form.
 */
import { isObject, type Json, type JsonObject } from "../json/Json.ts"
import { entriesOf, listOf, textsOf } from "../json/schema.ts"
import { defined } from "./modelSchema.ts"

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
  const names = Array.from(new Set(plans.flatMap(({ properties }) => Array.from(properties.keys()))))
  const isAbsent = (name: string) => plans.every((plan) => plan.absent.has(name) || !plan.properties.has(name))
  const of = (name: string) => either(plans.flatMap(({ properties }) => properties.get(name) ?? []))
  const items = plans.flatMap((plan) => plan.items ?? [])
  return {
    absent: new Set(names.filter(isAbsent)),
    properties: new Map(names.map((name) => [name, of(name)])),
    items: items.length === 0 ? undefined : either(items)
  }
}

/** The strict form of a schema without references. */
export const make = (root: JsonObject): Strict | undefined => {
  const left = { ...most }
  let isPossible = true

  /** The schema has no strict form if one of its parts has none. */
  const refused = (): Strict => {
    isPossible = false
    return { schema: {}, plan: empty }
  }

  const object = (schema: JsonObject, depth: number): Strict => {
    const { additionalProperties } = schema
    const entries = entriesOf(schema["properties"])
    const isRecord = additionalProperties !== undefined || (entries.length === 0 && depth > 0)
    // strict mode has no records
    if (isRecord && additionalProperties !== false) return refused()
    const required = new Set(textsOf(schema["required"]))
    const absent = new Set<string>()
    const plans = new Map<string, Plan>()
    const properties = entries.map(([name, one]) => {
      left.properties--
      left.characters -= name.length
      const { plan, schema } = any(one, depth + 1)
      plans.set(name, plan)
      if (required.has(name) || takesNull(schema)) return [name, schema] as const
      absent.add(name)
      return [name, orNull(schema)] as const
    })
    return {
      schema: {
        properties: Object.fromEntries(properties),
        required: properties.map(([name]) => name),
        additionalProperties: false
      },
      plan: { absent, properties: plans, items: undefined }
    }
  }

  const any = (value: Json, depth: number): Strict => {
    if (!isObject(value) || depth > left.depth || opening.some((key) => value[key] !== undefined)) return refused()
    const { allOf, anyOf, const: constant, description, enum: choices, format, oneOf, pattern, type } = value
    const words = typeof description === "string" ? { description } : {}
    const alternatives = anyOf ?? oneOf
    if (Array.isArray(allOf)) {
      const { allOf: _, ...rest } = value
      const [only, ...others] = listOf(allOf)
      return others.length === 0 && isObject(only) ? any({ ...only, ...rest }, depth) : refused()
    }
    if (Array.isArray(alternatives)) {
      if (value["properties"] !== undefined) return refused()
      const all = listOf(alternatives).map((one) => any(one, depth + 1))
      return { schema: { ...words, anyOf: all.map(({ schema }) => schema) }, plan: either(all.map(({ plan }) => plan)) }
    }
    const names = typeof type === "string" ? [type] : textsOf(type)
    if (names.length === 0 && constant === undefined && choices === undefined) return refused()
    const list = names.includes("array") ? any(value["items"] ?? null, depth + 1) : undefined
    const record = names.includes("object") ? object(value, depth) : undefined
    left.choices -= listOf(choices).length
    left.characters -= JSON.stringify([choices ?? [], constant ?? ""]).length
    return {
      schema: defined({
        type,
        ...words,
        enum: choices,
        const: constant,
        // patterns that look around are refused
        pattern: typeof pattern === "string" && !pattern.includes("(?") ? pattern : undefined,
        format: typeof format === "string" && formats.has(format) ? format : undefined,
        ...Object.fromEntries(kept.map((key) => [key, value[key]])),
        ...record?.schema,
        items: list?.schema
      }),
      plan: { ...(record?.plan ?? empty), items: list?.plan }
    }
  }

  const made = any(root, 0)
  return isPossible && Object.values(left).every((rest) => rest >= 0) ? made : undefined
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
