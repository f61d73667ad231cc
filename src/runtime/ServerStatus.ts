/**
 * What a server is doing: a value for people and programs to look at, and the table of what may follow what.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import type * as McpError from "../McpError.ts"
import type * as Transport from "../transport/Transport.ts"

/**
 * The status of one server.
 *
 * - `Disabled`: not to be used, by configuration, by `disable`, or by `disconnect`.
 * - `Blocked`: not to be used, by policy or for want of trust.
 * - `NeedsAuth`: it asks for (other) credentials.
 * - `Idle`: not connected, and connects when it is first needed; `tools` is how many it is known to have.
 * - `Connecting`: the first attempt of a series is under way.
 * - `Connected`; `pausedUntil` is the end of a pause that the server asked for (`Retry-After`).
 * - `Reconnecting`: lost or not reached; attempt number `attempt` begins at `until` (milliseconds since 1970) or is under
 *   way since then.
 * - `Failed`: given up until somebody asks again.
 * - `Closed`: for good.
 *
 * @since 0.1.0
 * @category models
 */
export type ServerStatus = Data.TaggedEnum<{
  Disabled: { readonly why: "configuration" | "disabled" | "disconnected" }
  Blocked: { readonly why: "denied" | "untrusted" }
  NeedsAuth: { readonly error: McpError.ConnectError }
  Idle: { readonly tools: number | undefined }
  Connecting: {}
  Connected: {
    readonly since: number
    readonly era: Transport.Era
    /** How many tools it offers, once they are listed. */
    readonly tools: number | undefined
    /** The end of a pause that the server has asked for, in milliseconds since 1970. */
    readonly pausedUntil: number | undefined
  }
  Reconnecting: { readonly attempt: number; readonly until: number; readonly error: McpError.ConnectError }
  Failed: { readonly error: McpError.ConnectError; readonly stderrTail: string | undefined }
  Closed: {}
}>

/**
 * Constructors, guards and a matcher.
 *
 * @since 0.1.0
 * @category constructors
 */
export const ServerStatus = Data.taggedEnum<ServerStatus>()

/**
 * The change of one server's status.
 *
 * @since 0.1.0
 * @category models
 */
export interface Change {
  readonly server: string
  readonly status: ServerStatus
  readonly previous: ServerStatus | undefined
}

type Tag = ServerStatus["_tag"]

const settled: ReadonlyArray<Tag> = ["Disabled", "Blocked", "Closed"]

const after: { readonly [T in Tag]: ReadonlyArray<Tag> } = {
  Disabled: ["Idle", "Connecting", ...settled],
  Blocked: ["Idle", "Connecting", ...settled],
  NeedsAuth: ["Connecting", "Idle", ...settled],
  Idle: ["Connecting", "Idle", ...settled],
  Connecting: ["Connected", "Reconnecting", "Failed", "NeedsAuth", "Idle", ...settled],
  Connected: ["Connected", "Reconnecting", "Failed", "NeedsAuth", "Idle", "Connecting", ...settled],
  Reconnecting: ["Connected", "Reconnecting", "Failed", "NeedsAuth", "Idle", "Connecting", ...settled],
  Failed: ["Connecting", "Idle", ...settled],
  Closed: []
}

/**
 * Tells if one status may follow another. `Connected` and `Idle` may follow themselves, when the tools become known;
 * `Connected` also when a pause begins or ends.
 *
 * @since 0.1.0
 * @category guards
 */
export const mayFollow = (previous: ServerStatus, next: ServerStatus): boolean =>
  after[previous._tag].includes(next._tag)
