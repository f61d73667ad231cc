/**
 * Logs each transition of a server in one line: failures as warnings, recoveries as information, all others for debugging. A
 * line contains no payload and no text of a server.
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

/** Lines that wait to be written. The oldest are dropped. */
const backlog = 1_024

/** How long closing the scope waits for the last lines. */
const lastLines = Duration.seconds(1)

/**
 * Logs events from now on. Events that were published before the scope closes are still logged. The scope must outlive the
 * runtime, because the teardown is logged too.
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
  // A synchronous listener, because a subscription would wake a fiber for every call, and drop transitions behind many calls.
  yield* Scoped.listen(() =>
    events.onEvent((event) => {
      const line = lineOf(event)
      // checked before the redaction, which is slow
      if (line !== undefined && LogLevel.greaterThanEqual(line.level, minimum)) lines.unsafeOffer(line)
    })
  )
})

/** Provide it to the layer of the runtime; do not merge it. */
export const layer: Layer.Layer<never, never, McpEvent.McpEvents> = Layer.scopedDiscard(make)

const logging = (level: LogLevel.LogLevel) => (server: string | undefined, message: string) => ({
  level,
  server,
  message
})

type Line = ReturnType<ReturnType<typeof logging>>

const debug = logging(LogLevel.Debug)
const info = logging(LogLevel.Info)
const warning = logging(LogLevel.Warning)

/** A warning if something failed, and otherwise for debugging. */
const warningIf = (isFailure: boolean) => isFailure ? warning : debug

const list = (names: ReadonlyArray<string>, most = 10): string => listed(names.map((name) => excerpt(name, 64)), most)

const names = (those: ReadonlyArray<{ readonly server: string }>): string => list(those.map(({ server }) => server))

/** In whole milliseconds. */
const time = (duration: Duration.DurationInput): string => {
  const millis = Math.round(Duration.toMillis(duration))
  return millis === 0 ? "0ms" : Duration.format(Duration.millis(millis))
}

/** The field that explains an error, without text of a server. */
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
  Closed: (server: string) => info(server, "circuit closed"),
  HalfOpen: (server: string) => debug(server, "circuit half-open: the next call is a probe"),
  Open: (server: string) => warning(server, "circuit open: calls fail at once"),
  Isolated: (server: string) => warning(server, "circuit isolated: calls fail until it is reset")
}

/** The lines of statuses. Remembers failing servers, because only their recovery is logged as information. */
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
      // any other change is about tools, which `ToolsRefreshed` logs
      if (pausedUntil === undefined || pausedUntil === previous.pausedUntil) return undefined
      return info(server, `paused for ${timeTo(pausedUntil)} (Retry-After)`)
    }
    if (previous?._tag === status._tag && status._tag !== "Reconnecting") return undefined
    return Match.valueTags(status, {
      Disabled: ({ why }) => ended(server, `disabled (${why})`),
      Blocked: ({ why }) => trouble(server, `blocked (${why})`),
      NeedsAuth: ({ error }) => trouble(server, `needs login: ${reason(error)}`),
      Idle: () => debug(server, "idle"),
      Connecting: () => debug(server, "connecting"),
      Connected: ({ era }) =>
        troubled.delete(server)
          ? info(server, `reconnected (${era} era)`)
          : debug(server, `connected (${era} era)`),
      Reconnecting: ({ attempt, error, until }) =>
        trouble(server, `reconnecting: attempt ${attempt} in ${timeTo(until)}, after ${reason(error)}`),
      Failed: ({ error }) => trouble(server, `failed: ${reason(error)}`),
      Closed: () => ended(server, "closed")
    })
  }
}

/** The line of an event; `undefined` if it is not a transition. */
const makeLine = (now: () => number): (event: McpEvent.McpEvent) => Line | undefined =>
  Match.type<McpEvent.McpEvent>().pipe(
    Match.tags({
      StatusChanged: makeStatusLine(now),
      BreakerChanged: ({ server, state }) => circuits[state](server),
      ListFailed: ({ error, list, server }) =>
        warningIf(list === "tools")(server, `listing ${list} failed: ${reason(error)}`),
      ToolsRefreshed: ({ rejected, server, tools }) =>
        debug(server, `${tools} tools listed${rejected === 0 ? "" : `, ${rejected} rejected`}`),
      Closed: ({ end: { how, took }, server }) =>
        warningIf(how === "killed" || how === "abandoned")(server, `connection closed (${how}) in ${time(took)}`),
      Installing: ({ awaitedBy, launcher, server }) =>
        awaitedBy === "connect"
          ? info(server, `${excerpt(launcher, 64)} is still installing the server`)
          : warning(
            server,
            `${excerpt(launcher, 64)} is still installing the server; closing waits for the installation`
          ),
      ToolQuarantined: ({ changes, server, tool }) => {
        const what = `tool ${excerpt(tool, 64)} quarantined, because its definition changed`
        return warning(server, `${what} (${list(changes.map(({ path }) => path), 3)})`)
      },
      PermissionDecided: ({ by, decision, kind, name, origin, rule, server }) => {
        const why = rule === undefined ? by : `${by}: ${excerpt(rule, 256)}`
        const subject = `for ${origin} (${why}): ${kind} ${excerpt(name, 256)}`
        return decision === "deny" ? info(server, `denied ${subject}`) : debug(server, `allowed ${subject}`)
      },
      OutputFlagged: ({ server, signals, tool }) => {
        const levels = ["high", "medium", "low"] as const
        const worst = levels.find((level) => signals.some((signal) => signal.level === level))
        const what = worst === undefined ? "contains hidden text" : `looks like instructions to a model (${worst})`
        return info(server, `output of ${excerpt(tool, 64)} ${what}; it is labelled`)
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
        const untrusted = waiting.length === 0 ? "" : `; waiting for approval: ${names(waiting)}`
        const message = `configuration loaded: ${servers} servers, ${errors.length} errors${untrusted}${first}`
        return warningIf(errors.length + waiting.length > 0)(undefined, message)
      },
      TrustChanged: ({ server, status }) => {
        if (status._tag === "Pending") return debug(server, `waiting for approval (${status.why})`)
        const { grants } = status
        return info(server, grants.length === 0 ? "approved" : `approved; may read ${list(grants)}`)
      },
      TrustIssue: ({ detail, server }) => warning(server, `trust: ${excerpt(detail, 256)}`),
      ConfigurationReloaded: ({ report: { added, changed, failed, removed } }) => {
        const counts = `${added.length} added, ${removed.length} removed, ${changed.length} changed`
        const failures = failed.length === 0 ? "" : `; failed: ${names(failed)}`
        return warningIf(failed.length > 0)(undefined, `configuration reloaded: ${counts}${failures}`)
      },
      LoginBegan: ({ server }) => debug(server, "login started"),
      LoginEnded: ({ outcome, server }) =>
        outcome === "Success"
          ? info(server, "logged in")
          : warning(server, `login failed (${outcome.toLowerCase()})`),
      TokenRenewed: ({ server }) => debug(server, "token renewed"),
      TeardownBegan: ({ servers }) => debug(undefined, `teardown of ${servers} servers`),
      TeardownComplete: ({ report, took }) =>
        debug(undefined, `teardown complete in ${time(took)}: ${report.servers.length} connections closed`)
    }),
    Match.orElse(() => undefined)
  )
