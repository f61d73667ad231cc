/** The reading of JSON-RPC messages: answers, parameters, progress. */
import * as Exit from "effect/Exit"
import * as McpError from "../McpError.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import type * as McpClient from "./McpClient.ts"

/** What `JSON.parse` gave, as an object; anything else is an empty one. */
export const objectOf = (value: unknown): JsonRpc.JsonObject =>
  // the cast: an object that JSON.parse gave is a JSON object
  JsonRpc.isObject(value) ? value as JsonRpc.JsonObject : {}

export const textOf = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

/** The parameters with a progress token. */
export const withToken = (params: JsonRpc.JsonObject | undefined, progressToken: JsonRpc.Id): JsonRpc.JsonObject =>
  params !== undefined && "_meta" in params
    ? { ...params, _meta: { ...objectOf(params["_meta"]), progressToken } }
    // first, because V8 adds a property to a spread object fifteen times more slowly than it spreads into one
    : { _meta: { progressToken }, ...params }

/** The progress in the parameters of a notification, with the secrets in its message redacted. */
export const progressOf = (
  { message, progress, total }: JsonRpc.JsonObject,
  redacted: (text: string) => string
): McpClient.Progress | undefined =>
  typeof progress !== "number" ? undefined : {
    progress,
    total: typeof total === "number" ? total : undefined,
    message: typeof message === "string" ? redacted(message) : undefined
  }

export const excerpt = (message: JsonRpc.Incoming): string => {
  try {
    return JSON.stringify(message).slice(0, 512)
  } catch {
    return "(nested too deeply to be shown)"
  }
}

const maxDetail = 16 * 1024

/** Lenient where no harm comes of it; a malformed answer fails its request at once, and not by a timeout. */
export const decode = (
  server: string,
  message: JsonRpc.Incoming
): Exit.Exit<JsonRpc.JsonObject, McpError.CallError> => {
  const violation = (what: string) =>
    Exit.fail(new McpError.ProtocolViolation({ server, what, excerpt: excerpt(message), outcome: "executed" }))
  const { error, result } = message
  if (error !== undefined) {
    if (result !== undefined) return violation("an answer with both a result and an error")
    if (!JsonRpc.isObject(error)) return violation("an error that is not an object")
    const { code, data, message: given } = error
    if (typeof code !== "number" || !Number.isFinite(code)) return violation("an error without a numeric code")
    const text = typeof given === "string" ? given : ""
    const detail = text.length <= maxDetail ? text : `${text.slice(0, maxDetail)}…`
    return Exit.fail(new McpError.RemoteError({ server, code, detail, data }))
  }
  if (result === undefined) return violation("an answer with neither a result nor an error")
  // the cast: what JSON.parse gave and is an object is a JSON object
  return JsonRpc.isObject(result) ? Exit.succeed(result as JsonRpc.JsonObject) : violation("a result that is no object")
}
