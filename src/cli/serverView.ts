/** How the terminal shows a server: its state, the most relevant cause, and the next step. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import type * as ServerStatus from "../runtime/ServerStatus.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import type * as Command from "./Command.ts"
import * as ExitCode from "./ExitCode.ts"
import { clock } from "./following.ts"
import * as IssueShape from "./issueShape.ts"
import { counted, indented, wrapped } from "./layout.ts"
import * as Screen from "./Screen.ts"

/** `waiting`: connects at first use or at the next attempt. `off`: disabled, denied by a policy, or disconnected. */
export const State = Schema.Literal(
  "connected",
  "starting",
  "waiting",
  "needs login",
  "needs approval",
  "off",
  "failed"
)
export type State = typeof State.Type

/** The error of a server in a JSON document. */
export const Failure = Schema.Struct({ tag: Schema.String, message: Schema.String })

export const failureOf = (error: McpError.McpError): typeof Failure.Type => ({
  tag: McpError.label(error),
  message: error.message
})

const states: Record<ServerStatus.ServerStatus["_tag"], State> = {
  Connected: "connected",
  Connecting: "starting",
  Idle: "waiting",
  Reconnecting: "waiting",
  NeedsAuth: "needs login",
  Blocked: "off",
  Disabled: "off",
  Closed: "off",
  Failed: "failed"
}

/** The states before a server is started. */
export const initial = {
  Ready: "waiting",
  Disabled: "off",
  Denied: "off",
  Untrusted: "needs approval",
  Invalid: "failed"
} as const satisfies Record<ConfigDiscovery.Found["state"]["_tag"], State>

export const stateOf = (status: ServerStatus.ServerStatus): State =>
  status._tag === "Blocked" && status.why === "untrusted" ? "needs approval" : states[status._tag]

const styles: Record<State, Screen.Style> = {
  connected: "good",
  starting: "weak",
  waiting: "weak",
  "needs login": "warning",
  "needs approval": "warning",
  off: "weak",
  failed: "bad"
}

/** The state in a table. The end of a pause is a clock time, because a remaining time is soon out of date. */
export const span = (state: State, pausedUntil?: number | null): Screen.Span =>
  typeof pausedUntil === "number"
    ? { text: `${state} (paused until ${clock(pausedUntil)} UTC)`, style: "warning" }
    : { text: state, style: styles[state] }

/** Orders causes by when they have to be fixed: a later cause cannot show before the earlier one is fixed. */
const rank = (error: McpError.McpError): number => {
  switch (error._tag) {
    case "ConfigurationError":
      return error.variable?.why === "input-required" ? 1 : 0
    case "SpawnFailed":
      return 2
    case "NetworkError":
      return error.code === "ENOTFOUND" || error.code === "EAI_AGAIN" ? 4 : 3
    case "HttpError":
      return error.reason === "forbidden" ? 5 : error.status === 404 || error.status === 410 ? 4 : 7
    case "AuthorizationFailed":
      return 5
    case "ConnectTimeout":
    case "RequestTimeout":
    case "ServerUnavailable":
      return 6
    default:
      return 7
  }
}

/** The first cause. A timeout is looked through to the error that it waited for. */
export const cause = <E extends McpError.McpError>(errors: ReadonlyArray<E>): E | McpError.ConnectError | undefined =>
  errors.flatMap((error): ReadonlyArray<E | McpError.ConnectError> =>
    error._tag === "RequestTimeout" && error.lastError !== undefined ? [error, error.lastError] : [error]
  ).toSorted((one, other) => rank(one) - rank(other))[0]

/** Why the tools of a server are missing. */
export const reasonOf = ({ error, server, status }: ToolCatalog.Missing): McpError.RuntimeError => {
  // a `RequestTimeout` of a request that was not sent only means that the caller stopped waiting
  const isWait = error?._tag === "RequestTimeout" && error.outcome === "not-sent"
  if (status._tag === "Connecting" && (error === undefined || isWait)) {
    return new McpError.ServerUnavailable({ server, why: "connecting" })
  }
  if (error !== undefined) return error
  const why = status._tag === "Blocked" ? status.why : status._tag === "Disabled" ? "disabled" : "disconnected"
  return new McpError.ServerUnavailable({ server, why })
}

export interface View {
  readonly name: string
  readonly state: State
  /** For programs: the reason why it is blocked, disabled or invalid. */
  readonly why: string | undefined
  readonly error: McpError.RuntimeError | undefined
  /** The cause, without the name of the server. */
  readonly reason: string | undefined
  readonly hint: string | undefined
}

/** Removes the name of the server from a message that is shown after that name. */
export const unnamed = (server: string, message: string): string =>
  message.startsWith(`${server}: `) ? message.slice(server.length + 2) : message

/** The advice for an error. The advice for an HTTP status is about a single request, so it is replaced. */
const hintOf = (error: McpError.McpError): string | undefined =>
  error._tag === "HttpError" && error.reason === "status"
    ? "Check the URL in the configuration, and the log of the server."
    : McpError.forPerson(error)

/** `unlisted`: the error of the tool list of a connected server. */
export const of = (
  found: ConfigDiscovery.Found,
  { issues }: Pick<ConfigDiscovery.Discovery, "issues">,
  info: McpRuntime.ServerInfo | undefined,
  unlisted?: McpError.RuntimeError
): View => {
  const { name, state } = found
  const status = info?.status
  const isInvalid = state._tag === "Invalid"
  const hasReason = info?.error !== undefined || status?._tag === "Connecting" || status?._tag === "Blocked"
  const error = cause([
    ...(info && hasReason ? [reasonOf({ server: name, status: info.status, error: info.error })] : []),
    ...(unlisted === undefined ? [] : [unlisted])
  ])
  // the error of an unset variable has the next step, so the issue is not repeated
  const fault = error !== undefined && rank(error) < 2
    ? undefined
    : IssueShape.ofServer(found, issues).find(({ kind, severity }) =>
      isInvalid ? severity === "error" : kind === "variable-unset"
    )
  return {
    name,
    state: isInvalid ? "failed" : status === undefined ? "waiting" : stateOf(status),
    why: isInvalid ? state.kind : status !== undefined && "why" in status ? status.why : undefined,
    error,
    reason: fault === undefined
      ? error && unnamed(name, error.message)
      : `${fault.message} (${IssueShape.place(fault)})`,
    // a lost connection is reconnected automatically
    hint: fault !== undefined || error === undefined || status?._tag === "Reconnecting" ? undefined : hintOf(error)
  }
}

/** The configured transport; absent for an invalid entry without one. */
export const transportOf = ({ config, entry }: ConfigDiscovery.Found) => config?.transport ?? entry?.transport

/** True for a server that should be available and is not, unlike one that is off or waits for approval, login or use. */
export const isMissing = ({ error, state }: View): boolean =>
  state === "failed" || state === "starting" || (error !== undefined && (state === "connected" || state === "waiting"))

/** The name with the cause, and the next step below. */
export const lines = (
  { hint, name, reason }: Pick<View, "hint" | "name" | "reason">,
  columns: number,
  title = ""
): ReadonlyArray<Screen.Line> => {
  const [first, ...more] = reason === undefined ? [] : wrapped(`${title}${name}: ${reason}`, columns - 2)
  return [
    ...(first === undefined ? [] : [first, ...more.map((line) => `  ${line}`)]),
    ...(hint === undefined ? [] : indented(2, hint, columns))
  ]
}

/** The servers with these names, or all, in the order of the configuration. */
export const all = (
  servers: ReadonlyArray<McpRuntime.ServerInfo>,
  missing: ReadonlyArray<ToolCatalog.Missing>,
  discovery: ConfigDiscovery.Discovery,
  names: ReadonlyArray<string>
) => {
  const unlisted = new Map(
    missing.filter(({ status }) => status._tag === "Connected").map(({ error, server }) => [server, error])
  )
  const infos = new Map(servers.map((info) => [info.name, info]))
  const found = discovery.servers.filter(({ name }) => names.length === 0 || names.includes(name))
  return found.map((one) => {
    const info = infos.get(one.name)
    const view = of(one, discovery, info, unlisted.get(one.name))
    /** The fields that the JSON documents share. */
    const document = { ...info, ...view, tools: info?.toolCount, error: view.error && failureOf(view.error) }
    return { found: one, info, view, document }
  })
}

export const allowMissing: Command.Option = { name: "allow-missing", about: "Exit with 0 even if servers are missing" }

/** Reports unavailable servers, and returns the exit code of the command. */
export const conclude = (
  views: ReadonlyArray<View>,
  isSet: Command.Invocation["isSet"]
): Effect.Effect<ExitCode.ExitCode, never, Screen.Screen> =>
  Effect.gen(function*() {
    const names = views.filter(isMissing).map(({ name }) => name)
    if (names.length === 0 || isSet(allowMissing.name)) return ExitCode.ok
    const { columns, err } = yield* Screen.Screen
    const text = `${counted(names.length, "server")} unavailable: ${
      names.join(", ")
    } (ignore with --${allowMissing.name})`
    yield* err(...Screen.titled("error: ", "bad", text, columns))
    return ExitCode.connection
  })
