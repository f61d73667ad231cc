/**
 * When a model is given a search for tools instead of all their definitions, and how large a definition may be.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as internal from "./internal/searchBudget.ts"

/**
 * What is known of a model.
 *
 * @since 0.1.0
 * @category models
 */
export interface Model {
  /** In tokens. */
  readonly contextWindow: number
  readonly toolCalling: boolean
}

/**
 * @since 0.1.0
 * @category models
 */
export type Mode = "auto" | "always" | "never"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly mode: Mode
  /** The share of a model's context from which on all definitions are too much. */
  readonly threshold: number
  readonly charsPerToken: number
  /** Models with a smaller context get all definitions: there is no room for searching. */
  readonly minContextWindow: number
  /** The most that one definition may have. */
  readonly perToolChars: number
  /** The most that all definitions that are offered may have together. */
  readonly totalChars: number
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = {
  mode: "auto",
  threshold: 0.1,
  charsPerToken: 2.5,
  minContextWindow: 32_000,
  perToolChars: 16_000,
  totalChars: 250_000
}

/**
 * A tool as it is told to a model.
 *
 * @since 0.1.0
 * @category models
 */
export interface Definition {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: JsonRpc.JsonObject
}

/**
 * Characters from which on definitions are too much for a model, if it can search at all.
 *
 * @since 0.1.0
 * @category combinators
 */
export const thresholdOf = (config: Partial<Options> | undefined, { contextWindow }: Model): number => {
  const { charsPerToken, threshold } = { ...defaults, ...config }
  return threshold * contextWindow * charsPerToken
}

/**
 * Whether a model is given the search instead of definitions that have so many characters together. A model that cannot
 * call tools never is.
 *
 * @since 0.1.0
 * @category guards
 */
export const shouldUseAutoSearch = (
  config: Partial<Options> | undefined,
  model: Model,
  totalChars: number
): boolean => {
  const { minContextWindow, mode } = { ...defaults, ...config }
  if (!model.toolCalling || mode === "never") return false
  if (mode === "always") return true
  return model.contextWindow >= minContextWindow && totalChars > 0 && totalChars >= thresholdOf(config, model)
}

/**
 * The characters of a definition as a model would get it.
 *
 * @since 0.1.0
 * @category combinators
 */
export const sizeOf: (tool: Definition) => number = internal.sizeOf

/**
 * The definition in at most so many characters: its description is shortened first, then those in its schema, each with
 * a note of how much was left out. What may be sent stays the same, so there is a least that a definition takes.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withinBudget: <A extends Definition>(tool: A, chars: number) => A = internal.withinBudget

/**
 * Definitions that keep both budgets: where all together are too much, the largest are shortened.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withinBudgets = <A extends Definition>(
  tools: ReadonlyArray<A>,
  config?: Partial<Pick<Options, "perToolChars" | "totalChars">>
): ReadonlyArray<A> => {
  const { perToolChars, totalChars } = { ...defaults, ...config }
  const fitting = tools.map((tool) => withinBudget(tool, perToolChars))
  const most = internal.share(fitting.map(sizeOf), totalChars)
  // of what is there, and not of what was shortened before: its notes tell how much is left out
  return most < perToolChars ? tools.map((tool) => withinBudget(tool, most)) : fitting
}

/**
 * The search itself, as a tool for a model. No tool of a server can have its name.
 *
 * @since 0.1.0
 * @category constructors
 */
export const definition: Definition = {
  name: "mcp_search",
  description:
    "Finds tools for a task. Most tools are not shown to you until you have searched for them; those that are " +
    "found can be called from then on. Say in a few words what you want to do.",
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string", description: "What the tool should do, for example: create a calendar event" },
      limit: { type: "integer", minimum: 1, maximum: 20, description: "How many tools to find" },
      server: { type: "string", description: "Only tools of the server with this name" }
    },
    required: ["query"],
    additionalProperties: false
  }
}

/**
 * What a model asks the search for.
 *
 * @since 0.1.0
 * @category models
 */
export interface Query {
  readonly query: string
  readonly limit?: number | undefined
  readonly server?: string | undefined
}

const decode = Schema.decodeUnknownOption(Schema.Struct({
  query: Schema.String,
  limit: Schema.optional(Schema.NullOr(Schema.Union(Schema.Number, Schema.NumberFromString))),
  server: Schema.optional(Schema.NullOr(Schema.String))
}))

const least = 1
const most = 20

/**
 * Reads the arguments of a call of the search, with some patience for what models write.
 *
 * @since 0.1.0
 * @category constructors
 */
export const decodeQuery = (input: unknown): Option.Option<Query> =>
  Option.map(decode(input), ({ limit, query, server }) => ({
    query,
    limit: typeof limit !== "number" || Number.isNaN(limit)
      ? undefined
      : Math.max(least, Math.min(most, Math.floor(limit))),
    server: server === null || server === "" ? undefined : server
  }))
