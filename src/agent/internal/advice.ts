/**
 * What a model is told of an error: what failed, whether trying again makes sense, and what to do instead. Our own words
 * hold nothing that a server or a process wrote; the words of a server come apart, to be guarded.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import type * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"

/** @internal */
export interface Advice {
  readonly what: string
  readonly next: string
  /** What the server says of it. */
  readonly theirs?: string | undefined
}

type Failure = McpError.RuntimeError

type Table = { readonly [T in Failure["_tag"]]: (error: Extract<Failure, { readonly _tag: T }>) => Advice }

const quote = (text: string): string => `"${UntrustedText.excerpt(text, 128)}"`

const the = ({ server }: { readonly server: string }): string =>
  server === "" ? "The server" : `The server ${quote(server)}`

const stop = "Do not try again: the same would happen."
const tellUser = `${stop} Go on without this server, and tell the user about it if the task needs it.`
const once = "You may try once more; if it fails again, go on without it."

const later = (retryAfter: Duration.Duration | undefined): string =>
  retryAfter === undefined
    ? "You may try again a little later; until then, go on with something else."
    : `Do not try again within ${Duration.format(retryAfter)}; until then, go on with something else.`

/** A call may do something that should not be done twice. */
const lost = ({ outcome }: { readonly outcome: McpError.Outcome }): string =>
  outcome === "not-sent"
    ? `Nothing was sent, so nothing has happened. ${once}`
    : outcome === "unknown"
    ? "It may have been carried out all the same. Look whether it was before you do it again; to read something again does no harm."
    : "It has been carried out. Do not do it again."

const refusal = "Do not try again, and do not try to reach the same in another way."

const permission: Record<McpError.PermissionDenied["why"], (error: McpError.PermissionDenied) => string> = {
  policy: () => tellUser,
  quarantined: () => `Nothing was sent. ${refusal} Tell the user that it has changed and has to be looked at.`,
  rule: () => `A rule of the user does not allow it. ${refusal} If the task needs it, tell the user so.`,
  unanswered: ({ allow, remedy }) => {
    const how = remedy ?? (allow === undefined ? undefined : `the rule allow ${quote(allow)} permits it`)
    const also = how === undefined ? "" : `, and how to allow it: ${how}`
    return `It needs the user's approval, and the user cannot be asked now. ${refusal} ` +
      `If the task needs it, tell the user so${also}.`
  },
  refused: () => `The user was asked, and did not agree. ${refusal} Go on without it, or ask the user what to do.`,
  changed: () =>
    "What was approved is not what is there now. You may try once more, so that it is looked at anew; otherwise go on without it.",
  crowded: () => "Too many calls already wait for approval. Wait until they have ended, then try again.",
  "too-long": () =>
    "It needs the user's approval, but its arguments are too long to be shown whole. Try again with shorter arguments, or in several calls; otherwise tell the user that a rule has to allow it."
}

const unavailable: Record<McpError.ServerUnavailable["why"], string> = {
  disabled: "It is switched off.",
  disconnected: "It was disconnected by the user or the application.",
  denied: "A policy does not allow it.",
  untrusted: "The user has not agreed to it yet.",
  connecting: "It is still connecting.",
  storm: "It was lost and reached again too often, and is left alone for a while."
}

const remote = (code: number): string => {
  switch (code) {
    case -32602:
      return "Correct the arguments as it says and as the tool's schema asks, and call again."
    case -32601:
      return `It does not know what was asked of it. ${stop}`
    case -32002:
      return "There is no such thing on it. List what there is before you try another name."
    default:
      return "Do as it says if that is part of your task; do not repeat the same call unchanged."
  }
}

const signIn = "Nothing was done. Do not try again before the user has signed in; tell the user so."

const http: Record<McpError.HttpError["reason"], (error: McpError.HttpError) => Advice> = {
  status: (error) => ({
    what: `${the(error)} answered with the HTTP status ${error.status}.`,
    next: (error.status ?? 0) >= 500 || error.outcome === "unknown"
      ? lost(error)
      : "Do not repeat the same call unchanged.",
    theirs: error.detail
  }),
  "rate-limited": (error) => ({ what: `${the(error)} asks for fewer calls.`, next: later(error.retryAfter) }),
  unavailable: (error) => ({ what: `${the(error)} is out of service for a while.`, next: later(error.retryAfter) }),
  forbidden: (error) => ({
    what: `${the(error)} refused access: what we are signed in with does not suffice.`,
    next: tellUser
  }),
  redirect: (error) => ({
    what: `${the(error)} sent us to another place, and nothing was sent there.`,
    next: tellUser
  }),
  origin: (error) => ({
    what: `${the(error)} names another place to send to, and nothing was sent there.`,
    next: tellUser
  }),
  "content-type": (error) => ({
    what: `${the(error)} answered with something that is no MCP.`,
    next: broken(error)
  })
}

const violation: Record<McpError.ProtocolViolation["reason"], (error: McpError.ProtocolViolation) => Advice> = {
  message: (error) => ({ what: `${the(error)} broke the protocol.`, next: broken(error) }),
  pagination: (error) => ({ what: `A list of ${quote(error.server)} does not end, and was given up.`, next: stop }),
  "input-rounds": (error) => ({
    what: `${the(error)} kept asking for input and did not finish.`,
    next: "It may have been carried out in part. Give what it may have asked for in the arguments, or go on without it."
  }),
  "tool-result": (error) => ({
    what: `The tool of ${
      quote(error.server)
    } ran, but what it gave back is not what it declares, so it cannot be shown.`,
    next: "It has been carried out. Do not do it again unless it only reads; use another tool to see what it did."
  })
}

const table: Table = {
  AuthorizationFailed: (error) => {
    switch (error.reason) {
      case "unauthorized":
        return { what: `${the(error)} asks us to sign in.`, next: signIn }
      case "unreachable":
        return { what: `${the(error)} could not have our sign-in renewed.`, next: `Nothing was done. ${once}` }
      default:
        return { what: `${the(error)} needs somebody to sign in.`, next: signIn }
    }
  },
  ConnectionLost: (error) => ({
    what: error.reason === "exited"
      ? `The process of the server ${quote(error.server)} has ended.`
      : error.reason === "stream-interrupted"
      ? `The answer of ${quote(error.server)} broke off.`
      : `The connection to ${quote(error.server)} was lost.`,
    next: lost(error)
  }),
  HandshakeFailed: (error) => ({
    what: error.reason === "version"
      ? `${the(error)} speaks another version of the protocol.`
      : `${the(error)} refused to be connected.`,
    next: tellUser
  }),
  HttpError: (error) => http[error.reason](error),
  NetworkError: (error) =>
    error.reason === "tls"
      ? { what: `No secure connection to ${quote(error.server)} was possible.`, next: tellUser }
      : { what: `${the(error)} could not be reached over the network.`, next: lost(error) },
  PermissionDenied: (error) => ({
    what: error.why === "policy"
      ? `A policy does not allow the server ${quote(error.server)}.`
      : error.why === "quarantined"
      ? `The tool ${quote(error.name)} of ${
        quote(error.server)
      } is not any more what it was when the user agreed to it.`
      : `The ${error.kind} ${quote(error.name)} of ${quote(error.server)} was not used: it is not permitted.`,
    next: permission[error.why](error)
  }),
  ProtocolViolation: (error) => violation[error.reason](error),
  SpawnFailed: (error) => ({
    what: error.reason === "command"
      ? `${the(error)} could not be started.`
      : `${the(error)} needs Docker, which does not work here.`,
    next: tellUser
  }),
  Cancelled: (error) => ({ what: "The call was cancelled before it ended.", next: lost(error) }),
  CapabilityMissing: (error) => ({ what: `${the(error)} does not support this.`, next: stop }),
  CircuitOpen: (error) =>
    error.isolated === true
      ? { what: `${the(error)} was taken out of use by its operator.`, next: tellUser }
      : { what: `${the(error)} has failed several times and is left alone for now.`, next: later(error.retryAfter) },
  Closed: (error) =>
    error.blocked === undefined
      ? { what: `The connection to ${quote(error.server)} is closed.`, next: lost(error) }
      : {
        what: `${the(error)} may not be used any more.`,
        next: `${error.outcome === "unknown" ? `${lost(error)} ` : ""}${tellUser}`
      },
  ConfigurationError: (error) => ({ what: `${the(error)} is not configured properly.`, next: tellUser }),
  ConnectTimeout: (error) => ({
    what: `${the(error)} was not there within ${Duration.format(error.limit)}.`,
    next: `Nothing was sent, so nothing has happened. ${once}`
  }),
  InvalidArguments: (error) => ({
    what: `The arguments cannot be sent: ${UntrustedText.excerpt(error.detail, 512)}${
      error.path === "" ? "" : ` (at ${quote(error.path)})`
    }.`,
    next: "Nothing was sent. Correct them as the schema of the tool asks, and call again."
  }),
  MessageTooLarge: (error) =>
    error.direction === "sent"
      ? {
        what: `What was to be sent is larger than ${error.limit} bytes.`,
        next: "Nothing was sent. Call again with less."
      }
      : {
        what: `The answer of ${quote(error.server)} is larger than ${error.limit} bytes.`,
        next: "It may have been carried out. Ask for less: a filter, a smaller range, one page."
      },
  NotFound: (error) => {
    const near = error.suggestions ?? []
    return {
      what: `There is no ${error.kind} ${quote(error.name)}${
        error.server === "" ? "" : ` on the server ${quote(error.server)}`
      }.`,
      next: near.length === 0
        ? "Use a name that you were given, as it is written there; do not guess."
        : `Did you mean ${near.slice(0, 3).map(quote).join(" or ")}? Use a name as it is written there.`
    }
  },
  Overloaded: (error) => ({
    what: `Too many calls to ${quote(error.server)} wait already.`,
    next: "Nothing was sent. Wait until others have ended, make fewer at once, and try again."
  }),
  RemoteError: (error) => ({
    what: `${the(error)} answered with the error ${error.code}.`,
    next: remote(error.code),
    theirs: error.detail
  }),
  RequestTimeout: (error) => ({
    what: `${the(error)} gave no answer within ${Duration.format(error.limit)}.`,
    next: lost(error)
  }),
  ServerUnavailable: (error) => ({
    what: `${the(error)} cannot be used now. ${unavailable[error.why]}`,
    next: error.isRetryable ? later(error.retryAfter) : tellUser
  }),
  SessionExpired: (error) => ({
    what: `The session with ${quote(error.server)} has expired.`,
    next: lost(error)
  })
}

const broken = (error: { readonly outcome: McpError.Outcome }): string =>
  error.outcome === "not-sent" ? tellUser : `${lost(error)} ${tellUser}`

/** @internal */
export const of = (error: Failure): Advice => {
  // each tag has the words for its own error, which the compiler cannot follow from the tag to the row
  const words = table[error._tag] as (error: Failure) => Advice
  return words(error)
}
