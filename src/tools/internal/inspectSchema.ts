import type * as Tool from "../Tool.ts"

// JSON levels; a subschema costs one or two of them, so this is some 64 levels of subschemas.
const maxDepth = 128

const mapsOfSchemas: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas"
])

const data: ReadonlySet<string> = new Set(["const", "default", "enum", "example", "examples", "required"])

const remote = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i

/**
 * Where in a schema a value stands: it is a schema, a map from names to schemas, or plain data.
 */
type Position = "schema" | "map" | "data"

/** @internal */
export interface Inspection {
  /** About how many bytes were seen. */
  bytes: number
  /** Whether an `x-mcp-header` annotation is somewhere in it. */
  annotated: boolean
  fault: Tool.RejectedTool["reason"] | undefined
  detail: string
}

/** @internal */
export const inspection = (): Inspection => ({ bytes: 0, annotated: false, fault: undefined, detail: "" })

const fail = (seen: Inspection, fault: Tool.RejectedTool["reason"], detail: string): void => {
  seen.fault = fault
  seen.detail = detail
}

const positionOf = (position: Position, key: string): Position => {
  if (position === "data") return "data"
  if (position === "map") return "schema"
  return mapsOfSchemas.has(key) ? "map" : data.has(key) ? "data" : "schema"
}

/**
 * One walk over a schema that stops at the first fault. It costs a fraction of parsing the schema: nothing is copied
 * and nothing compiled.
 *
 * @internal
 */
export const inspectSchema = (
  seen: Inspection,
  schema: object,
  maxBytes: number,
  position: Position = "schema",
  depth = 1
): void => {
  if (depth > maxDepth) return fail(seen, "schema-too-deep", `nested more than ${maxDepth} levels`)
  if (Array.isArray(schema)) {
    for (const item of schema) {
      seen.bytes += typeof item === "string" ? item.length + 3 : 3
      if (typeof item === "object" && item !== null) inspectSchema(seen, item, maxBytes, position, depth + 1)
      if (seen.fault !== undefined) return
    }
  } else {
    for (const [key, value] of Object.entries(schema)) {
      seen.bytes += key.length + 4
      if (typeof value === "string") {
        seen.bytes += value.length + 2
        if (key === "$ref" && position === "schema" && remote.test(value) && !isOwnId(schema, value)) {
          return fail(seen, "schema-remote-ref", value)
        }
      } else if (typeof value === "object" && value !== null) {
        inspectSchema(seen, value, maxBytes, positionOf(position, key), depth + 1)
        if (seen.fault !== undefined) return
      }
      if (key === "x-mcp-header" && position === "schema") seen.annotated = true
    }
  }
  if (seen.bytes > maxBytes) fail(seen, "schema-too-large", `more than ${maxBytes} bytes`)
}

const isOwnId = (schema: object, ref: string): boolean =>
  "$id" in schema && typeof schema.$id === "string" && ref.startsWith(`${schema.$id}#`)
