/**
 * The next step after an error, for a model and for a person at a terminal. The message of the error says what happened.
 */
import * as Duration from "effect/Duration"
import type * as McpError from "./McpError.ts"
import * as StderrReader from "./stderrReader.ts"
import * as ShellWords from "./text/shellWords.ts"
import * as UntrustedText from "./text/UntrustedText.ts"

type Of<T extends McpError.RuntimeError["_tag"]> = Extract<McpError.RuntimeError, { readonly _tag: T }>
type Outcome = { readonly outcome: McpError.Outcome }
type Rule<E> = string | ((error: E) => string)

/**
 * `what` tells a model the failure: a whole sentence, or in a string the part after the name of the server. Neither
 * `what` nor `model` contains text of a server or a process. `person` is empty if the message names the next step.
 */
type Row<E> = readonly [what: Rule<E>, model: Rule<E>, person: Rule<E>]

type Kind<E> = E extends { readonly reason: infer R extends string } ? R
  : E extends { readonly why: infer R extends string } ? R
  : never
/** One row, a row for each kind, or rows for some kinds and `others`. */
type Rows<E> =
  | Row<E>
  | { readonly [K in Kind<E>]: Row<E> }
  | { readonly [K in Kind<E>]?: Row<E> } & { readonly others: Row<E> }

const quote = (text: string): string => `"${UntrustedText.excerpt(text, 128)}"`
const the = (error: { readonly server: string }): string =>
  error.server === "" ? "The server" : `The server ${quote(error.server)}`

const stop = "Do not try again: the same would happen."
const withoutServer = `${stop} Go on without this server, and tell the user if the task needs it.`
const once = "You may try once more; if it fails again, go on without it."
const refusal = "Do not try again, and do not look for a way around it."
const signIn = "The request was not executed. Do not try again before the user has signed in; tell the user."

const later = ({ retryAfter }: { readonly retryAfter?: Duration.Duration | undefined }): string =>
  `${
    retryAfter === undefined ? "You may try again later" : `Do not try again within ${Duration.format(retryAfter)}`
  }; until then, go on with something else.`

/** A request that may have changed something must not be repeated blindly. */
const lost = ({ outcome }: Outcome): string =>
  outcome === "not-sent"
    ? `Nothing was sent, so nothing has happened. ${once}`
    : outcome === "unknown"
    ? "The server may have executed the request. Check its effect before you do it again; a read is safe to repeat."
    : "The server has executed the request. Do not repeat it."

const broken = (error: Outcome): string =>
  error.outcome === "not-sent" ? withoutServer : `${lost(error)} ${withoutServer}`

// For a person.

const sent = ({ outcome }: Outcome): string =>
  outcome === "not-sent"
    ? "Nothing was sent; try again."
    : outcome === "unknown"
    ? "The server may have executed the request: look before you repeat it."
    : "The server has executed the request: do not repeat it blindly."

export const logIn = (server: string, scope?: string): string => {
  const rights = scope === undefined ? "" : ` --scope ${ShellWords.quote(UntrustedText.excerpt(scope, 256))}`
  return `Log in with \`mcp-runtime auth login ${ShellWords.quote(server)}${rights}\`.`
}

/** The message names the unset variable, which is the first step; a login is the second. */
const orLogIn = (first: string, { scope, server, unset }: McpError.AuthorizationFailed | McpError.HttpError): string =>
  unset === undefined
    ? `${first}${logIn(server, scope)}`
    : `If the server needs a login instead: ${logIn(server, scope)}`

const needsSignIn = (person: Rule<McpError.AuthorizationFailed>) =>
  ["needs the user to sign in.", signIn, person] as const

/** The next step for the party that the stderr of a server blames. */
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

const denied = ({ kind, name, server }: McpError.PermissionDenied): string =>
  `The ${kind} ${quote(name)} of ${quote(server)} is not permitted.`

const remedies: Readonly<Record<number, string>> = {
  [-32602]: "Correct the arguments as the server says and as the schema of the tool asks, and call again.",
  [-32601]: `The server does not know the method. ${stop}`,
  [-32002]: "The resource does not exist. List the resources before you try another name."
}

const table: { readonly [T in McpError.RuntimeError["_tag"]]: Rows<Of<T>> } = {
  SpawnFailed: {
    command: [
      "could not be started.",
      withoutServer,
      ({ errno }) =>
        errno === "ENOENT"
          ? "Install it, or write its whole path into the configuration."
          : "Check the command and the folder in its configuration."
    ],
    others: ["needs Docker, which does not work here.", withoutServer, ""]
  },
  ConnectTimeout: [
    (error) => `${the(error)} was not connected within ${Duration.format(error.limit)}.`,
    lost,
    ({ phase }) =>
      phase === "install"
        ? "The launcher is still installing its package: run the command again, or wait longer with --timeout."
        : "See the output of the server with --verbose, or wait longer with --timeout."
  ],
  HandshakeFailed: {
    rejected: [
      "refused the handshake.",
      withoutServer,
      ({ unset }) =>
        unset === undefined ? "Check that it is an MCP server, and which settings it needs in its configuration." : ""
    ],
    version: ["speaks another version of the protocol.", withoutServer, "Update the server."]
  },
  ConnectionLost: {
    exited: [
      "has stopped: its process ended.",
      lost,
      (error) => error.phase === "ready" ? sent(error) : "Run its command by hand to see what it misses."
    ],
    "stream-interrupted": ["broke off its answer.", lost, sent],
    others: ["has lost its connection.", lost, sent]
  },
  NetworkError: {
    network: [
      "could not be reached over the network.",
      lost,
      "Check the address in its configuration, and that the server runs."
    ],
    tls: [
      "has no valid TLS connection.",
      withoutServer,
      "Check the certificate of the server; plain HTTP is never used instead."
    ]
  },
  HttpError: {
    status: [
      (error) => `${the(error)} answered with the HTTP status ${error.status}.`,
      (error) =>
        error.countsForBreaker || error.outcome === "unknown" ? lost(error) : "Do not repeat the call unchanged.",
      sent
    ],
    "rate-limited": ["limits the rate of calls.", later, ""],
    unavailable: ["is out of service for a while.", later, ""],
    forbidden: [
      "refused access: the credentials do not suffice.",
      withoutServer,
      (error) => orLogIn("Check which rights its credentials have. ", error)
    ],
    redirect: [
      "redirects to another place, and nothing was sent there.",
      withoutServer,
      "Write that address into its configuration, if you trust it."
    ],
    origin: [
      "names an endpoint on another origin, and nothing was sent there.",
      withoutServer,
      "Correct the address in its configuration, if you trust that origin."
    ],
    "content-type": [
      "answered with content that is not MCP.",
      broken,
      "Check the address in its configuration: another service answers there."
    ]
  },
  AuthorizationFailed: {
    unauthorized: needsSignIn((error) =>
      orLogIn("", error) + (error.unset === undefined ? " If its configuration has credentials, correct them." : "")
    ),
    metadata: needsSignIn(
      "Tell the operator of the server, or add the missing settings to `oauth` of its configuration."
    ),
    registration: needsSignIn("Register this client there, and write `oauth.clientId` into its configuration."),
    blocked: needsSignIn("The server names a private address, or one without https: tell its operator."),
    unreachable: [
      "could not renew its login: the authorization server does not answer.",
      `The request was not executed. ${once}`,
      "The authorization server did not answer: try again later."
    ],
    store: needsSignIn("Check the keyring, or the permissions of the folder for the state of programs."),
    others: needsSignIn((error) => orLogIn("", error))
  },
  SessionExpired: ["has ended the session.", lost, sent],
  ProtocolViolation: {
    message: ["broke the protocol.", broken, "This is a fault of the server: report it to its author."],
    pagination: ["sent a list without an end.", stop, "This is a fault of the server: report it to its author."],
    "input-rounds": [
      "kept asking for input and did not finish.",
      "It may have executed a part. Put the input into the arguments, or go on without it; do not repeat the call unchanged.",
      "Put the input that it asks for into the arguments."
    ],
    "tool-result": [
      "executed the tool, but its result does not fit the declared schema and cannot be shown.",
      "Do not repeat the call unless it only reads; check its effect with another tool.",
      "It ran. With --json the result is shown as it came."
    ]
  },
  MessageTooLarge: [
    (error) => `A message ${error.direction} is larger than ${error.limit} bytes.`,
    ({ direction }) =>
      direction === "sent"
        ? "Nothing was sent. Call again with smaller arguments."
        : "The server may have executed the request. Ask for less: a filter, a smaller range, one page.",
    ({ direction }) => direction === "sent" ? "Send less." : "Ask for less."
  ],
  CapabilityMissing: ["does not support this.", stop, ""],
  RemoteError: [
    (error) => `${the(error)} answered with the error ${error.code}.`,
    ({ code }) => remedies[code] ?? "Follow its answer if that is part of your task; do not repeat the call unchanged.",
    ({ code }) => code === -32602 ? "See what it takes with `mcp-runtime show`." : ""
  ],
  RequestTimeout: [
    (error) => `${the(error)} did not answer within ${Duration.format(error.limit)}.`,
    lost,
    (error) => `${sent(error)} Wait longer with --timeout.`
  ],
  Cancelled: ["did not answer before the call was cancelled.", lost, sent],
  Closed: [
    (error) => `${the(error)} ${error.blocked === undefined ? "is disconnected" : "may not be used any more"}.`,
    (error) =>
      error.blocked === undefined
        ? lost(error)
        : `${error.outcome === "unknown" ? `${lost(error)} ` : ""}${withoutServer}`,
    sent
  ],
  Overloaded: [
    "has too many calls waiting.",
    "Nothing was sent. Wait until other calls have ended, make fewer at once, and try again.",
    "Nothing was sent; try again with fewer at once."
  ],
  CircuitOpen: [
    (error) =>
      `${the(error)} ${error.isolated === true ? "was isolated by its operator" : "failed repeatedly and is paused"}.`,
    (error) => error.isolated === true ? withoutServer : later(error),
    ""
  ],
  ServerUnavailable: {
    disabled: [
      "is disabled.",
      withoutServer,
      "Switch it on in the file that configures it; `mcp-runtime list` names the file."
    ],
    disconnected: ["was disconnected by the user or the application.", withoutServer, "Connect it again."],
    denied: ["is denied by a policy.", withoutServer, "Ask the author of the policy."],
    untrusted: [
      "waits for the approval of the user.",
      withoutServer,
      ({ server }) =>
        `Look at what it would start, and approve it, with \`mcp-runtime approve ${ShellWords.quote(server)}\`.`
    ],
    storm: [
      "lost its connection too often and is paused.",
      later,
      "See the output of the server with --verbose."
    ],
    connecting: [
      "is still connecting.",
      later,
      ({ server }) =>
        `Wait longer with --timeout, or find the cause with \`mcp-runtime doctor ${ShellWords.quote(server)}\`.`
    ]
  },
  NotFound: [
    ({ kind, name, server }) =>
      `There is no ${kind} ${quote(name)}${server === "" ? "" : ` on the server ${quote(server)}`}.`,
    ({ suggestions = [] }) =>
      suggestions.length === 0
        ? "Use a name from the lists exactly as written there; do not guess."
        : `Did you mean ${suggestions.slice(0, 3).map(quote).join(" or ")}? Use the exact name.`,
    ({ kind, suggestions = [] }) => {
      const command = kind === "server" ? "list" : kind === "tool" ? "tools" : undefined
      return suggestions.length > 0 || command === undefined ? "" : `List them with \`mcp-runtime ${command}\`.`
    }
  ],
  InvalidArguments: [
    ({ detail, path }) =>
      `The arguments cannot be sent: ${UntrustedText.excerpt(detail, 512)}${
        path === "" ? "" : ` (at ${quote(path)})`
      }.`,
    "Nothing was sent. Correct them as the schema of the tool asks, and call again.",
    "See what it takes with `mcp-runtime show`."
  ],
  PermissionDenied: {
    policy: ["is denied by a policy.", withoutServer, ""],
    quarantined: [
      ({ name, server }) => `The tool ${quote(name)} of ${quote(server)} has changed since the user approved it.`,
      `Nothing was sent. ${refusal} Tell the user to look at the change.`,
      "Look at it with `mcp-runtime show`, and approve it with `mcp-runtime approve`."
    ],
    rule: [
      denied,
      `A rule of the user denies it. ${refusal} Tell the user if the task needs it.`,
      "Change the rule in the permissions of the configuration, if it is yours."
    ],
    unanswered: [
      denied,
      ({ allow, remedy }) => {
        const how = remedy ?? (allow === undefined ? undefined : `the rule allow ${quote(allow)} permits it`)
        return `It needs approval, and the user cannot be asked now. ${refusal} If the task needs it, tell the user` +
          `${how === undefined ? "" : `, and how to allow it: ${how}`}.`
      },
      "Run it on a terminal to be asked, or allow it with a rule in the permissions of the configuration."
    ],
    refused: [
      denied,
      `The user was asked, and did not agree. ${refusal} Go on without it, or ask the user what to do.`,
      ""
    ],
    changed: [
      denied,
      "It has changed since it was approved. You may try once more for a new approval; otherwise go on without it.",
      "Look at it with `mcp-runtime show`, and call it again."
    ],
    crowded: [
      denied,
      "Too many calls wait for approval. Wait until they have ended, then try again.",
      "Wait until other calls have been approved or refused, then try again."
    ],
    "too-long": [
      denied,
      "It needs the approval of the user, and its arguments are too long to be shown. Try again with shorter arguments, or in several calls; otherwise tell the user that a rule has to allow it.",
      ""
    ]
  },
  ConfigurationError: [
    "has an invalid configuration.",
    withoutServer,
    ({ variable }) =>
      variable === undefined
        ? "Correct the file; `mcp-runtime config` names the file, the line and the fault."
        : ""
  ]
}

const rowOf = <E extends McpError.RuntimeError>(error: E): Row<E> => {
  // the rows of a tag take the errors of that tag
  const rows = table[error._tag] as unknown as Row<E> | Readonly<Record<string, Row<E>>>
  if (isRow(rows)) return rows
  const kind = "reason" in error ? error.reason : "why" in error ? error.why : "others"
  return rows[kind] ?? rows["others"]!
}

const isRow = <E>(rows: Row<E> | Readonly<Record<string, Row<E>>>): rows is Row<E> => Array.isArray(rows)

const apply = <E>(rule: Rule<E>, error: E): string => typeof rule === "string" ? rule : rule(error)

/** The next step for a person; the party that stderr blames comes first. */
export const forPerson = (error: McpError.McpError): string | undefined => {
  const { fault } = StderrReader.read("stderrTail" in error ? error.stderrTail : undefined)
  if (fault !== undefined) return about(fault)
  if (error._tag === "ToolError" || error._tag === "RequiredServersFailed" || error._tag === "TrustNotKept") return
  const [, , person] = rowOf(error)
  return apply(person, error) || undefined
}

export interface Advice {
  readonly what: string
  readonly next: string
  /** What the server says of it, which has to be guarded. */
  readonly theirs?: string | undefined
}

export const forModel = (error: McpError.RuntimeError): Advice => {
  const [what, model] = rowOf(error)
  const isTheirs = error._tag === "RemoteError" || (error._tag === "HttpError" && error.reason === "status")
  return {
    what: typeof what === "string" ? `${the(error)} ${what}` : what(error),
    next: apply(model, error),
    theirs: isTheirs ? error.detail : undefined
  }
}
