// @effect-diagnostics strictEffectProvide:off -- the limits of a visit are those of the command
/** One server, from where it is configured to where nothing of it is left. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Connector from "../client/Connector.ts"
import type * as McpClient from "../client/McpClient.ts"
import * as ChildEnvironment from "../config/childEnvironment.ts"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import * as Limits from "../config/Limits.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as NodeConnector from "../node/NodeConnector.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as Redaction from "../safety/Redaction.ts"
import * as Scoped from "../scoped.ts"
import * as Transport from "../transport/Transport.ts"
import * as DoctorCause from "./doctorCause.ts"
import type { Facts, Step } from "./doctorFacts.ts"
import * as DoctorLint from "./doctorLint.ts"
import { type Problem, type Server, worse } from "./doctorReport.ts"
import * as ExitCode from "./ExitCode.ts"
import * as IssueShape from "./issueShape.ts"
import * as Place from "./place.ts"
import * as Processes from "./processes.ts"

/** What is seen of servers while they are visited, by their names. */
export class Watch extends Context.Tag("effect-mcp-runtime/cli/doctorVisit/Watch")<Watch, {
  /** When the way to it was open, in milliseconds since 1970. */
  readonly opened: (server: string) => number | undefined
  /** What was started for it. */
  readonly started: (server: string) => ReadonlyArray<Processes.Process>
  /** The end of its standard error so far. */
  readonly stderr: (server: string) => string | undefined
  /** The first thing that it said and that was no message. */
  readonly noise: (server: string) => string | undefined
}>() {}

/** The transports of the runtime, watched. */
export const layerWatched: Layer.Layer<
  Watch | Transport.Transports,
  never,
  Teardown.Teardown | McpEvent.McpEvents
> = Layer.scopedContext(Effect.gen(function*() {
  const { open } = yield* Transport.Transports
  const { onEvent } = yield* McpEvent.McpEvents
  const { platform } = yield* HostEnvironment.HostEnvironment
  const opened = new Map<string, number>()
  const started = new Map<string, ReadonlyArray<Processes.Process>>()
  const transports = new Map<string, Transport.Transport>()
  const noise = new Map<string, string>()
  yield* Scoped.listen(() =>
    onEvent((event) => {
      if (event._tag !== "Diagnostic" || event.diagnostic.kind !== "noise" || noise.has(event.server)) return
      noise.set(event.server, event.diagnostic.detail)
    })
  )
  // one after the other, so that it is known whose process is whose
  const turn = yield* Effect.makeSemaphore(1)
  const watched = (config: ServerConfig.ServerConfig) =>
    Effect.gen(function*() {
      const before = new Set(Processes.own(platform).map(({ pid }) => pid))
      const transport = yield* open(config)
      const mine = Processes.own(platform).filter(({ pid }) => !before.has(pid))
      started.set(config.name, [...started.get(config.name) ?? [], ...mine])
      return transport
    })
  return Context.make(Transport.Transports, {
    open: (config) =>
      (config.transport === "stdio" || config.transport === "docker"
        ? turn.withPermits(1)(watched(config))
        : open(config)).pipe(
          Effect.tap((transport) =>
            Effect.map(Clock.currentTimeMillis, (now) => {
              opened.set(config.name, now)
              transports.set(config.name, transport)
            })
          )
        )
  }).pipe(Context.add(Watch, {
    opened: (server) => opened.get(server),
    started: (server) => started.get(server) ?? [],
    stderr: (server) => transports.get(server)?.stderrTail(),
    noise: (server) => noise.get(server)
  }))
})).pipe(Layer.provide(NodeConnector.layerTransports()))

interface Notes {
  readonly steps: Array<Server["steps"][number]>
  readonly problems: Array<Problem>
  exitCode: ExitCode.ExitCode
  protocolVersion: string | null
  era: string | null
  tools: number | null
  stderr: string | null
  /** The field with an unset variable that the error of the connect has named. */
  unset: string | undefined
}

const done = (notes: Notes, step: Step, milliseconds: number, outcome: "ok" | "failed" = "ok"): void => {
  notes.steps.push({ step, outcome, milliseconds: Math.max(0, Math.round(milliseconds)) })
}

const ill = (notes: Notes, problem: Omit<Problem, "level">, exitCode: ExitCode.ExitCode): void => {
  notes.problems.push({ ...problem, level: "error" })
  notes.exitCode = worse(notes.exitCode, exitCode)
}

const factsOf = (config: ServerConfig.ServerConfig, step: Step, error: McpError.McpError) =>
  Effect.gen(function*() {
    const host = yield* HostEnvironment.HostEnvironment
    const watch = yield* Watch
    const fs = yield* FileSystem.FileSystem
    const redaction = yield* Redaction.Redaction
    // what its own variables hold is not known here where they are templates
    const env = config.transport === "stdio" && config.expansion === undefined ? config : {}
    const path = ChildEnvironment.make(env, host).get("PATH") ?? ""
    const cwd = error._tag === "SpawnFailed" ? error.cwd : undefined
    const tail = ("stderrTail" in error ? error.stderrTail : undefined) ?? watch.stderr(config.name)
    const facts: Facts = {
      step,
      config,
      folders: path.split(host.platform === "win32" ? ";" : ":").filter((folder) => folder !== ""),
      hasFolder: cwd === undefined || (yield* Effect.orElseSucceed(fs.exists(cwd), () => true)),
      noise: watch.noise(config.name),
      stderr: tail === undefined || tail.trim() === "" ? undefined : redaction.text(tail)
    }
    return facts
  })

/** What has a step of its own although it shows only when the first message is sent. */
const stepOf = (error: McpError.McpError, isOpen: boolean): Step => {
  switch (error._tag) {
    case "ConfigurationError":
      return "variables"
    case "PermissionDenied":
      return "trust"
    case "NetworkError":
      return "connect"
    default:
      return isOpen ? "initialize" : "connect"
  }
}

const failed = (notes: Notes, config: ServerConfig.ServerConfig, step: Step, error: McpError.McpError) =>
  Effect.map(factsOf(config, step, error), (facts) => {
    const { cause, hint } = DoctorCause.of(error, facts)
    if (IssueShape.isUnset(error)) notes.unset = error.path
    ill(
      notes,
      { step, cause, message: error.message, hint: hint ?? null, tag: McpError.label(error) },
      ExitCode.of(error)
    )
    notes.stderr = facts.stderr ?? notes.stderr
  })

/** Runs a step and notes how it went; whether the next one may follow is whether it succeeded. */
const step = <A, R>(
  notes: Notes,
  config: ServerConfig.ServerConfig,
  name: Step,
  self: Effect.Effect<A, McpError.McpError, R>
) =>
  Effect.gen(function*() {
    const [took, result] = yield* Effect.timed(Effect.either(self))
    done(notes, name, Duration.toMillis(took), Either.isRight(result) ? "ok" : "failed")
    if (Either.isRight(result)) return result.right
    yield* failed(notes, config, name, result.left)
    return undefined
  })

/** A ping gets the limit of a list, because that of a request is minutes. */
const pinged = (server: string, session: McpClient.McpClient) =>
  Effect.flatMap(Limits.CurrentLimits, ({ listTimeout: limit }) =>
    Effect.timeoutFail(session.health, {
      duration: limit,
      onTimeout: () =>
        new McpError.RequestTimeout({ server, kind: "total", operation: "ping", limit, outcome: "unknown" })
    }))

const asked = (notes: Notes, config: ServerConfig.ServerConfig, session: McpClient.McpClient) =>
  Effect.gen(function*() {
    const { capabilities, era, protocolVersion } = session
    notes.protocolVersion = protocolVersion
    notes.era = era
    if (capabilities["tools"] === undefined) {
      notes.problems.push({
        step: "list",
        level: "warning",
        cause: "it offers no tools",
        message: "it does not declare the capability \"tools\"",
        hint: "That is well if it has resources or prompts: see mcp-runtime resources.",
        tag: null
      })
    } else {
      const list = yield* step(notes, config, "list", session.tools)
      if (list !== undefined) {
        notes.tools = list.tools.length
        const redaction = yield* Redaction.Redaction
        for (const { level, ...odd } of DoctorLint.toolsOf(config.name, list)) {
          const problem = { ...odd, message: redaction.text(odd.message) }
          if (level === "error") ill(notes, problem, ExitCode.tool)
          else notes.problems.push({ ...problem, level })
        }
      }
    }
    yield* step(notes, config, "ping", pinged(config.name, session))
  })

const patience = { tries: 20, pause: Duration.millis(50) }

/** Waits a moment until nothing is left, and gives what is. */
const left = <A>(look: () => ReadonlyArray<A>, tries = patience.tries): Effect.Effect<ReadonlyArray<A>> =>
  Effect.suspend(() => {
    const found = look()
    return found.length === 0 || tries === 0
      ? Effect.succeed(found)
      : Effect.delay(left(look, tries - 1), patience.pause)
  })

const leaks = (notes: Notes, server: string, known: ReadonlyArray<Processes.Process>) =>
  Effect.gen(function*() {
    const { platform } = yield* HostEnvironment.HostEnvironment
    const { report } = yield* Teardown.Teardown
    const processes = yield* left(() => Processes.remaining(known, platform))
    const ends = (yield* report).servers.filter((end) => end.server === server)
    const abandoned = ends.some(({ how }) => how === "abandoned")
    if (processes.length > 0 || abandoned) {
      const pids = processes.map(({ pid }) => pid).join(", ")
      ill(notes, {
        step: "leaks",
        cause: "it leaves processes behind",
        message: pids === "" ? "it could not be ended in time" : `processes that are still there: ${pids}`,
        hint: "End them by hand. This is a fault of the server: it starts processes that do not end with it.",
        tag: null
      }, ExitCode.tool)
    }
    done(notes, "leaks", 0, processes.length > 0 || abandoned ? "failed" : "ok")
    const killed = ends.flatMap((end) => end.killed)
    if (killed.length > 0) {
      notes.problems.push({
        step: "close",
        level: "warning",
        cause: "it does not end when it is asked",
        message: `${killed.length === 1 ? "a process" : `${killed.length} processes`} had to be killed: ${
          killed.join(", ")
        }`,
        hint: "A server should end when its standard input does, or at SIGTERM.",
        tag: null
      })
    }
  })

const connected = (notes: Notes, config: ServerConfig.ServerConfig) =>
  Effect.gen(function*() {
    const watch = yield* Watch
    const { platform } = yield* HostEnvironment.HostEnvironment
    let known: ReadonlyArray<Processes.Process> = []
    const scope = yield* Scope.make()
    const began = yield* Clock.currentTimeMillis
    const visit = Effect.gen(function*() {
      const opening = yield* Effect.either(Scope.extend(Connector.open(config), scope))
      const now = yield* Clock.currentTimeMillis
      const opened = watch.opened(config.name)
      if (Either.isLeft(opening)) {
        const at = stepOf(opening.left, opened !== undefined)
        if (at === "initialize") done(notes, "connect", opened! - began)
        done(notes, at, now - (at === "initialize" ? opened! : began), "failed")
        yield* failed(notes, config, at, opening.left)
      } else {
        done(notes, "connect", (opened ?? now) - began)
        done(notes, "initialize", now - (opened ?? now))
        yield* asked(notes, config, opening.right)
      }
      known = Processes.tree(watch.started(config.name), platform)
    })
    const close = Scope.close(scope, Exit.void)
    const [took] = yield* Effect.uninterruptibleMask((restore) =>
      Effect.zipRight(Effect.onError(restore(visit), () => close), Effect.timed(close))
    )
    // what could not be connected has been closed by then
    if (notes.protocolVersion !== null) done(notes, "close", Duration.toMillis(took))
    yield* leaks(notes, config.name, [...watch.started(config.name), ...known])
    const noise = watch.noise(config.name)
    if (noise !== undefined && notes.exitCode === ExitCode.ok) {
      notes.problems.push({
        step: "initialize",
        level: "warning",
        cause: "it prints logs on its standard output",
        message: `it wrote there: ${noise}`,
        hint: "Only messages belong on it; others than this program may stumble over the rest. Logs belong on stderr.",
        tag: null
      })
    }
  })

const blocked = (notes: Notes, { name, state }: ConfigDiscovery.Found): void => {
  if (state._tag === "Denied") {
    ill(notes, {
      step: "trust",
      cause: "a policy denies it",
      message: state.decision === "denied" ? "a rule of a policy names it" : "no policy allows it",
      hint: "Ask the author of the policy of this machine or workspace.",
      tag: null
    }, ExitCode.permission)
  } else if (state._tag === "Untrusted") {
    ill(notes, {
      step: "trust",
      cause: "it is not approved",
      message: state.why === "new"
        ? "it comes with the workspace, and was never agreed to"
        : state.why === "changed"
        ? "it is not what was agreed to"
        : "its approval cannot be read",
      hint: `Look at what it would start, and agree, with \`mcp-runtime approve ${name}\`.`,
      tag: null
    }, ExitCode.permission)
  }
}

export const visit = (found: ConfigDiscovery.Found, issues: ConfigDiscovery.Discovery["issues"]): Effect.Effect<
  Server,
  never,
  Watch | Connector.Connector | Teardown.Teardown | FileSystem.FileSystem
> =>
  Effect.gen(function*() {
    const notes: Notes = {
      steps: [],
      problems: [],
      exitCode: ExitCode.ok,
      protocolVersion: null,
      era: null,
      tools: null,
      stderr: null,
      unset: undefined
    }
    const { config, name, state } = found
    // what a policy says is told in a step of its own
    const mine = IssueShape.ofServer(found, issues).filter(({ kind }) =>
      !(kind === "policy-denied" && state._tag === "Denied")
    )
    const ofConfig = (issue: ConfigDiscovery.Discovery["issues"][number]): void => {
      const problem = {
        step: "config",
        cause: issue.kind.replaceAll("-", " "),
        message: `${Place.of(issue)}: ${issue.message}`,
        hint: null,
        tag: null
      }
      if (issue.severity === "error") ill(notes, problem, ExitCode.config)
      else notes.problems.push({ ...problem, level: "warning" })
    }
    const isUnset = ({ kind }: ConfigDiscovery.Discovery["issues"][number]) => kind === "variable-unset"
    mine.filter((issue) => !isUnset(issue)).forEach(ofConfig)
    if (config === undefined || state._tag === "Invalid") {
      notes.exitCode = ExitCode.config
      done(notes, "config", 0, "failed")
    } else if (state._tag !== "Disabled") {
      done(notes, "config", 0)
      blocked(notes, found)
      done(notes, "trust", 0, state._tag === "Ready" ? "ok" : "failed")
      if (state._tag === "Ready") yield* connected(notes, config)
      // a failed connect names the first unset variable
      mine.filter((issue) => isUnset(issue) && issue.at !== notes.unset).forEach(ofConfig)
    }
    const isIll = notes.exitCode !== ExitCode.ok
    return {
      name,
      transport: config?.transport ?? found.entry?.transport ?? null,
      health: isIll ? "ill" : state._tag === "Disabled" ? "disabled" : "well",
      protocolVersion: notes.protocolVersion,
      era: notes.era,
      tools: notes.tools,
      steps: notes.steps,
      problems: notes.problems,
      stderr: notes.stderr,
      exitCode: notes.exitCode
    }
  })
