/**
 * What a person can do about an error. What happened, and why, is what the error says of itself.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as StderrReader from "../../internal/stderrReader.ts"
import type * as McpError from "../../McpError.ts"
import * as ShellWords from "../../text/shellWords.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import type * as Command from "../Command.ts"

type Failure = Command.Failure

/**
 * Advice about a party that the stderr of a server blames.
 *
 * @internal
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

type Table = {
  readonly [T in Failure["_tag"]]: (error: Extract<Failure, { readonly _tag: T }>) => string | undefined
}

const asIs = () => undefined

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

/** @internal */
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
  message: "This is a fault of the server: tell whoever wrote it.",
  pagination: undefined,
  "input-rounds": "Give in the arguments what it asks for.",
  "tool-result": "It ran. With --json the result is shown as it came."
}

const table: Table = {
  AuthorizationFailed: ({ reason, server, unset }) => {
    if (unset !== undefined) return orLogIn(server)
    return reason === "unauthorized"
      ? `${logIn(server)} If it has credentials in its configuration, correct those.`
      : unauthorized[reason] ?? logIn(server)
  },
  ConnectionLost: ({ outcome, phase, reason }) =>
    reason === "exited" && phase !== "ready" ? "Run its command by hand to see what it misses." : sent({ outcome }),
  HandshakeFailed: ({ reason, unset }) =>
    reason === "version"
      ? "Update the server."
      : unset === undefined
      ? "Check that it is an MCP server, and which settings it needs in its configuration."
      : undefined,
  HttpError: (error) => http[error.reason](error),
  NetworkError: ({ reason }) =>
    reason === "tls"
      ? "Check the certificate of the server; plain HTTP is never taken in its place."
      : "Check the address in its configuration, and whether the server runs.",
  ProtocolViolation: ({ reason }) => violations[reason],
  SpawnFailed: ({ errno, reason }) =>
    reason !== "command"
      ? undefined
      : errno === "ENOENT"
      ? "Install it, or write its whole path into the configuration."
      : "Check the command and the folder in its configuration.",
  Cancelled: sent,
  CapabilityMissing: asIs,
  CircuitOpen: ({ retryAfter }) => after(retryAfter),
  Closed: sent,
  ConfigurationError: ({ variable }) =>
    variable === undefined
      ? "Correct the file; `mcp-runtime config` names the file, the line and the fault."
      : undefined,
  ConnectTimeout: ({ phase }) =>
    phase === "install"
      ? "The launcher is still installing its package: run the command again, or wait longer with --timeout."
      : "See the output of the server with --verbose, or wait longer with --timeout.",
  InvalidArguments: () => "See what it takes with `mcp-runtime show`.",
  MessageTooLarge: ({ direction }) => direction === "sent" ? "Send less." : "Ask for less.",
  NotFound: ({ kind, suggestions }) =>
    (suggestions ?? []).length > 0 ? undefined : kind === "server"
      ? "See which there are with `mcp-runtime list`."
      : kind === "tool"
      ? "See which there are with `mcp-runtime tools`."
      : undefined,
  Overloaded: () => "Nothing was sent; try again with fewer at once.",
  PermissionDenied: ({ why }) => denied[why],
  RemoteError: ({ code }) => code === -32602 ? "See what it takes with `mcp-runtime show`." : undefined,
  RequestTimeout: (error) => `${sent(error)} Give it longer with --timeout.`,
  RequiredServersFailed: asIs,
  ServerUnavailable: ({ server, why }) => unavailable[why](server),
  SessionExpired: sent,
  ToolError: asIs,
  TrustNotKept: () =>
    "Check who may write to the folder for the state of programs ($XDG_STATE_HOME or ~/.local/state).",
  Usage: ({ next }) => next
}

/** @internal */
export const next = <F extends Failure>(error: F): string | undefined => {
  const { fault } = StderrReader.read("stderrTail" in error ? error.stderrTail : undefined)
  // the table has, for the tag of an error, what takes that error
  return fault === undefined ? (table[error._tag] as (error: F) => string | undefined)(error) : about(fault)
}
