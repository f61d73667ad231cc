/** The message of every error: the server, the failure, and the limit or the next step. Foreign text is escaped and short. */
import * as Duration from "effect/Duration"
import type * as McpError from "./McpError.ts"
import * as StderrReader from "./stderrReader.ts"
import { excerpt } from "./text/UntrustedText.ts"

type Of<T extends McpError.McpError["_tag"]> = Extract<McpError.McpError, { readonly _tag: T }>

const named = (server: string, text: string): string => `${excerpt(server, 128)}: ${text}`
const quote = (text: string): string => `"${excerpt(text, 256)}"`
const after = (retryAfter: Duration.Duration | undefined): string =>
  `; try again ${retryAfter === undefined ? "later" : `in ${Duration.format(retryAfter)}`}`

/** Begins with the unset variables, because they are the likely cause. */
const because = (unset: McpError.Unset | undefined, text: string): string =>
  [...(unset ?? []).slice(0, 3).map(({ detail }) => detail), text].join("; ")

/** The party that stderr blames, the failure, and the line of stderr with the reason. */
const blamed = (text: string, stderr: string | undefined): string => {
  const { fault, line } = StderrReader.read(stderr)
  const party = fault === undefined ? "" : `${excerpt(StderrReader.sentence(fault), 200)}; `
  return `${party}${text}${line === undefined ? "" : `; its stderr: ${excerpt(line, 200)}`}`
}

const docker = {
  "docker-not-installed": ["Docker could not be started", "install Docker, or set `command` to where it is"],
  "docker-no-mcp-plugin": [
    "Docker has no command `mcp`",
    "install the MCP Toolkit of Docker Desktop, or the CLI plugin docker-mcp"
  ],
  "docker-daemon-down": [
    "the Docker daemon does not answer",
    "start Docker, or look at the Docker context and at DOCKER_HOST"
  ],
  "docker-timeout": ["Docker did not answer in time", "it may still be starting; if not, restart Docker"]
} as const

const http: Record<McpError.HttpError["reason"], (error: McpError.HttpError) => string> = {
  status: ({ detail, status }) => `HTTP status ${status}: ${excerpt(detail)}`,
  "rate-limited": ({ retryAfter }) => `rate limited (429)${after(retryAfter)}`,
  unavailable: ({ detail, retryAfter }) => `unavailable (503): ${excerpt(detail)}${after(retryAfter)}`,
  forbidden: ({ scope }) =>
    `the server refused access (403)${scope === undefined ? "" : `; it asks for the scope ${quote(scope)}`}`,
  redirect: ({ redirect, to = "" }) =>
    `a redirect to ${quote(to)} was not followed (${redirect}); use that URL if it is the server you mean`,
  origin: ({ to = "" }) => `the server names an endpoint on another origin, ${quote(to)}`,
  "content-type": ({ detail, got = "" }) => `unexpected content type ${quote(got)}: ${excerpt(detail, 256)}`
}

const violation: Record<McpError.ProtocolViolation["reason"], (error: McpError.ProtocolViolation) => string> = {
  message: (error) => {
    const sent = error.excerpt === "" ? "" : `: ${excerpt(error.excerpt)}`
    return `protocol violation in the ${error.phase} phase: ${error.what}${sent}`
  },
  pagination: ({ exceeds, limit, operation, pages }) =>
    `${operation} was stopped after ${pages} pages (${exceeds}, limit ${limit})`,
  "input-rounds": ({ operation, rounds }) => `${operation} asked for input ${rounds} times without finishing`,
  "tool-result": ({ path = "", tool = "", what }) =>
    `the result of ${quote(tool)} is invalid at ${quote(path)}: ${excerpt(what)}`
}

const denial: Record<McpError.PermissionDenied["why"], (error: McpError.PermissionDenied) => string> = {
  policy: ({ decision }) =>
    `${decision === "denied" ? "a policy denies it" : "a policy allows only others"}; ask the author of the policy`,
  quarantined: ({ changed = [] }) => {
    const places = changed.slice(0, 3).map(quote).join(", ")
    const more = changed.length > 3 ? ` and ${changed.length - 3} more` : ""
    return `it has changed since it was first seen (${places}${more}); approve it anew to call it`
  },
  rule: ({ rule }) => rule === undefined ? "a rule denies it" : `the rule ${quote(rule)} denies it`,
  unanswered: ({ allow, remedy, rule }) => {
    const wanted = rule === undefined ? "no rule allows it" : `the rule ${quote(rule)} asks for approval`
    const how = remedy ?? (allow === undefined ? undefined : `allow it with the rule allow ${quote(allow)}`)
    return `${wanted}, and no person ${how === undefined ? "answered" : `can be asked; ${how}`}`
  },
  refused: () => "it was not approved",
  changed: () => "it has changed since it was approved",
  crowded: () => "too many calls wait for approval",
  "too-long": (error) => {
    const { length = "too many", limit = "fewer", remedy } = error
    const size = `its name and arguments have ${length} characters, and at most ${limit} can be shown`
    return `it needs approval, but ${size}; make the arguments shorter, or ${remedy ?? allowing(error)}`
  }
}

/** Names the `ask` rule to replace, because an `ask` overrides an `allow`. */
const allowing = ({ allow, rule }: McpError.PermissionDenied): string => {
  const how = allow === undefined ? "allow it with a rule" : `allow it with the rule allow ${quote(allow)}`
  return rule === undefined ? how : `${how} in place of ${quote(rule)}, which asks for approval`
}

const messages: { readonly [T in McpError.McpError["_tag"]]: (error: Of<T>) => string } = {
  SpawnFailed: ({ command = "", detail, errno, reason }) => {
    if (reason === "command") return `could not start ${quote(command)} (${errno}): ${detail}`
    const [what, remedy] = docker[reason]
    return `${what} (${excerpt(detail, 512)}); ${remedy}`
  },
  ConnectTimeout: ({ limit, phase, stderrTail }) =>
    blamed(`not connected within ${Duration.format(limit)}; still in the ${phase} phase`, stderrTail),
  HandshakeFailed: ({ code, detail, got = "", reason, stderrTail, supported = [], unset }) =>
    reason === "version"
      ? `the server speaks protocol ${quote(got)}; this client speaks ${supported.join(", ")}`
      : blamed(because(unset, `the handshake was refused with ${code}: ${excerpt(detail)}`), stderrTail),
  ConnectionLost: ({ code, detail, phase, reason, signal, stderrTail }) => {
    if (reason === "exited") {
      return blamed(`the process ended (${signal ?? `exit code ${code}`}) in the ${phase} phase`, stderrTail)
    }
    const what = reason === "stream-interrupted"
      ? "the stream ended before the answer"
      : `the connection was lost (${reason})`
    return blamed(`${what}: ${excerpt(detail)}`, stderrTail)
  },
  NetworkError: ({ code, detail, reason }) =>
    `${reason === "tls" ? `TLS failed (${code})` : `network error ${code}`}: ${excerpt(detail)}`,
  HttpError: (error) => because(error.unset, http[error.reason](error)),
  AuthorizationFailed: ({ challenge, code, detail, reason, unset }) => {
    if (reason === "unauthorized") {
      const asked = challenge === undefined ? "" : `: ${excerpt(challenge, 256)}`
      return because(unset, `the server asks for credentials (401)${asked}`)
    }
    return because(
      unset,
      `not authorized${code === undefined ? "" : ` (${excerpt(code, 64)})`}: ${excerpt(detail, 512)}`
    )
  },
  SessionExpired: ({ detail }) => `the session has expired: ${excerpt(detail)}`,
  ProtocolViolation: (error) => violation[error.reason](error),
  MessageTooLarge: ({ direction, limit }) => `a message ${direction} is larger than ${limit} bytes (maxMessageBytes)`,
  CapabilityMissing: ({ capability, operation }) =>
    `${operation} needs the capability ${quote(capability)}, which the server did not declare`,
  RemoteError: ({ code, detail }) => `the server answered ${code}: ${excerpt(detail)}`,
  ToolError: ({ detail, tool }) => `the tool ${quote(tool)} failed: ${excerpt(detail)}`,
  RequestTimeout: ({ kind, lastError, limit, operation, waitedFor }) => {
    const within = `within the ${kind} limit of ${Duration.format(limit)}`
    if (waitedFor === undefined) return `${operation} had no answer ${within}`
    if (waitedFor === "permit") return `${operation} was not sent, because other calls used all permits ${within}`
    const reason = lastError === undefined ? "" : `; the last attempt to connect failed: ${lastError.message}`
    return `${operation} was not sent, because there was no connection ${within}${reason}`
  },
  Cancelled: ({ detail, operation }) => `${operation} was cancelled: ${excerpt(detail)}`,
  Closed: ({ blocked, operation }) => {
    const why = blocked === undefined ? "" : `, because the server was blocked (${blocked})`
    return `${operation} failed: the connection is closed${why}`
  },
  Overloaded: ({ limit, queue, queued }) => `overloaded: ${queued} in the ${queue} queue (limit ${limit})`,
  CircuitOpen: ({ isolated, retryAfter }) =>
    isolated === true
      ? "the circuit breaker is isolated; reset it to use the server"
      : `the circuit breaker is open${after(retryAfter)}`,
  ServerUnavailable: ({ detail, retryAfter, why }) =>
    `${why === "connecting" ? "" : `unavailable (${why}): `}${excerpt(detail)}${
      retryAfter === undefined ? "" : after(retryAfter)
    }`,
  RequiredServersFailed: ({ failures }) => {
    const each = failures.map(({ reason, server }) => named(server, excerpt(reason)))
    return `${failures.length} required servers did not start: ${each.join("; ")}`
  },
  NotFound: ({ kind, name, suggestions = [] }) => {
    const near = suggestions.slice(0, 3).map(quote).join(" or ")
    return `there is no ${kind} ${quote(name)}${near === "" ? "" : `; did you mean ${near}?`}`
  },
  InvalidArguments: ({ detail, operation, path }) => `${operation} was not sent: ${excerpt(detail)} at ${quote(path)}`,
  PermissionDenied: (error) => {
    const { kind, name, why } = error
    return `${why === "policy" ? "not connected" : `the ${kind} ${quote(name)} is not permitted`}: ${
      denial[why](error)
    }`
  },
  ConfigurationError: ({ detail, path, variable }) =>
    variable === undefined
      ? `invalid configuration at ${quote(path)}: ${detail}`
      : `${detail}; the configuration uses it in ${quote(path)}`,
  TrustNotKept: ({ detail }) =>
    `the decision could not be kept: ${excerpt(detail)}; check the permissions of the state folder ` +
    "($XDG_STATE_HOME or ~/.local/state)"
}

/** Errors about several servers, or about none. */
const unnamed: ReadonlySet<McpError.McpError["_tag"]> = new Set(["RequiredServersFailed"])

export const message = <E extends McpError.McpError>(error: E): string => {
  // the entry of a tag takes the errors of that tag
  const text = (messages[error._tag] as (error: E) => string)(error)
  return unnamed.has(error._tag) || (error._tag === "NotFound" && error.server === "")
    ? text
    : named(error.server, text)
}
