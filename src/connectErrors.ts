/** Why there is no connection, or why it ended. */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as Row from "./errorRow.ts"
import * as ShellWords from "./text/shellWords.ts"
import { excerpt, quote } from "./text/UntrustedText.ts"

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

const { connection, permission, tool, usage } = Row.exitCodes

const optionalText = Schema.optional(Schema.String)
const number = Schema.optional(Schema.Number)
const withDefault = <A, I>(schema: Schema.Schema<A, I>, value: NoInfer<A>) =>
  schema.pipe(Schema.propertySignature, Schema.withConstructorDefault(() => value))
const detail = withDefault(Schema.String, "")

const docker = (fault: string, remedy: string, isRetryable = false) =>
  Row.unusable<Row.Facets & { readonly detail: string }>(fault, {
    isRetryable,
    detail: ({ detail }) => ` (${excerpt(detail, 512)}); ${remedy}`
  })

/** The process of a server, or the MCP gateway of Docker, could not be started. */
export class SpawnFailed extends Row.error<SpawnFailed>()("SpawnFailed", {
  reason: withDefault(
    Schema.Literal("command", "docker-not-installed", "docker-no-mcp-plugin", "docker-daemon-down", "docker-timeout"),
    "command"
  ),
  /** The error of the system, as `ENOENT`, with the reason `command`. */
  errno: optionalText,
  command: optionalText,
  cwd: optionalText,
  detail: Schema.String
}, {
  command: Row.unusable("could not start", {
    detail: ({ command = "", detail, errno }) => ` ${quote(command)} (${errno}): ${detail}`,
    person: ({ errno }) =>
      errno === "ENOENT"
        ? "Install it, or write its whole path into the configuration."
        : "Check the command and the folder in its configuration."
  }),
  "docker-not-installed": docker("Docker could not be started", "install Docker, or set `command` to where it is"),
  "docker-no-mcp-plugin": docker(
    "Docker has no command `mcp`",
    "install the MCP Toolkit of Docker Desktop, or the CLI plugin docker-mcp"
  ),
  "docker-daemon-down": docker(
    "the Docker daemon does not answer",
    "start Docker, or look at the Docker context and at DOCKER_HOST",
    true
  ),
  "docker-timeout": docker("Docker did not answer in time", "it may still be starting; if not, restart Docker", true)
}) {}

/** The connection was not ready within the limit; `phase` is the last stage that it reached. */
export class ConnectTimeout extends Row.error<ConnectTimeout>()(
  "ConnectTimeout",
  { phase: Phase, limit: Schema.DurationFromSelf, stderrTail: optionalText },
  Row.unusable(({ limit, phase }) => `not connected within ${Duration.format(limit)}; still in the ${phase} phase`, {
    isRetryable: true,
    model: Row.checkEffect,
    person: ({ phase }) =>
      phase === "install"
        ? "The launcher is still installing its package: run the command again, or wait longer with --timeout."
        : "See the output of the server with --verbose, or wait longer with --timeout."
  })
) {}

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
}, {
  rejected: Row.unusable(({ code }) => `the handshake was refused with ${code}`, {
    person: "Its own words say why; often a variable, a licence or an argument is missing in its configuration."
  }),
  version: Row.unusable("it speaks another version of the protocol", {
    message: ({ got = "", supported = [] }) =>
      `the server speaks protocol ${quote(got)}; this client speaks ${supported.join(", ")}`,
    person: "Update the server."
  })
}) {}

/**
 * A connection ended. `exited`: the process of the server; `stream-interrupted`: the stream that owed the answer;
 * `moved`: the connector opens it at another place at once, which is no fault of the server.
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
}, {
  exited: Row.lost(
    ({ code, phase, signal }) => `the process ended (${signal ?? `exit code ${code}`}) in the ${phase} phase`,
    {
      detail: "",
      person: (error) =>
        error.phase === "ready" ? Row.lookFirst(error) : "Run its command by hand to see what it misses."
    }
  ),
  "stream-interrupted": Row.lost("the stream ended before the answer"),
  moved: Row.lost("the connection was lost (moved)", { countsForBreaker: false }),
  others: Row.lost(({ reason }) => `the connection was lost (${reason})`)
}) {}

/** A socket could not be opened or broke, or its TLS failed; `code` is the error code of the system or of TLS. */
export class NetworkError extends Row.error<NetworkError>()("NetworkError", {
  reason: withDefault(Schema.Literal("network", "tls"), "network"),
  code: Schema.String,
  detail: Schema.String,
  outcome: Row.Outcome
}, {
  network: Row.lost(({ code }) => `network error ${code}`, {
    person: "Check host and port of the address in its configuration, and that the server runs."
  }),
  tls: Row.unusable(({ code }) => `TLS failed (${code})`, {
    person: "Check that the port speaks TLS, and its certificate; NODE_EXTRA_CA_CERTS names the file of an authority."
  })
}) {}

export const logIn = (server: string, scope?: string): string => {
  const rights = scope === undefined ? "" : ` --scope ${ShellWords.quote(excerpt(scope, 256))}`
  return `Log in with \`mcp-runtime auth login ${ShellWords.quote(server)}${rights}\`.`
}

interface NeedsLogin extends Row.Facets {
  readonly server: string
  readonly scope?: string | undefined
}

/** Any other status would be the same for the next request. */
const isServerFault = ({ status = 0 }: { readonly status?: number | undefined }): boolean =>
  status >= 500 || status === 408

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
  retryAfter: Schema.optional(Schema.DurationFromSelf),
  /** The request was not sent, because the server had asked for a pause before. */
  paused: Schema.optional(Schema.Boolean),
  scope: optionalText,
  challenge: optionalText,
  /** The other place, with `redirect` and `origin`. */
  to: optionalText,
  redirect: Schema.optional(Schema.Literal("other-origin", "loop", "method", "malformed")),
  /** The content type, with `content-type`. */
  got: optionalText
}, {
  status: Row.unanswered(({ status }) => `HTTP status ${status}`, {
    isRetryable: (error) => Row.ifNotSent(error) && isServerFault(error),
    countsForBreaker: (error) => isServerFault(error),
    model: (error) =>
      isServerFault(error) || error.outcome === "unknown"
        ? Row.checkEffect(error)
        : "Do not repeat the call unchanged.",
    theirs: ({ detail }) => detail
  }),
  "rate-limited": Row.later("rate limited (429)"),
  unavailable: Row.later("unavailable (503)", {
    // a request that the runtime held back says nothing new about the server
    countsForBreaker: ({ paused }) => paused !== true,
    detail: (error) => `: ${excerpt(error.detail)}${Row.after(error)}`
  }),
  forbidden: Row.refused("the server refused access (403)", {
    // a login helps only if the server names the missing scope
    next: ({ scope }) => scope === undefined ? "final" : "login",
    nextAfterLoss: ({ scope }) => scope === undefined ? "final" : "login",
    detail: ({ scope }) => scope === undefined ? "" : `; it asks for the scope ${quote(scope)}`,
    person: ({ scope, server }) => `Check which rights its credentials have. ${logIn(server, scope)}`
  }),
  redirect: Row.unusable("a redirect to another place was not followed", {
    message: ({ redirect, to = "" }) =>
      `a redirect to ${quote(to)} was not followed (${redirect}); use that URL if it is the server you mean`,
    person: ({ to = "" }) => `Write ${quote(to)} into its configuration, if that is the server you mean.`
  }),
  origin: Row.unusable("the server names an endpoint on another origin", {
    detail: ({ to = "" }) => `, ${quote(to)}`,
    person: "Correct the address in its configuration, if you trust that origin."
  }),
  "content-type": Row.broken("unexpected content type", {
    detail: ({ detail, got = "" }) => ` ${quote(got)}: ${excerpt(detail, 256)}`,
    person: "Another service answers there: check the address, which often ends in /mcp."
  })
}) {}

interface NoLogin extends NeedsLogin {
  readonly challenge?: string | undefined
  readonly code?: string | undefined
  readonly detail: string
}

const signIn = (person: Row.Rule<NoLogin, string>, rest?: Partial<Row.Row<NoLogin>>) =>
  Row.refused<NoLogin>("not authorized", {
    next: "login",
    detail: ({ code, detail }) => `${code === undefined ? "" : ` (${excerpt(code, 64)})`}: ${excerpt(detail, 512)}`,
    model: "The request was not executed. Do not try again before the user has signed in; tell the user.",
    person,
    ...rest
  })

/**
 * There is no login that the server accepts. `unauthorized`: it answered 401; `login`: a person has to log in;
 * `not-interactive`: no person can be asked, or none has to log in; `refused`: the authorization server or the person
 * refused; `metadata`, `registration`, `answer`: the authorization server breaks a rule in its metadata, the registration
 * of this client, or the end of a login; `blocked`: it names an address that is not allowed; `scope`: the server asks for
 * rights that it already has; `unreachable`: the authorization server does not answer; `store`: the tokens cannot be kept;
 * `timeout`, `cancelled`: the login was not completed.
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
}, {
  unauthorized: signIn(
    ({ scope, server }) => `${logIn(server, scope)} If its configuration has credentials, correct them.`,
    {
      fault: "the server asks for credentials (401)",
      detail: ({ challenge }) => challenge === undefined ? "" : `: ${excerpt(challenge, 256)}`
    }
  ),
  metadata: signIn("Tell the operator of the server, or add the missing settings to `oauth` of its configuration."),
  registration: signIn("Register this client there, and write `oauth.clientId` into its configuration."),
  blocked: signIn("The server names a private address, or one without https: tell its operator."),
  store: signIn("Check the keyring, or the permissions of the folder for the state of programs."),
  unreachable: signIn("The authorization server did not answer: try again later.", {
    isRetryable: true,
    next: "retry",
    exitCode: connection,
    model: `The authorization server does not answer, and the request was not executed. ${Row.once}`
  }),
  others: signIn(({ scope, server }) => logIn(server, scope))
}) {}

/**
 * The server no longer knows the session (404). `outcome` is `unknown` if the server gave that answer to this request,
 * because it can execute a request first; `not-sent` if the request was held back.
 */
export class SessionExpired extends Row.error<SessionExpired>()(
  "SessionExpired",
  { detail: Schema.String, outcome: withDefault(Row.Outcome, "unknown") },
  Row.unanswered("the session has expired")
) {}

const ofAuthor = "This is a fault of the server: report it to its author."

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
}, {
  message: Row.broken(({ phase }) => `protocol violation in the ${phase} phase`, {
    detail: (error) => `: ${error.what}${error.excerpt === "" ? "" : `: ${excerpt(error.excerpt)}`}`,
    person: ofAuthor
  }),
  pagination: Row.answered(
    ({ exceeds, limit, operation, pages }) =>
      `${operation} was stopped after ${pages} pages (${exceeds}, limit ${limit})`,
    { person: ofAuthor }
  ),
  "input-rounds": Row.answered(
    ({ operation, rounds }) => `${operation} asked for input ${rounds} times without finishing`,
    {
      outcome: "unknown",
      model: "It may have executed a part. Put the input into the arguments, or go on without it; "
        + "do not repeat the call unchanged.",
      person: "Put the input that it asks for into the arguments."
    }
  ),
  "tool-result": Row.answered("the tool was executed, but its result does not fit the declared schema", {
    message: ({ path = "", tool = "", what }) =>
      `the result of ${quote(tool)} is invalid at ${quote(path)}: ${excerpt(what)}`,
    model: "Do not repeat the call unless it only reads; check its effect with another tool.",
    person: "It ran. With --json the result is shown as it came."
  })
}) {}

/** A message is over the limit of its server. */
export class MessageTooLarge extends Row.error<MessageTooLarge>()("MessageTooLarge", {
  limit: Schema.Number,
  direction: Schema.Literal("received", "sent"),
  /** It came while the connection was opened, so no request had been sent yet. */
  connecting: Schema.optional(Schema.Boolean)
}, {
  outcome: ({ connecting, direction }) => direction === "sent" || connecting === true ? "not-sent" : "unknown",
  isRetryable: false,
  countsForBreaker: false,
  exitCode: ({ direction }) => direction === "sent" ? usage : connection,
  fault: ({ direction, limit }) => `a message ${direction} is larger than ${limit} bytes (maxMessageBytes)`,
  model: ({ direction }) =>
    direction === "sent"
      ? "Nothing was sent. Call again with smaller arguments."
      : "The server may have executed the request. Ask for less: a filter, a smaller range, one page.",
  person: ({ direction }) => direction === "sent" ? "Send less." : "Ask for less."
}) {}

/** The server did not declare the capability that an operation needs. */
export class CapabilityMissing extends Row.error<CapabilityMissing>()(
  "CapabilityMissing",
  { capability: Schema.String, operation: Schema.String },
  Row.refused(
    ({ capability, operation }) =>
      `${operation} needs the capability ${quote(capability)}, which the server did not declare`,
    { exitCode: tool, model: Row.stop }
  )
) {}

/** The connection is closed for good. */
export class Closed extends Row.error<Closed>()("Closed", {
  operation: Schema.String,
  outcome: Row.Outcome,
  /** Why the server must not be used any more, if that closed the connection. */
  blocked: Schema.optional(Schema.Literal("denied", "untrusted"))
}, {
  isRetryable: false,
  countsForBreaker: false,
  exitCode: ({ blocked }) => blocked === undefined ? connection : permission,
  fault: ({ blocked, operation }) =>
    `${operation} failed: the connection is closed${
      blocked === undefined ? "" : `, because the server was blocked (${blocked})`
    }`,
  model: (error) =>
    error.blocked === undefined
      ? Row.checkEffect(error)
      : `${error.outcome === "unknown" ? `${Row.checkEffect(error)} ` : ""}${Row.withoutServer}`,
  person: Row.lookFirst
}) {}

/** Too many requests wait already. */
export class Overloaded extends Row.error<Overloaded>()(
  "Overloaded",
  { queue: Schema.Literal("write", "calls"), queued: Schema.Number, limit: Schema.Number },
  Row.later(({ limit, queue, queued }) => `overloaded: ${queued} in the ${queue} queue (limit ${limit})`, {
    detail: "",
    model: "Nothing was sent. Wait until other calls have ended, make fewer at once, and try again.",
    person: "Nothing was sent; try again with fewer at once."
  })
) {}
