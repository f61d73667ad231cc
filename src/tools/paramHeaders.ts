/** Arguments of tools that are repeated in headers of the request (`x-mcp-header`, stateless era). */
import * as Either from "effect/Either"
import { isObject, type JsonObject } from "../json/Json.ts"
import { subschemas } from "../json/schema.ts"
import * as HeaderField from "../text/headerField.ts"

/** One such argument. */
export interface Declaration {
  readonly path: ReadonlyArray<string>
  readonly header: string
}

const types: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"])

/** The declarations of an input schema, whose depth was bounded before, or the first fault in them. */
export const declarations = (schema: JsonObject): Either.Either<ReadonlyArray<Declaration>, string> => {
  const found: Array<Declaration> = []
  const names = new Set<string>()

  const visit = (node: unknown, path: ReadonlyArray<string>, reachable: boolean): string | undefined => {
    if (!isObject(node)) return undefined
    const at = path.join(".")
    if (Object.hasOwn(node, "x-mcp-header")) {
      const header = node["x-mcp-header"]
      if (!reachable || path.length === 0) return `x-mcp-header outside a plain property (${at})`
      if (typeof header !== "string" || !HeaderField.isName(header)) {
        return `x-mcp-header with an invalid header name (${at})`
      }
      if (!types.has(node["type"])) return `x-mcp-header on a property that is not a string, integer or boolean (${at})`
      if (names.has(header.toLowerCase())) return `x-mcp-header used twice (${header})`
      names.add(header.toLowerCase())
      found.push({ path, header })
    }
    // below any other keyword a property is not reached by names alone, so an annotation is not allowed there
    for (const { keyword, name, schema } of subschemas(node)) {
      const fault = keyword === "properties" && name !== undefined
        ? visit(schema, [...path, name], reachable)
        : visit(schema, path, false)
      if (fault !== undefined) return fault
    }
    return undefined
  }

  const fault = visit(schema, [], true)
  return fault === undefined ? Either.right(found) : Either.left(fault)
}

export const valueAt = (args: JsonObject, path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((node, key) => isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined, args)

/** An argument as text; `undefined` for numbers that a double does not hold exactly, and for no primitives. */
export const textOf = (value: unknown): string | undefined => {
  if (typeof value === "string") return value
  const isExact = typeof value === "number" && Number.isFinite(value) &&
    (!Number.isInteger(value) || Number.isSafeInteger(value))
  return isExact || typeof value === "boolean" ? String(value) : undefined
}

/** The headers of a call; an argument that is absent, null or not a primitive has no header. */
export const headersOf = (
  declared: ReadonlyArray<Declaration>,
  args: JsonObject
): Readonly<Record<string, string>> | undefined => {
  const headers = declared.flatMap(({ header, path }) => {
    const text = textOf(valueAt(args, path))
    return text === undefined ? [] : [[`Mcp-Param-${header}`, HeaderField.encode(text)] as const]
  })
  return headers.length === 0 ? undefined : Object.fromEntries(headers)
}
