/** One server step by step, from its configuration to what is left of it after its end. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as McpClient from "../client/McpClient.ts"
import * as ChildEnvironment from "../config/childEnvironment.ts"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import type * as ConfigIssue from "../config/ConfigIssue.ts"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import * as Limits from "../config/Limits.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import * as NodeConnector from "../node/NodeConnector.ts"
import * as Redaction from "../safety/Redaction.ts"
import * as Scoped from "../scoped.ts"
import * as Transport from "../transport/Transport.ts"
import type * as Application from "./Application.ts"
import * as DoctorCause from "./doctorCause.ts"
import * as DoctorLint from "./doctorLint.ts"
import * as ExitCode from "./ExitCode.ts"
import * as IssueShape from "./issueShape.ts"
import * as View from "./serverView.ts"

export const Problem = Schema.Struct({
  step: Schema.String,
  /** An error decides the exit code; a warning is only worth a look. */
  level: Schema.Literal("error", "warning"),
  /** In a few words. */
  cause: Schema.String,
  /** The message of the error, or what exactly was found. */
  message: Schema.String,
  hint: Schema.NullOr(Schema.String),
  /** The tag of the error, if it is one. */
  tag: Schema.NullOr(Schema.String)
})
export type Problem = typeof Problem.Type

export const Server = Schema.Struct({
  name: Schema.String,
  transport: Schema.NullOr(Schema.String),
  state: View.State,
  protocolVersion: Schema.NullOr(Schema.String),
  era: Schema.NullOr(Schema.String),
  tools: Schema.NullOr(Schema.Number),
  steps: Schema.Array(Schema.Struct({
    step: Schema.String,
    outcome: Schema.Literal("ok", "failed"),
    milliseconds: Schema.Number
  })),
  problems: Schema.Array(Problem),
  /** The end of its standard error, if something is wrong with it. */
  stderr: Schema.NullOr(Schema.String),
  exitCode: Schema.Literal(0, 1, 2, 3, 4, 5, 70, 130)
})
export type Server = typeof Server.Type

/** The worst first: a server that is not there is worse than one that may not be used. */
const gravest: ReadonlyArray<ExitCode.ExitCode> = [
  ExitCode.connection,
  ExitCode.config,
  ExitCode.permission,
  ExitCode.usage,
  ExitCode.tool
]

export const worst = (codes: ReadonlyArray<ExitCode.ExitCode>): ExitCode.ExitCode =>
  gravest.find((code) => codes.includes(code)) ?? ExitCode.ok

/** What the transports of a server have shown. */
interface Seen {
  /** The newest one, and when it was open, in milliseconds since 1970. */
  readonly transport?: Transport.Transport
  readonly openedAt?: number
  /** The first text on its standard output that was no message. */
  readonly noise?: string
}

/** By the name of the server. */
export type Watch = Map<string, Seen>

/** The transports of the runtime, which report to a watch. */
export const transports = (watch: Watch) =>
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

/** The step of an error of a connect, where some show only when the first message is sent. */
const stepOf = ({ _tag }: McpError.McpError, isOpen: boolean): DoctorCause.Step =>
  _tag === "ConfigurationError"
    ? "variables"
    : _tag === "PermissionDenied"
    ? "trust"
    : isOpen && _tag !== "NetworkError"
    ? "initialize"
    : "connect"

const infoOf = ({ servers }: McpRuntime.McpRuntime["Type"], name: string) =>
  Effect.orElseSucceed(servers.get(name), () => undefined)

interface Noted extends Pick<Problem, "cause" | "message" | "step"> {
  readonly hint?: string | undefined
  readonly tag?: string
}

/** The steps of one visit, and what is wrong. A problem without an exit code is a warning. */
const recorder = () => {
  const steps: Array<Server["steps"][number]> = []
  const problems: Array<Problem> = []
  const codes: Array<ExitCode.ExitCode> = []
  return {
    steps,
    problems,
    codes,
    done: (step: DoctorCause.Step, milliseconds: number, isOk = true): void => {
      steps.push({ step, outcome: isOk ? "ok" : "failed", milliseconds: Math.max(0, Math.round(milliseconds)) })
    },
    problem: ({ hint, tag, ...of }: Noted, code?: ExitCode.ExitCode): void => {
      problems.push({ ...of, hint: hint ?? null, tag: tag ?? null, level: code === undefined ? "warning" : "error" })
      if (code !== undefined) codes.push(code)
    }
  }
}

/** Connects, asks and closes, and notes the steps; gives the server as it was while it was asked. */
const tried = (
  config: ServerConfig.ServerConfig,
  { runtime, timeout: limit = Limits.defaults.listTimeout }: Application.Application,
  watch: Watch,
  { codes, done, problem }: ReturnType<typeof recorder>
) =>
  Effect.gen(function*() {
    const { name } = config
    const { servers: { connect, disconnect }, teardownReport, withClient } = runtime
    const fs = yield* FileSystem.FileSystem
    const redaction = yield* Redaction.Redaction
    const host = yield* HostEnvironment.HostEnvironment
    let stderr: string | undefined
    let unset: string | undefined

    const failed = (step: DoctorCause.Step, error: McpError.McpError) =>
      Effect.gen(function*() {
        // the values of its variables are not known here where they are templates
        const env = config.transport === "stdio" && config.expansion === undefined ? config : {}
        const path = ChildEnvironment.make(env, host).get("PATH") ?? ""
        const cwd = error._tag === "SpawnFailed" ? error.cwd : undefined
        const seen = watch.get(name)
        const tail = ("stderrTail" in error ? error.stderrTail : undefined) ?? seen?.transport?.stderrTail() ?? ""
        if (tail.trim() !== "") stderr = redaction.text(tail)
        if (error._tag === "ConfigurationError" && error.variable !== undefined) unset = error.path
        const cause = DoctorCause.of(error, {
          step,
          config,
          folders: path.split(host.platform === "win32" ? ";" : ":").filter((folder) => folder !== ""),
          hasFolder: cwd === undefined || (yield* Effect.orElseSucceed(fs.exists(cwd), () => true)),
          noise: seen?.noise,
          stderr
        })
        problem({ step, message: error.message, tag: McpError.label(error), ...cause }, ExitCode.of(error))
      })

    /** The result of a request; undefined if it failed. */
    const asked = <A>(
      step: DoctorCause.Step,
      request: (client: McpClient.McpClient) => Effect.Effect<A, McpError.RuntimeError>
    ) =>
      Effect.gen(function*() {
        const [took, result] = yield* Effect.timed(Effect.either(withClient(name, request)))
        done(step, Duration.toMillis(took), Either.isRight(result))
        if (Either.isRight(result)) return result.right
        yield* failed(step, result.left)
        return undefined
      })

    /** The number of its tools. */
    const examined = Effect.gen(function*() {
      const capabilities = withClient(name, ({ capabilities }) => Effect.succeed(capabilities))
      const { tools } = yield* Effect.orElseSucceed(capabilities, () => ({ tools: {} }))
      const list = tools === undefined ? undefined : yield* asked("list", ({ tools }) => tools)
      if (tools === undefined) {
        problem({
          step: "list",
          cause: "it offers no tools",
          message: "it does not declare the capability \"tools\"",
          hint: "That is well if it has resources or prompts: see mcp-runtime resources."
        })
      }
      for (const { level, ...odd } of list === undefined ? [] : DoctorLint.toolsOf(name, list)) {
        problem({ ...odd, message: redaction.text(odd.message) }, level === "error" ? ExitCode.tool : undefined)
      }
      const error = { server: name, kind: "total", operation: "ping", limit, outcome: "unknown" } as const
      // the limit of a request is minutes
      const ping = Effect.timeoutFail({ duration: limit, onTimeout: () => new McpError.RequestTimeout(error) })
      yield* asked("ping", ({ health }) => ping(health))
      return list?.tools.length
    })

    const began = yield* Clock.currentTimeMillis
    const opening = yield* Effect.either(connect(name, { until: "settled" }))
    const now = yield* Clock.currentTimeMillis
    const isConnected = Either.isRight(opening)
    const openedAt = watch.get(name)?.openedAt
    const step = isConnected ? "initialize" : stepOf(opening.left, openedAt !== undefined)
    if (step === "initialize") done("connect", (openedAt ?? now) - began)
    done(step, now - (step === "initialize" ? openedAt ?? now : began), isConnected)
    if (!isConnected) yield* failed(step, opening.left)
    const info = yield* infoOf(runtime, name)
    const tools = isConnected ? yield* examined : undefined
    const [took] = yield* Effect.timed(Effect.ignore(disconnect(name)))
    if (isConnected) done("close", Duration.toMillis(took))
    const { servers } = yield* teardownReport
    const ends = servers.filter(({ server }) => server === name)
    const isLeft = ends.some(({ how }) => how === "abandoned")
    done("leaks", 0, !isLeft)
    if (isLeft) {
      problem({
        step: "leaks",
        cause: "it leaves processes behind",
        message: "it could not be ended in time",
        hint: "End them by hand. This is a fault of the server: it starts processes that do not end with it."
      }, ExitCode.tool)
    }
    const killed = ends.flatMap((end) => end.killed)
    if (killed.length > 0) {
      problem({
        step: "close",
        cause: "it does not end when it is asked",
        message: `it took SIGKILL to end ${killed.join(", ")}`,
        hint: "A server should end when its standard input does, or at SIGTERM."
      })
    }
    const noise = watch.get(name)?.noise
    if (noise !== undefined && codes.length === 0) {
      problem({
        step: "initialize",
        cause: "it prints logs on its standard output",
        message: `it wrote there: ${noise}`,
        hint: "Only messages belong on it; others than this program may stumble over the rest. Logs belong on stderr."
      })
    }
    return { info, tools, stderr, unset }
  })

export const visit = (
  found: ConfigDiscovery.Found,
  application: Application.Application,
  watch: Watch
): Effect.Effect<Server, never, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const { discovery, runtime } = application
    const { config, name, state } = found
    const notes = recorder()
    const { codes, done, problem, problems, steps } = notes
    const report = (issue: ConfigIssue.ConfigIssue): void => {
      const message = `${IssueShape.place(issue)}: ${issue.message}`
      const code = issue.severity === "error" ? ExitCode.config : undefined
      problem({ step: "config", cause: issue.kind.replaceAll("-", " "), message }, code)
    }
    const issues = IssueShape.ofServer(found, discovery.issues)
    for (const issue of issues) {
      // both have a step of their own
      if (issue.kind === "variable-unset" || (issue.kind === "policy-denied" && state._tag === "Denied")) continue
      report(issue)
    }
    let seen: Partial<Effect.Effect.Success<ReturnType<typeof tried>>> = { info: yield* infoOf(runtime, name) }
    if (config === undefined || state._tag === "Invalid") {
      codes.push(ExitCode.config)
      done("config", 0, false)
    } else if (state._tag !== "Disabled") {
      done("config", 0)
      done("trust", 0, state._tag === "Ready")
      if (state._tag === "Ready") seen = yield* tried(config, application, watch, notes)
      else {
        const { hint, reason = "" } = View.of(found, discovery, seen.info)
        const cause = state._tag === "Denied" ? "a policy denies it" : "it is not approved"
        problem({ step: "trust", cause, message: reason, hint }, ExitCode.permission)
      }
      for (const issue of issues) if (issue.kind === "variable-unset" && issue.at !== seen.unset) report(issue)
    }
    const { info, stderr, tools } = seen
    return {
      name,
      transport: config?.transport ?? found.entry?.transport ?? null,
      state: View.of(found, discovery, info).state,
      protocolVersion: info?.protocolVersion ?? null,
      era: info?.era ?? null,
      tools: tools ?? null,
      steps,
      problems,
      stderr: stderr ?? null,
      exitCode: worst(codes)
    }
  })
