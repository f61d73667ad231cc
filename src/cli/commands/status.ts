/** `mcp-runtime status`: shows the servers once, or keeps watching them. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as CircuitBreaker from "../../resilience/CircuitBreaker.ts"
import * as Scoped from "../../scoped.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import { usage } from "../Command.ts"
import * as CommandLine from "../commandLine.ts"
import * as Following from "../following.ts"
import * as Latency from "../latency.ts"
import * as Layout from "../layout.ts"
import * as NoServers from "../noServers.ts"
import { orNull } from "../orNull.ts"
import * as Screen from "../Screen.ts"
import * as View from "../serverView.ts"

export const Server = Schema.Struct({
  name: Schema.String,
  state: View.State,
  why: orNull(Schema.String),
  breaker: Schema.Literal("closed", "open", "half-open", "isolated"),
  /** The last latency in milliseconds; null without an answer. */
  latency: orNull(Schema.Number),
  /** Recent latencies, the newest last; null for a missing answer. */
  latencies: Schema.Array(Schema.NullOr(Schema.Number)),
  /** Calls in flight. */
  calls: Schema.Number,
  /** Completed calls of this process. */
  called: Schema.Number,
  reconnects: Schema.Number,
  tools: orNull(Schema.Number),
  era: orNull(Schema.String),
  /** Milliseconds since 1970. */
  connectedSince: orNull(Schema.Number),
  /** The end of a pause that the server requested (Retry-After), in milliseconds since 1970. */
  pausedUntil: orNull(Schema.Number),
  error: orNull(View.Failure)
})
export type Server = typeof Server.Type

/** The document of `status --json`. */
export const Status = Schema.Struct({ servers: Schema.Array(Server) })

/** A line of `status --watch --json`: first each server, then each server that changes. */
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

interface Watching {
  readonly application: Application.Application
  readonly shared: Command.Shared
  readonly latency: Latency.Latency
}

/** All servers now, in the order of the configuration. */
const look = ({ application: { renewed }, latency, shared }: Watching): Effect.Effect<ReadonlyArray<Seen>> =>
  Effect.gen(function*() {
    const { discovery, runtime } = yield* renewed
    const servers = yield* runtime.servers.list
    return View.all(servers, [], discovery, shared.servers).map(({ document, info, view }) => {
      const latencies = latency.of(view.name)
      const server = {
        ...document,
        breaker: breakers[info?.breaker._tag ?? "Closed"],
        latency: latencies.at(-1),
        latencies,
        calls: info?.callsInFlight ?? 0,
        called: latency.called(view.name),
        reconnects: info?.reconnects ?? 0
      }
      return { server, view }
    })
  })

const sinceOf = ({ connectedSince }: Server, now: number): string => {
  if (typeof connectedSince !== "number") return "-"
  const seconds = Math.floor((now - connectedSince) / 1_000)
  return seconds < 1 ? "0s" : Duration.format(Duration.seconds(seconds))
}

const columns = (now: number): ReadonlyArray<Layout.Column<Server>> => [
  { title: "SERVER", cell: ({ name }) => ({ text: name, style: "strong" }) },
  { title: "STATE", cell: ({ pausedUntil, state }) => View.span(state, pausedUntil) },
  {
    title: "BREAKER",
    rank: 3,
    cell: ({ breaker }) => ({ text: breaker, style: breaker === "closed" ? "plain" : "bad" })
  },
  { title: "LATENCY", rank: 1, cell: ({ latency }) => typeof latency === "number" ? Latency.format(latency) : "-" },
  { title: "LAST", rank: 2, cell: ({ latencies }) => Latency.sparkline(latencies) },
  { title: "CALLS", rank: 4, cell: ({ called, calls }) => calls === 0 ? String(called) : `${called} + ${calls}` },
  { title: "RECONNECTS", rank: 5, cell: ({ reconnects }) => String(reconnects) },
  { title: "ERA", rank: 6, cell: ({ era }) => era ?? "-" },
  { title: "SINCE", rank: 7, cell: (server) => sinceOf(server, now) }
]

const table = (seen: ReadonlyArray<Seen>, now: number, width: number): ReadonlyArray<Screen.Line> =>
  Layout.table(columns(now), seen.map(({ server }) => server), width)

const causes = (seen: ReadonlyArray<Seen>, width: number): ReadonlyArray<Screen.Line> =>
  seen.flatMap(({ view }) => View.lines(view, width))

const encode = Schema.encodeSync(Server)

/** The key changes when a server changes, but not with its latency. */
export const key = ({ error, ...server }: Server): string =>
  JSON.stringify([encode({ ...server, latencies: [], latency: null }), error?.tag])

export const line = (server: Server, before: Server | undefined): ReadonlyArray<Screen.Span | string> => {
  const { breaker, calls, error, name, pausedUntil, reconnects, state, tools } = server
  const facts = [
    ...(breaker === "closed" ? [] : [`breaker ${breaker}`]),
    ...(typeof tools === "number" ? [Layout.counted(tools, "tool")] : []),
    ...(calls === 0 ? [] : [`${calls} in flight`]),
    ...(reconnects === 0 ? [] : [`lost ${Layout.counted(reconnects, "time")}`]),
    ...(error ? [View.unnamed(name, error.message)] : [])
  ]
  return [
    { text: name, style: "strong" },
    " ",
    View.span(state, pausedUntil),
    ...(before === undefined || before.state === state ? [] : [` after ${before.state}`]),
    ...(facts.length === 0 ? [] : [`: ${facts.join(", ")}`])
  ]
}

/** The number of pings per server, because the first is the slowest. */
const looks = 3

const once = (watching: Watching) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const { application: { ask, runtime }, latency, shared } = watching
    // a server that did not answer is not pinged again
    const isSilent = Effect.map(
      runtime.servers.list,
      (infos) => infos.some(({ name }) => latency.of(name).at(-1) === null)
    )
    yield* ask(Effect.repeat(Effect.zipRight(latency.measure, isSilent), {
      times: looks - 1,
      until: (is) => is
    }))
    const seen = yield* look(watching)
    if (shared.json) yield* screen.json(Status, { servers: seen.map(({ server }) => server) })
    else if (seen.length === 0) yield* NoServers.note
    else {
      yield* screen.out(...table(seen, yield* Clock.currentTimeMillis, screen.columns))
      yield* screen.note(...causes(seen, screen.columns))
    }
  })

const resized = (screen: Screen.Screen["Type"]): Stream.Stream<void> =>
  Stream.asyncPush<void>(
    (emit) => Scoped.listen(() => screen.onResize(() => void emit.single(undefined))),
    { bufferSize: 1, strategy: "sliding" }
  )

type Show = (seen: ReadonlyArray<Seen>, at: number) => Effect.Effect<void>

/** Redraws a table in place. */
const drawing = (screen: Screen.Screen["Type"]) =>
  Effect.map(screen.redraw, (redraw): Show => (seen, at) => {
    const width = screen.columns - 1
    return redraw(
      ...(seen.length === 0 ? ["No servers are configured."] : table(seen, at, width)),
      ...causes(seen, width),
      [{ text: `${Following.clock(at)} UTC; press Ctrl-C to stop`, style: "weak" }]
    )
  })

/** Prints a line for each server that has changed. */
const listing = (screen: Screen.Screen["Type"], isJson: boolean): Show => {
  const last = new Map<string, Server>()
  return (seen, at) =>
    Effect.gen(function*() {
      const gone = new Set(last.keys())
      for (const { server } of seen) {
        const before = last.get(server.name)
        gone.delete(server.name)
        if (before !== undefined && key(before) === key(server)) continue
        last.set(server.name, server)
        if (isJson) yield* screen.jsonLine(Changed, { at, server })
        else yield* screen.out([`${Following.clock(at)} `, ...line(server, before)])
      }
      for (const name of gone) {
        last.delete(name)
        if (!isJson) yield* screen.out(`${Following.clock(at)} ${name} removed`)
      }
    })
}

/** Shows the servers after each change and ping, and a table every second. */
const watch = (watching: Watching, every: Duration.Duration) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const { application: { runtime: { servers: { changes } } }, latency, shared } = watching
    const isDrawn = screen.redraws && !shared.json
    const show = isDrawn ? yield* drawing(screen) : listing(screen, shared.json)
    if (!isDrawn && (yield* look(watching)).length === 0) yield* NoServers.note
    // an element may be outdated, so it only triggers a look at the current state
    const signals = Stream.mergeAll([
      Stream.as(changes, undefined),
      Stream.mapEffect(Stream.tick(every), () => latency.measure),
      ...(isDrawn
        ? [Stream.tick("1 second"), Stream.mapEffect(changes, () => latency.pingNew), resized(screen)]
        : [])
    ], { concurrency: "unbounded" })
    return Stream.mapEffect(signals, () =>
      Effect.flatMap(Effect.zip(look(watching), Clock.currentTimeMillis), ([seen, at]) => show(seen, at)))
  })

const run: Command.Command["run"] = ({ isSet, shared, value }) =>
  Effect.gen(function*() {
    const isWatching = isSet("watch")
    const time = yield* CommandLine.time(value("for"))
    const every = (yield* CommandLine.time(value("every"))) ?? Duration.seconds(5)
    if (!isWatching && (isSet("for") || isSet("every"))) {
      return yield* usage("--for and --every need --watch")
    }
    return yield* Application.use(
      shared,
      () => Effect.succeed({ follow: isWatching, once: !isWatching }),
      (application) =>
        Effect.scoped(Effect.gen(function*() {
          const { latency: heard } = yield* Application.Open
          const latency = heard ?? Latency.make(application.runtime, shared.timeout)
          const watching = { application, shared, latency }
          if (isWatching && heard === undefined) yield* Effect.forkScoped(latency.listen)
          if (isWatching) yield* Stream.runDrain(Following.until(time)(yield* watch(watching, every)))
          else yield* once(watching)
        }))
    )
  })

export const command: Command.Command = {
  description: [
    "Connects to every approved server and pings it. With --watch it keeps the table up to date until Ctrl-C, or prints "
    + "one line per change in a pipe, and follows changes to configuration files.",
    "CALLS counts the calls of this process, as completed + in flight. LAST shows recent latencies as bars; × is a request "
    + "without an answer."
  ],
  args: [],
  options: [
    { name: "watch", short: "w", about: "Keep running and show changes" },
    { name: "every", value: "DURATION", about: "Ping interval (default: 5s)" },
    { name: "for", value: "DURATION", about: "Stop after this time (default: run until Ctrl-C)" }
  ],
  examples: [
    ["status --watch", "Watch the servers"],
    ["status --watch --json", "Print one JSON line per change"]
  ],
  run
}
