/**
 * Tools, resources, prompts and completions of a server in memory.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as MemoryServer from "../MemoryServer.ts"
import { objectOf, Refused } from "./memoryJson.ts"
import type * as memoryProtocol from "./memoryProtocol.ts"
import * as memoryRounds from "./memoryRounds.ts"

type Handled = Effect.Effect<JsonRpc.JsonObject, Refused>

const invalid = (message: string): Handled => Effect.fail(new Refused({ code: -32602, message }))

/**
 * The answer to a request that both eras have.
 *
 * @internal
 */
export const handle = (state: memoryProtocol.State, context: MemoryServer.Context): Handled | undefined => {
  const { offer, options } = state
  const { params } = context
  switch (context.method) {
    case "tools/list":
      return page("tools", offer.tools.map(toolDefinition), options, params)
    case "resources/list":
      return page("resources", offer.resources, options, params)
    case "resources/templates/list":
      return page("resourceTemplates", offer.templates, options, params)
    case "prompts/list":
      return page("prompts", offer.prompts, options, params)
    case "tools/call":
      return call(state, context)
    case "resources/read":
      return read(offer, context)
    case "prompts/get": {
      const prompt = offer.prompts.find(({ name }) => name === params["name"])
      if (prompt === undefined) return invalid(`Unknown prompt: ${String(params["name"])}`)
      return Effect.map(prompt.get(objectOf(params["arguments"]), context), (given) =>
        typeof given === "string"
          ? { messages: [{ role: "user", content: { type: "text", text: given } }] }
          : given)
    }
    case "completion/complete":
      return options.complete === undefined ? undefined : Effect.map(
        options.complete(params, context),
        (values) => ({
          completion: { values: values.slice(0, 100), total: values.length, hasMore: values.length > 100 }
        })
      )
    default:
      return undefined
  }
}

const toolDefinition = ({ definition, inputSchema, ...tool }: MemoryServer.Tool): object => ({
  ...tool,
  inputSchema: inputSchema ?? { type: "object" },
  ...definition
})

const page = (
  key: string,
  items: ReadonlyArray<object>,
  options: MemoryServer.Options,
  params: JsonRpc.JsonObject
): Handled => {
  const { cursor } = params
  const size = options.pageSize ?? Infinity
  const from = cursor === undefined ? 0 : Number(String(cursor).replace(/^from-/, ""))
  if (!Number.isInteger(from) || from < 0 || from > items.length) return invalid("Invalid cursor")
  const next = from + size < items.length ? { nextCursor: `from-${from + size}` } : {}
  // the cast: definitions are JSON but for their handlers, which stay behind because functions are no JSON
  return Effect.succeed({ [key]: items.slice(from, from + size) as ReadonlyArray<JsonRpc.JsonObject>, ...next })
}

const call = (state: memoryProtocol.State, context: MemoryServer.Context): Handled => {
  const { params } = context
  const tool = state.offer.tools.find(({ name }) => name === params["name"])
  if (tool === undefined) return invalid(`Unknown tool: ${String(params["name"])}`)
  if (memoryRounds.isFirst(params)) state.executions.set(tool.name, (state.executions.get(tool.name) ?? 0) + 1)
  return Effect.map(
    Effect.zipRight(context.io.stir, tool.call(objectOf(params["arguments"]), context)),
    (given) => typeof given === "string" ? { content: [{ type: "text", text: given }] } : given
  )
}

const read = (offer: memoryProtocol.Offer, context: MemoryServer.Context): Handled => {
  const uri = String(context.params["uri"])
  const resource = offer.resources.find((resource) => resource.uri === uri)
  const template = offer.templates.find(({ uriTemplate }) => matches(uriTemplate, uri))
  const given = resource?.read(context) ?? template?.read(uri, context)
  if (given === undefined) {
    const code = context.era === "stateless" ? -32602 : -32002
    return Effect.fail(new Refused({ code, message: "Resource not found", data: { uri } }))
  }
  const mimeType = resource?.mimeType ?? template?.mimeType ?? "text/plain"
  return Effect.map(
    given,
    (given) => typeof given === "string" ? { contents: [{ uri, mimeType, text: given }] } : given
  )
}

/** Compared piece by piece: a pattern made of the template's text would be one more thing to escape. */
const matches = (template: string, uri: string): boolean => {
  const wanted = template.split("/")
  const given = uri.split("/")
  return wanted.length === given.length &&
    wanted.every((piece, index) => {
      const open = piece.indexOf("{")
      const close = piece.lastIndexOf("}")
      const text = given[index]!
      if (open < 0 || close < open) return piece === text
      const before = piece.slice(0, open)
      const after = piece.slice(close + 1)
      return text.length > before.length + after.length && text.startsWith(before) && text.endsWith(after)
    })
}
