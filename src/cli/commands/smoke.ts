// @effect-diagnostics strictEffectProvide:off -- the arguments decide which servers there are
// @effect-diagnostics nodeBuiltinImport:off -- the place of the demo server is known from this module's URL only
/** `mcp-runtime smoke`: tests the runtime on this machine. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
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
import { least, wrapped } from "../layout.ts"
import * as Processes from "../processes.ts"
import * as Screen from "../Screen.ts"

/** The document of `smoke --json`. */
export const Smoke = Schema.Struct({
  promises: Schema.Array(Schema.Struct({
    server: Schema.String,
    promise: Schema.String,
    kept: Schema.Boolean,
    /** What was observed. */
    detail: Schema.String,
    milliseconds: Schema.Number
  })),
  kept: Schema.Boolean
})
type Line = typeof Smoke.Type["promises"][number]

/** What was observed instead. */
class Broken extends Data.TaggedError("Broken")<{ readonly message: string }> {}

const broken = (message: string) => Effect.fail(new Broken({ message }))

const expect = (isKept: boolean, kept: string, otherwise: string) => isKept ? Effect.succeed(kept) : broken(otherwise)

/** The checks in order. Each returns what was observed in a few words. */
type Promises = Readonly<Record<string, Effect.Effect<string, Broken | McpError.McpError>>>

/** The checks for any server, which call none of its tools. */
const ofAny = (
  { callTool, refreshTools, servers, withClient }: McpRuntime.McpRuntime["Type"],
  server: string,
  least = 0
) => {
  const ping = withClient(server, ({ health }) => health)
  return {
    "starts and connects": Effect.map(
      Effect.zipRight(servers.connect(server, { until: "settled" }), servers.get(server)),
      ({ era, protocolVersion, transport }) => `over ${transport}, protocol ${protocolVersion} (${era} era)`
    ),
    "lists its tools": Effect.flatMap(refreshTools(server), ({ denied, rejected, tools }) => {
      const listed = tools.filter(({ serverName }) => serverName === server).length
      const withheld = [...denied, ...rejected].filter((one) => one.server === server).length
      const more = withheld === 0 ? "" : `, ${withheld} withheld`
      return expect(listed >= least, `${listed} tools${more}`, `only ${listed} tools`)
    }),
    "answers a ping": Effect.map(Effect.timed(ping), ([took]) => `in ${Math.ceil(Duration.toMillis(took))} ms`),
    "reports an unknown tool": callTool({ server, tool: "mcp-runtime-smoke-has-no-such-tool" }, {}).pipe(
      Effect.flatMap(({ isError }) => expect(isError, "reported by the server", "the call succeeded")),
      Effect.catchTag("NotFound", "RemoteError", ({ _tag, outcome }) => Effect.succeed(`${_tag} (${outcome})`))
    ),
    "reconnects": Effect.as(
      Effect.zipRight(servers.reconnect(server), ping),
      "answers again"
    )
  } satisfies Promises
}

const demo = "demo"

/** The checks with the demo server, whose tools are harmless. */
const ofDemo = (runtime: McpRuntime.McpRuntime["Type"]): Promises => {
  const { readResource, servers } = runtime
  const call = (tool: string, args = {}) => runtime.callTool({ server: demo, tool }, args)
  const progress = (from: number) =>
    runtime.callToolStream({ server: demo, tool: "countdown" }, { from }).pipe(
      Stream.filter(({ _tag }) => _tag === "Progress")
    )
  const sum = (a: number, b: number) =>
    Effect.flatMap(call("add", { a, b }), ({ content }) => {
      const text = content.map((part) => part._tag === "Text" ? part.text : part._tag).join(" ")
      const seen = `${a} + ${b} = ${text}`
      return expect(text === String(a + b), seen, seen)
    })
  // a fifth tool is denied
  const promises = ofAny(runtime, demo, 4)
  return {
    "starts and connects": promises["starts and connects"],
    "lists its tools": promises["lists its tools"],
    "answers a ping": promises["answers a ping"],
    "calls a tool": sum(2, 40),
    "reads a resource": Effect.flatMap(
      readResource(demo, "demo://poem"),
      ([first]) =>
        first?._tag === "Text" ? Effect.succeed(`${first.text.split("\n").length} lines`) : broken("not a text")
    ),
    "reports progress of a call": Effect.flatMap(
      Stream.runCount(progress(3)),
      (seen) => expect(seen > 0, `${seen} steps`, "no progress")
    ),
    "cancels a call and keeps the connection": Effect.gen(function*() {
      const before = yield* servers.get(demo)
      // reading one event and no more cancels the call
      const begun = yield* Stream.runHead(progress(100))
      if (Option.isNone(begun)) return yield* broken("the call completed before it was cancelled")
      yield* sum(1, 1)
      const after = yield* servers.get(demo)
      return yield* expect(
        after.callsInFlight === 0 && after.connectedSince === before.connectedSince,
        "next call on the same connection",
        "the connection changed"
      )
    }),
    "reports an unknown tool": promises["reports an unknown tool"],
    "denies a call that a rule denies": call("greet").pipe(
      Effect.zipRight(broken("the call was sent")),
      Effect.catchTag("PermissionDenied", () => Effect.succeed("not sent"))
    ),
    "recovers from a server crash": Effect.matchEffect(call("crash"), {
      onSuccess: () => broken("the server did not crash"),
      onFailure: (error) =>
        Effect.map(sum(4, 3), (again) => `${McpError.label(error)} (${error.outcome}), then ${again}`)
    })
  }
}

/** Where the demo server may be: beside the bundle, or in `dist`. */
export class DemoPlaces extends Context.Reference<DemoPlaces>()("effect-mcp-runtime/cli/commands/smoke/DemoPlaces", {
  defaultValue: (): ReadonlyArray<string> =>
    ["../demo/DemoServer.js", "../../../dist/demo/DemoServer.js"].map((path) =>
      fileURLToPath(new URL(path, import.meta.url))
    )
}) {}

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
    detail: "the demo server is not built; run `npm run build`"
  })
}).pipe(Effect.provide(NodeFileSystem.layer))

const demoRuntime = ({ verbose }: Command.Shared) =>
  Layer.unwrapEffect(Effect.map(demoServer, (config) =>
    NodeMcpRuntime.layer({
      servers: [config],
      cacheDirectory: "memory",
      logs: verbose,
      permissions: { rules: [{ decision: "deny", server: demo, tool: "greet" }] }
    })))

const widest = 42

const shown = ({ detail, kept, milliseconds, promise }: Line, columns: number): ReadonlyArray<Screen.Line> => {
  const title = kept ? "pass  " : "FAIL  "
  const left = title.length + widest
  const [first = "", ...rest] = wrapped(
    `${UntrustedText.excerpt(detail, 300)} (${milliseconds} ms)`,
    Math.max(least, columns - left)
  ).map((text): Screen.Span => ({ text, style: "weak" }))
  return [
    [{ text: title, style: kept ? "good" : "bad" }, promise.padEnd(widest), first],
    ...rest.map((line) => [" ".repeat(left), line])
  ]
}

const tried =
  ({ json, timeout: limit = Limits.defaults.startupTimeout }: Command.Shared, server: string) =>
  ([promise, check]: readonly [string, Promises[string]]): Effect.Effect<Line, never, Screen.Screen> =>
    Effect.gen(function*() {
      const screen = yield* Screen.Screen
      screen.progress(promise)
      const [took, seen] = yield* check.pipe(
        Effect.timeoutFail({
          duration: limit,
          onTimeout: () => new Broken({ message: `no result within ${Duration.format(limit)}` })
        }),
        Effect.either,
        Effect.timed,
        Effect.ensuring(Effect.sync(() => screen.progress(undefined)))
      )
      const kept = Either.isRight(seen)
      const detail = Either.isRight(seen) ? seen.right : seen.left.message
      const line = { server, promise, kept, detail, milliseconds: Math.round(Duration.toMillis(took)) }
      if (!json) yield* screen.out(...shown(line, screen.columns))
      return line
    })

const run: Command.Command["run"] = ({ shared }) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const { platform } = yield* HostEnvironment.HostEnvironment
    const sockets = Processes.sockets()
    const before = new Set(Processes.children(platform).map(({ pid }) => pid))
    const started: Array<Processes.Process> = []
    const each = (server: string, promises: Promises) =>
      Effect.gen(function*() {
        if (shared.servers.length > 1 && !shared.json) yield* screen.out([{ text: server, style: "strong" }])
        const lines: Array<Line> = []
        for (const promise of Object.entries(promises)) {
          // the other checks need a connection
          if (lines[0]?.kept !== false) lines.push(yield* tried(shared, server)(promise))
        }
        const fresh = Processes.children(platform).filter(({ pid }) => !before.has(pid))
        started.push(...Processes.tree(fresh, platform))
        return lines
      })
    const lines = shared.servers.length === 0
      ? yield* Effect.flatMap(McpRuntime.McpRuntime, (runtime) => each(demo, ofDemo(runtime))).pipe(
        Effect.provide(demoRuntime(shared))
      )
      : yield* Application.use(
        shared,
        () => Effect.succeed({ servers: shared.servers, consent: true, once: true }),
        ({ runtime }) => Effect.forEach(shared.servers, (server) => each(server, ofAny(runtime, server)))
      )
    const last = yield* tried(shared, shared.servers.join(", ") || demo)([
      "leaves no processes or sockets",
      Effect.flatMap(Processes.leftovers(started, platform, sockets), ({ open, pids }) =>
        expect(
          open + pids.length === 0,
          started.length === 0 ? "no sockets" : `no sockets, none of ${started.length} processes`,
          `${open} sockets, processes ${pids.join(", ") || "none"}`
        ))
    ])
    const promises = [...lines.flat(), last]
    const kept = promises.every((line) => line.kept)
    if (shared.json) yield* screen.json(Smoke, { promises, kept })
    return kept ? ExitCode.ok : ExitCode.tool
  })

export const command: Command.Command = {
  description: [
    "Starts the bundled demo server, lists and calls its tools, cancels a call, crashes the server, and looks for leaked "
    + "processes and sockets. With --server it tests your server instead, without calling its tools.",
    "Exits with 1 if a check fails."
  ],
  args: [],
  options: [],
  examples: [
    ["smoke", "Test with the demo server"],
    ["smoke --server github --json", "Test with your server, as JSON"]
  ],
  run
}
