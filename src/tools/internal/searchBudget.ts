/**
 * Definitions made to fit: texts for people are shortened, and what is valid stays valid.
 *
 * @internal
 */
import * as JsonRpc from "../../transport/JsonRpc.ts"

/** @internal */
export interface Definition {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: JsonRpc.JsonObject
}

/** @internal */
export const sizeOf = ({ description, inputSchema, name }: Definition): number =>
  JSON.stringify({ name, description, inputSchema }).length

/** What is left of a description even where there is no room for it. */
const leastDescription = 120

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

/** The beginning of a text, with a note of what was left out, never ending within a character. */
const cut = (text: string, limit: number): string => {
  if (text.length <= limit) return text
  const note = (left: number) => `… (${left} more characters)`
  const room = limit - note(text.length).length
  const end = room > 0 && isHighSurrogate(text.charCodeAt(room - 1)) ? room - 1 : room
  return end <= 0 ? "" : `${text.slice(0, end)}${note(text.length - end)}`
}

/** Keywords whose values are data and not schemas. */
const data: ReadonlySet<string> = new Set(["const", "default", "enum", "examples", "required", "dependentRequired"])

/** Keywords whose values are schemas by names of the server's choice. */
const named: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies"
])

/** Keywords that tell people something and change nothing that may be sent. */
const remarks: ReadonlySet<string> = new Set(["$comment", "examples", "title"])

type Entries = Array<readonly [string, JsonRpc.Json]>

const fromEntries = (entries: Entries): JsonRpc.JsonObject => Object.fromEntries(entries)

/** A schema whose descriptions have at most so many characters; with none, other remarks go as well. */
const withShorter = (schema: JsonRpc.Json, limit: number): JsonRpc.Json => {
  if (Array.isArray(schema)) return schema.map((one: JsonRpc.Json) => withShorter(one, limit))
  if (!isObject(schema)) return schema
  const entries: Entries = []
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined) continue
    if (limit === 0 && remarks.has(key)) continue
    if (key === "description" && typeof value === "string") {
      const description = cut(value, limit)
      if (description !== "") entries.push([key, description])
    } else if (data.has(key)) entries.push([key, value])
    else if (named.has(key) && isObject(value)) entries.push([key, eachNamed(value, limit)])
    else entries.push([key, withShorter(value, limit)])
  }
  return fromEntries(entries)
}

const eachNamed = (schemas: JsonRpc.JsonObject, limit: number): JsonRpc.JsonObject => {
  const entries: Entries = []
  for (const [name, schema] of Object.entries(schemas)) {
    if (schema !== undefined) entries.push([name, withShorter(schema, limit)])
  }
  return fromEntries(entries)
}

const isObject = (value: JsonRpc.Json): value is JsonRpc.JsonObject => JsonRpc.isObject(value)

const limits = [400, 160, 60, 0]

/** @internal */
export const withinBudget = <A extends Definition>(tool: A, characters: number): A => {
  const size = sizeOf(tool)
  if (size <= characters) return tool
  const { description } = tool
  let shorter: A = tool
  if (description !== undefined) {
    // escaping makes texts longer, so that what is cut off counts for more than its length at times and never for less
    const room = Math.max(leastDescription, description.length - (size - characters))
    shorter = { ...tool, description: cut(description, room) }
  }
  for (const limit of limits) {
    if (sizeOf(shorter) <= characters) return shorter
    const inputSchema = withShorter(tool.inputSchema, limit)
    if (isObject(inputSchema)) shorter = { ...shorter, inputSchema }
  }
  const excess = sizeOf(shorter) - characters
  if (excess <= 0 || shorter.description === undefined) return shorter
  const least = cut(shorter.description, shorter.description.length - excess)
  return { ...shorter, description: least === "" ? undefined : least }
}

/**
 * The most that each may have so that all together have at most so much: who needs less leaves the rest to the others.
 *
 * @internal
 */
export const share = (sizes: ReadonlyArray<number>, total: number): number => {
  let left = total
  let many = sizes.length
  for (const size of sizes.toSorted((a, b) => a - b)) {
    if (size * many >= left) return Math.floor(left / many)
    left -= size
    many -= 1
  }
  return Infinity
}
