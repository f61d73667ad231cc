/** What a server is doing, as people and programs see it. `lifecycle.ts` derives it from the state of the link. */
import * as Data from "effect/Data"
import type * as McpError from "../McpError.ts"
import type * as Transport from "../transport/Transport.ts"

export type ServerStatus = Data.TaggedEnum<{
  /** Switched off by configuration, by `disable`, or by `disconnect`. */
  Disabled: { readonly why: "configuration" | "disabled" | "disconnected" }
  /** Denied by a policy, or not approved. */
  Blocked: { readonly why: "denied" | "untrusted" }
  /** The server asks for (other) credentials. */
  NeedsAuth: { readonly error: McpError.ConnectError }
  /** Not connected; connects when it is needed. `tools` is the number of tools it is known to have. */
  Idle: { readonly tools: number | undefined }
  /** The first attempt of a series is under way. */
  Connecting: {}
  /** Times are in milliseconds since 1970. `pausedUntil` is the end of a pause that the server asked for. */
  Connected: {
    readonly since: number
    readonly era: Transport.Era
    readonly tools: number | undefined
    readonly pausedUntil: number | undefined
  }
  /** Lost or not reached: the attempt begins at `until`, or is under way since then. */
  Reconnecting: { readonly attempt: number; readonly until: number; readonly error: McpError.ConnectError }
  /** Given up until a call or `connect` begins a new series. */
  Failed: { readonly error: McpError.ConnectError; readonly stderrTail: string | undefined }
  Closed: {}
}>

export const ServerStatus = Data.taggedEnum<ServerStatus>()

/** The change of the status of one server. */
export interface Change {
  readonly server: string
  readonly status: ServerStatus
  readonly previous: ServerStatus | undefined
}

type Tags = ReadonlySet<ServerStatus["_tag"]>

/** The statuses without a connection and without an attempt. */
const atRest: Tags = new Set(["Disabled", "Blocked", "NeedsAuth", "Idle", "Failed"])

/** The statuses that can follow at any time. */
const always: Tags = new Set(["Disabled", "Blocked", "Idle", "Closed"])

/** Whether one status may follow another. A server at rest connects before it is anything else. */
export const mayFollow = (previous: ServerStatus, next: ServerStatus): boolean => {
  if (previous._tag === "Closed") return false
  if (always.has(next._tag)) return true
  return next._tag === "Connecting" ? previous._tag !== "Connecting" : !atRest.has(previous._tag)
}
