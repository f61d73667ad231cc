/**
 * Every error of this package: one tag per decision of a caller, with the fields that decide.
 *
 * Each error names its `server` and has `outcome` (may the server have executed the request?), `isRetryable` and
 * `countsForBreaker`.
 */
import * as Schema from "effect/Schema"
import * as Connect from "./connectErrors.ts"
import * as Row from "./errorRow.ts"
import * as Request from "./requestErrors.ts"

export * from "./connectErrors.ts"
export {
  type ExitCode,
  exitCode,
  exitCodes,
  forModel,
  forPerson,
  type Next,
  next,
  nextAfterLoss,
  Outcome
} from "./errorRow.ts"
export * from "./requestErrors.ts"

/** Why there is no connection, or why it ended. */
export const ConnectError = Schema.Union(
  Connect.SpawnFailed,
  Connect.ConnectTimeout,
  Connect.HandshakeFailed,
  Connect.ConnectionLost,
  Connect.NetworkError,
  Connect.HttpError,
  Connect.AuthorizationFailed,
  Connect.SessionExpired,
  Connect.ProtocolViolation,
  Connect.MessageTooLarge,
  Connect.CapabilityMissing,
  Request.PermissionDenied,
  Request.ConfigurationError,
  Connect.Closed,
  Connect.Overloaded
)
export type ConnectError = typeof ConnectError.Type

/** How a request can fail. */
export const CallError = Schema.Union(
  ...ConnectError.members,
  Request.RemoteError,
  Request.RequestTimeout,
  Request.Cancelled,
  Request.NotFound,
  Request.InvalidArguments
)
export type CallError = typeof CallError.Type

/** How an operation of `McpRuntime` on a server can fail. */
export const RuntimeError = Schema.Union(...CallError.members, Request.CircuitOpen, Request.ServerUnavailable)
export type RuntimeError = typeof RuntimeError.Type

/** Every error of this package. */
export const McpError = Schema.Union(
  ...RuntimeError.members,
  Request.RequiredServersFailed,
  Request.ToolError,
  Request.TrustNotKept,
  Request.RegistryError
)
export type McpError = typeof McpError.Type

export const isConnectError: (u: unknown) => u is ConnectError = Schema.is(ConnectError)

export const isMcpError: (u: unknown) => u is McpError = Schema.is(McpError)

/** The tag and the reason in one word, such as `ConnectionLost/exited`: for logs and for people. */
export const label = (error: McpError): string => {
  const reason = "reason" in error ? error.reason : error._tag === "PermissionDenied" ? error.why : undefined
  return reason === undefined || plain.has(reason) ? error._tag : `${error._tag}/${reason}`
}

/** Reasons that say no more than the tag does. */
const plain: ReadonlySet<string> = new Set(["command", "network", "status", "message"])

/**
 * The error with another outcome, for a larger operation that the failed request was a part of. An error whose outcome
 * follows from what it is stays as it is.
 */
export const withOutcome = <E extends CallError>(error: E, outcome: Row.Outcome): E => {
  if (error._tag === "MessageTooLarge") return outcome === "not-sent" ? again(error, { connecting: true }) : error
  const isPart = isConnectError(error) && error._tag !== "Closed" && Row.outcome(error) === undefined
  return isPart ? again(error, { outcome }) : error
}

const again = <E extends CallError>(error: E, fields: object): E =>
  Reflect.construct(error.constructor, [{ ...error, ...fields }])

/** The error of a failed connect, for a request that waited for the connection. */
export const notSent = (error: ConnectError): ConnectError => withOutcome(error, "not-sent")

/**
 * The error of a call whose later part failed after the server received an earlier part. Its outcome is `unknown`,
 * because the server may have acted on the earlier part.
 */
export const partlySent = (error: CallError): CallError => {
  const interrupted = () =>
    new Connect.ConnectionLost({
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
