/**
 * What is said of an event, if it is a transition, and how loudly.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import type * as McpEvent from "../../McpEvent.ts"
import type * as CircuitBreaker from "../../resilience/CircuitBreaker.ts"
import type * as ServerStatus from "../../runtime/ServerStatus.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as Reason from "./reason.ts"

/** @internal */
export interface Line {
  readonly level: "Debug" | "Info" | "Warning"
  /** Absent where the line is about all of them. */
  readonly server: string | undefined
  readonly message: string
}

const names = (servers: ReadonlyArray<string>): string => {
  const shown = servers.slice(0, 10).map((server) => UntrustedText.excerpt(server, 64)).join(", ")
  return servers.length > 10 ? `${shown} and ${servers.length - 10} more` : shown
}

/** In whole milliseconds: what is finer is noise to a reader. */
const time = (duration: Duration.Duration): string => {
  const millis = Math.max(0, Math.round(Duration.toMillis(duration)))
  return millis === 0 ? "0ms" : Duration.format(Duration.millis(millis))
}

const line = (level: Line["level"], server: string | undefined, message: string): Line => ({ level, server, message })

const circuits: { readonly [S in CircuitBreaker.State["_tag"]]: (server: string) => Line } = {
  Closed: (server) => line("Info", server, "the circuit is closed again"),
  HalfOpen: (server) => line("Debug", server, "the circuit is half open: one call may try"),
  Open: (server) => line("Warning", server, "the circuit is open: calls fail at once"),
  Isolated: (server) => line("Warning", server, "the circuit is isolated: calls fail until it is reset")
}

/**
 * Remembers which servers are in trouble, because only their recovery is news.
 *
 * @internal
 */
export const make = (now: () => number): (event: McpEvent.McpEvent) => Line | undefined => {
  const troubled = new Set<string>()

  const trouble = (server: string, message: string): Line => {
    troubled.add(server)
    return line("Warning", server, message)
  }

  const status = ({ previous, server, status }: ServerStatus.Change): Line | undefined => {
    if (previous?._tag === "Connected" && status._tag === "Connected") {
      const { pausedUntil } = status
      // Any other change is one of the tools, which `ToolsRefreshed` logs.
      if (pausedUntil === undefined || pausedUntil === previous.pausedUntil) return undefined
      const pause = time(Duration.millis(Math.max(0, pausedUntil - now())))
      return line("Info", server, `paused for ${pause}, as the server asks (Retry-After)`)
    }
    if (previous?._tag === status._tag && status._tag !== "Reconnecting") return undefined
    switch (status._tag) {
      case "Disabled":
        troubled.delete(server)
        return line("Debug", server, `disabled (${status.why})`)
      case "Blocked":
        return trouble(server, `blocked (${status.why})`)
      case "NeedsAuth":
        return trouble(server, `needs a login: ${Reason.of(status.error)}`)
      case "Idle":
        return line("Debug", server, "idle")
      case "Connecting":
        return line("Debug", server, "connecting")
      case "Connected": {
        const recovered = troubled.delete(server)
        return line(recovered ? "Info" : "Debug", server, `connected${recovered ? " again" : ""} (${status.era} era)`)
      }
      case "Reconnecting": {
        const delay = time(Duration.millis(Math.max(0, status.until - now())))
        return trouble(server, `not connected; attempt ${status.attempt} in ${delay}: ${Reason.of(status.error)}`)
      }
      case "Failed":
        return trouble(server, `given up: ${Reason.of(status.error)}`)
      case "Closed":
        troubled.delete(server)
        return line("Debug", server, "closed")
    }
  }

  return (event) => {
    switch (event._tag) {
      case "StatusChanged":
        return status(event)
      case "BreakerChanged":
        return circuits[event.state](event.server)
      case "ToolsRefreshed": {
        const rejected = event.rejected === 0 ? "" : `, and ${event.rejected} that cannot be offered`
        return line("Debug", event.server, `offers ${event.tools} tools${rejected}`)
      }
      case "Closed": {
        const forced = event.end.how === "killed" || event.end.how === "abandoned"
        const message = `the connection ended (${event.end.how}) in ${time(event.end.took)}`
        return line(forced ? "Warning" : "Debug", event.server, message)
      }
      case "Installing": {
        const what = `${UntrustedText.excerpt(event.launcher, 64)} is still installing it`
        return event.awaitedBy === "connect"
          ? line("Info", event.server, what)
          : line("Warning", event.server, `${what}; the close waits for the install`)
      }
      case "ToolQuarantined": {
        const { changes, server, tool } = event
        const places = changes.slice(0, 3).map(({ path }) => UntrustedText.excerpt(path, 64)).join(", ")
        const more = changes.length > 3 ? ` and ${changes.length - 3} more` : ""
        const what = `the tool ${UntrustedText.excerpt(tool, 64)} is not what it was when it was first seen`
        return line("Warning", server, `${what} (${places}${more})`)
      }
      case "PermissionDecided": {
        const { by, decision, kind, name, origin, rule, server } = event
        const why = rule === undefined ? by : `${by}: ${UntrustedText.excerpt(rule, 256)}`
        const message = `${decision === "deny" ? "denied" : "allowed"} to a ${origin} (${why}): the ${kind} `
        return line(decision === "deny" ? "Info" : "Debug", server, `${message}${UntrustedText.excerpt(name, 256)}`)
      }
      case "OutputFlagged": {
        const { server, signals, tool } = event
        const levels = new Set(signals.map(({ level }) => level))
        const worst = levels.has("high") ? "high" : levels.has("medium") ? "medium" : "low"
        const what = signals.length === 0 ? "hides something" : `reads like orders to a model (${worst})`
        return line("Info", server, `what ${UntrustedText.excerpt(tool, 64)} gave ${what}; it is labelled`)
      }
      case "CacheIssue":
        return line("Warning", event.server, `cache: ${UntrustedText.excerpt(event.detail, 256)}`)
      case "StartupComplete": {
        const { failed, ready, took } = event
        const failures = failed.length === 0
          ? ""
          : `, ${failed.length} failed: ${names(failed.map(({ server }) => server))}`
        const message = `startup complete in ${time(took)}: ${ready.length} ready${failures}`
        return line(failed.length === 0 ? "Debug" : "Warning", undefined, message)
      }
      case "ConfigurationFound": {
        const errors = event.issues.filter(({ severity }) => severity === "error")
        const first = errors[0] === undefined ? "" : `; ${UntrustedText.excerpt(errors[0].message, 256)}`
        const waiting = event.blocked.filter(({ why }) => why === "untrusted").map(({ server }) => server)
        const untrusted = waiting.length === 0 ? "" : `; to be approved first: ${names(waiting)}`
        const message = `configuration found: ${event.servers} servers, ${errors.length} faults${untrusted}${first}`
        return line(errors.length + waiting.length === 0 ? "Debug" : "Warning", undefined, message)
      }
      case "TrustChanged": {
        const { server, verdict } = event
        if (verdict._tag === "Pending") return line("Debug", server, `waits for approval (${verdict.why})`)
        const reads = verdict.grants.length === 0 ? "" : `; it may read ${names(verdict.grants)}`
        return line("Info", server, `approved${reads}`)
      }
      case "TrustIssue":
        return line("Warning", event.server, `trust: ${UntrustedText.excerpt(event.detail, 256)}`)
      case "ConfigurationReloaded": {
        const { added, changed, failed, removed } = event.report
        const failures = failed.length === 0 ? "" : `; not changed: ${names(failed.map(({ server }) => server))}`
        const message =
          `configuration reloaded: ${added.length} added, ${removed.length} removed, ${changed.length} changed${failures}`
        return line(failed.length === 0 ? "Debug" : "Warning", undefined, message)
      }
      case "LoginBegan":
        return line("Debug", event.server, "somebody is asked to log in")
      case "LoginEnded": {
        const { outcome, server } = event
        if (outcome === "Success") return line("Info", server, "logged in")
        return line("Warning", server, `nobody has logged in (${outcome.toLowerCase()})`)
      }
      case "TokenRenewed":
        return line("Debug", event.server, "the login was renewed")
      case "TeardownBegan":
        return line("Debug", undefined, `teardown of ${event.servers} servers`)
      case "TeardownComplete":
        return line(
          "Debug",
          undefined,
          `teardown complete in ${time(event.took)}: ${event.report.servers.length} connections ended`
        )
      default:
        return undefined
    }
  }
}
