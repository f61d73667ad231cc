/** `mcp-runtime status`: how the servers are. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as McpRuntime from "../../McpRuntime.ts"
import * as Scoped from "../../scoped.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Following from "../following.ts"
import * as IssueShape from "../issueShape.ts"
import * as Latency from "../latency.ts"
import * as NoServers from "../noServers.ts"
import * as Offered from "../offered.ts"
import * as Screen from "../Screen.ts"
import * as Shape from "../statusShape.ts"
import { Usage } from "../Usage.ts"

/** The document of `status --json`. */
export const Status = Schema.Struct({ servers: Schema.Array(Shape.Server) })

/** One line of `status --watch --json`: a server that has changed, and all of them at first. */
export const Changed = Schema.Struct({
  /** Milliseconds since 1970. */
  at: Schema.Number,
  server: Shape.Server
})

/** A few, because the first answer of a server is the slowest. */
const looks = 3

const interval = Duration.seconds(5)

const once = (
  { discovery, runtime, settled }: Application.Application,
  { json }: Command.Shared,
  latency: Latency.Latency
) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    // whoever does not answer once is not waited for again
    const look = Effect.zipRight(
      latency.measure,
      Effect.map(runtime.servers.list, (infos) => infos.map(({ name }) => name))
    )
    yield* Offered.asking(Effect.zipRight(
      settled,
      Effect.repeat(look, {
        times: looks - 1,
        until: (names) => names.some((name) => latency.of(name).length > 0 && latency.of(name).at(-1) === undefined)
      })
    ))
    const infos = yield* runtime.servers.list
    const servers = infos.map((info) => Shape.of(info, latency))
    if (json) yield* screen.json(Status, { servers })
    else if (servers.length === 0) yield* NoServers.note
    else {
      yield* screen.out(...Shape.table(servers, yield* Clock.currentTimeMillis, screen.columns))
      yield* Offered.troubles(infos)
      yield* screen.note(...IssueShape.unsetNotes(infos, discovery))
    }
    return ExitCode.ok
  })

/** Tells each server that has changed since it was told last. */
const changes = (told: Map<string, Shape.Server>, servers: ReadonlyArray<Shape.Server>) =>
  servers.flatMap((server) => {
    const before = told.get(server.name)
    told.set(server.name, server)
    return before !== undefined && Shape.key(before) === Shape.key(server) ? [] : [{ server, before }]
  })

interface Watching {
  readonly every: Duration.Duration
  readonly time: Duration.Duration | undefined
}

/** How often the time that passes is drawn. */
const second = Duration.seconds(1)

const resized = (screen: Screen.Screen["Type"]): Stream.Stream<void> =>
  Stream.asyncPush<void>(
    (emit) => Scoped.listen(() => screen.onResize(() => void emit.single(undefined))),
    { bufferSize: 1, strategy: "sliding" }
  )

const block = (servers: ReadonlyArray<Shape.Server>, at: number, columns: number): ReadonlyArray<Screen.Line> => [
  ...(servers.length === 0 ? ["There are no servers here."] : Shape.table(servers, at, columns - 1)),
  ...servers.flatMap(Shape.fault),
  [{ text: `${Following.clock(at)} UTC; Ctrl-C ends`, style: "weak" }]
]

/** One table that is drawn again in its place, whatever has changed. */
const live = ({ runtime }: Application.Application, { every, time }: Watching, latency: Latency.Latency) =>
  Effect.scoped(Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const redraw = yield* screen.redraw
    const draw = Effect.gen(function*() {
      const infos = yield* runtime.servers.list
      const at = yield* Clock.currentTimeMillis
      yield* redraw(...block(infos.map((info) => Shape.of(info, latency)), at, screen.columns))
    })
    yield* Stream.mergeAll([
      Stream.as(runtime.servers.changes, undefined),
      Stream.tick(second),
      Stream.mapEffect(Stream.tick(every), () => latency.measure),
      Stream.mapEffect(runtime.servers.changes, () => latency.greet),
      resized(screen)
    ], { concurrency: "unbounded" }).pipe(Following.until(time), Stream.runForEach(() => draw))
    return ExitCode.ok
  }))

/** One line for each change. */
const told = (
  { runtime }: Application.Application,
  { json }: Command.Shared,
  { every, time }: Watching,
  latency: Latency.Latency
) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const told = new Map<string, Shape.Server>()
    const tell = (infos: ReadonlyArray<McpRuntime.ServerInfo>) =>
      Effect.gen(function*() {
        const at = yield* Clock.currentTimeMillis
        const servers = infos.map((info) => Shape.of(info, latency))
        const names = new Set(servers.map(({ name }) => name))
        const gone = Array.from(told.keys()).filter((name) => !names.has(name))
        for (const name of gone) told.delete(name)
        const changed = changes(told, servers)
        if (json) {
          for (const { server } of changed) yield* screen.jsonLine(Changed, { at, server })
          return
        }
        for (const name of gone) yield* screen.out(`${Following.clock(at)} ${name} gone`)
        for (const { before, server } of changed) {
          const [first, ...rest] = Shape.line(server, before)
          yield* screen.out([`${Following.clock(at)} `, first ?? "", ...rest])
        }
      })
    if ((yield* runtime.servers.list).length === 0) yield* NoServers.note
    // an element of `status` may have waited until it is older than what was told last: it only says when to look
    yield* Stream.merge(
      Stream.as(runtime.servers.changes, undefined),
      Stream.mapEffect(Stream.tick(every), () => latency.measure)
    ).pipe(Following.until(time), Stream.runForEach(() => Effect.flatMap(runtime.servers.list, tell)))
    return ExitCode.ok
  })

const run: Command.Command["run"] = ({ isSet, shared, value }) =>
  Effect.gen(function*() {
    const isWatching = isSet("watch")
    const time = yield* Following.read(value("for"))
    const every = (yield* Following.read(value("every"))) ?? interval
    if (!isWatching && (isSet("for") || isSet("every"))) {
      return yield* new Usage({ detail: "It is looked at once.", next: "Write --watch to go on." })
    }
    return yield* Application.use(
      shared,
      () => Effect.succeed({ follow: isWatching }),
      (application) =>
        Effect.scoped(Effect.gen(function*() {
          const screen = yield* Screen.Screen
          const heard = (yield* Latency.Heard).latency
          const latency = heard ??
            Latency.make(application.runtime, Duration.min(shared.timeout ?? Latency.patience, Latency.patience))
          if (!isWatching) return yield* once(application, shared, latency)
          if (heard === undefined) yield* Effect.forkScoped(latency.listen)
          return yield* screen.redraws && !shared.json
            ? live(application, { every, time }, latency)
            : told(application, shared, { every, time }, latency)
        }))
    )
  })

export const command: Command.Command = {
  description: [
    "Every server that may be started is started and asked whether it is there. With --watch that goes on until Ctrl-C: a "
    + "table on a terminal is kept up to date, and a pipe gets one line for each change. What changes in files is followed.",
    "Calls are those of this program that have ended, and + those under way. Beside the last latency are the ones before "
    + "it, as bars; a cross is an answer that did not come."
  ],
  args: [],
  options: [
    { name: "watch", short: "w", about: "Go on, and show what changes." },
    { name: "every", value: "DURATION", about: "How often servers are asked whether they are there (default: 5s)." },
    { name: "for", value: "DURATION", about: "How long to go on (default: until Ctrl-C)." }
  ],
  examples: [
    ["status", "The servers as they are now."],
    ["status --watch --json", "A line of JSON for each change."]
  ],
  run
}
