/** `mcp-runtime status`: the servers at this moment, or for as long as they are watched. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as CircuitBreaker from "../../resilience/CircuitBreaker.ts"
import * as Scoped from "../../scoped.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Following from "../following.ts"
import * as Latency from "../latency.ts"
import * as NoServers from "../noServers.ts"
import * as Offered from "../offered.ts"
import * as Screen from "../Screen.ts"
import * as View from "../serverView.ts"
import * as Table from "../table.ts"
import { Usage } from "../Usage.ts"

export const Server = Schema.Struct({
  name: Schema.String,
  state: View.State,
  why: Schema.NullOr(Schema.String),
  breaker: Schema.Literal("closed", "open", "half-open", "isolated"),
  /** Milliseconds of the last answer, if there was one. */
  latency: Schema.NullOr(Schema.Number),
  /** The last ones, the newest last; null for an answer that did not come. */
  latencies: Schema.Array(Schema.NullOr(Schema.Number)),
  /** Calls under way. */
  calls: Schema.Number,
  /** Calls that have ended since this program is connected. */
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

/** The document of `status --json`. */
export const Status = Schema.Struct({ servers: Schema.Array(Server) })

/** A line of `status --watch --json`: each server at first, and then a server that has changed. */
export const Changed = Schema.Struct({
  /** Milliseconds since 1970. */
  at: Schema.Number,
  server: Server
})

const breakers: Record<CircuitBreaker.State["_tag"], Server["breaker"]> = {
  Closed: "closed",
  Open: "open",
  HalfOpen: "half-open",
  Isolated: "isolated"
}

interface Seen {
  readonly server: Server
  readonly view: View.View
}

/** All servers now, in the order of the configuration. */
const look = (
  { renewed }: Application.Application,
  { servers: names }: Command.Shared,
  { called, of }: Latency.Latency
): Effect.Effect<ReadonlyArray<Seen>> =>
  Effect.gen(function*() {
    const { discovery, runtime } = yield* renewed
    const servers = yield* runtime.servers.list
    return View.all({ servers, unlisted: new Map() }, discovery, names).map(({ info, view }): Seen => {
      const { error, name, state, why } = view
      const latencies = of(name).map((one) => one ?? null)
      const server = {
        name,
        state,
        why: why ?? null,
        breaker: breakers[info?.breaker._tag ?? "Closed"],
        latency: latencies.at(-1) ?? null,
        latencies,
        calls: info?.callsInFlight ?? 0,
        called: called(name),
        reconnects: info?.reconnects ?? 0,
        tools: info?.toolCount ?? null,
        era: info?.era ?? null,
        connectedSince: info?.connectedSince ?? null,
        pausedUntil: info?.pausedUntil ?? null,
        error: error === undefined ? null : { tag: error._tag, message: error.message }
      }
      return { server, view }
    })
  })

const columns: ReadonlyArray<Table.Column> = [
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

const sinceOf = ({ connectedSince }: Server, now: number): string => {
  if (connectedSince === null) return "-"
  const seconds = Math.floor((now - connectedSince) / 1_000)
  return seconds < 1 ? "0s" : Duration.format(Duration.seconds(seconds))
}

const table = (seen: ReadonlyArray<Seen>, now: number, width: number): ReadonlyArray<Screen.Line> =>
  Table.narrowed(
    columns,
    seen.map(({ server }): ReadonlyArray<Table.Cell> => {
      const { breaker, called, calls, era, latencies, latency, name, pausedUntil, reconnects, state } = server
      return [
        { text: name, style: "strong" },
        View.span(state, pausedUntil),
        { text: breaker, style: breaker === "closed" ? "plain" : "bad" },
        latency === null ? "-" : Latency.format(latency),
        Latency.sparkline(latencies),
        calls === 0 ? String(called) : `${called} + ${calls}`,
        String(reconnects),
        era ?? "-",
        sinceOf(server, now)
      ]
    }),
    width
  )

const causes = (seen: ReadonlyArray<Seen>, width: number): ReadonlyArray<Screen.Line> =>
  seen.flatMap(({ view }) => View.lines(view, width))

/** Equal texts are no change: neither the time that passes nor a latency is one. */
export const key = (server: Server): string =>
  JSON.stringify({ ...server, latencies: [], latency: null, error: server.error?.tag })

export const line = (server: Server, before: Server | undefined): ReadonlyArray<Screen.Span | string> => {
  const { breaker, calls, error, name, pausedUntil, reconnects, state, tools } = server
  const facts = [
    ...(breaker === "closed" ? [] : [`breaker ${breaker}`]),
    ...(tools === null ? [] : [`${tools} ${tools === 1 ? "tool" : "tools"}`]),
    ...(calls === 0 ? [] : [`${calls} under way`]),
    ...(reconnects === 0 ? [] : [`lost ${reconnects} times`]),
    ...(error === null ? [] : [View.unnamed(name, error.message)])
  ]
  return [
    { text: name, style: "strong" },
    " ",
    View.span(state, pausedUntil),
    ...(before === undefined || before.state === state ? [] : [` after ${before.state}`]),
    ...(facts.length === 0 ? [] : [`: ${facts.join(", ")}`])
  ]
}

/** The first answer of a server is the slowest. */
const looks = 3

const once = (application: Application.Application, shared: Command.Shared, latency: Latency.Latency) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const { runtime, settled } = application
    const names = Effect.map(runtime.servers.list, (infos) => infos.map(({ name }) => name))
    // a server that does not answer once is not waited for again
    const isSilent = (name: string) => latency.of(name).length > 0 && latency.of(name).at(-1) === undefined
    yield* Offered.asking(Effect.zipRight(
      settled,
      Effect.repeat(Effect.zipRight(latency.measure, names), {
        times: looks - 1,
        until: (names) => names.some(isSilent)
      })
    ))
    const seen = yield* look(application, shared, latency)
    if (shared.json) yield* screen.json(Status, { servers: seen.map(({ server }) => server) })
    else if (seen.length === 0) yield* NoServers.note
    else {
      yield* screen.out(...table(seen, yield* Clock.currentTimeMillis, screen.columns))
      yield* screen.note(...causes(seen, screen.columns))
    }
    return ExitCode.ok
  })

interface Watching {
  readonly every: Duration.Duration
  readonly time: Duration.Duration | undefined
}

const resized = (screen: Screen.Screen["Type"]): Stream.Stream<void> =>
  Stream.asyncPush<void>(
    (emit) => Scoped.listen(() => screen.onResize(() => void emit.single(undefined))),
    { bufferSize: 1, strategy: "sliding" }
  )

/** A picture that is drawn anew in its place: after each change, and every second with its time. */
const drawn = (
  application: Application.Application,
  shared: Command.Shared,
  { every, time }: Watching,
  latency: Latency.Latency
) =>
  Effect.scoped(Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const redraw = yield* screen.redraw
    const draw = Effect.gen(function*() {
      const seen = yield* look(application, shared, latency)
      const at = yield* Clock.currentTimeMillis
      const width = screen.columns - 1
      yield* redraw(
        ...(seen.length === 0 ? ["There are no servers here."] : table(seen, at, width)),
        ...causes(seen, width),
        [{ text: `${Following.clock(at)} UTC; Ctrl-C ends`, style: "weak" }]
      )
    })
    const { changes } = application.runtime.servers
    yield* Stream.mergeAll([
      Stream.as(changes, undefined),
      Stream.tick("1 second"),
      Stream.mapEffect(Stream.tick(every), () => latency.measure),
      Stream.mapEffect(changes, () => latency.greet),
      resized(screen)
    ], { concurrency: "unbounded" }).pipe(Following.until(time), Stream.runForEach(() => draw))
    return ExitCode.ok
  }))

/** A line for each change. */
const listed = (
  application: Application.Application,
  shared: Command.Shared,
  { every, time }: Watching,
  latency: Latency.Latency
) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const { changes } = application.runtime.servers
    const last = new Map<string, Server>()
    const tell = Effect.gen(function*() {
      const seen = yield* look(application, shared, latency)
      const at = yield* Clock.currentTimeMillis
      const gone = new Set(last.keys())
      for (const { server } of seen) {
        const before = last.get(server.name)
        gone.delete(server.name)
        if (before !== undefined && key(before) === key(server)) continue
        last.set(server.name, server)
        if (shared.json) yield* screen.jsonLine(Changed, { at, server })
        else yield* screen.out([`${Following.clock(at)} `, ...line(server, before)])
      }
      for (const name of gone) {
        last.delete(name)
        if (!shared.json) yield* screen.out(`${Following.clock(at)} ${name} gone`)
      }
    })
    if ((yield* look(application, shared, latency)).length === 0) yield* NoServers.note
    // an element can be older than what was written last, so it only says when to look
    yield* Stream.merge(
      Stream.as(changes, undefined),
      Stream.mapEffect(Stream.tick(every), () => latency.measure)
    ).pipe(Following.until(time), Stream.runForEach(() => tell))
    return ExitCode.ok
  })

const run: Command.Command["run"] = ({ isSet, shared, value }) =>
  Effect.gen(function*() {
    const isWatching = isSet("watch")
    const time = yield* Following.read(value("for"))
    const every = (yield* Following.read(value("every"))) ?? Duration.seconds(5)
    if (!isWatching && (isSet("for") || isSet("every"))) {
      return yield* new Usage({
        detail: "Without --watch the servers are looked at once.",
        next: "Write --watch to go on."
      })
    }
    return yield* Application.use(
      shared,
      () => Effect.succeed({ follow: isWatching, once: !isWatching }),
      (application) =>
        Effect.scoped(Effect.gen(function*() {
          const screen = yield* Screen.Screen
          const heard = (yield* Latency.Heard).latency
          const latency = heard ??
            Latency.make(application.runtime, Duration.min(shared.timeout ?? Latency.patience, Latency.patience))
          if (!isWatching) return yield* once(application, shared, latency)
          if (heard === undefined) yield* Effect.forkScoped(latency.listen)
          const watch = screen.redraws && !shared.json ? drawn : listed
          return yield* watch(application, shared, { every, time }, latency)
        }))
    )
  })

export const command: Command.Command = {
  description: [
    "Every server that may be started is started and pinged. With --watch that goes on until Ctrl-C: a table on a terminal "
    + "is drawn anew, and a pipe gets one line for each change. Changes of files are followed.",
    "Calls are those of this program that have ended, and + those under way. Beside the last latency are the ones before "
    + "it, as bars; a cross is an answer that did not come."
  ],
  args: [],
  options: [
    { name: "watch", short: "w", about: "Go on, and show what changes." },
    { name: "every", value: "DURATION", about: "The time between two pings (default: 5s)." },
    { name: "for", value: "DURATION", about: "How long to go on (default: until Ctrl-C)." }
  ],
  examples: [
    ["status", "The servers as they are now."],
    ["status --watch --json", "A line of JSON for each change."]
  ],
  run
}
