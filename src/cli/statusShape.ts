/** A server as it is at one moment, for people and programs. */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import type * as McpRuntime from "../McpRuntime.ts"
import type * as CircuitBreaker from "../resilience/CircuitBreaker.ts"
import * as Latency from "./latency.ts"
import type * as Screen from "./Screen.ts"
import { spanOf, State } from "./serverState.ts"
import { sparkline } from "./sparkline.ts"
import * as Table from "./table.ts"

export const Server = Schema.Struct({
  name: Schema.String,
  state: State,
  why: Schema.NullOr(Schema.String),
  breaker: Schema.Literal("closed", "open", "half-open", "isolated"),
  /** Milliseconds of the last answer, if there was one. */
  latency: Schema.NullOr(Schema.Number),
  /** The last ones, the newest last; null for an answer that did not come. */
  latencies: Schema.Array(Schema.NullOr(Schema.Number)),
  /** Under way. */
  calls: Schema.Number,
  /** That have ended since this program is connected. */
  called: Schema.Number,
  reconnects: Schema.Number,
  tools: Schema.NullOr(Schema.Number),
  era: Schema.NullOr(Schema.String),
  /** Milliseconds since 1970. */
  connectedSince: Schema.NullOr(Schema.Number),
  /** The end of a pause that the server asks for (Retry-After), in milliseconds since 1970. */
  pausedUntil: Schema.NullOr(Schema.Number),
  error: Schema.NullOr(Schema.Struct({ tag: Schema.String, message: Schema.String }))
})

export type Server = typeof Server.Type

const breakers: Record<CircuitBreaker.State["_tag"], Server["breaker"]> = {
  Closed: "closed",
  Open: "open",
  HalfOpen: "half-open",
  Isolated: "isolated"
}

const states: Record<McpRuntime.ServerInfo["status"]["_tag"], State> = {
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

export const of = (
  info: McpRuntime.ServerInfo,
  { called, of: samples }: Pick<Latency.Latency, "called" | "of">
): Server => {
  const { breaker, callsInFlight, connectedSince, era, error, name, pausedUntil, reconnects, status, toolCount } = info
  const latencies = samples(name)
  return {
    name,
    state: states[status._tag],
    why: "why" in status ? status.why : null,
    breaker: breakers[breaker._tag],
    latency: latencies.at(-1) ?? null,
    latencies: latencies.map((one) => one ?? null),
    calls: callsInFlight,
    called: called(name),
    reconnects,
    tools: toolCount ?? null,
    era: era ?? null,
    connectedSince: connectedSince ?? null,
    pausedUntil: pausedUntil ?? null,
    error: error === undefined ? null : { tag: error._tag, message: error.message }
  }
}

const header: ReadonlyArray<Table.Column> = [
  { title: "SERVER" },
  { title: "STATE" },
  { title: "BREAKER", rank: 3 },
  { title: "LATENCY", rank: 1 },
  { title: "LAST", rank: 2 },
  { title: "CALLS", rank: 4 },
  { title: "RECONNECTS", rank: 5 },
  { title: "ERA", rank: 6 },
  { title: "SINCE", rank: 7 }
]

/** What never worked has not been so since any time. */
const since = ({ connectedSince }: Server, now: number): string => {
  if (connectedSince === null) return "-"
  const seconds = Math.floor((now - connectedSince) / 1_000)
  return seconds < 1 ? "0s" : Duration.format(Duration.seconds(seconds))
}

const trend = ({ latencies }: Server): string => sparkline(latencies.map((one) => one ?? undefined))

const row = (server: Server, now: number): ReadonlyArray<Table.Cell> => {
  const { breaker, called, calls, era, latency, name, reconnects } = server
  return [
    { text: name, style: "strong" },
    spanOf({ ...server, why: null }),
    { text: breaker, style: breaker === "closed" ? "plain" : "bad" },
    latency === null ? "-" : Latency.format(latency),
    trend(server),
    calls === 0 ? String(called) : `${called} + ${calls}`,
    String(reconnects),
    era ?? "-",
    since(server, now)
  ]
}

export const table = (
  servers: ReadonlyArray<Server>,
  now: number,
  columns: number
): ReadonlyArray<Screen.Line> => Table.narrowed(header, servers.map((one) => row(one, now)), columns)

/** What is wrong with it, below the table. */
export const fault = ({ error, name }: Server): ReadonlyArray<Screen.Line> => {
  if (error === null) return []
  // it begins with the name
  const text = error.message.startsWith(`${name}: `) ? error.message : `${name}: ${error.message}`
  return [[{ text: "error: ", style: "bad" }, text]]
}

/** What a change is: everything but the time that passes and how long answers take. */
export const key = (
  { breaker, called, calls, connectedSince, era, error, pausedUntil, reconnects, state, tools, why }: Server
): string =>
  JSON.stringify([state, why, breaker, called, calls, reconnects, tools, era, connectedSince, pausedUntil, error?.tag])

export const line = (server: Server, before: Server | undefined): Screen.Line => {
  const { breaker, calls, error, name, reconnects, state, tools } = server
  const facts = [
    ...(breaker === "closed" ? [] : [`breaker ${breaker}`]),
    ...(tools === null ? [] : [`${tools} ${tools === 1 ? "tool" : "tools"}`]),
    ...(calls === 0 ? [] : [`${calls} under way`]),
    ...(reconnects === 0 ? [] : [`lost ${reconnects} times`]),
    // it begins with the name, which stands there already
    ...(error === null
      ? []
      : [error.message.startsWith(`${name}: `) ? error.message.slice(name.length + 2) : error.message])
  ]
  return [
    { text: name, style: "strong" },
    " ",
    spanOf(server),
    ...(before === undefined || before.state === state ? [] : [` after ${before.state}`]),
    ...(facts.length === 0 ? [] : [`: ${facts.join(", ")}`])
  ]
}
