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
 * The error of a connect that failed. A defect of a connector makes its server unusable and does not end the link.
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

/**
 * What says that a connected server is not there any more. Over HTTP only a request can tell: there is nothing between
 * two of them that could break.
 *
 * @internal
 */
export const ofUse = (server: string, cause: Cause.Cause<unknown>): McpError.ConnectError | undefined => {
  const error = cause._tag === "Fail" ? cause.error : undefined
  return McpError.isMcpError(error) && error._tag === "NetworkError" && error.reason === "network" &&
      error.outcome === "not-sent" && error.server === server
    ? error
    : undefined
}
