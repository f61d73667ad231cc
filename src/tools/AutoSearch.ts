/** When a model gets a search in place of all definitions of tools, and how definitions are made to fit a budget. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { isObject, type Json, type JsonObject } from "../json/Json.ts"
import { entriesOf, keywords } from "../json/schema.ts"
import { inTurns } from "./inTurns.ts"
import { once } from "./once.ts"
import type * as ToolSearch from "./ToolSearch.ts"

export interface Model {
  /** In tokens. */
  readonly contextWindow: number
  readonly toolCalling: boolean
}

export type Mode = "auto" | "always" | "never"

export interface Options {
  readonly mode: Mode
  /** The share of the context that definitions may take before the search replaces them. */
  readonly threshold: number
  readonly charsPerToken: number
  /** Models with a smaller context get all definitions, because they have no room for searching. */
  readonly minContextWindow: number
  /** The size limit of one definition. */
  readonly perToolChars: number
  /** The size limit of all offered definitions together. */
  readonly totalChars: number
}

export const defaults: Options = {
  mode: "auto",
  threshold: 0.1,
  charsPerToken: 2.5,
  minContextWindow: 32_000,
  perToolChars: 16_000,
  totalChars: 250_000
}

/** A tool as a model sees it. */
export interface Definition {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: JsonObject
}

/** Whether a model gets the search in place of definitions of this size. */
export const shouldUseAutoSearch = (
  config: Partial<Options> | undefined,
  { contextWindow, toolCalling }: Model,
  totalChars: number
): boolean => {
  const { charsPerToken, minContextWindow, mode, threshold } = { ...defaults, ...config }
  if (!toolCalling || mode === "never" || totalChars === 0) return false
  return mode === "always" ||
    (contextWindow >= minContextWindow && totalChars >= threshold * contextWindow * charsPerToken)
}

/** The characters of a definition as JSON. */
export const sizeOf = once(({ description, inputSchema, name }: Definition): number =>
  JSON.stringify({ name, description, inputSchema }).length
)

/** The beginning of a text with a note of how much is cut off; it never ends within a surrogate pair. */
const cut = (text: string, limit: number): string => {
  if (text.length <= limit) return text
  const note = (cut: number) => `… (${cut} more characters)`
  const kept = text.slice(0, Math.max(0, limit - note(text.length).length)).replace(/[\ud800-\udbff]$/, "")
  return kept === "" ? "" : `${kept}${note(text.length - kept.length)}`
}

/** Keywords that only inform people; a schema without room for descriptions loses them too. */
const remarks: ReadonlySet<string> = new Set(["$comment", "examples", "title"])

/** A schema whose descriptions have at most `limit` characters; what it accepts stays the same. */
const withShortDescriptions = (schema: JsonObject, limit: number): JsonObject => {
  const below = (value: Json): Json => isObject(value) ? withShortDescriptions(value, limit) : value
  const eachOf = (value: Json): Json =>
    Object.fromEntries(entriesOf(value).map(([name, schema]) => [name, below(schema)]))
  return Object.fromEntries(
    entriesOf(schema).flatMap(([keyword, value]): ReadonlyArray<readonly [string, Json]> => {
      if (limit === 0 && remarks.has(keyword)) return []
      if (keyword === "description" && typeof value === "string") {
        const description = cut(value, limit)
        return description === "" ? [] : [[keyword, description]]
      }
      const holds = keywords.get(keyword)
      if (holds === undefined || holds === "data") return [[keyword, value]]
      if (Array.isArray(value)) return [[keyword, value.map(below)]]
      return [[keyword, holds === "map" ? eachOf(value) : below(value)]]
    })
  )
}

/** The least that is left of a description before those in the schema are shortened. */
const leastDescription = 120

/** How long the descriptions in a schema may be, in one attempt after the other. */
const limits = [Infinity, 400, 160, 60, 0]

/**
 * The definition in at most `chars` characters: its description is shortened first, then those in its schema. What it
 * accepts stays the same, so a definition can be too large for any budget.
 */
export const withinBudget = <A extends Definition>(tool: A, chars: number): A => {
  const excess = sizeOf(tool) - chars
  if (excess <= 0) return tool
  // what is cut off has at least as many characters in JSON
  const shortened = (text: string | undefined, excess: number, least: number): string | undefined =>
    text === undefined ? undefined : cut(text, Math.max(least, text.length - excess)) || undefined
  const description = shortened(tool.description, excess, leastDescription)
  let shorter = tool
  for (const limit of limits) {
    const inputSchema = limit === Infinity ? tool.inputSchema : withShortDescriptions(tool.inputSchema, limit)
    shorter = { ...tool, description, inputSchema }
    if (sizeOf(shorter) <= chars) return shorter
  }
  return { ...shorter, description: shortened(description, sizeOf(shorter) - chars, 0) }
}

/** The limit for each of several sizes that keeps their sum within `total`: small ones leave their rest to the others. */
const evenLimit = (sizes: ReadonlyArray<number>, total: number): number => {
  let left = total
  let count = sizes.length
  for (const size of sizes.toSorted((a, b) => a - b)) {
    if (size * count >= left) return Math.floor(left / count)
    left -= size
    count -= 1
  }
  return Infinity
}

const fittings = once((_: Definition) => new Map<number, Definition>())

/** One limit is that of each tool, and another what the total leaves to it, in which sessions may differ. */
const mostLimits = 4

/** `withinBudget`, done once and not in every turn of a model. */
const fitted = (tool: Definition, chars: number): Definition => {
  if (sizeOf(tool) <= chars) return tool
  const known = fittings(tool)
  const fitting = known.get(chars) ?? withinBudget(tool, chars)
  if (known.size === mostLimits) known.clear()
  known.set(chars, fitting)
  return fitting
}

/** Definitions within both budgets: where all together are too large, the largest are shortened. */
export const withinBudgets = (
  tools: ReadonlyArray<Definition>,
  config?: Partial<Pick<Options, "perToolChars" | "totalChars">>
): Effect.Effect<ReadonlyArray<Definition>> =>
  Effect.gen(function*() {
    const { perToolChars, totalChars } = { ...defaults, ...config }
    const fitting = yield* inTurns(tools, (tool) => fitted(tool, perToolChars))
    const limit = evenLimit(fitting.map(sizeOf), totalChars)
    // of the whole definitions, so that the notes tell how much is cut off in all
    return limit < perToolChars ? yield* inTurns(tools, (tool) => fitted(tool, limit)) : fitting
  })

/** The search as a tool for a model. Its name cannot be the name of a server's tool. */
export const definition: Definition = {
  name: "mcp_search",
  description:
    "Finds tools for a task. Most tools are hidden until you search for them; you can call the tools that are " +
    "found. Describe in a few words what you want to do.",
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string", description: "What the tool should do, such as: create a calendar event" },
      limit: { type: "integer", minimum: 1, maximum: 20, description: "How many tools to find" },
      server: { type: "string", description: "Only tools of the server with this name" }
    },
    required: ["query"],
    additionalProperties: false
  }
}

/** The arguments of the search. */
export interface Query extends Pick<ToolSearch.SearchOptions, "limit" | "server"> {
  readonly query: string
}

const decode = Schema.decodeUnknownOption(Schema.Struct({
  query: Schema.String,
  limit: Schema.optional(Schema.NullOr(Schema.Union(Schema.Number, Schema.NumberFromString))),
  server: Schema.optional(Schema.NullOr(Schema.String))
}))

/** Reads the arguments of a call of the search, leniently because models write numbers as text and `null` for nothing. */
export const decodeQuery = (input: unknown): Option.Option<Query> =>
  Option.map(decode(input), ({ limit, query, server }) => ({
    query,
    limit: typeof limit !== "number" || Number.isNaN(limit) ? undefined : Math.max(1, Math.min(20, Math.floor(limit))),
    server: server === null || server === "" ? undefined : server
  }))
