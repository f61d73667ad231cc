/** What a server is doing, in one word for people and programs. */
import * as Schema from "effect/Schema"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import * as Following from "./following.ts"
import type * as Screen from "./Screen.ts"

export const State = Schema.Literal(
  "connected",
  "connecting",
  "reconnecting",
  "idle",
  "failed",
  "needs-auth",
  "blocked",
  "disabled",
  "invalid",
  "closed"
)

export type State = typeof State.Type

interface Told {
  readonly state: State
  readonly why?: string | undefined
}

const words: Record<McpRuntime.ServerInfo["status"]["_tag"], State> = {
  Blocked: "blocked",
  Closed: "closed",
  Connected: "connected",
  Connecting: "connecting",
  Disabled: "disabled",
  Failed: "failed",
  Idle: "idle",
  NeedsAuth: "needs-auth",
  Reconnecting: "reconnecting"
}

export const stateOf = ({ state }: ConfigDiscovery.Found, info: McpRuntime.ServerInfo | undefined): Told => {
  if (state._tag === "Invalid") return { state: "invalid", why: state.kind }
  if (info === undefined) {
    switch (state._tag) {
      case "Disabled":
        return { state: "disabled" }
      case "Denied":
        return { state: "blocked", why: "denied" }
      case "Untrusted":
        return { state: "blocked", why: "untrusted" }
      case "Ready":
        return { state: "idle" }
    }
  }
  const { status } = info
  return { state: words[status._tag], why: status._tag === "Blocked" ? status.why : undefined }
}

const styleOf = (state: State): Screen.Style => {
  switch (state) {
    case "connected":
      return "good"
    case "failed":
    case "invalid":
    case "needs-auth":
    case "reconnecting":
      return "bad"
    case "blocked":
      return "warning"
    default:
      return "weak"
  }
}

/**
 * The state in a table or a line, with its reason or the end of a pause. The end is a clock time, because a remaining
 * time is out of date as soon as it is printed.
 */
export const spanOf = (
  { pausedUntil, state, why }: {
    readonly state: State
    readonly why: string | null
    readonly pausedUntil: number | null
  }
): { readonly text: string; readonly style: Screen.Style } =>
  pausedUntil === null
    ? { text: why === null ? state : `${state} (${why})`, style: styleOf(state) }
    : { text: `${state} (paused until ${Following.clock(pausedUntil)} UTC)`, style: "warning" }
