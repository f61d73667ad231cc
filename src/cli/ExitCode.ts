/**
 * The exit codes of the program, and the one table that says which error ends in which.
 *
 * @since 0.1.0
 */
import type * as McpError from "../McpError.ts"
import type * as Usage from "./Usage.ts"

/**
 * @since 0.1.0
 * @category models
 */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 70 | 130

/**
 * It did what it was asked.
 *
 * @since 0.1.0
 * @category exit codes
 */
export const ok: ExitCode = 0

/**
 * The tool, or its server, said that it failed.
 *
 * @since 0.1.0
 * @category exit codes
 */
export const tool: ExitCode = 1

/**
 * It was called wrongly: an unknown command, option, server, tool or argument.
 *
 * @since 0.1.0
 * @category exit codes
 */
export const usage: ExitCode = 2

/**
 * A configuration cannot be used.
 *
 * @since 0.1.0
 * @category exit codes
 */
export const config: ExitCode = 3

/**
 * A server could not be reached, or was lost.
 *
 * @since 0.1.0
 * @category exit codes
 */
export const connection: ExitCode = 4

/**
 * It is not permitted, or not agreed to yet.
 *
 * @since 0.1.0
 * @category exit codes
 */
export const permission: ExitCode = 5

/**
 * A fault of this program itself.
 *
 * @since 0.1.0
 * @category exit codes
 */
export const fault: ExitCode = 70

/**
 * Somebody pressed Ctrl-C.
 *
 * @since 0.1.0
 * @category exit codes
 */
export const interrupted: ExitCode = 130

type Failure = McpError.McpError | Usage.Usage

type Table = {
  readonly [T in Failure["_tag"]]: ExitCode | ((error: Extract<Failure, { readonly _tag: T }>) => ExitCode)
}

const table: Table = {
  AuthorizationFailed: ({ reason }) => reason === "unreachable" ? connection : permission,
  Cancelled: tool,
  CapabilityMissing: tool,
  CircuitOpen: connection,
  Closed: ({ blocked }) => blocked === undefined ? connection : permission,
  ConfigurationError: config,
  ConnectTimeout: connection,
  ConnectionLost: connection,
  DockerUnavailable: connection,
  Forbidden: permission,
  HttpStatus: connection,
  InitializeRejected: connection,
  InputRoundsExceeded: tool,
  InvalidArguments: usage,
  InvalidToolResult: tool,
  MessageTooLarge: ({ direction }) => direction === "sent" ? usage : connection,
  NetworkError: connection,
  NotFound: usage,
  OriginMismatch: connection,
  Overloaded: connection,
  PaginationLimit: tool,
  PermissionDenied: permission,
  PolicyDenied: permission,
  ProcessExited: connection,
  ProtocolViolation: connection,
  RateLimited: connection,
  RedirectBlocked: connection,
  RemoteError: tool,
  RequestTimeout: connection,
  RequiredServersFailed: connection,
  ServerUnavailable: ({ why }) =>
    why === "denied" || why === "untrusted" ? permission : why === "disabled" ? config : connection,
  SessionExpired: connection,
  SpawnFailed: connection,
  StreamInterrupted: connection,
  TlsError: connection,
  ToolError: tool,
  ToolQuarantined: permission,
  TrustNotKept: config,
  Unauthorized: permission,
  Unavailable: connection,
  UnexpectedContentType: connection,
  UnsupportedProtocolVersion: connection,
  Usage: usage
}

/**
 * The exit code of an error.
 *
 * @since 0.1.0
 * @category combinators
 */
export const of = <F extends Failure>(error: F): ExitCode => {
  // the table has, for the tag of an error, what takes that error
  const entry = table[error._tag] as ExitCode | ((error: F) => ExitCode)
  return typeof entry === "function" ? entry(error) : entry
}

/**
 * For the help.
 *
 * @since 0.1.0
 * @category defaults
 */
export const meanings: ReadonlyArray<readonly [code: ExitCode, meaning: string]> = [
  [ok, "done"],
  [tool, "the tool, or its server, said that it failed"],
  [usage, "called wrongly: no such command, option, server, tool or argument"],
  [config, "a configuration cannot be used"],
  [connection, "a server could not be reached, or was lost"],
  [permission, "not permitted, or not agreed to yet"],
  [fault, "a fault of this program"],
  [interrupted, "interrupted"]
]
