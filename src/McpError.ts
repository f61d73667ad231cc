/**
 * The error taxonomy: one tag per thing a caller may decide on, with the facets that decide.
 *
 * Every error names its `server` and carries `outcome` (may the server have executed the request?), `isRetryable`,
 * `countsForBreaker` and, where a process is involved, `stderrTail`.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import type * as Connecting from "./error/Connecting.ts"
import type * as Remote from "./error/Remote.ts"
import type * as RequestError from "./error/Request.ts"

export * from "./error/Connecting.ts"
export * from "./error/Facet.ts"
export * from "./error/Remote.ts"
export * from "./error/Request.ts"

/**
 * Why there is no connection, or why it ended.
 *
 * @since 0.1.0
 * @category models
 */
export type ConnectError =
  | Connecting.SpawnFailed
  | Connecting.DockerUnavailable
  | Connecting.ConnectTimeout
  | Connecting.InitializeRejected
  | Connecting.UnsupportedProtocolVersion
  | Connecting.CapabilityMissing
  | Connecting.ProcessExited
  | Connecting.ConnectionLost
  | Connecting.PolicyDenied
  | Connecting.AuthorizationFailed
  | Remote.StreamInterrupted
  | Remote.NetworkError
  | Remote.TlsError
  | Remote.SessionExpired
  | Remote.Unauthorized
  | Remote.Forbidden
  | Remote.RateLimited
  | Remote.Unavailable
  | Remote.HttpStatus
  | Remote.RedirectBlocked
  | Remote.OriginMismatch
  | Remote.ProtocolViolation
  | Remote.UnexpectedContentType
  | Remote.MessageTooLarge
  | RequestError.Closed
  | RequestError.ConfigurationError
  | RequestError.Overloaded

/**
 * How a request can fail.
 *
 * @since 0.1.0
 * @category models
 */
export type CallError =
  | ConnectError
  | Remote.RemoteError
  | RequestError.Cancelled
  | RequestError.InputRoundsExceeded
  | RequestError.InvalidArguments
  | RequestError.InvalidToolResult
  | RequestError.NotFound
  | RequestError.PaginationLimit
  | RequestError.PermissionDenied
  | RequestError.RequestTimeout
  | RequestError.ToolQuarantined

/**
 * How an operation of `McpRuntime` on a server can fail.
 *
 * @since 0.1.0
 * @category models
 */
export type RuntimeError = CallError | RequestError.CircuitOpen | RequestError.ServerUnavailable

/**
 * Every error of this package.
 *
 * @since 0.1.0
 * @category models
 */
export type McpError =
  | RuntimeError
  | Connecting.RequiredServersFailed
  | RequestError.ToolError
  | RequestError.TrustNotKept

const tags: ReadonlySet<string> = new Set<McpError["_tag"]>([
  "AuthorizationFailed",
  "Cancelled",
  "CapabilityMissing",
  "CircuitOpen",
  "Closed",
  "ConfigurationError",
  "ConnectTimeout",
  "ConnectionLost",
  "DockerUnavailable",
  "Forbidden",
  "HttpStatus",
  "InitializeRejected",
  "InputRoundsExceeded",
  "InvalidArguments",
  "InvalidToolResult",
  "MessageTooLarge",
  "NetworkError",
  "NotFound",
  "OriginMismatch",
  "Overloaded",
  "PaginationLimit",
  "PermissionDenied",
  "PolicyDenied",
  "ProcessExited",
  "ProtocolViolation",
  "RateLimited",
  "RedirectBlocked",
  "RemoteError",
  "RequestTimeout",
  "RequiredServersFailed",
  "ServerUnavailable",
  "SessionExpired",
  "SpawnFailed",
  "StreamInterrupted",
  "TlsError",
  "ToolError",
  "ToolQuarantined",
  "TrustNotKept",
  "Unauthorized",
  "Unavailable",
  "UnexpectedContentType",
  "UnsupportedProtocolVersion"
])

/**
 * Whether a value is an error of this package.
 *
 * @since 0.1.0
 * @category guards
 */
export const isMcpError = (u: unknown): u is McpError =>
  Predicate.hasProperty(u, "_tag") && typeof u._tag === "string" && tags.has(u._tag) &&
  Predicate.hasProperty(u, "countsForBreaker")
