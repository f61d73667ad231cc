/** `mcp-runtime doctor`: checks each server step by step. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as McpClient from "../../client/McpClient.ts"
import type * as ConfigDiscovery from "../../config/ConfigDiscovery.ts"
import type * as ConfigIssue from "../../config/ConfigIssue.ts"
import * as HostEnvironment from "../../config/HostEnvironment.ts"
import * as Limits from "../../config/Limits.ts"
import * as Program from "../../config/program.ts"
import type * as ServerConfig from "../../config/ServerConfig.ts"
import * as McpError from "../../McpError.ts"
import * as McpEvent from "../../McpEvent.ts"
import type * as McpRuntime from "../../McpRuntime.ts"
import * as NodeConnector from "../../node/NodeConnector.ts"
import * as NodeMcpRuntime from "../../node/NodeMcpRuntime.ts"
import * as Teardown from "../../resilience/Teardown.ts"
import * as Redaction from "../../safety/Redaction.ts"
import * as Scoped from "../../scoped.ts"
import * as StderrReader from "../../stderrReader.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as Transport from "../../transport/Transport.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as DoctorCause from "../doctorCause.ts"
import * as ExitCode from "../ExitCode.ts"
import { clock } from "../following.ts"
import * as IssueShape from "../issueShape.ts"
import { counted, indented } from "../layout.ts"
import * as NoServers from "../noServers.ts"
import { orNull } from "../orNull.ts"
import * as Processes from "../processes.ts"
import * as Screen from "../Screen.ts"
import * as View from "../serverView.ts"
import * as Settling from "../settling.ts"

const Problem = Schema.Struct({
  step: Schema.String,
  /** Only errors change the exit code. */
  level: Schema.Literal("error", "warning"),
  /** A few words. */
  cause: Schema.String,
  /** The message of the error, or the details. */
  message: Schema.String,
  hint: orNull(Schema.String),
  /** The tag of the error, if it is one. */
  tag: orNull(Schema.String)
})

const Server = Schema.Struct({
  name: Schema.String,
  transport: orNull(Schema.String),
  state: View.State,
  protocolVersion: orNull(Schema.String),
  era: orNull(Schema.String),
  tools: orNull(Schema.Number),
  steps: Schema.Array(Schema.Struct({
    step: Schema.String,
    outcome: Schema.Literal("ok", "failed"),
    milliseconds: Schema.Number
  })),
  problems: Schema.Array(Problem),
  /** The last lines of stderr, if there is a problem. */
  stderr: orNull(Schema.String),
  exitCode: Schema.Literal(0, 1, 2, 3, 4, 5, 70, 130)
})
type Server = typeof Server.Type

/** The document of `doctor --json`. */
export const Report = Schema.Struct({
  servers: Schema.Array(Server),
  /** Errors in configuration files. */
  files: Schema.Array(Schema.Struct({ place: Schema.String, message: Schema.String })),
  /** Sockets that are still open after all connections were closed. */
  socketsLeft: Schema.Number,
  exitCode: Schema.Number
})

/** The worst first: an unavailable server is worse than one that is not approved. */
const gravest: ReadonlyArray<ExitCode.ExitCode> = [
  ExitCode.connection,
  ExitCode.config,
  ExitCode.permission,
  ExitCode.usage,
  ExitCode.tool
]

const worst = (codes: ReadonlyArray<ExitCode.ExitCode | undefined>): ExitCode.ExitCode =>
  gravest.find((code) => codes.includes(code)) ?? ExitCode.ok

/** By server: the newest transport, when it was open, and the first line on stdout that was not a message. */
type Watch = Map<
  string,
  { readonly transport?: Transport.Transport; readonly openedAt?: number; readonly noise?: string }
>

/** The transports of the runtime, recorded in a watch. */
const watched = (watch: Watch) =>
  Layer.scoped(
    Transport.Transports,
    Effect.gen(function*() {
      const { open } = yield* NodeConnector.makeTransports
      const { onEvent } = yield* McpEvent.McpEvents
      yield* Scoped.listen(() =>
        onEvent((event) => {
          if (event._tag !== "Diagnostic" || event.diagnostic.kind !== "noise") return
          watch.set(event.server, { noise: event.diagnostic.detail, ...watch.get(event.server) })
        })
      )
      return {
        open: (config) =>
          Effect.zipWith(open(config), Clock.currentTimeMillis, (transport, openedAt) => {
            watch.set(config.name, { ...watch.get(config.name), transport, openedAt })
            return transport
          })
      }
    })
  )

/** A problem with an exit code is an error, otherwise a warning. */
interface Noted extends Omit<typeof Problem.Type, "level"> {
  readonly code?: ExitCode.ExitCode | undefined
}

/** Collects the steps and problems of a server. */
const notebook = () => {
  const steps: Array<Server["steps"][number]> = []
  const problems: Array<Noted> = []
  const done = (step: string, milliseconds: number, isOk = true): void => {
    steps.push({ step, outcome: isOk ? "ok" : "failed", milliseconds: Math.max(0, Math.round(milliseconds)) })
  }
  return { steps, problems, done }
}

/** The step of a connect error. Some errors show only when the first message is sent. */
const stepOf = ({ _tag }: McpError.McpError, isOpen: boolean): string =>
  _tag === "ConfigurationError" ? "variables" : isOpen && _tag !== "NetworkError" ? "initialize" : "connect"

const infoOf = ({ servers }: McpRuntime.McpRuntime["Type"], name: string) =>
  Effect.orElseSucceed(servers.get(name), () => undefined)

/** Connects, lists, pings and closes a server. Returns its stderr and the field with an unset variable too. */
const tried = (
  config: ServerConfig.ServerConfig,
  { runtime, timeout: limit = Limits.defaults.listTimeout }: Application.Application,
  watch: Watch,
  { done, problems }: ReturnType<typeof notebook>
) =>
  Effect.gen(function*() {
    const { name } = config
    const { servers, teardownReport, withClient } = runtime
    const redaction = yield* Redaction.Redaction
    const host = yield* HostEnvironment.HostEnvironment
    let stderr: string | undefined
    let unset: string | undefined

    const failed = (step: string, error: McpError.McpError): void => {
      // with templates the values of its variables are not known here
      const env = config.transport === "stdio" && config.expansion === undefined ? config : {}
      const path = Program.environment(env, host).get("PATH") ?? ""
      const { noise, transport } = watch.get(name) ?? {}
      const tail = ("stderrTail" in error ? error.stderrTail : undefined) ?? transport?.stderrTail() ?? ""
      if (tail.trim() !== "") stderr = redaction.text(tail)
      if (error._tag === "ConfigurationError" && error.variable !== undefined) unset = error.path
      const folders = path.split(host.platform === "win32" ? ";" : ":").filter((folder) => folder !== "")
      const cause = DoctorCause.ofError(error, { step, config, folders, noise, stderr })
      problems.push({ step, ...cause, message: error.message, tag: McpError.label(error), code: ExitCode.of(error) })
    }

    /** Times a request; undefined if it failed. */
    const asked = <A>(
      step: string,
      request: (client: McpClient.McpClient) => Effect.Effect<A, McpError.RuntimeError>
    ) =>
      Effect.map(Effect.timed(Effect.either(withClient(name, request))), ([took, result]) => {
        done(step, Duration.toMillis(took), Either.isRight(result))
        if (Either.isRight(result)) return result.right
        failed(step, result.left)
        return undefined
      })

    const began = yield* Clock.currentTimeMillis
    const opening = yield* Effect.either(servers.connect(name, { until: "settled" }))
    const now = yield* Clock.currentTimeMillis
    const isConnected = Either.isRight(opening)
    const openedAt = watch.get(name)?.openedAt
    const step = isConnected ? "initialize" : stepOf(opening.left, openedAt !== undefined)
    const begun = step === "initialize" ? openedAt ?? now : began
    if (step === "initialize") done("connect", begun - began)
    done(step, now - begun, isConnected)
    if (!isConnected) failed(step, opening.left)
    const info = yield* infoOf(runtime, name)
    const list = isConnected ? yield* asked("list", ({ tools }) => tools) : undefined
    for (const { isError, message, ...cause } of list === undefined ? [] : DoctorCause.ofTools(list)) {
      const code = isError ? ExitCode.tool : undefined
      problems.push({ step: "lint", ...cause, message: redaction.text(message), code })
    }
    if (isConnected) {
      const error = { server: name, kind: "total", operation: "ping", limit, outcome: "unknown" } as const
      // the default limit of a request is minutes
      const within = Effect.timeoutFail({ duration: limit, onTimeout: () => new McpError.RequestTimeout(error) })
      yield* asked("ping", ({ health }) => within(health))
    }
    const [took] = yield* Effect.timed(Effect.ignore(servers.disconnect(name)))
    if (isConnected) done("close", Duration.toMillis(took))
    const ends = (yield* teardownReport).servers.filter(({ server }) => server === name)
    const isLeft = ends.some(({ how }) => how === "abandoned")
    done("leaks", 0, !isLeft)
    if (isLeft) {
      problems.push({
        step: "leaks",
        cause: "leaked processes",
        message: "processes of the server could not be stopped in time",
        hint: "Stop them by hand. This is a bug in the server: its child processes do not exit with it.",
        code: ExitCode.tool
      })
    }
    const killed = ends.flatMap((end) => end.killed)
    if (killed.length > 0) {
      problems.push({
        step: "close",
        cause: "does not exit when asked",
        message: `SIGKILL was needed to stop ${killed.join(", ")}`,
        hint: "A server should exit when stdin closes or on SIGTERM."
      })
    }
    const { noise } = watch.get(name) ?? {}
    if (noise !== undefined && problems.every(({ code }) => code === undefined)) {
      problems.push({
        step: "initialize",
        cause: "logs on stdout",
        message: `stdout: ${noise}`,
        hint: "Log to stderr instead: other clients may fail on text that is not a message."
      })
    }
    return { info, tools: list?.tools.length, stderr, unset }
  })

/** Checks one server. */
const visit = (
  found: ConfigDiscovery.Found,
  application: Application.Application,
  watch: Watch
): Effect.Effect<Server> =>
  Effect.gen(function*() {
    const { discovery, runtime } = application
    const { config, name, state } = found
    const notes = notebook()
    const { done, problems, steps } = notes
    const issues = IssueShape.ofServer(found, discovery.issues)
    const report = (isMeant: (issue: ConfigIssue.ConfigIssue) => boolean): void => {
      for (const issue of issues.filter(isMeant)) {
        problems.push({
          step: "config",
          cause: issue.kind.replaceAll("-", " "),
          message: `${IssueShape.place(issue)}: ${issue.message}`,
          code: issue.severity === "error" ? ExitCode.config : undefined
        })
      }
    }
    // a denial and an unset variable are reported in their steps
    report(({ kind }) => kind !== "variable-unset" && (kind !== "policy-denied" || state._tag !== "Denied"))
    let seen: Partial<Effect.Effect.Success<ReturnType<typeof tried>>> = { info: yield* infoOf(runtime, name) }
    if (config === undefined || state._tag === "Invalid") done("config", 0, false)
    else if (state._tag !== "Disabled") {
      done("config", 0)
      done("trust", 0, state._tag === "Ready")
      if (state._tag === "Ready") seen = yield* tried(config, application, watch, notes)
      else {
        const { hint, reason = "" } = View.of(found, discovery, seen.info)
        const cause = state._tag === "Denied" ? "denied by a policy" : "not approved"
        problems.push({ step: "trust", cause, message: reason, hint, code: ExitCode.permission })
      }
      report(({ at, kind }) => kind === "variable-unset" && at !== seen.unset)
    }
    const { info, stderr, tools } = seen
    return {
      name,
      transport: View.transportOf(found),
      state: View.of(found, discovery, info).state,
      protocolVersion: info?.protocolVersion,
      era: info?.era,
      tools,
      steps,
      problems: problems.map((one) => ({
        ...one,
        level: one.code === undefined ? "warning" as const : "error" as const
      })),
      stderr,
      exitCode: state._tag === "Invalid" ? ExitCode.config : worst(problems.map(({ code }) => code))
    }
  })

const problemLines = (
  { cause, hint, level, message, step }: Server["problems"][number],
  columns: number
): ReadonlyArray<Screen.Line> => {
  const [title, style] = level === "error" ? ["  error  ", "bad"] as const : ["  warning  ", "warning"] as const
  const [first = "", ...more] = indented(title.length, `${cause} (${step})`, columns)
  return [
    [{ text: title, style }, { text: first.trimStart(), style: "strong" }],
    ...more,
    ...indented(9, UntrustedText.excerpt(message, 600), columns),
    ...(hint ? indented(9, hint, columns) : [])
  ]
}

const lines = (server: Server, columns: number): ReadonlyArray<Screen.Line> => {
  const { era, name, problems, protocolVersion, state, stderr, steps, tools, transport } = server
  const facts = [
    transport,
    protocolVersion && `protocol ${protocolVersion} (${era} era)`,
    typeof tools === "number" && counted(tools, "tool")
  ].filter(Boolean).join(", ")
  const times = steps.map(({ milliseconds, outcome, step }) =>
    `${step} ${outcome === "failed" ? "failed after " : ""}${milliseconds} ms`
  )
  return [
    [{ text: name, style: "strong" }, "  ", View.span(state), { text: facts && `  ${facts}`, style: "weak" }],
    ...(times.length === 0 ? [] : indented(2, times.join(", "), columns)).map((text): Screen.Line => [
      { text, style: "weak" }
    ]),
    ...problems.flatMap((problem) => problemLines(problem, columns)),
    ...(stderr
      ? ["  last lines of stderr", ...StderrReader.tail(stderr, { frames: true }).map((line) => `    | ${line}`)]
      : [])
  ]
}

/** The number of servers by state, and the time. */
const summary = ({ exitCode, servers }: typeof Report.Type, at: number): Screen.Line => {
  const counts = View.State.literals.flatMap((state) => {
    const count = servers.filter((server) => server.state === state).length
    return count === 0 ? [] : [`${count} ${state}`]
  })
  return [
    { text: counts.join(", "), style: exitCode === ExitCode.ok ? "good" : "bad" },
    { text: `  ${clock(at)} UTC`, style: "weak" }
  ]
}

const fault = (text: string): Screen.Line => [{ text: "error", style: "bad" }, `  ${text}`]

/** The number of servers that are checked concurrently: the number that the runtime connects at a time. */
const together = 3

export const command: Command.Command = {
  description: [
    "Checks configuration, approval, connect, initialize, tool list, ping and close of each server, with the time of each "
    + "step. Then looks for leaked processes, and checks tool names, schemas and descriptions. Warnings do not change the "
    + "exit code.",
    "Exits with the code of the worst failure: 4 (cannot be reached), 3 (invalid configuration), 5 (not approved) or 1 "
    + "(faulty server)."
  ],
  args: [{ name: "server", about: "Servers to check (default: all)", required: false, repeated: true }],
  options: [],
  examples: [
    ["doctor", "Check all servers"],
    ["doctor github --timeout 10s", "Check one server, at most 10 s per step"]
  ],
  run: ({ args, shared }) =>
    Effect.gen(function*() {
      const screen = yield* Screen.Screen
      const names = [...args, ...shared.servers]
      const watch: Watch = new Map()
      const sockets = Processes.sockets()
      const { files, servers } = yield* Application.use(
        shared,
        (discovery) =>
          Effect.as(Application.named(names, discovery), {
            servers: names.length === 0 ? undefined : names,
            once: true,
            lazy: true
          }),
        (application) =>
          Effect.gen(function*() {
            const { discovery, starting } = application
            const chosen = discovery.servers.filter(({ name }) => names.length === 0 || names.includes(name))
            const files = discovery.issues.filter(({ server, severity }) =>
              server === undefined && severity === "error"
            )
            if (chosen.length + files.length === 0 && !shared.json) yield* NoServers.note
            let finished = 0
            const checked = (found: ConfigDiscovery.Found) =>
              Effect.tap(visit(found, application, watch), () => Effect.sync(() => finished++))
            const servers = yield* Stream.fromIterable(chosen).pipe(
              // a stream keeps the order of the configuration
              Stream.mapEffect(checked, { concurrency: together }),
              Stream.tap((server) => shared.json ? Effect.void : screen.out(...lines(server, screen.columns))),
              Stream.runCollect,
              Settling.showing(screen, () => `${finished} of ${chosen.length} checked`, starting)
            )
            return {
              files: files.map((issue) => ({ place: IssueShape.place(issue), message: issue.message })),
              servers: Array.from(servers)
            }
          }),
        {
          faults: "collected",
          using: NodeMcpRuntime.using(Layer.provideMerge(watched(watch), Teardown.layer()))
        }
      )
      const { open: socketsLeft } = yield* Processes.leftovers([], "", sockets)
      const exitCode = worst([
        ...servers.map(({ exitCode }) => exitCode),
        ...(files.length === 0 ? [] : [ExitCode.config]),
        ...(socketsLeft === 0 ? [] : [ExitCode.tool])
      ])
      const report = { servers, files, socketsLeft, exitCode }
      if (shared.json) yield* screen.json(Report, report)
      else {
        if (socketsLeft > 0) {
          yield* screen.out(fault(`sockets still open after all connections were closed: ${socketsLeft}`))
        }
        for (const { message, place } of files) yield* screen.out(fault(place), `       ${message}`)
        if (servers.length > 0) yield* screen.out(summary(report, yield* Clock.currentTimeMillis))
      }
      return exitCode
    })
}
