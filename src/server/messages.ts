/** Parses JSON-RPC messages from untrusted text, and serializes the messages to callers. */
import { objectOf } from "../client/messages.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import * as McpServer from "./McpServer.ts"

export { objectOf }

export interface Request {
  readonly _tag: "Request"
  readonly id: JsonRpc.Id
  readonly method: string
  readonly params: JsonRpc.JsonObject
}

/** A received message. */
export type Received =
  | Request
  | { readonly _tag: "Notification"; readonly method: string; readonly params: JsonRpc.JsonObject }
  | { readonly _tag: "Response"; readonly message: JsonRpc.JsonObject }
  | { readonly _tag: "Invalid"; readonly id: JsonRpc.Id | null; readonly refusal: McpServer.Refusal }

export const metaOf = (params: JsonRpc.JsonObject): JsonRpc.JsonObject => objectOf(params["_meta"])

const isId = (value: unknown): value is JsonRpc.Id => typeof value === "string" || Number.isFinite(value)

const invalid = (id: unknown, code: keyof typeof McpServer.codes, message: string): Received => ({
  _tag: "Invalid",
  id: isId(id) ? id : null,
  refusal: McpServer.refusal(code, message)
})

export const tooLarge = (limit: number, id?: JsonRpc.Id): Received =>
  invalid(id, "invalidRequest", `Invalid Request: the message is larger than ${limit} bytes`)

const readValue = (value: unknown): Received => {
  if (!JsonRpc.isObject(value)) {
    return invalid(null, "invalidRequest", "Invalid Request: a message must be a JSON object")
  }
  const { id, jsonrpc, method, params } = value
  if (jsonrpc !== "2.0") return invalid(id, "invalidRequest", "Invalid Request: jsonrpc must be \"2.0\"")
  // an invalid response gets no error response, because two peers could then send errors to each other forever
  if (method === undefined && ("result" in value || "error" in value)) {
    return { _tag: "Response", message: objectOf(value) }
  }
  if (typeof method !== "string" || method === "") {
    return invalid(id, "invalidRequest", "Invalid Request: method must be a string")
  }
  if (params !== undefined && !JsonRpc.isObject(params)) {
    return invalid(id, isId(id) ? "invalidParams" : "invalidRequest", "Invalid params: params must be an object")
  }
  if (id === undefined) return { _tag: "Notification", method, params: objectOf(params) }
  if (!isId(id)) return invalid(null, "invalidRequest", "Invalid Request: id must be a string or a number")
  return { _tag: "Request", id, method, params: objectOf(params) }
}

/** The only version with batches. */
const withBatches = "2025-03-26"

/** The messages in a text: one, or a batch if the version allows batches. */
export const read = (text: string, version: string | undefined, maxBatch: number): ReadonlyArray<Received> => {
  const value = JsonRpc.parse(text)
  if (value === undefined) return [invalid(null, "parse", "Parse error: not JSON")]
  if (!Array.isArray(value) || version !== withBatches || value.length === 0) return [readValue(value)]
  return value.length > maxBatch
    ? [invalid(null, "invalidRequest", `Invalid Request: more than ${maxBatch} messages in one batch`)]
    : value.map(readValue)
}

export const failure = (id: JsonRpc.Id | null, { code, data, message }: McpServer.Refusal): JsonRpc.Failure => ({
  jsonrpc: "2.0",
  id,
  error: { code, message, data }
})

const stringify = (message: JsonRpc.Message): string | undefined => {
  try {
    return JSON.stringify(message)
  } catch {
    return undefined
  }
}

/** Serializes a message. A response that is too large or nested too deeply becomes an error; other messages are dropped. */
export const write = (message: JsonRpc.Message, limit: number): string | undefined => {
  const text = stringify(message)
  if (text !== undefined && (3 * text.length <= limit || Buffer.byteLength(text) <= limit)) return text
  if ("method" in message || message.id === null) return undefined
  const why = text === undefined ? "cannot be serialized" : `is larger than ${limit} bytes`
  return stringify(failure(message.id, McpServer.refusal("internal", `Internal error: the response ${why}`)))
}
