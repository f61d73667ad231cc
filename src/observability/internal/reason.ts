/**
 * Why something failed, from our own fields only: what a server says of itself may hold anything, and a log is kept.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import type * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"

const particulars = (error: McpError.McpError): string | undefined => {
  switch (error._tag) {
    case "SpawnFailed":
      return error.errno
    case "ConnectTimeout":
      return `${error.phase} phase, ${Duration.format(error.limit)}`
    case "InitializeRejected":
    case "RemoteError":
      return String(error.code)
    case "CapabilityMissing":
      return error.capability
    case "ProcessExited":
      return `${error.signal ?? `exit code ${error.code}`}, ${error.phase} phase`
    case "ConnectionLost":
    case "RedirectBlocked":
      return error.reason
    case "NetworkError":
      return error.code
    case "HttpStatus":
      return String(error.status)
    case "ConfigurationError":
      return error.path
    case "PolicyDenied":
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
  return more === undefined || more === "" ? error._tag : `${error._tag} (${UntrustedText.excerpt(more, 64)})`
}
