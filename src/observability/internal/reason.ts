/**
 * Why something failed, from our own fields only: what a server says of itself may hold anything, and a log is kept.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"

const particulars = (error: McpError.McpError): string | undefined => {
  switch (error._tag) {
    case "SpawnFailed":
      return error.errno
    case "ConnectTimeout":
      return `${error.phase} phase, ${Duration.format(error.limit)}`
    case "HandshakeFailed":
      return error.code === undefined ? undefined : String(error.code)
    case "RemoteError":
      return String(error.code)
    case "CapabilityMissing":
      return error.capability
    case "ConnectionLost":
      return error.reason === "exited"
        ? `${error.signal ?? `exit code ${error.code}`}, ${error.phase} phase`
        : undefined
    case "NetworkError":
      return error.code
    case "HttpError":
      return error.redirect ?? (error.status === undefined ? undefined : String(error.status))
    case "ConfigurationError":
      return error.path
    case "PermissionDenied":
      return error.decision
    case "ServerUnavailable":
      return error.why
    default:
      return undefined
  }
}

/** @internal */
export const of = (error: McpError.McpError): string => {
  const more = particulars(error)
  const label = McpError.label(error)
  return more === undefined || more === "" ? label : `${label} (${UntrustedText.excerpt(more, 64)})`
}
