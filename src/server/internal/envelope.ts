/** What a caller has sent, before anybody acts on it. */
import * as JsonRpc from "../../transport/JsonRpc.ts"
import * as McpServer from "../McpServer.ts"

/** @internal */
export type Envelope =
  | { readonly _tag: "Request"; readonly id: JsonRpc.Id; readonly method: string; readonly params: JsonRpc.JsonObject }
  | { readonly _tag: "Notification"; readonly method: string; readonly params: JsonRpc.JsonObject }
  | { readonly _tag: "Answer"; readonly id: JsonRpc.Id | undefined; readonly message: JsonRpc.JsonObject }
  | { readonly _tag: "Invalid"; readonly id: JsonRpc.Id | null; readonly refusal: McpServer.Refusal }

const isId = (value: unknown): value is JsonRpc.Id =>
  typeof value === "string" || (typeof value === "number" && Number.isFinite(value))

const invalid = (id: unknown, message: string, code: number = McpServer.codes.invalidRequest): Envelope => ({
  _tag: "Invalid",
  id: isId(id) ? id : null,
  refusal: new McpServer.Refusal({ code, message })
})

/** @internal */
export const unreadable = (message: string): Envelope => invalid(null, message, McpServer.codes.parse)

/** @internal */
export const tooLarge = (limit: number, id?: JsonRpc.Id): Envelope =>
  invalid(id, `Invalid Request: more than ${limit} bytes`)

/** @internal */
export const read = (value: unknown): Envelope => {
  if (!JsonRpc.isObject(value)) return invalid(null, "Invalid Request: a message is one JSON object")
  const { id, method, params } = value
  if (value["jsonrpc"] !== "2.0") return invalid(id, "Invalid Request: jsonrpc must be \"2.0\"")
  if (method === undefined && ("result" in value || "error" in value)) {
    // an answer is never answered, or two who do not understand each other would never end
    return { _tag: "Answer", id: isId(id) ? id : undefined, message: value as JsonRpc.JsonObject } // the cast: JSON.parse has made it
  }
  if (typeof method !== "string" || method === "") return invalid(id, "Invalid Request: method must be a text")
  if ("id" in value && !isId(id)) return invalid(null, "Invalid Request: id must be a text or a number")
  if (params !== undefined && !JsonRpc.isObject(params)) {
    return isId(id)
      ? invalid(id, "Invalid params: params must be an object", McpServer.codes.invalidParams)
      : invalid(null, "Invalid Request: params must be an object")
  }
  const given = (params ?? {}) as JsonRpc.JsonObject // the cast: JSON.parse has made it
  return isId(id)
    ? { _tag: "Request", id, method, params: given }
    : { _tag: "Notification", method, params: given }
}

/** One message of a text that may be any text. */
export const parse = (text: string): Envelope | ReadonlyArray<unknown> => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return unreadable("Parse error: that is no JSON")
  }
  return Array.isArray(value) ? value : read(value)
}

/** The one version that has batches. */
const withBatches = "2025-03-26"

/** The messages of a batch, where there are such things, or why they are none. */
export const batch = (
  messages: ReadonlyArray<unknown>,
  protocolVersion: string | undefined,
  most: number
): ReadonlyArray<Envelope> => {
  if (protocolVersion !== withBatches || messages.length === 0) {
    return [invalid(null, "Invalid Request: a message is one JSON object, and no list of them")]
  }
  return messages.length > most
    ? [invalid(null, `Invalid Request: more than ${most} messages in one batch`)]
    : messages.map(read)
}

/** @internal */
export const failure = (id: JsonRpc.Id | null, { code, data, message }: McpServer.Refusal): JsonRpc.Failure => ({
  jsonrpc: "2.0",
  id,
  error: data === undefined ? { code, message } : { code, message, data }
})
