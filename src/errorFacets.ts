/**
 * The facets of every error as one table: what is known of its request, whether a retry makes sense, what it says about
 * the server, what the life of the server makes of it, and the exit code of the terminal.
 */
import type * as McpError from "./McpError.ts"

type Tag = McpError.McpError["_tag"]
type Of<T extends Tag> = Extract<McpError.McpError, { readonly _tag: T }>
type Rule<E, A> = A | ((error: E) => A)

/** What follows a failed connect or a lost connection: another attempt, a login, or nothing until a person acts. */
export type Next = "retry" | "login" | "final"

/** The exit codes of the terminal that an error can lead to. */
export const exitCodes = { tool: 1, usage: 2, configuration: 3, connection: 4, permission: 5 } as const

export type ExitCode = typeof exitCodes[keyof typeof exitCodes]

interface Row<E> {
  /** Absent where the field `outcome` of the error decides. */
  readonly outcome?: Rule<E, McpError.Outcome>
  readonly isRetryable: Rule<E, boolean>
  readonly countsForBreaker: Rule<E, boolean>
  /** After a failed connect. Default: `retry` if it is retryable, else `final`. */
  readonly next?: Rule<E, Next>
  /** After the loss of a working connection. Default: `login` if `next` is, else `retry`. */
  readonly nextAfterLoss?: Rule<E, Next>
  readonly exitCode: Rule<E, ExitCode>
}

type Reason<E> = E extends { readonly reason: infer R extends string } ? R : never
type Rows<E> = Row<E> | { readonly [R in Reason<E>]: Row<E> }

const { configuration, connection, permission, tool, usage } = exitCodes
const notSent = "not-sent"
const executed = "executed"

export const ifNotSent = (error: { readonly outcome: McpError.Outcome }): boolean => error.outcome === notSent

/** The server or its process does not work, and the next attempt would fail in the same way. */
const broken = { isRetryable: false, countsForBreaker: true, exitCode: connection } as const
/** The connection failed; the request can be sent again if it was not sent. */
const lost = { isRetryable: ifNotSent, countsForBreaker: true, next: "retry", exitCode: connection } as const
/** The server asks for a pause, or there is no capacity at the moment. */
const later = { outcome: notSent, isRetryable: true, countsForBreaker: false, exitCode: connection } as const
/** Refused before it was sent, and for a reason that is no fault of the server. */
const refused = { outcome: notSent, isRetryable: false, countsForBreaker: false } as const
/** The server answered, so it is healthy. */
const answered = { isRetryable: false, countsForBreaker: false, exitCode: tool } as const

export const table: { readonly [T in Tag]: Rows<Of<T>> } = {
  SpawnFailed: {
    command: { ...broken, outcome: notSent },
    "docker-not-installed": { ...broken, outcome: notSent },
    "docker-no-mcp-plugin": { ...broken, outcome: notSent },
    "docker-daemon-down": { ...broken, outcome: notSent, isRetryable: true },
    "docker-timeout": { ...broken, outcome: notSent, isRetryable: true }
  },
  ConnectTimeout: { ...broken, outcome: notSent, isRetryable: true },
  HandshakeFailed: { ...broken, outcome: notSent },
  ConnectionLost: {
    exited: lost,
    "stdout-ended": lost,
    "stdin-closed": lost,
    "socket-closed": lost,
    stalled: lost,
    reset: lost,
    "stream-interrupted": lost,
    // no fault of the server
    moved: { ...lost, countsForBreaker: false }
  },
  NetworkError: { network: lost, tls: { ...broken, outcome: notSent } },
  HttpError: {
    status: {
      // any other status would be the same for the next request
      isRetryable: (error) => ifNotSent(error) && isServerFault(error),
      countsForBreaker: (error) => isServerFault(error),
      exitCode: connection
    },
    "rate-limited": later,
    // a request that the runtime held back says nothing new about the server
    unavailable: { ...later, countsForBreaker: ({ paused }) => paused !== true },
    forbidden: {
      ...refused,
      // a login helps only if the server names the missing scope
      next: ({ scope }) => scope === undefined ? "final" : "login",
      nextAfterLoss: ({ scope }) => scope === undefined ? "final" : "login",
      exitCode: permission
    },
    redirect: { ...broken, outcome: notSent },
    origin: { ...broken, outcome: notSent },
    "content-type": broken
  },
  AuthorizationFailed: {
    ...refused,
    isRetryable: ({ reason }) => reason === "unreachable",
    next: ({ reason }) => reason === "unreachable" ? "retry" : "login",
    exitCode: ({ reason }) => reason === "unreachable" ? connection : permission
  },
  SessionExpired: { isRetryable: ifNotSent, countsForBreaker: false, exitCode: connection },
  ProtocolViolation: {
    message: broken,
    pagination: { ...answered, outcome: executed },
    "input-rounds": { ...answered, outcome: "unknown" },
    "tool-result": { ...answered, outcome: executed }
  },
  MessageTooLarge: {
    outcome: ({ connecting, direction }) => direction === "sent" || connecting === true ? notSent : "unknown",
    isRetryable: false,
    countsForBreaker: false,
    exitCode: ({ direction }) => direction === "sent" ? usage : connection
  },
  CapabilityMissing: { ...refused, exitCode: tool },
  RemoteError: { ...answered, outcome: executed },
  ToolError: { ...answered, outcome: executed },
  RequestTimeout: {
    isRetryable: ifNotSent,
    countsForBreaker: ({ waitedFor }) => waitedFor === undefined,
    exitCode: connection
  },
  Cancelled: answered,
  Closed: {
    isRetryable: false,
    countsForBreaker: false,
    exitCode: ({ blocked }) => blocked === undefined ? connection : permission
  },
  Overloaded: later,
  CircuitOpen: { ...later, isRetryable: ({ isolated }) => isolated !== true },
  ServerUnavailable: {
    ...refused,
    isRetryable: ({ why }) => why === "storm" || why === "connecting",
    exitCode: ({ why }) =>
      why === "denied" || why === "untrusted" ? permission : why === "disabled" ? configuration : connection
  },
  RequiredServersFailed: later,
  NotFound: { ...refused, exitCode: usage },
  InvalidArguments: { ...refused, exitCode: usage },
  PermissionDenied: { ...refused, exitCode: permission },
  ConfigurationError: { ...refused, nextAfterLoss: "final", exitCode: configuration },
  TrustNotKept: { ...refused, exitCode: configuration }
}

const isServerFault = ({ status = 0 }: McpError.HttpError): boolean => status >= 500 || status === 408

const rowOf = <E extends McpError.McpError>(error: E): Row<E> => {
  // the rows of a tag take the errors of that tag
  const rows = table[error._tag] as Rows<E>
  return "exitCode" in rows ? rows : rows[("reason" in error ? error.reason : "") as Reason<E>]
}

const apply = <E, A extends string | number | boolean>(rule: Rule<E, A>, error: E): A =>
  typeof rule === "function" ? rule(error) : rule

/** The outcome that follows from the tag and the reason; undefined where the field `outcome` decides. */
export const outcome = <E extends McpError.McpError>(error: E): McpError.Outcome | undefined => {
  const rule = rowOf(error).outcome
  return rule === undefined ? undefined : apply(rule, error)
}

export const isRetryable = <E extends McpError.McpError>(error: E): boolean => apply(rowOf(error).isRetryable, error)

export const countsForBreaker = <E extends McpError.McpError>(error: E): boolean =>
  apply(rowOf(error).countsForBreaker, error)

/** The next step for a server that could not be connected. */
export const next = <E extends McpError.McpError>(error: E): Next =>
  apply<E, Next>(rowOf(error).next ?? (isRetryable(error) ? "retry" : "final"), error)

/** The next step for a server whose connection was lost: it worked before, so most failures are worth an attempt. */
export const nextAfterLoss = <E extends McpError.McpError>(error: E): Next =>
  apply<E, Next>(rowOf(error).nextAfterLoss ?? (next(error) === "login" ? "login" : "retry"), error)

export const exitCode = <E extends McpError.McpError>(error: E): ExitCode => apply(rowOf(error).exitCode, error)
