/**
 * What an error says of the request that it met, told of the larger thing that the request was a part of.
 *
 * @internal
 */
import * as McpError from "../../McpError.ts"

const told = <E extends McpError.CallError>(error: E, outcome: McpError.Outcome): E | McpError.ConnectError => {
  switch (error._tag) {
    case "ConnectionLost":
      return new McpError.ConnectionLost({ ...error, outcome })
    case "HttpStatus":
      return new McpError.HttpStatus({ ...error, outcome })
    case "NetworkError":
      return new McpError.NetworkError({ ...error, outcome })
    case "ProcessExited":
      return new McpError.ProcessExited({ ...error, outcome })
    case "ProtocolViolation":
      return new McpError.ProtocolViolation({ ...error, outcome })
    case "SessionExpired":
      return new McpError.SessionExpired({ ...error, outcome })
    case "StreamInterrupted":
      return new McpError.StreamInterrupted({ ...error, outcome })
    case "UnexpectedContentType":
      return new McpError.UnexpectedContentType({ ...error, outcome })
    default:
      return error
  }
}

/**
 * What a failed connect means to whoever wanted to send something: it was not sent, however far the handshake came.
 *
 * @internal
 */
export const unsent = (error: McpError.ConnectError): McpError.ConnectError =>
  error._tag === "MessageTooLarge"
    ? new McpError.MessageTooLarge({ ...error, connecting: true })
    : told(error, "not-sent")

/**
 * The error of a call whose later part failed after the server received an earlier part. Its outcome is `unknown`,
 * because the server may have acted on the earlier part.
 *
 * @internal
 */
export const begun = (error: McpError.CallError): McpError.CallError => {
  if (error._tag === "SessionExpired") {
    return new McpError.StreamInterrupted({ server: error.server, detail: error.message, outcome: "unknown" })
  }
  if (error.outcome !== "not-sent") return error
  const known = told(error, "unknown")
  return known.outcome === "not-sent" && known.isRetryable
    ? new McpError.StreamInterrupted({ server: error.server, detail: error.message, outcome: "unknown" })
    : known
}
