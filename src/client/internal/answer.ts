/**
 * What an answer means. Lenient in what harms nobody; whatever is unclear fails the request at once, not by a timeout.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as McpError from "../../McpError.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"

/** @internal */
export const decode = (
  server: string,
  phase: McpError.Phase,
  message: JsonRpc.Incoming
): Either.Either<JsonRpc.JsonObject, McpError.CallError> => {
  const violation = (what: string) =>
    Either.left(
      new McpError.ProtocolViolation({ server, what, excerpt: shown(message), outcome: "executed", phase })
    )
  const { error, result } = message
  if (error !== undefined) {
    if (result !== undefined) return violation("an answer with both a result and an error")
    if (!JsonRpc.isObject(error)) return violation("an error that is not an object")
    const { code, data, message: detail } = error
    if (typeof code !== "number" || !Number.isFinite(code)) return violation("an error without a numeric code")
    return Either.left(
      new McpError.RemoteError({ server, code, detail: typeof detail === "string" ? bounded(detail) : "", data })
    )
  }
  if (result === undefined) return violation("an answer with neither a result nor an error")
  // the cast: what JSON.parse gave and is an object is a JSON object
  return JsonRpc.isObject(result) ? Either.right(result as JsonRpc.JsonObject) : violation("a result that is no object")
}

const maxDetail = 16 * 1024

const bounded = (text: string): string => text.length <= maxDetail ? text : `${text.slice(0, maxDetail)}…`

/**
 * The beginning of a message, whatever is in it.
 *
 * @internal
 */
export const shown = (message: JsonRpc.Incoming): string => {
  try {
    return JSON.stringify(message).slice(0, 512)
  } catch {
    return "(nested too deeply to be shown)"
  }
}
