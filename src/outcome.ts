/** What is known of a request whose parts failed. */
import * as Schema from "effect/Schema"
import * as ErrorRow from "./errorRow.ts"
import * as McpError from "./McpError.ts"

export const isConnectError: (u: unknown) => u is McpError.ConnectError = Schema.is(McpError.ConnectError)

/**
 * The error with another outcome, for an operation that the failed request was a part of. An error whose tag fixes its
 * outcome is unchanged.
 */
export const withOutcome = <E extends McpError.CallError>(error: E, outcome: McpError.Outcome): E => {
  if (error._tag === "MessageTooLarge") return outcome === "not-sent" ? again(error, { connecting: true }) : error
  const isPart = isConnectError(error) && error._tag !== "Closed" && ErrorRow.outcome(error) === undefined
  return isPart ? again(error, { outcome }) : error
}

const again = <E extends McpError.CallError>(error: E, fields: object): E =>
  Reflect.construct(error.constructor, [{ ...error, ...fields }])

/** The error of a failed connect, for a request that waited for the connection. */
export const notSent = (error: McpError.ConnectError): McpError.ConnectError => withOutcome(error, "not-sent")

/**
 * The error of a call whose later part failed after the server received an earlier part. Its outcome is `unknown`,
 * because the server may have acted on the earlier part.
 */
export const partlySent = (error: McpError.CallError): McpError.CallError => {
  const interrupted = () =>
    new McpError.ConnectionLost({
      server: error.server,
      reason: "stream-interrupted",
      detail: error.message,
      outcome: "unknown"
    })
  if (error._tag === "SessionExpired") return interrupted()
  if (error.outcome !== "not-sent") return error
  const known = withOutcome(error, "unknown")
  return known.outcome === "not-sent" && known.isRetryable ? interrupted() : known
}
