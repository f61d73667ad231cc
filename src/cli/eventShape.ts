/** An event for people and programs: whatever it holds, as JSON of no great depth. */
import * as Duration from "effect/Duration"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as McpError from "../McpError.ts"
import type * as McpEvent from "../McpEvent.ts"
import type * as ServerStatus from "../runtime/ServerStatus.ts"
import { clock } from "./following.ts"
import type * as Screen from "./Screen.ts"

/** One line of `events --json`. */
export const Event = Schema.Struct({
  /** Milliseconds since 1970. */
  at: Schema.Number,
  /** Its kind, as the API has it. */
  event: Schema.String,
  server: Schema.NullOr(Schema.String),
  /** The rest of it; durations are milliseconds. */
  data: Schema.Unknown
})

const deepest = 8

const isError = (value: object): value is Error & { readonly _tag: string } =>
  value instanceof Error && "_tag" in value && typeof value._tag === "string"

export const plain = (value: unknown, depth = 0): unknown => {
  if (typeof value === "bigint") return String(value)
  if (typeof value !== "object" || value === null) return typeof value === "function" ? undefined : value
  if (Duration.isDuration(value)) {
    const milliseconds = Duration.toMillis(value)
    return Number.isFinite(milliseconds) ? Math.round(milliseconds * 1_000) / 1_000 : null
  }
  if (Redacted.isRedacted(value)) return "(hidden)"
  if (McpError.isMcpError(value)) return { tag: McpError.label(value), message: value.message }
  if (isError(value)) return { tag: value._tag, message: value.message }
  if (value instanceof Error) return { tag: value.name, message: value.message }
  if (depth >= deepest) return "…"
  if (Array.isArray(value)) return value.map((one) => plain(one, depth + 1))
  const entries = value instanceof Map ? Array.from(value) : Object.entries(value)
  return Object.fromEntries(entries.map(([name, one]) => [name, plain(one, depth + 1)]))
}

export const of = (event: McpEvent.McpEvent, at: number): typeof Event.Type => {
  const { _tag, ...fields } = event
  const { server, ...data } = { server: undefined, ...fields }
  return { at, event: _tag, server: server ?? null, data: plain(data) }
}

const bad: ReadonlySet<McpEvent.McpEvent["_tag"]> = new Set(["ConnectFailed", "Disconnected"])

const longest = 160
/** An error has room for the line of stderr that says why. */
const longestError = 600

const fact = (name: string, value: unknown): string => {
  const isWrong = name === "error" && typeof value === "object" && value !== null && "tag" in value &&
    "message" in value
  const text = isWrong ? `${value.tag}: ${value.message}` : typeof value === "string" ? value : JSON.stringify(value)
  const most = isWrong ? longestError : longest
  return `${name}=${text.length <= most ? text : `${text.slice(0, most - 1)}…`}`
}

const timeOf = (status: ServerStatus.ServerStatus): string => {
  if (status._tag === "Reconnecting") return ` (attempt ${status.attempt} at ${clock(status.until)} UTC)`
  return status._tag === "Connected" && status.pausedUntil !== undefined
    ? ` (paused until ${clock(status.pausedUntil)} UTC)`
    : ""
}

/** A status holds what other events have told before. */
const factsOf = (event: McpEvent.McpEvent, data: unknown): ReadonlyArray<string> =>
  event._tag === "StatusChanged"
    ? [`${event.previous === undefined ? "" : `${event.previous._tag} → `}${event.status._tag}${timeOf(event.status)}`]
    : Object.entries(Object(data)).flatMap(([name, value]) => value === undefined ? [] : [fact(name, value)])

export const line = (event: McpEvent.McpEvent, at: number): Screen.Line => {
  const { data, server } = of(event, at)
  const facts = factsOf(event, data)
  return [
    { text: `${clock(at)} `, style: "weak" },
    { text: event._tag, style: bad.has(event._tag) ? "bad" : "strong" },
    ...(server === null ? [] : [` ${server}`]),
    ...(facts.length === 0 ? [] : [`: ${facts.join(", ")}`])
  ]
}
