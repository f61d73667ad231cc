/**
 * Schemas for OpenAI's strict mode, in which every property is required. An optional property accepts `null`, which is
 * removed before the call. Not every schema has a strict form.
 */
import { isObject, type Json, type JsonObject } from "../json/Json.ts"
import { entriesOf, listOf, textsOf } from "../json/schema.ts"
import { defined } from "./modelSchema.ts"

/** The limits of the API for one schema. */
const most = { properties: 5000, depth: 10, choices: 1000, characters: 120_000 }

const formats = new Set(["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"])

const kept = ["exclusiveMaximum", "exclusiveMinimum", "maximum", "maxItems", "minimum", "minItems", "multipleOf"]

/** Keywords that strict mode does not support, and that cannot be dropped because they change the accepted values. */
const opening = ["patternProperties", "propertyNames", "if", "not", "dependentSchemas", "prefixItems", "$ref"]

const takesNull = (schema: Json | undefined): boolean =>
  isObject(schema) && (schema["const"] === null || schema["type"] === "null" ||
    listOf(schema["type"]).includes("null") || listOf(schema["anyOf"]).some(takesNull))

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

/** Merges an `allOf` with a single part; `undefined` if it has several. */
const withoutAllOf = ({ allOf, ...rest }: JsonObject): JsonObject | undefined => {
  if (!Array.isArray(allOf)) return rest
  const [only, ...others] = listOf(allOf)
  return others.length === 0 && isObject(only) ? withoutAllOf({ ...only, ...rest }) : undefined
}

/** The strict form of a schema without references. */
export const make = (root: JsonObject): JsonObject | undefined => {
  const left = { ...most }
  let isPossible = true

  /** Marks the whole schema as having no strict form. */
  const refused = (): JsonObject => {
    isPossible = false
    return {}
  }

  const object = (schema: JsonObject, depth: number): JsonObject => {
    const { additionalProperties } = schema
    const entries = entriesOf(schema["properties"])
    const isRecord = additionalProperties !== undefined || (entries.length === 0 && depth > 0)
    // strict mode has no records
    if (isRecord && additionalProperties !== false) return refused()
    const required = textsOf(schema["required"])
    const properties = entries.map(([name, value]) => {
      left.properties--
      left.characters -= name.length
      const property = any(value, depth + 1)
      return [name, required.includes(name) || takesNull(property) ? property : orNull(property)] as const
    })
    return {
      properties: Object.fromEntries(properties),
      required: properties.map(([name]) => name),
      additionalProperties: false
    }
  }

  const any = (value: Json, depth: number): JsonObject => {
    if (!isObject(value) || depth > left.depth) return refused()
    const schema = withoutAllOf(value)
    if (schema === undefined || opening.some((key) => schema[key] !== undefined)) return refused()
    const { anyOf, const: constant, description, enum: choices, format, oneOf, pattern, type } = schema
    const words = typeof description === "string" ? { description } : {}
    const alternatives = anyOf ?? oneOf
    if (Array.isArray(alternatives)) {
      return schema["properties"] === undefined
        ? { ...words, anyOf: listOf(alternatives).map((one) => any(one, depth + 1)) }
        : refused()
    }
    const names = typeof type === "string" ? [type] : textsOf(type)
    if (names.length === 0 && constant === undefined && choices === undefined) return refused()
    const items = names.includes("array") ? any(schema["items"] ?? null, depth + 1) : undefined
    const record = names.includes("object") ? object(schema, depth) : undefined
    left.choices -= listOf(choices).length
    left.characters -= JSON.stringify([choices ?? [], constant ?? ""]).length
    return defined({
      type,
      ...words,
      enum: choices,
      const: constant,
      // the API rejects lookaround
      pattern: typeof pattern === "string" && !pattern.includes("(?") ? pattern : undefined,
      format: typeof format === "string" && formats.has(format) ? format : undefined,
      ...Object.fromEntries(kept.map((key) => [key, schema[key]])),
      ...record,
      items
    })
  }

  const made = any(root, 0)
  return isPossible && Object.values(left).every((rest) => rest >= 0) ? made : undefined
}

/** The alternatives of a schema with a strict form. */
const alternativesOf = (value: Json | undefined): ReadonlyArray<JsonObject> => {
  const schema = isObject(value) ? withoutAllOf(value) : undefined
  if (schema === undefined) return []
  const alternatives = schema["anyOf"] ?? schema["oneOf"]
  return Array.isArray(alternatives) ? listOf(alternatives).flatMap(alternativesOf) : [schema]
}

/**
 * Removes each `null` of an optional property that does not accept `null`. A property that is optional in one alternative and
 * required in another is unchanged.
 */
export const withoutAbsent = (value: unknown, schema: Json): unknown => without(value, alternativesOf(schema))

const without = (value: unknown, schemas: ReadonlyArray<JsonObject>): unknown => {
  if (Array.isArray(value)) {
    const items = schemas.flatMap((schema) => alternativesOf(schema["items"]))
    return value.map((one: unknown) => without(one, items))
  }
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => {
      const declaring = schemas.filter(({ properties }) => isObject(properties) && Object.hasOwn(properties, name))
      const property = declaring.flatMap(({ properties }) =>
        alternativesOf(isObject(properties) ? properties[name] : null)
      )
      const isAbsent = one === null && property.length > 0 && !property.some(takesNull) &&
        !declaring.some(({ required }) => textsOf(required).includes(name))
      return isAbsent ? [] : [[name, without(one, property)]]
    })
  )
}
