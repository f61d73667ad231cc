/**
 * What a failed connect means to whoever wanted to send something: it was not sent, however far the handshake came.
 *
 * @internal
 */
import * as McpError from "../../McpError.ts"

/** @internal */
export const unsent = (error: McpError.ConnectError): McpError.ConnectError => {
  const outcome = "not-sent"
  switch (error._tag) {
    case "ConnectionLost":
      return new McpError.ConnectionLost({ ...error, outcome })
    case "HttpStatus":
      return new McpError.HttpStatus({ ...error, outcome })
    case "MessageTooLarge":
      return new McpError.MessageTooLarge({ ...error, connecting: true })
    case "NetworkError":
      return new McpError.NetworkError({ ...error, outcome })
    case "ProcessExited":
      return new McpError.ProcessExited({ ...error, outcome })
    case "ProtocolViolation":
      return new McpError.ProtocolViolation({ ...error, outcome })
    case "StreamInterrupted":
      return new McpError.StreamInterrupted({ ...error, outcome })
    case "UnexpectedContentType":
      return new McpError.UnexpectedContentType({ ...error, outcome })
    default:
      return error
  }
}
