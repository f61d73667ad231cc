/** The tools of the gateway itself: one reads the rest of long outputs, and three search in place of a list of all tools. */
import * as Effect from "effect/Effect"
import { objectOf } from "../../client/messages.ts"
import type * as OutputGuard from "../../safety/OutputGuard.ts"
import * as Tool from "../../tools/Tool.ts"
import type * as ToolSearch from "../../tools/ToolSearch.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as McpServe from "../McpServe.ts"
import type * as McpServer from "../McpServer.ts"
import * as Names from "./names.ts"
import * as PassThrough from "./passThrough.ts"
import type * as Tools from "./tools.ts"

type Call = (
  args: JsonRpc.JsonObject,
  exchange: McpServer.Exchange
) => Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal>

interface OwnTool {
  readonly definition: JsonRpc.JsonObject
  readonly call: Call
}

const maxDescription = 300

/** The first property is required. */
const tool = (
  name: string,
  description: string,
  properties: JsonRpc.JsonObject,
  isReadOnly: boolean,
  call: Call
): readonly [name: string, tool: OwnTool] => [name, {
  definition: {
    name,
    description,
    inputSchema: {
      type: "object",
      properties,
      required: Object.keys(properties).slice(0, 1),
      additionalProperties: false
    },
    ...(isReadOnly ? { annotations: { readOnlyHint: true, openWorldHint: false } } : {})
  },
  call
}]

const failed = (text: string) => Effect.succeed(PassThrough.textResult(text, true))
const json = (value: JsonRpc.Json) => PassThrough.textResult(JSON.stringify(value, null, 2))
const natural = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined

const readOutput = (guard: OutputGuard.OutputGuard["Type"], output: McpServe.Options["output"]) =>
  tool(
    Names.readOutput,
    "Reads the rest of a long output, by the handle in its text.",
    {
      handle: { type: "string", description: "The handle in the shortened output." },
      offset: { type: "integer", minimum: 0, description: "The first character to read (default: 0)." },
      limit: { type: "integer", minimum: 1, description: "The maximum number of characters." }
    },
    true,
    ({ handle, limit, offset }) =>
      typeof handle !== "string"
        ? failed("handle is missing. It is in the shortened output.")
        : Effect.match(guard.renderPage(handle, { offset: natural(offset), limit: natural(limit) }), {
          onFailure: ({ reason }) =>
            PassThrough.textResult(`Error (SpillError): the output of this handle is ${reason}.`, true),
          onSuccess: ({ body, text }) => PassThrough.textResult(output === "wrap" ? text : body)
        })
  )

const searching = (search: ToolSearch.ToolSearch["Type"], tools: Tools.Tools) => {
  const find: Call = ({ limit, query }, { caller }) =>
    Effect.gen(function*() {
      if (typeof query !== "string" || query.trim() === "") {
        return yield* failed("query is missing. Describe the purpose in a few words.")
      }
      // tools for apps only are hidden from the model that searches
      const items = (yield* tools.list(caller)).filter(({ item }) => !Tool.isAppOnly(item.tool))
      const known = new Map(items.map((listed) => [listed.item.name, listed]))
      yield* search.index(Array.from(known.values(), ({ item }) => item))
      const hits = yield* search.search(query, { limit: typeof limit === "number" ? limit : 8 })
      const found = hits.flatMap((hit) => {
        const listed = known.get(hit.name)
        if (listed === undefined) return []
        const { description } = tools.definition(listed.name, listed.item)
        const short = typeof description === "string" ? description.slice(0, maxDescription) : ""
        return [{ name: listed.name, server: listed.item.server, description: short }]
      })
      const note = found.length === 0 ? { note: "No tool matches. Try different or fewer words." } : {}
      return json({ tools: found, of: known.size, ...note })
    })

  const describe: Call = ({ name }, { caller }) =>
    typeof name !== "string" ? failed("name must be a string.") : Effect.matchEffect(tools.find(name, caller), {
      onFailure: () => failed("Tool not found. Find a tool with search_tools."),
      onSuccess: (entry) => Effect.succeed(json(tools.definition(name, entry)))
    })

  const call: Call = ({ arguments: args = {}, name }, exchange) =>
    typeof name === "string" && JsonRpc.isObject(args)
      ? tools.call(exchange, name, objectOf(args))
      : failed("name must be a string, and arguments an object.")

  const name = { type: "string", description: "The name of a tool that search_tools returned." }
  return [
    tool(
      "search_tools",
      "Finds tools by purpose. Call describe_tool before you call a tool.",
      {
        query: { type: "string", description: "The purpose, in a few words." },
        limit: { type: "integer", minimum: 1, maximum: 50, description: "The maximum number of results (default: 8)." }
      },
      true,
      find
    ),
    tool(
      "describe_tool",
      "Returns the definition of a tool, with the schema of its arguments.",
      { name },
      true,
      describe
    ),
    tool(
      "call_tool",
      "Calls a tool.",
      { name, arguments: { type: "object", description: "The arguments, as the schema of the tool requires." } },
      false,
      call
    )
  ]
}

/** The tools of the gateway by name, in the order of `tools/list`. */
export const make = (
  { output, search }: McpServe.Options,
  guard: OutputGuard.OutputGuard["Type"],
  toolSearch: ToolSearch.ToolSearch["Type"],
  tools: Tools.Tools
): ReadonlyMap<string, OwnTool> =>
  new Map([
    ...(search ? searching(toolSearch, tools) : []),
    ...(output === "asis" ? [] : [readOutput(guard, output)])
  ])
