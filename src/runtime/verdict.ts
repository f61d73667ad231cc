/**
 * What the end of an attempt, or of a connection, means for the server: another attempt, a login, or nothing more.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import * as Option from "effect/Option"
import * as McpError from "../McpError.ts"
import * as UntrustedText from "../text/UntrustedText.ts"

/**
 * The error of a connect that failed. A defect of a connector makes its server unusable and does not end the supervisor.
 *
 * @internal
 */
export const errorOf = (server: string, cause: Cause.Cause<McpError.ConnectError>): McpError.ConnectError =>
  Option.getOrElse(Cause.failureOption(cause), () =>
    new McpError.ConnectionLost({
      server,
      reason: "reset",
      detail: UntrustedText.excerpt(`the connector failed unexpectedly: ${Cause.pretty(cause)}`, 512),
      outcome: "not-sent"
    }))

/** @internal */
export type Verdict = "retry" | "auth" | "final"

/**
 * Whether a server that could not be connected is tried again. What says the same to whoever asks again is final.
 *
 * @internal
 */
export const ofConnect = (error: McpError.ConnectError): Verdict => {
  switch (error._tag) {
    case "Unauthorized":
      return "auth"
    case "AuthorizationFailed":
      return error.isRetryable ? "retry" : "auth"
    case "Forbidden":
      // only more rights help, and the server says which
      return error.scope === undefined ? "final" : "auth"
    // a process that ended before it was ready may have lacked something that comes back
    case "ProcessExited":
    case "ConnectionLost":
    case "StreamInterrupted":
    case "NetworkError":
      return "retry"
    default:
      return error.isRetryable ? "retry" : "final"
  }
}

/**
 * Whether a server that was connected is connected again: always, unless it wants a login, or a person has to act.
 *
 * @internal
 */
export const ofLoss = (error: McpError.ConnectError): Verdict => {
  switch (error._tag) {
    case "Unauthorized":
      return "auth"
    case "AuthorizationFailed":
    case "Forbidden":
    case "ConfigurationError":
      return ofConnect(error)
    default:
      return "retry"
  }
}

/**
 * What says that a connected server is not there any more. Over HTTP only a request can tell: there is nothing between
 * two of them that could break.
 *
 * @internal
 */
export const ofUse = (server: string, cause: Cause.Cause<unknown>): McpError.ConnectError | undefined => {
  const error = cause._tag === "Fail" ? cause.error : undefined
  return McpError.isMcpError(error) && error._tag === "NetworkError" && error.outcome === "not-sent" &&
      error.server === server
    ? error
    : undefined
}
