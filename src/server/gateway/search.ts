/** Three tools in place of all tools: search, describe, call. */
import * as Effect from "effect/Effect"
import { objectOf } from "../../client/messages.ts"
import * as Tool from "../../tools/Tool.ts"
import type * as ToolSearch from "../../tools/ToolSearch.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as McpServer from "../McpServer.ts"
import * as PassThrough from "./passThrough.ts"
import * as Tools from "./tools.ts"

type Answer = Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal>

const maxDescription = 300

const tool = (
  name: string,
  description: string,
  properties: JsonRpc.JsonObject,
  required: string,
  annotations?: JsonRpc.JsonObject
): JsonRpc.JsonObject => ({
  name,
  description,
  inputSchema: { type: "object", properties, required: [required], additionalProperties: false },
  ...(annotations && { annotations })
})

const readOnly = { readOnlyHint: true, openWorldHint: false }
const toolName = { type: "string", description: "The name of the tool, from a search." }

export const definitions: ReadonlyArray<JsonRpc.JsonObject> = [
  tool(
    "search_tools",
    "Finds tools by their purpose. Describe a tool before you call it.",
    {
      query: { type: "string", description: "The purpose, in a few words." },
      limit: { type: "integer", minimum: 1, maximum: 50, description: "The most results (default: 8)." }
    },
    "query",
    readOnly
  ),
  tool(
    "describe_tool",
    "Gives the definition of a tool, with the schema of its arguments.",
    { name: toolName },
    "name",
    readOnly
  ),
  tool("call_tool", "Calls a tool.", {
    name: toolName,
    arguments: { type: "object", description: "The arguments, by the schema of the tool." }
  }, "name")
]

const json = (value: JsonRpc.Json): JsonRpc.JsonObject => PassThrough.textResult(JSON.stringify(value, null, 2))

const failed = (text: string): Effect.Effect<JsonRpc.JsonObject> => Effect.succeed(PassThrough.textResult(text, true))

/** The calls of the three tools; `undefined` for another name. */
export const make = (search: ToolSearch.ToolSearch["Type"], tools: Tools.Tools) => {
  const find = ({ caller }: McpServer.Exchange, { limit, query }: JsonRpc.JsonObject): Answer =>
    Effect.gen(function*() {
      if (typeof query !== "string" || query.trim() === "") return yield* failed("query is missing: a few words.")
      const { items } = yield* tools.known(caller, "5 seconds")
      // a tool for apps is not for the model that searches
      const known = new Map(items.flatMap((one) => Tool.isAppOnly(one.item.tool) ? [] : [[one.item.name, one]]))
      yield* search.index(Array.from(known.values(), ({ item }) => item))
      const hits = yield* search.search(query, { limit: typeof limit === "number" ? limit : 8 })
      const found = hits.flatMap((hit) => {
        const one = known.get(hit.name)
        if (one === undefined) return []
        const { description } = tools.definition(one.name, one.item)
        const short = typeof description === "string" ? description.slice(0, maxDescription) : ""
        return [{ name: one.name, server: one.item.server, description: short }]
      })
      const note = found.length === 0 ? { note: "No tool matches. Try other words, or fewer." } : {}
      return json({ tools: found, of: known.size, ...note })
    })

  const describe = ({ caller }: McpServer.Exchange, { name }: JsonRpc.JsonObject): Answer =>
    Effect.flatMap(tools.known(caller, 0), ({ find }) => {
      const entry = typeof name === "string" ? find(name) : undefined
      return typeof name !== "string" || entry === undefined || !Tools.isOffered(caller, entry)
        ? failed("There is no tool of this name. Search for one.")
        : Effect.succeed(json(tools.definition(name, entry)))
    })

  const call = (exchange: McpServer.Exchange, { arguments: args = {}, name }: JsonRpc.JsonObject): Answer =>
    typeof name === "string" && JsonRpc.isObject(args)
      ? tools.call(exchange, name, objectOf(args))
      : failed("name is not a text, or arguments is not an object.")

  const calls = new Map([["search_tools", find], ["describe_tool", describe], ["call_tool", call]])
  return (exchange: McpServer.Exchange, name: string, args: JsonRpc.JsonObject): Answer | undefined =>
    calls.get(name)?.(exchange, args)
}
