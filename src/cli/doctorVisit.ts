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
import * as HostEnvironment from "../config/HostEnvironment.ts"
import * as Limits from "../config/Limits.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as NodeConnector from "../node/NodeConnector.ts"
import * as Redaction from "../safety/Redaction.ts"
import * as Scoped from "../scoped.ts"
import * as Transport from "../transport/Transport.ts"
import type * as Application from "./Application.ts"
import * as DoctorCause from "./doctorCause.ts"
import * as DoctorLint from "./doctorLint.ts"
import * as ExitCode from "./ExitCode.ts"
import * as IssueShape from "./issueShape.ts"
import * as Place from "./place.ts"
import * as Processes from "./processes.ts"
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

/** What the transports of the servers show, by name. */
export interface Watch {
  /** When the transport was open, in milliseconds since 1970. */
  readonly opened: Map<string, number>
  readonly transports: Map<string, Transport.Transport>
  readonly started: Map<string, ReadonlyArray<Processes.Process>>
  /** The first text on its standard output that was no message. */
  readonly noise: Map<string, string>
}

export const makeWatch = (): Watch => ({
  opened: new Map(),
  transports: new Map(),
  started: new Map(),
  noise: new Map()
})

/** The transports of the runtime, which report to a watch. */
export const transports = ({ noise, opened, started, transports }: Watch) =>
  Layer.scoped(
    Transport.Transports,
    Effect.gen(function*() {
      const { open } = yield* NodeConnector.makeTransports
      const { onEvent } = yield* McpEvent.McpEvents
      const { platform } = yield* HostEnvironment.HostEnvironment
      yield* Scoped.listen(() =>
        onEvent((event) => {
          if (event._tag !== "Diagnostic" || event.diagnostic.kind !== "noise" || noise.has(event.server)) return
          noise.set(event.server, event.diagnostic.detail)
        })
      )
      // one after the other, so that each new process belongs to one server
      const turn = yield* Effect.makeSemaphore(1)
      const watched = (config: ServerConfig.ServerConfig) =>
        Effect.gen(function*() {
          const before = new Set(Processes.own(platform).map(({ pid }) => pid))
          const transport = yield* open(config)
          const fresh = Processes.own(platform).filter(({ pid }) => !before.has(pid))
          started.set(config.name, [...started.get(config.name) ?? [], ...fresh])
          return transport
        })
      return {
        open: (config) =>
          Effect.tap("url" in config ? open(config) : turn.withPermits(1)(watched(config)), (transport) =>
            Effect.map(Clock.currentTimeMillis, (now) => {
              opened.set(config.name, now)
              transports.set(config.name, transport)
            }))
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

const isUnset = ({ kind }: ConfigDiscovery.Discovery["issues"][number]): boolean => kind === "variable-unset"

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
    problem: (
      { hint = null, tag = null, ...of }: Pick<Problem, "cause" | "message" | "step"> & Partial<Problem>,
      code?: ExitCode.ExitCode
    ): void => {
      problems.push({ ...of, hint, tag, level: code === undefined ? "warning" : "error" })
      if (code !== undefined) codes.push(code)
    }
  }
}

export const visit = (
  found: ConfigDiscovery.Found,
  { discovery, runtime, timeout: limit = Limits.defaults.listTimeout }: Application.Application,
  watch: Watch
): Effect.Effect<Server, never, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const { config, name, state } = found
    const { servers: { connect, disconnect, get }, teardownReport, withClient } = runtime
    const { codes, done, problem, problems, steps } = recorder()
    const redaction = yield* Redaction.Redaction
    const host = yield* HostEnvironment.HostEnvironment
    const info = Effect.orElseSucceed(get(name), () => undefined)
    let stderr: string | undefined
    let unset: string | undefined

    const failed = (config: ServerConfig.ServerConfig, step: DoctorCause.Step, error: McpError.McpError) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        // the values of its variables are not known here where they are templates
        const env = config.transport === "stdio" && config.expansion === undefined ? config : {}
        const path = ChildEnvironment.make(env, host).get("PATH") ?? ""
        const cwd = error._tag === "SpawnFailed" ? error.cwd : undefined
        const ofError = "stderrTail" in error ? error.stderrTail : undefined
        const tail = ofError ?? watch.transports.get(name)?.stderrTail() ?? ""
        if (tail.trim() !== "") stderr = redaction.text(tail)
        const { cause, hint } = DoctorCause.of(error, {
          step,
          config,
          folders: path.split(host.platform === "win32" ? ";" : ":").filter((folder) => folder !== ""),
          hasFolder: cwd === undefined || (yield* Effect.orElseSucceed(fs.exists(cwd), () => true)),
          noise: watch.noise.get(name),
          stderr
        })
        if (error._tag === "ConfigurationError" && error.variable !== undefined) unset = error.path
        const tag = McpError.label(error)
        problem({ step, cause, message: error.message, hint: hint ?? null, tag }, ExitCode.of(error))
      })

    /** The result of a request; undefined if it failed. */
    const asked = <A>(
      config: ServerConfig.ServerConfig,
      step: DoctorCause.Step,
      request: (client: McpClient.McpClient) => Effect.Effect<A, McpError.RuntimeError>
    ) =>
      Effect.gen(function*() {
        const [took, result] = yield* Effect.timed(Effect.either(withClient(name, request)))
        done(step, Duration.toMillis(took), Either.isRight(result))
        if (Either.isRight(result)) return result.right
        yield* failed(config, step, result.left)
        return undefined
      })

    /** The number of its tools. */
    const examined = (config: ServerConfig.ServerConfig) =>
      Effect.gen(function*() {
        const capabilities = withClient(name, ({ capabilities }) => Effect.succeed(capabilities))
        const { tools } = yield* Effect.orElseSucceed(capabilities, () => ({ tools: {} }))
        const list = tools === undefined ? undefined : yield* asked(config, "list", ({ tools }) => tools)
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
        yield* asked(config, "ping", ({ health }) => ping(health))
        return list?.tools.length
      })

    const ended = (known: ReadonlyArray<Processes.Process>) =>
      Effect.gen(function*() {
        const { pids } = yield* Processes.leftovers(known, host.platform)
        const ends = (yield* teardownReport).servers.filter(({ server }) => server === name)
        const isLeft = pids.length > 0 || ends.some(({ how }) => how === "abandoned")
        const left = `processes that are still there: ${pids.join(", ")}`
        done("leaks", 0, !isLeft)
        if (isLeft) {
          problem({
            step: "leaks",
            cause: "it leaves processes behind",
            message: pids.length === 0 ? "it could not be ended in time" : left,
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
      })

    /** Connects, asks and closes; gives the server as it was while it was asked. */
    const tried = (config: ServerConfig.ServerConfig) =>
      Effect.gen(function*() {
        const began = yield* Clock.currentTimeMillis
        const opening = yield* Effect.either(connect(name, { until: "settled" }))
        const now = yield* Clock.currentTimeMillis
        const opened = watch.opened.get(name)
        const step = Either.isLeft(opening) ? stepOf(opening.left, opened !== undefined) : "initialize"
        if (step === "initialize") done("connect", (opened ?? now) - began)
        done(step, now - (step === "initialize" ? opened ?? now : began), Either.isRight(opening))
        if (Either.isLeft(opening)) yield* failed(config, step, opening.left)
        const seen = yield* info
        const tools = Either.isRight(opening) ? yield* examined(config) : undefined
        const started = watch.started.get(name) ?? []
        const known = [...started, ...Processes.tree(started, host.platform)]
        const [took] = yield* Effect.timed(Effect.ignore(disconnect(name)))
        if (Either.isRight(opening)) done("close", Duration.toMillis(took))
        yield* ended(known)
        const noise = watch.noise.get(name)
        if (noise !== undefined && codes.length === 0) {
          problem({
            step: "initialize",
            cause: "it prints logs on its standard output",
            message: `it wrote there: ${noise}`,
            hint:
              "Only messages belong on it; others than this program may stumble over the rest. Logs belong on stderr."
          })
        }
        return { seen, tools }
      })

    // a policy has a step of its own
    const issues = IssueShape.ofServer(found, discovery.issues).filter(({ kind }) =>
      !(kind === "policy-denied" && state._tag === "Denied")
    )
    const report = (all: typeof issues): void => {
      for (const issue of all) {
        const message = `${Place.of(issue)}: ${issue.message}`
        const code = issue.severity === "error" ? ExitCode.config : undefined
        problem({ step: "config", cause: issue.kind.replaceAll("-", " "), message }, code)
      }
    }
    report(issues.filter((issue) => !isUnset(issue)))
    const before = yield* info
    let seen = before
    let tools: number | undefined
    if (config === undefined || state._tag === "Invalid") {
      codes.push(ExitCode.config)
      done("config", 0, false)
    } else if (state._tag !== "Disabled") {
      done("config", 0)
      done("trust", 0, state._tag === "Ready")
      if (state._tag === "Ready") ({ seen, tools } = yield* tried(config))
      else {
        const { hint = null, reason = "" } = View.of(found, discovery, before)
        const cause = state._tag === "Denied" ? "a policy denies it" : "it is not approved"
        problem({ step: "trust", cause, message: reason, hint }, ExitCode.permission)
      }
      report(issues.filter((issue) => isUnset(issue) && issue.at !== unset))
    }
    return {
      name,
      transport: config?.transport ?? found.entry?.transport ?? null,
      state: View.of(found, discovery, seen).state,
      protocolVersion: seen?.protocolVersion ?? null,
      era: seen?.era ?? null,
      tools: tools ?? null,
      steps,
      problems,
      stderr: stderr ?? null,
      exitCode: worst(codes)
    }
  })
