/**
 * One line of log for each transition of a server: failures as warnings, recoveries as information, the rest for
 * debugging. A line holds no text of a server and no payload.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as LogLevel from "effect/LogLevel"
import * as Mailbox from "effect/Mailbox"
import * as Match from "effect/Match"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import type * as ServerStatus from "../runtime/ServerStatus.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import * as Redaction from "../safety/Redaction.ts"
import * as Scoped from "../scoped.ts"
import { excerpt, listed } from "../text/UntrustedText.ts"

/** Lines that a busy application may leave unwritten; the oldest are lost first. */
const backlog = 1_024

/** How long the end of the scope waits for the last lines. */
const lastLines = Duration.seconds(1)

/**
 * Writes the events published from now on; when the scope closes, what was published before is still written. Its scope
 * has to outlive the runtime, because the teardown is written too.
 */
export const make: Effect.Effect<void, never, McpEvent.McpEvents | Scope.Scope> = Effect.gen(function*() {
  const events = yield* McpEvent.McpEvents
  const clock = yield* Effect.clock
  const { text } = yield* Redaction.Redaction
  const minimum = yield* FiberRef.get(FiberRef.currentMinimumLogLevel)
  const lineOf = makeLine(() => clock.unsafeCurrentTimeMillis())
  const lines = yield* Mailbox.make<Line>({ capacity: backlog, strategy: "sliding" })
  const write = ({ level, message, server }: Line) => {
    const logged = RuntimeLog.withLevel(level, text(message))
    return server === undefined ? logged : Effect.annotateLogs(logged, "server", excerpt(server, 128))
  }
  const writer = yield* Effect.forkScoped(Stream.runForEach(Mailbox.toStream(lines), write))
  yield* Effect.addFinalizer(() => Effect.zipRight(lines.end, BoundedWait.within(lastLines)(Fiber.await(writer))))
  // A synchronous listener: a subscription would wake a fiber for every call, and lose transitions behind many calls.
  yield* Scoped.listen(() =>
    events.onEvent((event) => {
      const line = lineOf(event)
      // before the redaction, which takes longer than the line
      if (line !== undefined && LogLevel.greaterThanEqual(line.level, minimum)) lines.unsafeOffer(line)
    })
  )
})

/** Provide it to the layer of the runtime, not beside it. */
export const layer: Layer.Layer<never, never, McpEvent.McpEvents> = Layer.scopedDiscard(make)

const logging = (level: LogLevel.LogLevel) => (server: string | undefined, message: string) => ({
  level,
  server,
  message
})

type Line = ReturnType<ReturnType<typeof logging>>

/** Without a server for lines about all of them. */
const debug = logging(LogLevel.Debug)
const info = logging(LogLevel.Info)
const warning = logging(LogLevel.Warning)

/** A warning in bad times, and for debugging otherwise. */
const warningIf = (isBad: boolean) => isBad ? warning : debug

const list = (names: ReadonlyArray<string>, most = 10): string => listed(names.map((name) => excerpt(name, 64)), most)

const names = (those: ReadonlyArray<{ readonly server: string }>): string => list(those.map(({ server }) => server))

/** In whole milliseconds, because finer times are noise to a reader. */
const time = (duration: Duration.DurationInput): string => {
  const millis = Math.round(Duration.toMillis(duration))
  return millis === 0 ? "0ms" : Duration.format(Duration.millis(millis))
}

/** The field of an error that explains it, and no text of a server, because a log is kept. */
const detailOf = Match.type<McpError.McpError>().pipe(
  Match.tag("HandshakeFailed", "NetworkError", "RemoteError", ({ code }) => code),
  Match.tags({
    SpawnFailed: ({ errno }) => errno,
    ConnectTimeout: ({ limit, phase }) => `${phase} phase, ${Duration.format(limit)}`,
    CapabilityMissing: ({ capability }) => capability,
    ConnectionLost: ({ code, phase, reason, signal }) =>
      reason === "exited" ? `${signal ?? `exit code ${code}`}, ${phase} phase` : undefined,
    HttpError: ({ redirect, status }) => redirect ?? status,
    ConfigurationError: ({ path }) => path,
    PermissionDenied: ({ decision }) => decision,
    ServerUnavailable: ({ why }) => why
  }),
  Match.orElse(() => undefined)
)

const reason = (error: McpError.McpError): string => {
  const detail = detailOf(error) ?? ""
  return detail === "" ? McpError.label(error) : `${McpError.label(error)} (${excerpt(String(detail), 64)})`
}

const circuits = {
  Closed: (server: string) => info(server, "the circuit is closed again"),
  HalfOpen: (server: string) => debug(server, "the circuit is half open: one call may try"),
  Open: (server: string) => warning(server, "the circuit is open: calls fail at once"),
  Isolated: (server: string) => warning(server, "the circuit is isolated: calls fail until it is reset")
}

/** The lines of the statuses. Remembers the servers in trouble, because only their recovery is news. */
const makeStatusLine = (now: () => number) => {
  const troubled = new Set<string>()
  const timeTo = (millis: number): string => time(Math.max(0, millis - now()))

  const trouble = (server: string, message: string): Line => {
    troubled.add(server)
    return warning(server, message)
  }
  const ended = (server: string, message: string): Line => {
    troubled.delete(server)
    return debug(server, message)
  }

  return ({ previous, server, status }: ServerStatus.Change): Line | undefined => {
    if (previous?._tag === "Connected" && status._tag === "Connected") {
      const { pausedUntil } = status
      // Any other change is one of the tools, which `ToolsRefreshed` logs.
      if (pausedUntil === undefined || pausedUntil === previous.pausedUntil) return undefined
      return info(server, `paused for ${timeTo(pausedUntil)}, as the server asks (Retry-After)`)
    }
    if (previous?._tag === status._tag && status._tag !== "Reconnecting") return undefined
    return Match.valueTags(status, {
      Disabled: ({ why }) => ended(server, `disabled (${why})`),
      Blocked: ({ why }) => trouble(server, `blocked (${why})`),
      NeedsAuth: ({ error }) => trouble(server, `needs a login: ${reason(error)}`),
      Idle: () => debug(server, "idle"),
      Connecting: () => debug(server, "connecting"),
      Connected: ({ era }) =>
        troubled.delete(server)
          ? info(server, `connected again (${era} era)`)
          : debug(server, `connected (${era} era)`),
      Reconnecting: ({ attempt, error, until }) =>
        trouble(server, `not connected; attempt ${attempt} in ${timeTo(until)}: ${reason(error)}`),
      Failed: ({ error }) => trouble(server, `given up: ${reason(error)}`),
      Closed: () => ended(server, "closed")
    })
  }
}

/** The line of an event that is a transition. */
const makeLine = (now: () => number): (event: McpEvent.McpEvent) => Line | undefined =>
  Match.type<McpEvent.McpEvent>().pipe(
    Match.tags({
      StatusChanged: makeStatusLine(now),
      BreakerChanged: ({ server, state }) => circuits[state](server),
      ListFailed: ({ error, list, server }) =>
        warningIf(list === "tools")(server, `its ${list} could not be listed: ${reason(error)}`),
      ToolsRefreshed: ({ rejected, server, tools }) =>
        debug(server, `offers ${tools} tools${rejected === 0 ? "" : `, and ${rejected} that cannot be offered`}`),
      Closed: ({ end: { how, took }, server }) =>
        warningIf(how === "killed" || how === "abandoned")(server, `the connection ended (${how}) in ${time(took)}`),
      Installing: ({ awaitedBy, launcher, server }) =>
        awaitedBy === "connect"
          ? info(server, `${excerpt(launcher, 64)} is still installing it`)
          : warning(server, `${excerpt(launcher, 64)} is still installing it; the close waits for the install`),
      ToolQuarantined: ({ changes, server, tool }) => {
        const what = `the tool ${excerpt(tool, 64)} is not what it was when it was first seen`
        return warning(server, `${what} (${list(changes.map(({ path }) => path), 3)})`)
      },
      PermissionDecided: ({ by, decision, kind, name, origin, rule, server }) => {
        const why = rule === undefined ? by : `${by}: ${excerpt(rule, 256)}`
        const subject = `to a ${origin} (${why}): the ${kind} ${excerpt(name, 256)}`
        return decision === "deny" ? info(server, `denied ${subject}`) : debug(server, `allowed ${subject}`)
      },
      OutputFlagged: ({ server, signals, tool }) => {
        const levels = ["high", "medium", "low"] as const
        const worst = levels.find((level) => signals.some((signal) => signal.level === level))
        const what = worst === undefined ? "hides something" : `reads like orders to a model (${worst})`
        return info(server, `what ${excerpt(tool, 64)} gave ${what}; it is labelled`)
      },
      CacheIssue: ({ detail, server }) => warning(server, `cache: ${excerpt(detail, 256)}`),
      StartupComplete: ({ failed, ready, took }) => {
        const failures = failed.length === 0 ? "" : `, ${failed.length} failed: ${names(failed)}`
        const message = `startup complete in ${time(took)}: ${ready.length} ready${failures}`
        return warningIf(failed.length > 0)(undefined, message)
      },
      ConfigurationFound: ({ blocked, issues, servers }) => {
        const errors = issues.filter(({ severity }) => severity === "error")
        const first = errors[0] === undefined ? "" : `; ${excerpt(errors[0].message, 256)}`
        const waiting = blocked.filter(({ why }) => why === "untrusted")
        const untrusted = waiting.length === 0 ? "" : `; to be approved first: ${names(waiting)}`
        const message = `configuration found: ${servers} servers, ${errors.length} faults${untrusted}${first}`
        return warningIf(errors.length + waiting.length > 0)(undefined, message)
      },
      TrustChanged: ({ server, status }) => {
        if (status._tag === "Pending") return debug(server, `waits for approval (${status.why})`)
        const { grants } = status
        return info(server, grants.length === 0 ? "approved" : `approved; it may read ${list(grants)}`)
      },
      TrustIssue: ({ detail, server }) => warning(server, `trust: ${excerpt(detail, 256)}`),
      ConfigurationReloaded: ({ report: { added, changed, failed, removed } }) => {
        const counts = `${added.length} added, ${removed.length} removed, ${changed.length} changed`
        const failures = failed.length === 0 ? "" : `; not changed: ${names(failed)}`
        return warningIf(failed.length > 0)(undefined, `configuration reloaded: ${counts}${failures}`)
      },
      LoginBegan: ({ server }) => debug(server, "a person is asked to log in"),
      LoginEnded: ({ outcome, server }) =>
        outcome === "Success"
          ? info(server, "logged in")
          : warning(server, `the login ended without success (${outcome.toLowerCase()})`),
      TokenRenewed: ({ server }) => debug(server, "the login was renewed"),
      TeardownBegan: ({ servers }) => debug(undefined, `teardown of ${servers} servers`),
      TeardownComplete: ({ report, took }) =>
        debug(undefined, `teardown complete in ${time(took)}: ${report.servers.length} connections ended`)
    }),
    Match.orElse(() => undefined)
  )
