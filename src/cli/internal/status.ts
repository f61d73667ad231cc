/**
 * What `mcp-runtime status` does.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as McpRuntime from "../../McpRuntime.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Screen from "../Screen.ts"
import { Usage } from "../Usage.ts"
import * as Following from "./following.ts"
import * as Latency from "./latency.ts"
import * as Offered from "./offered.ts"
import * as Shape from "./statusShape.ts"
import * as Table from "./table.ts"

/**
 * The document of `status --json`.
 *
 * @internal
 */
export const Status = Schema.Struct({ servers: Schema.Array(Shape.Server) })

/**
 * One line of `status --watch --json`: a server that has changed, and all of them at first.
 *
 * @internal
 */
export const Changed = Schema.Struct({
  /** Milliseconds since 1970. */
  at: Schema.Number,
  server: Shape.Server
})

/** A few, because the first answer of a server is the slowest. */
const looks = 3

const interval = Duration.seconds(5)

const table = (servers: ReadonlyArray<Shape.Server>) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const now = yield* Clock.currentTimeMillis
    yield* screen.out(...Table.lines(Shape.header, servers.map((one) => Shape.row(one, now)), screen.columns))
  })

const nothing = Effect.flatMap(
  Screen.Screen,
  (screen) => screen.note("There are no servers here.", "Name a file with --config, or other hosts with --import all.")
)

const once = ({ runtime, settled }: Application.Application, { json }: Command.Shared) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const { measure, of } = Latency.make(runtime)
    yield* Offered.asking(Effect.zipRight(settled, Effect.repeatN(measure, looks - 1)))
    const servers = (yield* runtime.servers).map((info) => Shape.of(info, of(info.name)))
    if (json) yield* screen.json(Status, { servers })
    else if (servers.length === 0) yield* nothing
    else {
      yield* table(servers)
      for (const { error } of servers) if (error !== null) yield* screen.note(error.message)
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

const watch = ({ runtime }: Application.Application, { json }: Command.Shared, { every, time }: Watching) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const { measure, of } = Latency.make(runtime)
    const told = new Map<string, Shape.Server>()
    const draw = (infos: ReadonlyArray<McpRuntime.ServerInfo>) =>
      Effect.gen(function*() {
        const at = yield* Clock.currentTimeMillis
        const servers = infos.map((info) => Shape.of(info, of(info.name)))
        const names = new Set(servers.map(({ name }) => name))
        const gone = Array.from(told.keys()).filter((name) => !names.has(name))
        for (const name of gone) told.delete(name)
        const changed = changes(told, servers)
        if (json) {
          for (const { server } of changed) yield* screen.jsonLine(Changed, { at, server })
          return
        }
        if (!screen.isTerminal) {
          for (const name of gone) yield* screen.out(`${Following.clock(at)} ${name} gone`)
          for (const { before, server } of changed) {
            const [first, ...rest] = Shape.line(server, before)
            yield* screen.out([`${Following.clock(at)} `, first ?? "", ...rest])
          }
          return
        }
        if (changed.length + gone.length > 0 && servers.length > 0) {
          yield* screen.out("", [{ text: Following.clock(at), style: "weak" }])
          yield* table(servers)
        }
        const pings = servers.filter(({ latencies }) => latencies.length > 0).map((server) =>
          `${server.name} ${server.latency === null ? "-" : Latency.format(server.latency)} ${Shape.trend(server)}`
        )
        if (pings.length > 0) screen.progress(`ping: ${pings.join("  ")}`)
      })
    if ((yield* runtime.servers).length === 0) yield* nothing
    yield* Stream.merge(
      runtime.status,
      Stream.mapEffect(Stream.tick(every), () => Effect.zipRight(measure, runtime.servers))
    ).pipe(
      Following.until(time),
      Stream.runForEach(draw),
      Effect.ensuring(Effect.sync(() => screen.progress(undefined)))
    )
    return ExitCode.ok
  })

/** @internal */
export const run: Command.Program["run"] = ({ isSet, shared, value }) =>
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
      (application) => isWatching ? watch(application, shared, { every, time }) : once(application, shared)
    )
  })
