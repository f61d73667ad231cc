// @effect-diagnostics strictEffectProvide:off -- which servers there are is known once the command has been read
// @effect-diagnostics nodeBuiltinImport:off -- the place of the demo server is known from this module's URL only
/** `mcp-runtime smoke`: whether the runtime keeps its promises on this machine. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { fileURLToPath } from "node:url"
import * as HostEnvironment from "../../config/HostEnvironment.ts"
import * as Limits from "../../config/Limits.ts"
import * as ServerConfig from "../../config/ServerConfig.ts"
import * as McpError from "../../McpError.ts"
import * as McpRuntime from "../../McpRuntime.ts"
import * as NodeMcpRuntime from "../../node/NodeMcpRuntime.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Processes from "../processes.ts"
import * as Screen from "../Screen.ts"
import * as Promises from "../smokePromises.ts"
import { least, wrapped } from "../wrapped.ts"

/** The document of `smoke --json`. */
export const Smoke = Schema.Struct({
  promises: Schema.Array(Schema.Struct({
    server: Schema.String,
    promise: Schema.String,
    kept: Schema.Boolean,
    /** What was seen. */
    detail: Schema.String,
    milliseconds: Schema.Number
  })),
  kept: Schema.Boolean
})

type Line = typeof Smoke.Type["promises"][number]

/**
 * Where the demo server lies as JavaScript, the first that is there: beside the bundle, or built from these sources.
 */
export class DemoPlaces extends Context.Reference<DemoPlaces>()("effect-mcp-runtime/cli/commands/smoke/DemoPlaces", {
  defaultValue: (): ReadonlyArray<string> =>
    ["../demo/DemoServer.js", "../../../dist/demo/DemoServer.js"].map((path) =>
      fileURLToPath(new URL(path, import.meta.url))
    )
}) {}

const demo = "demo"

const demoServer = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const places = yield* DemoPlaces
  for (const place of places) {
    if (yield* Effect.orElseSucceed(fs.exists(place), () => false)) {
      return yield* ServerConfig.stdio({ name: demo, command: process.execPath, args: [place] })
    }
  }
  return yield* new McpError.ConfigurationError({
    server: demo,
    path: places[0] ?? "",
    detail: "the demo server is not built: npm run build"
  })
}).pipe(Effect.provide(NodeFileSystem.layer))

const widest = 42

const shown = ({ detail, kept, milliseconds, promise }: Line, columns: number): ReadonlyArray<Screen.Line> => {
  const verdict = kept ? "kept    " : "broken  "
  const left = verdict.length + widest
  const said = `${UntrustedText.excerpt(detail, 300)} (${milliseconds} ms)`
  const [first = "", ...rest] = wrapped(said, Math.max(least, columns - left))
    .map((text): Screen.Span => ({ text, style: "weak" }))
  return [
    [{ text: verdict, style: kept ? "good" : "bad" }, promise.padEnd(widest), first],
    ...rest.map((line) => [" ".repeat(left), line])
  ]
}

const tried = (
  shared: Command.Shared,
  server: string,
  { check, promise }: Promises.Promised
): Effect.Effect<Line, never, Screen.Screen> =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const limit = shared.timeout ?? Limits.defaults.startupTimeout
    screen.progress(promise)
    const [took, seen] = yield* check.pipe(
      Effect.timeoutFail({
        duration: limit,
        onTimeout: () => new Promises.Broken({ detail: `nothing within ${Duration.format(limit)}` })
      }),
      Effect.either,
      Effect.timed,
      Effect.ensuring(Effect.sync(() => screen.progress(undefined)))
    )
    const line = {
      server,
      promise,
      kept: Either.isRight(seen),
      detail: Either.isRight(seen) ? seen.right : seen.left.message,
      milliseconds: Math.round(Duration.toMillis(took))
    }
    if (!shared.json) yield* screen.out(...shown(line, screen.columns))
    return line
  })

interface Started {
  readonly lines: ReadonlyArray<Line>
  readonly processes: ReadonlyArray<Processes.Process>
}

const all = (
  shared: Command.Shared,
  server: string,
  promises: ReadonlyArray<Promises.Promised>,
  before: ReadonlySet<number>
): Effect.Effect<Started, never, Screen.Screen> =>
  Effect.gen(function*() {
    const { platform } = yield* HostEnvironment.HostEnvironment
    const lines = yield* Effect.forEach(promises, (one) => tried(shared, server, one))
    const mine = Processes.own(platform).filter(({ pid }) => !before.has(pid))
    return { lines, processes: Processes.tree(mine, platform) }
  })

/** What was started is ended by now, and its sockets are closed a moment later. */
const leftovers = (
  processes: ReadonlyArray<Processes.Process>,
  sockets: number,
  tries = 20
): Effect.Effect<string, Promises.Broken> =>
  Effect.gen(function*() {
    const { platform } = yield* HostEnvironment.HostEnvironment
    const left = Processes.remaining(processes, platform)
    const open = Math.max(0, Processes.sockets() - sockets)
    if (left.length === 0 && open === 0) {
      return processes.length === 0 ? "no socket" : `no socket, and none of ${processes.length} processes`
    }
    if (tries > 0) return yield* Effect.delay(leftovers(processes, sockets, tries - 1), "50 millis")
    const pids = left.map(({ pid }) => pid).join(", ")
    return yield* new Promises.Broken({ detail: `${open} sockets, and the processes ${pids === "" ? "-" : pids}` })
  })

const own = (shared: Command.Shared, before: ReadonlySet<number>) =>
  Effect.gen(function*() {
    const config = yield* demoServer
    return yield* Effect.flatMap(
      McpRuntime.McpRuntime,
      (runtime) => all(shared, demo, Promises.ofDemo(runtime, demo), before)
    ).pipe(Effect.provide(NodeMcpRuntime.layer({
      servers: [config],
      cacheDirectory: "memory",
      logs: shared.verbose,
      permissions: { rules: Promises.rules(demo) }
    })))
  })

const given = (shared: Command.Shared, before: ReadonlySet<number>) =>
  Application.use(
    shared,
    () => Effect.succeed({ servers: shared.servers, consent: true }),
    ({ runtime }) =>
      Effect.gen(function*() {
        const each = yield* Effect.forEach(
          shared.servers,
          (server) => all(shared, server, Promises.ofAny(runtime, server), before)
        )
        return { lines: each.flatMap(({ lines }) => lines), processes: each.flatMap(({ processes }) => processes) }
      })
  )

const run: Command.Command["run"] = ({ shared }) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const { platform } = yield* HostEnvironment.HostEnvironment
    const sockets = Processes.sockets()
    const before = new Set(Processes.own(platform).map(({ pid }) => pid))
    const { lines, processes } = yield* shared.servers.length === 0 ? own(shared, before) : given(shared, before)
    const last = yield* tried(shared, shared.servers.join(", ") || demo, {
      promise: "leaves nothing behind",
      check: leftovers(processes, sockets)
    })
    const promises = [...lines, last]
    const kept = promises.every((line) => line.kept)
    if (shared.json) yield* screen.json(Smoke, { promises, kept })
    return kept ? ExitCode.ok : ExitCode.tool
  })

export const command: Command.Command = {
  description: [
    "It starts the small server that comes with the program, lists and calls its tools, cancels a call, lets the server "
    + "crash, and looks whether anything is left at the end. With --server it does so with servers of yours: of their "
    + "tools none is called.",
    "The exit code is 0 if every promise was kept, and 1 if not."
  ],
  args: [],
  options: [],
  examples: [
    ["smoke", "With the server that comes with the program."],
    ["smoke --server github --json", "With a server of yours, for a program to read."]
  ],
  run
}
