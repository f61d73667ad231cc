/**
 * Every error of this package: one tag per decision of a caller, with the fields that decide.
 *
 * Each error names its `server` and has `outcome` (may the server have executed the request?), `isRetryable` and
 * `countsForBreaker`, which `errorFacets.ts` lists as one table.
 */
import type * as Cause from "effect/Cause"
import * as Schema from "effect/Schema"
import * as Facets from "./errorFacets.ts"
import * as Messages from "./errorMessages.ts"

/**
 * What is known of the request: the server never received it (`not-sent`), may have executed it (`unknown`), or has
 * dealt with it (`executed`).
 */
export const Outcome = Schema.Literal("not-sent", "unknown", "executed")
export type Outcome = typeof Outcome.Type

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

interface Facet {
  readonly outcome: Outcome
  readonly isRetryable: boolean
  readonly countsForBreaker: boolean
}

type WithServer<Fields> = { readonly server: typeof Schema.String } & Fields

interface ErrorClass<Self, Tag extends string, Fields extends Schema.Struct.Fields> extends
  Schema.Class<
    Self,
    { readonly _tag: Schema.tag<Tag> } & Fields,
    Schema.Struct.Encoded<{ readonly _tag: Schema.tag<Tag> } & Fields>,
    Schema.Struct.Context<{ readonly _tag: Schema.tag<Tag> } & Fields>,
    Schema.Struct.Constructor<Fields>,
    Facet,
    Cause.YieldableError
  >
{
  readonly _tag: Tag
}

const getter = (get: (error: McpError) => unknown): PropertyDescriptor => ({
  configurable: true,
  get(this: McpError) {
    return get(this)
  }
})

/** A tagged error with a `server`, a message, and the facets of the table as getters. */
const errorClass = <Self>() =>
<Tag extends string, Fields extends Schema.Struct.Fields>(
  tag: Tag,
  fields: Fields
): ErrorClass<Self, Tag, WithServer<Fields>> => {
  const Class = Schema.TaggedError<unknown>(`effect-mcp-runtime/${tag}`)(tag, { server: Schema.String, ...fields })
  Object.defineProperties(Class.prototype, {
    isRetryable: getter(Facets.isRetryable),
    countsForBreaker: getter(Facets.countsForBreaker),
    ...("outcome" in fields ? {} : { outcome: getter(Facets.outcome) }),
    message: getter(Messages.message)
  })
  // the class knows its facets only after they were defined
  return Class as unknown as ErrorClass<Self, Tag, WithServer<Fields>>
}

const withDefault = <A, I>(schema: Schema.Schema<A, I>, value: NoInfer<A>) =>
  schema.pipe(Schema.propertySignature, Schema.withConstructorDefault(() => value))
const text = Schema.String
const optionalText = Schema.optional(Schema.String)
const flag = Schema.optional(Schema.Boolean)
const number = Schema.optional(Schema.Number)
const duration = Schema.optional(Schema.DurationFromSelf)

/** The variables without a value whose headers were left out: the likely cause of a refusal. */
const Unset = Schema.Array(Schema.Struct({
  name: Schema.String,
  /** The field: `headers.Authorization`. */
  at: Schema.String,
  /** The message for the unset variable, with the next step. */
  detail: Schema.String
}))
export type Unset = typeof Unset.Type
const unset = Schema.optional(Unset)

// Why there is no connection, or why it ended.

/** The process of a server, or the MCP gateway of Docker, could not be started. */
export class SpawnFailed extends errorClass<SpawnFailed>()("SpawnFailed", {
  reason: withDefault(
    Schema.Literal(
      "command",
      "docker-not-installed",
      "docker-no-mcp-plugin",
      "docker-daemon-down",
      "docker-timeout"
    ),
    "command"
  ),
  /** The error of the system, as `ENOENT`, with the reason `command`. */
  errno: optionalText,
  command: optionalText,
  cwd: optionalText,
  detail: text
}) {}

/** The connection was not ready within the limit; `phase` is the last stage that it reached. */
export class ConnectTimeout extends errorClass<ConnectTimeout>()("ConnectTimeout", {
  phase: Phase,
  limit: Schema.DurationFromSelf,
  stderrTail: optionalText
}) {}

/** The server refused the handshake, or shares no protocol version with this client. */
export class HandshakeFailed extends errorClass<HandshakeFailed>()("HandshakeFailed", {
  reason: Schema.Literal("rejected", "version"),
  /** The code of the server's error, with `rejected`. */
  code: number,
  detail: withDefault(text, ""),
  /** The version of the server and those of this client, with `version`. */
  got: optionalText,
  supported: Schema.optional(Schema.Array(Schema.String)),
  stderrTail: optionalText,
  unset
}) {}

/**
 * A connection ended. `exited`: the process of the server; `stream-interrupted`: the stream that owed the answer;
 * `moved`: the connector opens it at another place at once, which is no fault of the server.
 */
export class ConnectionLost extends errorClass<ConnectionLost>()("ConnectionLost", {
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
  detail: withDefault(text, ""),
  outcome: Outcome,
  /** How the process ended, and in which phase, with `exited`. */
  code: Schema.optional(Schema.NullOr(Schema.Number)),
  signal: Schema.optional(Schema.NullOr(Schema.String)),
  phase: Schema.optional(Phase),
  stderrTail: optionalText
}) {}

/** A socket could not be opened or broke, or its TLS failed; `code` is the error code of the system or of TLS. */
export class NetworkError extends errorClass<NetworkError>()("NetworkError", {
  reason: withDefault(Schema.Literal("network", "tls"), "network"),
  code: text,
  detail: text,
  outcome: Outcome
}) {}

/**
 * The server, or a proxy in front of it, answered a request over HTTP with a failure. `forbidden`: 403, the credentials
 * do not suffice; `rate-limited`: 429; `unavailable`: 503 with `Retry-After`; `redirect`, `origin`: it names another
 * place, and nothing was sent there; `content-type`: the content is not MCP; `status`: any other status.
 */
export class HttpError extends errorClass<HttpError>()("HttpError", {
  reason: Schema.Literal("status", "rate-limited", "unavailable", "forbidden", "redirect", "origin", "content-type"),
  status: number,
  /** An excerpt of the body. */
  detail: withDefault(text, ""),
  outcome: Outcome,
  retryAfter: duration,
  /** The request was not sent, because the server had asked for a pause before. */
  paused: flag,
  scope: optionalText,
  challenge: optionalText,
  /** The other place, with `redirect` and `origin`. */
  to: optionalText,
  redirect: Schema.optional(Schema.Literal("other-origin", "loop", "method", "malformed")),
  /** The content type, with `content-type`. */
  got: optionalText,
  unset
}) {}

/**
 * There is no login that the server accepts. `unauthorized`: it answered 401; `login`: a person has to log in;
 * `not-interactive`: no person can be asked, or none has to log in; `refused`: the authorization server or the person refused; `metadata`,
 * `registration`, `answer`: the authorization server breaks a rule in its metadata, the registration of this client, or
 * the end of a login; `blocked`: it names an address that is not allowed; `scope`: the server asks for rights that it
 * already has; `unreachable`: the authorization server does not answer; `store`: the tokens cannot be kept; `timeout`,
 * `cancelled`: the login was not completed.
 */
export class AuthorizationFailed extends errorClass<AuthorizationFailed>()("AuthorizationFailed", {
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
  detail: withDefault(text, ""),
  /** What the server asks for, with `unauthorized`. */
  challenge: optionalText,
  resourceMetadata: optionalText,
  scope: optionalText,
  unset
}) {}

/**
 * The server no longer knows the session (404). `outcome` is `unknown` if the server gave that answer to this request,
 * because it can execute a request first; `not-sent` if the request was held back.
 */
export class SessionExpired extends errorClass<SessionExpired>()("SessionExpired", {
  detail: text,
  outcome: withDefault(Outcome, "unknown")
}) {}

/**
 * The server breaks the protocol. `message`: it sent something that is not allowed; `pagination`: a list does not end;
 * `input-rounds`: it asks for input without end; `tool-result`: a result does not fit the declaration of its tool.
 */
export class ProtocolViolation extends errorClass<ProtocolViolation>()("ProtocolViolation", {
  reason: withDefault(Schema.Literal("message", "pagination", "input-rounds", "tool-result"), "message"),
  what: withDefault(text, ""),
  excerpt: withDefault(text, ""),
  outcome: Outcome,
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
export class MessageTooLarge extends errorClass<MessageTooLarge>()("MessageTooLarge", {
  limit: Schema.Number,
  direction: Schema.Literal("received", "sent"),
  /** It came while the connection was opened, so no request had been sent yet. */
  connecting: flag
}) {}

/** The server did not declare the capability that an operation needs. */
export class CapabilityMissing extends errorClass<CapabilityMissing>()("CapabilityMissing", {
  capability: text,
  operation: text
}) {}

// How a request ends without a result.

/** The server answered the request with an error. */
export class RemoteError extends errorClass<RemoteError>()("RemoteError", {
  code: Schema.Number,
  detail: text,
  data: Schema.optional(Schema.Unknown)
}) {}

/** A tool reported failure in its result; the server is healthy. */
export class ToolError extends errorClass<ToolError>()("ToolError", {
  tool: text,
  detail: text,
  result: Schema.Unknown
}) {}

/** No answer in time: none and no progress within the idle limit, or none within the total limit. */
export class RequestTimeout extends errorClass<RequestTimeout>()("RequestTimeout", {
  kind: Schema.Literal("idle", "total"),
  operation: text,
  limit: Schema.DurationFromSelf,
  outcome: Outcome,
  /** What the request waited for, if it was not sent. */
  waitedFor: Schema.optional(Schema.Literal("connection", "permit")),
  /** The error of the last attempt to connect, if it waited for a connection. */
  lastError: Schema.optional(Schema.declare((u): u is ConnectError => isConnectError(u)))
}) {}

/** The operation was cancelled, by the peer or on our side, before it ended. */
export class Cancelled extends errorClass<Cancelled>()("Cancelled", {
  operation: text,
  detail: text,
  outcome: Outcome
}) {}

/** The connection is closed for good. */
export class Closed extends errorClass<Closed>()("Closed", {
  operation: text,
  outcome: Outcome,
  /** Why the server must not be used any more, if that closed the connection. */
  blocked: Schema.optional(Schema.Literal("denied", "untrusted"))
}) {}

// Why a request was not sent.

/** Too many requests wait already. */
export class Overloaded extends errorClass<Overloaded>()("Overloaded", {
  queue: Schema.Literal("write", "calls"),
  queued: Schema.Number,
  limit: Schema.Number
}) {}

/** The circuit breaker of the server is open. */
export class CircuitOpen extends errorClass<CircuitOpen>()("CircuitOpen", {
  retryAfter: Schema.DurationFromSelf,
  /** The application isolated the server; only a reset of the breaker ends that. */
  isolated: flag
}) {}

/** The server cannot be used now. `connecting`: the wait for its first list ended before the connection was ready. */
export class ServerUnavailable extends errorClass<ServerUnavailable>()("ServerUnavailable", {
  why: Schema.Literal("disabled", "disconnected", "denied", "untrusted", "storm", "connecting"),
  detail: text,
  retryAfter: duration
}) {}

/** Servers that are marked `required` did not start; `failures` names all of them. */
export class RequiredServersFailed extends errorClass<RequiredServersFailed>()("RequiredServersFailed", {
  failures: Schema.Array(Schema.Struct({ server: Schema.String, reason: Schema.String, error: Schema.Unknown }))
}) {}

/** There is no such server, tool, resource or prompt. `server` is empty where no single server was asked. */
export class NotFound extends errorClass<NotFound>()("NotFound", {
  kind: Schema.Literal("server", "tool", "resource", "prompt"),
  name: text,
  /** Similar names. */
  suggestions: Schema.optional(Schema.Array(Schema.String))
}) {}

/** The arguments of the caller cannot be sent: they are not JSON, too large, or hold an invalid duration. */
export class InvalidArguments extends errorClass<InvalidArguments>()("InvalidArguments", {
  operation: text,
  path: text,
  detail: text
}) {}

/**
 * Not permitted. `policy`: a policy does not allow the server; `quarantined`: the definition of the tool changed since
 * it was first seen, and has to be approved anew; `rule`: a rule denies it; `unanswered`: it needs approval, and no
 * person can be asked; `refused`: a person refused; `changed`: it differs from what was approved; `crowded`: too many
 * calls wait for approval; `too-long`: it needs approval, and is too long to be shown.
 */
export class PermissionDenied extends errorClass<PermissionDenied>()("PermissionDenied", {
  kind: Schema.Literal("server", "tool", "resource", "prompt"),
  name: text,
  why: Schema.Literal("policy", "quarantined", "rule", "unanswered", "refused", "changed", "crowded", "too-long"),
  /** With `policy`: a rule denies the server, or a list allows only others. */
  decision: Schema.optional(Schema.Literal("denied", "not-allowed")),
  /** With `quarantined`: the changed places of the definition, such as `/description`. */
  changed: Schema.optional(Schema.Array(Schema.String)),
  /** The rule that decided, as it was written. */
  rule: optionalText,
  /** The narrowest `allow` rule that permits it. Set with `unanswered` and `too-long`. */
  allow: optionalText,
  /** The next step in the program that refused it, such as a flag of `mcp-runtime serve`; replaces `allow`. */
  remedy: optionalText,
  /** With `too-long`: the characters of its name and arguments as shown, and the maximum. */
  length: number,
  limit: number
}) {}

/** The configuration of a server cannot be used. */
export class ConfigurationError extends errorClass<ConfigurationError>()("ConfigurationError", {
  path: text,
  detail: text,
  /** The variable without a value, if that is the cause. */
  variable: Schema.optional(Schema.Struct({
    name: Schema.String,
    why: Schema.Literal("variable-unset", "variable-forbidden", "input-required"),
    /** The environment variable that sets it. */
    from: Schema.optional(Schema.String)
  }))
}) {}

/** A decision about trust could not be stored, so it does not hold. */
export class TrustNotKept extends errorClass<TrustNotKept>()("TrustNotKept", {
  detail: text
}) {}

/** Why there is no connection, or why it ended. */
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
export const McpError = Schema.Union(...RuntimeError.members, RequiredServersFailed, ToolError, TrustNotKept)
export type McpError = typeof McpError.Type

export { type Next, next, nextAfterLoss } from "./errorFacets.ts"

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
export const withOutcome = <E extends CallError>(error: E, outcome: Outcome): E | ConnectError => {
  if (error._tag === "MessageTooLarge") {
    return outcome === "not-sent" ? new MessageTooLarge({ ...error, connecting: true }) : error
  }
  if (Facets.outcome(error) !== undefined) return error
  switch (error._tag) {
    case "ConnectionLost":
      return new ConnectionLost({ ...error, outcome })
    case "HttpError":
      return new HttpError({ ...error, outcome })
    case "NetworkError":
      return new NetworkError({ ...error, outcome })
    case "ProtocolViolation":
      return new ProtocolViolation({ ...error, outcome })
    case "SessionExpired":
      return new SessionExpired({ ...error, outcome })
    default:
      return error
  }
}

/** The error of a failed connect, for a request that waited for the connection. */
export const notSent = (error: ConnectError): ConnectError => withOutcome(error, "not-sent")

/**
 * The error of a call whose later part failed after the server received an earlier part. Its outcome is `unknown`,
 * because the server may have acted on the earlier part.
 */
export const partlySent = (error: CallError): CallError => {
  const interrupted = () =>
    new ConnectionLost({
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
