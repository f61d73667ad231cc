/**
 * The next step after an error, for a person at a terminal and for a model. The message of the error says what happened.
 */
import * as Duration from "effect/Duration"
import type * as McpError from "./McpError.ts"
import * as StderrReader from "./stderrReader.ts"
import * as ShellWords from "./text/shellWords.ts"
import * as UntrustedText from "./text/UntrustedText.ts"

type Of<T extends McpError.McpError["_tag"]> = Extract<McpError.McpError, { readonly _tag: T }>

// For a person: which setting to change, or which command to run.

/**
 * Advice about a party that the stderr of a server blames.
 */
export const about = (fault: StderrReader.Fault): string => {
  switch (fault._tag) {
    case "PackageMissing":
      return "Check the spelling of the name and the version in \"args\". A private package needs a login to its registry."
    case "RegistryUnreachable":
      return `Check the network, the proxy and the registry that ${fault.program} uses. Or install the `
        + "package, and set \"command\" to its program."
    case "UpstreamUnreachable":
      return "Start the service that it connects to, or correct its address in \"env\" or \"args\" of the server."
    case "ModuleMissing":
      return "Install the server's dependencies in its folder, or correct the path in \"args\"."
  }
}

const sent = ({ outcome }: { readonly outcome: McpError.Outcome }): string => {
  switch (outcome) {
    case "not-sent":
      return "Nothing was sent; it can be tried again."
    case "unknown":
      return "It may have been carried out all the same: look before you repeat it."
    case "executed":
      return "It has been carried out: do not repeat it blindly."
  }
}

const after = (retryAfter: Duration.Duration | undefined): string =>
  retryAfter === undefined ? "Try again later." : `Try again in ${Duration.format(retryAfter)}.`

const denied: Record<McpError.PermissionDenied["why"], string | undefined> = {
  rule: "Change the rule in the permissions of the configuration, if it is yours.",
  unanswered: "Run it on a terminal to be asked, or allow it with a rule in the permissions of the configuration.",
  refused: "Nothing was sent.",
  changed: "Look at what it is now with `mcp-runtime show`, and call it again.",
  crowded: "Wait until other calls have been approved or refused, then try again.",
  "too-long": "Nothing was sent.",
  policy: undefined,
  quarantined: "Look at what it is now with `mcp-runtime show`, and agree with `mcp-runtime approve`."
}

const unavailable: Record<McpError.ServerUnavailable["why"], (server: string) => string> = {
  disabled: () => "Switch it on in the file that it is configured in; `mcp-runtime list` tells which.",
  disconnected: () => "Connect it again.",
  denied: () => "A policy denies this server: ask the author of the policy.",
  untrusted: (server) =>
    `Look at what it would start, and agree, with \`mcp-runtime approve ${ShellWords.quote(server)}\`.`,
  storm: () => "The connection was lost too often: see the output of the server with --verbose.",
  connecting: (server) =>
    `Wait longer with --timeout, or find the cause with \`mcp-runtime doctor ${ShellWords.quote(server)}\`.`
}

export const logIn = (server: string, scope?: string): string => {
  const rights = scope === undefined ? "" : ` --scope ${ShellWords.quote(UntrustedText.excerpt(scope, 256))}`
  return `Log in with \`mcp-runtime auth login ${ShellWords.quote(server)}${rights}\`.`
}

/** The message already names the unset variable, which is the first step; a login is the second. */
const orLogIn = (server: string, scope?: string): string =>
  `If the server needs a login instead: ${logIn(server, scope)}`

/** Where another try does not help, or not yet. */
const unauthorized: { readonly [R in McpError.AuthorizationFailed["reason"]]?: string } = {
  blocked: "The server names a private address, or one without https: tell the operator of the server.",
  metadata: "Tell the operator of the server, or add the missing settings to `oauth` of its configuration.",
  registration: "Have this client registered there, and write `oauth.clientId` into its configuration.",
  store: "Check the keyring, or who may write to the folder for the state of programs.",
  unreachable: "The authorization server did not answer: try again later."
}

const http: Record<McpError.HttpError["reason"], (error: McpError.HttpError) => string> = {
  status: sent,
  "rate-limited": ({ retryAfter }) => after(retryAfter),
  unavailable: ({ retryAfter }) => after(retryAfter),
  forbidden: ({ scope, server, unset }) =>
    unset === undefined ? `Check which rights its credentials have. ${logIn(server, scope)}` : orLogIn(server, scope),
  redirect: () => "Write the address where it leads to into its configuration, if you trust that.",
  origin: () => "Nothing was sent there: correct the address in its configuration if it should be.",
  "content-type": () => "Check the address in its configuration: something else answers there."
}

const violations: Record<McpError.ProtocolViolation["reason"], string | undefined> = {
  message: "This is a fault of the server: tell its author.",
  pagination: undefined,
  "input-rounds": "Give in the arguments what it asks for.",
  "tool-result": "It ran. With --json the result is shown as it came."
}

// For a model: what failed, and whether to try again. These words have nothing that a server or a process wrote.

export interface Advice {
  readonly what: string
  readonly next: string
  /** What the server says of it. */
  readonly theirs?: string | undefined
}

const advice = (what: string, next: string, theirs?: string): Advice => ({ what, next, theirs })

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

const unavailableWords: Record<McpError.ServerUnavailable["why"], string> = {
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

const httpWords: Record<McpError.HttpError["reason"], (error: McpError.HttpError) => Advice> = {
  status: (error) =>
    advice(
      `${the(error)} answered with the HTTP status ${error.status}.`,
      (error.status ?? 0) >= 500 || error.outcome === "unknown"
        ? lost(error)
        : "Do not repeat the same call unchanged.",
      error.detail
    ),
  "rate-limited": (error) => advice(`${the(error)} asks for fewer calls.`, later(error.retryAfter)),
  unavailable: (error) => advice(`${the(error)} is out of service for a while.`, later(error.retryAfter)),
  forbidden: (error) => advice(`${the(error)} refused access: what we are signed in with does not suffice.`, tellUser),
  redirect: (error) => advice(`${the(error)} sent us to another place, and nothing was sent there.`, tellUser),
  origin: (error) => advice(`${the(error)} names another place to send to, and nothing was sent there.`, tellUser),
  "content-type": (error) => advice(`${the(error)} answered with something that is no MCP.`, broken(error))
}

const violation: Record<McpError.ProtocolViolation["reason"], (error: McpError.ProtocolViolation) => Advice> = {
  message: (error) => advice(`${the(error)} broke the protocol.`, broken(error)),
  pagination: (error) => advice(`A list of ${quote(error.server)} does not end, and was given up.`, stop),
  "input-rounds": (error) =>
    advice(
      `${the(error)} kept asking for input and did not finish.`,
      "It may have been carried out in part. Give what it may have asked for in the arguments, or go on without it."
    ),
  "tool-result": (error) =>
    advice(
      `The tool of ${quote(error.server)} ran, but what it gave back is not what it declares, so it cannot be shown.`,
      "It has been carried out. Do not do it again unless it only reads; use another tool to see what it did."
    )
}

const broken = (error: { readonly outcome: McpError.Outcome }): string =>
  error.outcome === "not-sent" ? tellUser : `${lost(error)} ${tellUser}`

type Table =
  & { readonly [T in McpError.McpError["_tag"]]: { readonly person?: (error: Of<T>) => string | undefined } }
  & { readonly [T in McpError.RuntimeError["_tag"]]: { readonly model: (error: Of<T>) => Advice } }

const table: Table = {
  SpawnFailed: {
    person: ({ errno, reason }) =>
      reason !== "command"
        ? undefined
        : errno === "ENOENT"
        ? "Install it, or write its whole path into the configuration."
        : "Check the command and the folder in its configuration.",
    model: (error) =>
      advice(
        error.reason === "command"
          ? `${the(error)} could not be started.`
          : `${the(error)} needs Docker, which does not work here.`,
        tellUser
      )
  },
  ConnectTimeout: {
    person: ({ phase }) =>
      phase === "install"
        ? "The launcher is still installing its package: run the command again, or wait longer with --timeout."
        : "See the output of the server with --verbose, or wait longer with --timeout.",
    model: (error) =>
      advice(
        `${the(error)} was not there within ${Duration.format(error.limit)}.`,
        `Nothing was sent, so nothing has happened. ${once}`
      )
  },
  HandshakeFailed: {
    person: ({ reason, unset }) =>
      reason === "version"
        ? "Update the server."
        : unset === undefined
        ? "Check that it is an MCP server, and which settings it needs in its configuration."
        : undefined,
    model: (error) =>
      advice(
        error.reason === "version"
          ? `${the(error)} speaks another version of the protocol.`
          : `${the(error)} refused to be connected.`,
        tellUser
      )
  },
  ConnectionLost: {
    person: ({ outcome, phase, reason }) =>
      reason === "exited" && phase !== "ready" ? "Run its command by hand to see what it misses." : sent({ outcome }),
    model: (error) =>
      advice(
        error.reason === "exited"
          ? `The process of the server ${quote(error.server)} has ended.`
          : error.reason === "stream-interrupted"
          ? `The answer of ${quote(error.server)} broke off.`
          : `The connection to ${quote(error.server)} was lost.`,
        lost(error)
      )
  },
  NetworkError: {
    person: ({ reason }) =>
      reason === "tls"
        ? "Check the certificate of the server; plain HTTP is never taken in its place."
        : "Check the address in its configuration, and whether the server runs.",
    model: (error) =>
      error.reason === "tls"
        ? advice(`No secure connection to ${quote(error.server)} was possible.`, tellUser)
        : advice(`${the(error)} could not be reached over the network.`, lost(error))
  },
  HttpError: {
    person: (error) => http[error.reason](error),
    model: (error) => httpWords[error.reason](error)
  },
  AuthorizationFailed: {
    person: ({ reason, server, unset }) => {
      if (unset !== undefined) return orLogIn(server)
      return reason === "unauthorized"
        ? `${logIn(server)} If it has credentials in its configuration, correct those.`
        : unauthorized[reason] ?? logIn(server)
    },
    model: (error) => {
      switch (error.reason) {
        case "unauthorized":
          return advice(`${the(error)} asks us to sign in.`, signIn)
        case "unreachable":
          return advice(`${the(error)} could not have our sign-in renewed.`, `Nothing was done. ${once}`)
        default:
          return advice(`${the(error)} needs the user to sign in.`, signIn)
      }
    }
  },
  SessionExpired: {
    person: sent,
    model: (error) => advice(`The session with ${quote(error.server)} has expired.`, lost(error))
  },
  ProtocolViolation: {
    person: ({ reason }) => violations[reason],
    model: (error) => violation[error.reason](error)
  },
  MessageTooLarge: {
    person: ({ direction }) => direction === "sent" ? "Send less." : "Ask for less.",
    model: (error) =>
      error.direction === "sent"
        ? advice(`What was to be sent is larger than ${error.limit} bytes.`, "Nothing was sent. Call again with less.")
        : advice(
          `The answer of ${quote(error.server)} is larger than ${error.limit} bytes.`,
          "It may have been carried out. Ask for less: a filter, a smaller range, one page."
        )
  },
  CapabilityMissing: {
    model: (error) => advice(`${the(error)} does not support this.`, stop)
  },
  RemoteError: {
    person: ({ code }) => code === -32602 ? "See what it takes with `mcp-runtime show`." : undefined,
    model: (error) => advice(`${the(error)} answered with the error ${error.code}.`, remote(error.code), error.detail)
  },
  ToolError: {},
  RequestTimeout: {
    person: (error) => `${sent(error)} Give it longer with --timeout.`,
    model: (error) => advice(`${the(error)} gave no answer within ${Duration.format(error.limit)}.`, lost(error))
  },
  Cancelled: {
    person: sent,
    model: (error) => advice("The call was cancelled before it ended.", lost(error))
  },
  Closed: {
    person: sent,
    model: (error) =>
      error.blocked === undefined
        ? advice(`The connection to ${quote(error.server)} is closed.`, lost(error))
        : advice(
          `${the(error)} may not be used any more.`,
          `${error.outcome === "unknown" ? `${lost(error)} ` : ""}${tellUser}`
        )
  },
  Overloaded: {
    person: () => "Nothing was sent; try again with fewer at once.",
    model: (error) =>
      advice(
        `Too many calls to ${quote(error.server)} wait already.`,
        "Nothing was sent. Wait until others have ended, make fewer at once, and try again."
      )
  },
  CircuitOpen: {
    person: ({ retryAfter }) => after(retryAfter),
    model: (error) =>
      error.isolated === true
        ? advice(`${the(error)} was taken out of use by its operator.`, tellUser)
        : advice(`${the(error)} has failed several times and is left alone for now.`, later(error.retryAfter))
  },
  ServerUnavailable: {
    person: ({ server, why }) => unavailable[why](server),
    model: (error) =>
      advice(
        `${the(error)} cannot be used now. ${unavailableWords[error.why]}`,
        error.isRetryable ? later(error.retryAfter) : tellUser
      )
  },
  RequiredServersFailed: {},
  NotFound: {
    person: ({ kind, suggestions }) =>
      (suggestions ?? []).length > 0 ? undefined : kind === "server"
        ? "See which there are with `mcp-runtime list`."
        : kind === "tool"
        ? "See which there are with `mcp-runtime tools`."
        : undefined,
    model: (error) => {
      const near = error.suggestions ?? []
      return advice(
        `There is no ${error.kind} ${quote(error.name)}${
          error.server === "" ? "" : ` on the server ${quote(error.server)}`
        }.`,
        near.length === 0
          ? "Use a name that you were given, as it is written there; do not guess."
          : `Did you mean ${near.slice(0, 3).map(quote).join(" or ")}? Use a name as it is written there.`
      )
    }
  },
  InvalidArguments: {
    person: () => "See what it takes with `mcp-runtime show`.",
    model: (error) =>
      advice(
        `The arguments cannot be sent: ${UntrustedText.excerpt(error.detail, 512)}${
          error.path === "" ? "" : ` (at ${quote(error.path)})`
        }.`,
        "Nothing was sent. Correct them as the schema of the tool asks, and call again."
      )
  },
  PermissionDenied: {
    person: ({ why }) => denied[why],
    model: (error) =>
      advice(
        error.why === "policy"
          ? `A policy does not allow the server ${quote(error.server)}.`
          : error.why === "quarantined"
          ? `The tool ${quote(error.name)} of ${
            quote(error.server)
          } is not any more what it was when the user agreed to it.`
          : `The ${error.kind} ${quote(error.name)} of ${quote(error.server)} was not used: it is not permitted.`,
        permission[error.why](error)
      )
  },
  ConfigurationError: {
    person: ({ variable }) =>
      variable === undefined
        ? "Correct the file; `mcp-runtime config` names the file, the line and the fault."
        : undefined,
    model: (error) => advice(`${the(error)} is not configured properly.`, tellUser)
  },
  TrustNotKept: {
    person: () => "Check who may write to the folder for the state of programs ($XDG_STATE_HOME or ~/.local/state)."
  }
}

/** The next step for a person; the party that stderr blames comes first. */
export const forPerson = <E extends McpError.McpError>(error: E): string | undefined => {
  const { fault } = StderrReader.read("stderrTail" in error ? error.stderrTail : undefined)
  // the row of a tag takes the errors of that tag
  return fault === undefined
    ? (table[error._tag].person as ((error: E) => string | undefined) | undefined)?.(error)
    : about(fault)
}

/** What a model is told; `theirs` are the words of the server, which have to be guarded. */
export const forModel = <E extends McpError.RuntimeError>(error: E): Advice =>
  (table[error._tag].model as (error: E) => Advice)(error)
