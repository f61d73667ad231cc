/** `mcp-runtime events`: prints the events of the servers. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Mailbox from "effect/Mailbox"
import * as Match from "effect/Match"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as McpError from "../../McpError.ts"
import type * as McpEvent from "../../McpEvent.ts"
import type * as ServerStatus from "../../runtime/ServerStatus.ts"
import { fitted } from "../../text/unicode.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as CommandLine from "../commandLine.ts"
import * as Following from "../following.ts"
import * as NoServers from "../noServers.ts"
import { orNull } from "../orNull.ts"
import * as Screen from "../Screen.ts"
import * as View from "../serverView.ts"

/** One line of `events --json`. */
export const Event = Schema.Struct({
  /** Milliseconds since 1970. */
  at: Schema.Number,
  /** The tag of the event in the API. */
  event: Schema.String,
  server: orNull(Schema.String),
  /** The other fields; durations are milliseconds. */
  data: Schema.Unknown
})

const deepest = 8

/** Converts a value to JSON of bounded depth. */
export const plain = (value: unknown, depth = 0): unknown => {
  if (typeof value === "bigint") return String(value)
  if (typeof value !== "object" || value === null) return typeof value === "function" ? undefined : value
  if (Duration.isDuration(value)) {
    const milliseconds = Duration.toMillis(value)
    return Number.isFinite(milliseconds) ? Math.round(milliseconds * 1_000) / 1_000 : null
  }
  if (Redacted.isRedacted(value)) return "(hidden)"
  if (McpError.isMcpError(value)) return { tag: McpError.label(value), message: value.message }
  if (value instanceof Error) return { tag: value.name, message: value.message }
  if (depth >= deepest) return "…"
  if (Array.isArray(value)) return value.map((one) => plain(one, depth + 1))
  const entries = value instanceof Map ? Array.from(value) : Object.entries(value)
  return Object.fromEntries(entries.map(([name, one]) => [name, plain(one, depth + 1)]))
}

export const of = (event: McpEvent.McpEvent, at: number): typeof Event.Type => {
  const { _tag, ...fields } = event
  const { server, ...data } = { server: undefined, ...fields }
  return { at, event: _tag, server, data: plain(data) }
}

const time = (duration: Duration.Duration): string =>
  Duration.format(Duration.millis(Math.max(1, Math.round(Duration.toMillis(duration)))))

/** `toolsChanged` as `tools changed` */
const words = (name: string): string => name.replaceAll(/(?<=[a-z])[A-Z]/g, " $&").toLowerCase()

const maxShown = 160

/** The fields of an event that has no sentence. */
const facts = (value: unknown, name = ""): ReadonlyArray<string> => {
  if (value === null || value === undefined || value === "") return []
  if (typeof value === "object" && !Duration.isDuration(value) && !McpError.isMcpError(value)) {
    return Array.isArray(value)
      ? value.flatMap((one) => facts(one, name))
      : Object.entries(value).flatMap(([name, one]) => facts(one, name))
  }
  const text = Duration.isDuration(value) ? time(value) : McpError.isMcpError(value) ? value.message : String(value)
  return [`${name === "" || name === "_tag" ? "" : `${words(name)} `}${fitted(text, maxShown)}`]
}

const statusOf = ({ status }: ServerStatus.Change): string | undefined => {
  switch (status._tag) {
    // these have other events
    case "Connecting":
      return undefined
    case "Connected":
      return status.pausedUntil === undefined ? undefined : `paused until ${Following.clock(status.pausedUntil)} UTC`
    case "Reconnecting":
      return `reconnect attempt ${status.attempt} at ${Following.clock(status.until)} UTC`
    default:
      return "why" in status ? `${View.stateOf(status)} (${status.why})` : View.stateOf(status)
  }
}

/** The sentence of an event; `undefined` if another event has the same information. */
const sentence = Match.type<McpEvent.McpEvent>().pipe(
  Match.tags({
    Connecting: ({ transport }) => `connecting over ${transport}`,
    Connected: ({ era, protocolVersion, took, transport }) =>
      `connected over ${transport} in ${time(took)}, protocol ${protocolVersion} (${era} era)`,
    ConnectFailed: ({ error, server }) => `connect failed: ${View.unnamed(server, error.message)}`,
    Disconnected: ({ error, server }) => `connection lost: ${View.unnamed(server, error.message)}`,
    Installing: ({ awaitedBy, installs, launcher }) =>
      `${launcher} is installing ${installs ?? "the server"}${
        awaitedBy === "close" ? "; waiting for it to finish" : ""
      }`,
    ListFailed: ({ error, list, server }) => `listing ${list} failed: ${View.unnamed(server, error.message)}`,
    ToolsRefreshed: ({ rejected, tools }) => `${tools} tools${rejected === 0 ? "" : `, ${rejected} rejected`}`,
    StatusChanged: statusOf,
    StartupUpdate: () => undefined,
    StartupComplete: ({ failed, ready, took }) =>
      `startup complete in ${time(took)}: ${ready.length} ready, ${failed.length} failed`,
    Closed: ({ end: { how, took } }) => `closed in ${time(took)} (${words(how)})`,
    CallBegan: ({ origin, tool }) => `call of ${tool} by a ${origin}`,
    CallEnded: ({ outcome, took, tool }) => `call of ${tool} ended in ${time(took)}: ${words(outcome)}`,
    ConfigurationFound: ({ blocked, issues, servers }) =>
      `${servers} servers configured, ${blocked.length} blocked, ${issues.length} issues`,
    TeardownComplete: ({ report, took }) => `${report.servers.length} connections closed in ${time(took)}`
  }),
  Match.orElse(({ _tag, ...fields }) => {
    const { server: _, ...data } = { server: undefined, ...fields }
    return [words(_tag), facts(data).join(", ")].filter((part) => part !== "").join(": ")
  })
)

const bad: ReadonlySet<McpEvent.McpEvent["_tag"]> = new Set(["ConnectFailed", "Disconnected", "ListFailed"])

/** The line of an event; `undefined` if another event has the same information. */
export const line = (event: McpEvent.McpEvent, at: number): Screen.Line | undefined => {
  const text = sentence(event)
  return text === undefined ? undefined : [
    { text: `${Following.clock(at)} `, style: "weak" },
    ...("server" in event && event.server !== undefined
      ? [{ text: `${event.server} `, style: "strong" } as const]
      : []),
    { text, style: bad.has(event._tag) ? "bad" : "plain" }
  ]
}

export const command: Command.Command = {
  description: ["Prints one line per event until Ctrl-C. With --json, each line has all fields of the event."],
  args: [],
  options: [{ name: "for", value: "DURATION", about: "Stop after this time (default: run until Ctrl-C)" }],
  examples: [["events --server github --for 1m", "Print the events of one server for a minute"]],
  run: ({ shared, value }) =>
    Effect.gen(function*() {
      const time = yield* CommandLine.time(value("for"))
      const screen = yield* Screen.Screen
      const show = (event: McpEvent.McpEvent) =>
        Effect.flatMap(Clock.currentTimeMillis, (at) => {
          if (shared.json) return screen.jsonLine(Event, of(event, at))
          const shown = line(event, at)
          return shown === undefined ? Effect.void : screen.out(shown)
        })
      return yield* Application.use(shared, () =>
        Effect.succeed({ follow: true }), ({ discovery, runtime }) =>
        Effect.scoped(Effect.gen(function*() {
          const events = yield* runtime.subscribe
          if (discovery.servers.length === 0) {
            yield* NoServers.note
          }
          yield* Mailbox.toStream(events).pipe(
            // the repl has more servers than those of --server
            Stream.filter((event) =>
              shared.servers.length === 0 || !("server" in event) || shared.servers.includes(event.server ?? "")
            ),
            Following.until(time),
            Stream.runForEach(show)
          )
        })))
    })
}
