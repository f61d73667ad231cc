/** For callers to whom all tools would be too much: a search, a description and a call in their place. */
import * as Effect from "effect/Effect"
import * as Tool from "../../../tools/Tool.ts"
import type * as ToolIndex from "../../../tools/ToolIndex.ts"
import type * as ToolSearch from "../../../tools/ToolSearch.ts"
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import * as JsonRpcGuard from "../../../transport/JsonRpc.ts"
import type * as McpServer from "../../McpServer.ts"
import * as Exchange from "../exchange.ts"
import * as Tools from "./tools.ts"

/** @internal */
export const names = { search: "search_tools", describe: "describe_tool", call: "call_tool" } as const

const text = (description: string): JsonRpc.JsonObject => ({ type: "string", description })

const readOnly: JsonRpc.JsonObject = { readOnlyHint: true, openWorldHint: false }

/** @internal */
export const definitions: ReadonlyArray<JsonRpc.JsonObject> = [
  {
    name: names.search,
    description: "Finds tools by what they are to do, in a few words. Describe a tool before you call it.",
    inputSchema: {
      type: "object",
      properties: {
        query: text("What is to be done."),
        limit: { type: "integer", minimum: 1, maximum: 50, description: "How many at most (default: 8)." }
      },
      required: ["query"],
      additionalProperties: false
    },
    annotations: readOnly
  },
  {
    name: names.describe,
    description: "Gives the whole definition of a tool that was found, with the schema of its arguments.",
    inputSchema: {
      type: "object",
      properties: { name: text("The name, as the search gave it.") },
      required: ["name"],
      additionalProperties: false
    },
    annotations: readOnly
  },
  {
    name: names.call,
    description: "Calls a tool that was found.",
    inputSchema: {
      type: "object",
      properties: {
        name: text("The name, as the search gave it."),
        arguments: { type: "object", description: "As the schema of the tool says." }
      },
      required: ["name"],
      additionalProperties: false
    }
  }
]

const said = (value: JsonRpc.Json): JsonRpc.JsonObject => ({
  content: [{ type: "text", text: JSON.stringify(value, null, 2) }]
})

const failed = (text: string): JsonRpc.JsonObject => ({ content: [{ type: "text", text }], isError: true })

const longestDescription = 300

/** @internal */
export const make = (
  search: ToolSearch.ToolSearch["Type"],
  tools: Tools.Tools
): (exchange: McpServer.Exchange, name: string, args: JsonRpc.JsonObject) =>
  | Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal>
  | undefined =>
{
  /** Where a definition is as clean as a caller may have it. */
  const shortly = (name: string, entry: ToolIndex.Entry): JsonRpc.JsonObject => {
    const { description } = tools.definition(name, entry)
    return {
      name,
      server: entry.server,
      description: typeof description === "string" ? description.slice(0, longestDescription) : ""
    }
  }

  const finding = (args: JsonRpc.JsonObject) =>
    Effect.gen(function*() {
      const { limit, query } = args
      if (typeof query !== "string" || query.trim() === "") return failed("A search needs a query, in a few words.")
      const all = yield* tools.known("5 seconds")
      const known = { items: all.items.filter(({ item }) => !Tool.isAppOnly(item.tool)) }
      const named = new Map(known.items.map(({ item, name }) => [item, name]))
      yield* search.index(known.items.map(({ item }) => item))
      const hits = yield* search.search(query, { limit: typeof limit === "number" ? limit : 8 })
      const found = hits.flatMap(({ name }) => known.items.find(({ item }) => item.name === name) ?? [])
      return found.length === 0
        ? said({ tools: [], of: named.size, note: "Nothing fits. Try other words, or fewer." })
        : said({ tools: found.map(({ item, name }) => shortly(name, item)), of: named.size })
    })

  const describing = ({ caller }: McpServer.Exchange, { name }: JsonRpc.JsonObject) =>
    Effect.gen(function*() {
      if (typeof name !== "string") return failed("Which tool? Give its name.")
      const entry = (yield* tools.known(0)).find(name)
      return entry === undefined || !Tools.isOffered(caller, entry)
        ? failed("There is no such tool. Search for one.")
        : said(tools.definition(name, entry))
    })

  return (exchange, name, args) => {
    switch (name) {
      case names.search:
        return finding(args)
      case names.describe:
        return describing(exchange, args)
      case names.call: {
        const { arguments: given = {}, name: tool } = args
        return typeof tool === "string" && JsonRpcGuard.isObject(given)
          ? tools.call(exchange, tool, Exchange.objectOf(given))
          : Effect.succeed(failed("A call needs the name of a tool, and arguments that are an object."))
      }
      default:
        return undefined
    }
  }
}
