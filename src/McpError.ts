/**
 * Every error of this package: one tag per decision of a caller, with the fields that decide.
 *
 * Each error names its `server` and has `outcome` (may the server have executed the request?), `isRetryable` and
 * `countsForBreaker`, which follow with its message from the table in `errorRows.ts`.
 */
import * as Schema from "effect/Schema"
import * as Row from "./errorRow.ts"

export { type Advice, forModel, forPerson, Outcome } from "./errorRow.ts"

/** The stage of a connection. `install`: a launcher such as npx or uvx installs the server. */
export const Phase = Schema.Literal(
  "spawn",
  "install",
  "open",
  "endpoint",
  "discover",
  "initialize",
  "ready",
  "closing"
)
export type Phase = typeof Phase.Type

const optionalText = Schema.optional(Schema.String)
const number = Schema.optional(Schema.Number)
const withDefault = <A, I>(schema: Schema.Schema<A, I>, value: NoInfer<A>) =>
  schema.pipe(Schema.propertySignature, Schema.withConstructorDefault(() => value))
const detail = withDefault(Schema.String, "")

// Why there is no connection, or why it ended

/**
 * The process of a server, or the MCP gateway of Docker, could not be started. `folder`: its working directory does not
 * exist, or is no directory; `file`: the command is a path, and the file or its interpreter does not exist.
 */
export class SpawnFailed extends Row.error<SpawnFailed>()("SpawnFailed", {
  reason: withDefault(
    Schema.Literal(
      "command",
      "folder",
      "file",
      "docker-not-installed",
      "docker-no-mcp-plugin",
      "docker-daemon-down",
      "docker-timeout"
    ),
    "command"
  ),
  /** The error of the system, as `ENOENT`, except with Docker. */
  errno: optionalText,
  command: optionalText,
  cwd: optionalText,
  detail: Schema.String
}) {}

/** The connection was not ready within the limit; `phase` is the last stage that it reached. */
export class ConnectTimeout extends Row.error<ConnectTimeout>()("ConnectTimeout", {
  phase: Phase,
  limit: Schema.Duration,
  stderrTail: optionalText
}) {}

/** The server refused the handshake, or shares no protocol version with this client. */
export class HandshakeFailed extends Row.error<HandshakeFailed>()("HandshakeFailed", {
  reason: Schema.Literal("rejected", "version"),
  /** The code of the server's error, with `rejected`. */
  code: number,
  detail,
  /** The version of the server and those of this client, with `version`. */
  got: optionalText,
  supported: Schema.optional(Schema.Array(Schema.String)),
  stderrTail: optionalText
}) {}

/**
 * A connection ended. `exited`: the process ended; `stdout-ended`, `stdin-closed`, `socket-closed`, `reset`: a pipe or
 * socket broke; `stalled`: the server stopped reading or answering; `stream-interrupted`: the stream of the response
 * ended early; `moved`: the connector reopens the connection at another place, which is not a fault of the server.
 */
export class ConnectionLost extends Row.error<ConnectionLost>()("ConnectionLost", {
  reason: Schema.Literal(
    "exited",
    "stdout-ended",
    "stdin-closed",
    "socket-closed",
    "stalled",
    "reset",
    "stream-interrupted",
    "moved"
  ),
  detail,
  outcome: Row.Outcome,
  /** How the process ended, and in which phase, with `exited`. */
  code: Schema.optional(Schema.NullOr(Schema.Number)),
  signal: Schema.optional(Schema.NullOr(Schema.String)),
  phase: Schema.optional(Phase),
  stderrTail: optionalText
}) {}

/** A socket could not be opened or broke, its TLS failed, or a proxy did not connect; `code`: of the system, of TLS, or the status of the proxy. */
export class NetworkError extends Row.error<NetworkError>()("NetworkError", {
  reason: withDefault(Schema.Literal("network", "tls", "proxy"), "network"),
  code: Schema.String,
  detail: Schema.String,
  outcome: Row.Outcome,
  /** The address of the proxy, with `proxy`. */
  proxy: optionalText
}) {}

/**
 * The server, or a proxy in front of it, answered a request over HTTP with a failure. `forbidden`: 403, the credentials
 * do not suffice; `rate-limited`: 429; `unavailable`: 503 with `Retry-After`; `redirect`, `origin`: it names another
 * place, and nothing was sent there; `content-type`: the content is not MCP; `status`: any other status.
 */
export class HttpError extends Row.error<HttpError>()("HttpError", {
  reason: Schema.Literal("status", "rate-limited", "unavailable", "forbidden", "redirect", "origin", "content-type"),
  status: number,
  /** An excerpt of the body. */
  detail,
  outcome: Row.Outcome,
  retryAfter: Schema.optional(Schema.Duration),
  /** The request was not sent, because the server had asked for a pause before. */
  paused: Schema.optional(Schema.Boolean),
  scope: optionalText,
  challenge: optionalText,
  /** The other place, with `redirect` and `origin`. */
  to: optionalText,
  redirect: Schema.optional(Schema.Literal("other-origin", "loop", "method", "malformed")),
  /** The content type, with `content-type`. */
  got: optionalText
}) {}

/**
 * The server accepts no credentials that the runtime has. `unauthorized`: it answered 401; `login`: a person has to log
 * in; `not-interactive`: no person can be asked, or the server has no login; `refused`: the authorization server or the
 * person refused; `metadata`, `registration`, `answer`: the authorization server violates the protocol in its metadata,
 * in the registration of this client, or in its last response; `blocked`: it names an address that is not allowed;
 * `scope`: the server asks for a scope that the token already has; `unreachable`: the authorization server does not
 * respond; `store`: the tokens cannot be stored; `timeout`, `cancelled`: the login was not completed.
 */
export class AuthorizationFailed extends Row.error<AuthorizationFailed>()("AuthorizationFailed", {
  reason: Schema.Literal(
    "unauthorized",
    "login",
    "not-interactive",
    "refused",
    "metadata",
    "registration",
    "answer",
    "blocked",
    "scope",
    "unreachable",
    "store",
    "timeout",
    "cancelled"
  ),
  /** The error code of OAuth, if there is one. */
  code: optionalText,
  detail,
  /** What the server asks for, with `unauthorized`. */
  challenge: optionalText,
  resourceMetadata: optionalText,
  scope: optionalText
}) {}

/**
 * The server no longer knows the session (404). `outcome` is `unknown` if the server gave that answer to this request,
 * because it can execute a request first; `not-sent` if the request was held back.
 */
export class SessionExpired extends Row.error<SessionExpired>()("SessionExpired", {
  detail: Schema.String,
  outcome: withDefault(Row.Outcome, "unknown")
}) {}

/**
 * The server breaks the protocol. `message`: it sent something that is not allowed; `pagination`: a list does not end;
 * `input-rounds`: it asks for input without end; `tool-result`: a result does not fit the declaration of its tool.
 */
export class ProtocolViolation extends Row.error<ProtocolViolation>()("ProtocolViolation", {
  reason: withDefault(Schema.Literal("message", "pagination", "input-rounds", "tool-result"), "message"),
  what: detail,
  excerpt: detail,
  outcome: Row.Outcome,
  phase: withDefault(Phase, "ready"),
  /** The request, with `pagination` and `input-rounds`. */
  operation: optionalText,
  /** Which limit the list exceeds, with `pagination`. */
  exceeds: Schema.optional(Schema.Literal("pages", "items", "cursor-size", "cursor-repeated")),
  pages: number,
  limit: number,
  rounds: number,
  /** The tool and the place in its result, with `tool-result`. */
  tool: optionalText,
  path: optionalText
}) {}

/** A message is over the limit of its server. */
export class MessageTooLarge extends Row.error<MessageTooLarge>()("MessageTooLarge", {
  limit: Schema.Number,
  direction: Schema.Literal("received", "sent"),
  /** It came while the connection was opened, so no request had been sent yet. */
  connecting: Schema.optional(Schema.Boolean)
}) {}

/** The server did not declare the capability that an operation needs. */
export class CapabilityMissing
  extends Row.error<CapabilityMissing>()("CapabilityMissing", { capability: Schema.String, operation: Schema.String })
{}

/** The connection is closed for good. */
export class Closed extends Row.error<Closed>()("Closed", {
  operation: Schema.String,
  outcome: Row.Outcome,
  /** Why the server must not be used any more, if that closed the connection. */
  blocked: Schema.optional(Schema.Literal("denied", "untrusted"))
}) {}

/** Too many requests wait already. */
export class Overloaded extends Row.error<Overloaded>()("Overloaded", {
  queue: Schema.Literal("write", "calls"),
  queued: Schema.Number,
  limit: Schema.Number
}) {}

// How a request ends without a result, or why it was not sent

/** The server answered the request with an error. */
export class RemoteError extends Row.error<RemoteError>()("RemoteError", {
  code: Schema.Number,
  detail: Schema.String,
  data: Schema.optional(Schema.Unknown)
}) {}

/** A tool reported failure in its result; the server is healthy. */
export class ToolError
  extends Row.error<ToolError>()("ToolError", { tool: Schema.String, detail: Schema.String, result: Schema.Unknown })
{}

/** No answer in time: none and no progress within the idle limit, or none within the total limit. */
export class RequestTimeout extends Row.error<RequestTimeout>()("RequestTimeout", {
  kind: Schema.Literal("idle", "total"),
  operation: Schema.String,
  limit: Schema.Duration,
  outcome: Row.Outcome,
  /** What the request waited for, if it was not sent. */
  waitedFor: Schema.optional(Schema.Literal("connection", "permit")),
  /** The error of the last attempt to connect, if it waited for a connection. */
  lastError: Schema.optional(Schema.declare((u): u is ConnectError => u instanceof Error && "outcome" in u))
}) {}

/** The operation was cancelled, by the peer or on our side, before it ended. */
export class Cancelled
  extends Row.error<Cancelled>()("Cancelled", { operation: Schema.String, detail: Schema.String, outcome: Row.Outcome })
{}

/** The circuit breaker of the server is open. */
export class CircuitOpen extends Row.error<CircuitOpen>()("CircuitOpen", {
  retryAfter: Schema.Duration,
  /** The application isolated the server; only a reset of the breaker ends that. */
  isolated: Schema.optional(Schema.Boolean)
}) {}

/** Servers that are marked `required` did not start; `failures` names all of them. */
export class RequiredServersFailed extends Row.error<RequiredServersFailed>()("RequiredServersFailed", {
  failures: Schema.Array(Schema.Struct({ server: Schema.String, reason: Schema.String, error: Schema.Unknown }))
}) {}

/** The server cannot be used now. `connecting`: the wait for its first list ended before the connection was ready. */
export class ServerUnavailable extends Row.error<ServerUnavailable>()("ServerUnavailable", {
  why: Schema.Literal("disabled", "disconnected", "denied", "untrusted", "storm", "connecting"),
  detail,
  retryAfter: Schema.optional(Schema.Duration)
}) {}

/** There is no such server, tool, resource or prompt. `server` is empty where no single server was asked. */
export class NotFound extends Row.error<NotFound>()("NotFound", {
  kind: Schema.Literal("server", "tool", "resource", "prompt"),
  name: Schema.String,
  /** Similar names. */
  suggestions: Schema.optional(Schema.Array(Schema.String))
}) {}

/** The arguments of the caller cannot be sent: they are not JSON, too large, or hold an invalid duration. */
export class InvalidArguments extends Row.error<InvalidArguments>()("InvalidArguments", {
  operation: Schema.String,
  path: Schema.String,
  detail: Schema.String
}) {}

/**
 * The operation is not permitted. `policy`: a policy does not allow the server; `quarantined`: the definition of the
 * tool changed since it was approved; `rule`: a rule denies it; `unanswered`: it needs an approval, and no person can
 * be asked; `refused`: a person refused; `changed`: it changed after the approval; `crowded`: too many calls wait for
 * an approval; `too-long`: it needs an approval, and is too long to be shown in full.
 */
export class PermissionDenied extends Row.error<PermissionDenied>()("PermissionDenied", {
  kind: Schema.Literal("server", "tool", "resource", "prompt"),
  name: Schema.String,
  why: Schema.Literal("policy", "quarantined", "rule", "unanswered", "refused", "changed", "crowded", "too-long"),
  /** With `policy`: a rule denies the server, or a list allows only others. */
  decision: Schema.optional(Schema.Literal("denied", "not-allowed")),
  /** With `quarantined`: the changed places of the definition, such as `/description`. */
  changed: Schema.optional(Schema.Array(Schema.String)),
  /** With `quarantined`: why the definition cannot be compared with an approved one. */
  unpinned: Schema.optional(Schema.Literal("unreadable", "crowded")),
  /** The rule that decided, as it was written. */
  rule: optionalText,
  /** The narrowest `allow` rule that permits it. Set with `unanswered` and `too-long`. */
  allow: optionalText,
  /** The next step in the program that refused it, such as a flag of `mcp-runtime serve`; replaces `allow`. */
  remedy: optionalText,
  /** With `too-long`: the characters of its name and arguments as shown, and the maximum. */
  length: Schema.optional(Schema.Number),
  limit: Schema.optional(Schema.Number)
}) {}

/** The configuration of a server cannot be used. */
export class ConfigurationError extends Row.error<ConfigurationError>()("ConfigurationError", {
  path: Schema.String,
  detail: Schema.String,
  /** The variable without a value, if that is the cause. */
  variable: Schema.optional(Schema.Struct({
    name: Schema.String,
    why: Schema.Literal("variable-unset", "variable-forbidden", "input-required"),
    /** The environment variable that sets it. */
    from: optionalText
  }))
}) {}

/** A decision about trust could not be stored, so it does not hold. */
export class TrustNotKept extends Row.error<TrustNotKept>()("TrustNotKept", { detail: Schema.String }) {}

/** A registry did not give an entry for the server, which is named as in the registry. */
export class RegistryError
  extends Row.error<RegistryError>()("RegistryError", { address: Schema.String, detail: Schema.String })
{}

/** The errors of a connection that could not be opened, or that ended. */
export const ConnectError = Schema.Union(
  SpawnFailed,
  ConnectTimeout,
  HandshakeFailed,
  ConnectionLost,
  NetworkError,
  HttpError,
  AuthorizationFailed,
  SessionExpired,
  ProtocolViolation,
  MessageTooLarge,
  CapabilityMissing,
  PermissionDenied,
  ConfigurationError,
  Closed,
  Overloaded
)
export type ConnectError = typeof ConnectError.Type

/** How a request can fail. */
export const CallError = Schema.Union(
  ...ConnectError.members,
  RemoteError,
  RequestTimeout,
  Cancelled,
  NotFound,
  InvalidArguments
)
export type CallError = typeof CallError.Type

/** How an operation of `McpRuntime` on a server can fail. */
export const RuntimeError = Schema.Union(...CallError.members, CircuitOpen, ServerUnavailable)
export type RuntimeError = typeof RuntimeError.Type

/** Every error of this package. */
export const McpError = Schema.Union(
  ...RuntimeError.members,
  RequiredServersFailed,
  ToolError,
  TrustNotKept,
  RegistryError
)
export type McpError = typeof McpError.Type

export const isMcpError: (u: unknown) => u is McpError = Schema.is(McpError)

/** The tag and the reason in one word, such as `ConnectionLost/exited`: for logs and for people. */
export const label = (error: McpError): string => {
  const reason = "reason" in error ? error.reason : error._tag === "PermissionDenied" ? error.why : undefined
  return reason === undefined || plain.has(reason) ? error._tag : `${error._tag}/${reason}`
}

/** Reasons that say no more than the tag does. */
const plain: ReadonlySet<string> = new Set(["command", "file", "network", "status", "message"])
