/** The structure of JSON Schemas: which keywords hold schemas, where a reference leads, and a walk over all of it. */
import { percentDecoded } from "../text/uriTemplate.ts"
import { isObject, type Json, type JsonObject } from "./Json.ts"

/** What a keyword holds: a schema (or a list of them), a list, a map from names to schemas, or plain data. */
export type Holds = "schema" | "schemas" | "map" | "data"

const rows: ReadonlyArray<readonly [holds: Holds, keywords: string]> = [
  ["schema", "additionalItems additionalProperties contains else if items not propertyNames then"],
  ["schema", "unevaluatedItems unevaluatedProperties"],
  ["schemas", "allOf anyOf oneOf prefixItems"],
  ["map", "$defs definitions dependencies dependentSchemas patternProperties properties"],
  ["data", "const default enum example examples required"]
]

export const keywords: ReadonlyMap<string, Holds> = new Map(
  rows.flatMap(([holds, keywords]) => keywords.split(" ").map((keyword) => [keyword, holds] as const))
)

/** The entries of an object, and none of anything else. */
export const entriesOf = (value: Json | undefined): ReadonlyArray<readonly [string, Json]> =>
  isObject(value) ? Object.entries(value).flatMap(([key, item]) => item === undefined ? [] : [[key, item]]) : []

/** The items of an array, and none of anything else. */
export const listOf = (value: Json | undefined): ReadonlyArray<Json> => Array.isArray(value) ? value : []

/** The strings of an array, each once. */
export const textsOf = (value: Json | undefined): ReadonlyArray<string> => [
  ...new Set(listOf(value).filter((item) => typeof item === "string"))
]

/** A schema directly below another one, with its name if its keyword holds a map. */
interface Subschema {
  readonly keyword: string
  readonly name: string | undefined
  readonly schema: unknown
}

/** The schemas directly below a schema. */
export const subschemas = (schema: { readonly [key: string]: unknown }): ReadonlyArray<Subschema> =>
  Object.entries(schema).flatMap(([keyword, value]): ReadonlyArray<Subschema> => {
    const holds = keywords.get(keyword)
    if (holds === undefined || holds === "data") return []
    if (holds === "map") {
      return isObject(value) ? Object.entries(value).map(([name, schema]) => ({ keyword, name, schema })) : []
    }
    const schemas: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
    return schemas.map((schema) => ({ keyword, name: undefined, schema }))
  })

/** Where in a schema an object or array stands: it is a schema, a map from names to schemas, or plain data. */
type Position = "schema" | "map" | "data"

/** An object or an array of a schema. */
export interface Node {
  readonly value: object
  readonly position: Position
  /** The levels of JSON above it. */
  readonly depth: number
}

const positionBelow = ({ position, value }: Node, key: string | number): Position => {
  if (position === "data" || Array.isArray(value)) return position
  if (position === "map") return "schema"
  const holds = keywords.get(String(key))
  return holds === "map" || holds === "data" ? holds : "schema"
}

/**
 * Visits each field and each item of a schema, until `visit` returns false. Iterative, because a server may nest its
 * schemas as deep as it likes; nothing is copied, so it costs a fraction of parsing the schema.
 */
export const walk = (schema: object, visit: (key: string | number, value: unknown, node: Node) => boolean): void => {
  const pending: Array<Node> = [{ value: schema, position: "schema", depth: 1 }]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    for (const [key, value] of Array.isArray(node.value) ? node.value.entries() : Object.entries(node.value)) {
      if (!visit(key, value, node)) return
      if (typeof value === "object" && value !== null) {
        pending.push({ value, position: positionBelow(node, key), depth: node.depth + 1 })
      }
    }
  }
}

/** The JSON pointer of a key below a place. */
export const pointer = (path: string, key: string | number): string =>
  `${path}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`

/** The pointer of a reference into the same schema, `""` for all of it; `undefined` if it leads outside. */
export const localPointer = (root: unknown, ref: string): string | undefined => {
  const id = isObject(root) && typeof root["$id"] === "string" ? root["$id"] : undefined
  const local = id !== undefined && (ref === id || ref.startsWith(`${id}#`)) ? ref.slice(id.length) : ref
  if (local === "#" || local === "") return ""
  return local.startsWith("#/") ? local.slice(1) : undefined
}

/** The value that a reference into the same schema leads to; `undefined` if there is none. */
export const pointed = (root: unknown, ref: string): Json | undefined => {
  const pointer = localPointer(root, ref)
  if (pointer === undefined) return undefined
  let node = root as Json // parsed from JSON
  for (const token of pointer.split("/").slice(1)) {
    const key = percentDecoded(token).replaceAll("~1", "/").replaceAll("~0", "~")
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined
    node = (node as JsonObject)[key]! // the items of an array are its own properties too
  }
  return node
}
