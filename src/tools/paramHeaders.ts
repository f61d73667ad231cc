import * as Either from "effect/Either"
import { subschemas } from "../json/schema.ts"
import * as HeaderField from "../text/headerField.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"

/**
 * One argument of a tool that is repeated in a header (`x-mcp-header`, stateless era).
 */
export interface Declaration {
  readonly path: ReadonlyArray<string>
  readonly header: string
}

const types: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"])

/**
 * The declarations of a tool's input schema, or what is wrong with them. The schema's depth was bounded before.
 */
export const declarations = (schema: JsonRpc.JsonObject): Either.Either<ReadonlyArray<Declaration>, string> => {
  const found: Array<Declaration> = []
  const names = new Set<string>()

  const visit = (node: unknown, path: ReadonlyArray<string>, reachable: boolean): string | undefined => {
    if (!JsonRpc.isObject(node)) return undefined
    const at = path.join(".")
    if (Object.hasOwn(node, "x-mcp-header")) {
      const header = node["x-mcp-header"]
      if (!reachable || path.length === 0) return `x-mcp-header where no plain property is (${at})`
      if (typeof header !== "string" || !HeaderField.isName(header)) {
        return `x-mcp-header that is no header name (${at})`
      }
      if (!types.has(node["type"])) return `x-mcp-header on a property that is no text, integer or boolean (${at})`
      if (names.has(header.toLowerCase())) return `x-mcp-header used twice (${header})`
      names.add(header.toLowerCase())
      found.push({ path, header })
    }
    // below any other keyword a property is no longer reached by names alone, so that no annotation may stand there
    return first(subschemas(node), ({ keyword, name, schema }) =>
      keyword === "properties" && name !== undefined
        ? visit(schema, [...path, name], reachable)
        : visit(schema, path, false))
  }

  const fault = visit(schema, [], true)
  return fault === undefined ? Either.right(found) : Either.left(fault)
}

const first = <A>(items: Iterable<A>, f: (item: A) => string | undefined): string | undefined => {
  for (const item of items) {
    const fault = f(item)
    if (fault !== undefined) return fault
  }
  return undefined
}

export const valueAt = (args: JsonRpc.JsonObject, path: ReadonlyArray<string>): unknown => {
  let node: unknown = args
  for (const key of path) {
    if (!JsonRpc.isObject(node) || !Object.hasOwn(node, key)) return undefined
    node = node[key]
  }
  return node
}

export const textOf = (value: unknown): string | undefined => {
  switch (typeof value) {
    case "string":
      return value
    case "boolean":
      return String(value)
    case "number":
      return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))
        ? undefined
        : String(value)
    default:
      return undefined
  }
}

/**
 * The headers that go with a call; an argument that is absent, null or no primitive has none.
 */
export const headersOf = (
  declared: ReadonlyArray<Declaration>,
  args: JsonRpc.JsonObject
): Readonly<Record<string, string>> | undefined => {
  const headers: Record<string, string> = {}
  let some = false
  for (const { header, path } of declared) {
    const text = textOf(valueAt(args, path))
    if (text === undefined) continue
    headers[`Mcp-Param-${header}`] = HeaderField.encode(text)
    some = true
  }
  return some ? headers : undefined
}
