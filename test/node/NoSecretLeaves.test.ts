import * as NodeSdk from "@effect/opentelemetry/NodeSdk"
import { assert, describe } from "@effect/vitest"
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Cause, Effect, Exit, Layer, Logger, LogLevel, Schedule, type Scope, Stream } from "effect"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import * as Trust from "../../src/config/Trust.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeMcpRuntime from "../../src/node/NodeMcpRuntime.ts"
import * as Redaction from "../../src/safety/Redaction.ts"
import { canaries, entries, leaksIn, script } from "../fixtures/leaking/canaries.ts"
import * as Leaking from "../fixtures/leaking/remote.ts"
import * as NodeRuntime from "../support/nodeRuntime.ts"

// what the process opens once and for all when it first watches is not a leak
watch(tmpdir()).close()

interface Sinks {
  readonly add: (sink: string, value: unknown) => void
  readonly names: () => ReadonlySet<string>
  readonly leaks: () => ReadonlyArray<string>
}

/** Everything that can be made of a value by whoever writes it down. */
const written = (value: unknown): string => {
  if (typeof value === "string") return value
  const shown = [inspect(value, { depth: 12, maxStringLength: null }), String(value), JSON.stringify(value)]
  if (value instanceof Error) shown.push(value.message, value.stack ?? "", Cause.pretty(Cause.fail(value)))
  return shown.join("\n")
}

const makeSinks = (): Sinks => {
  const told: Array<readonly [sink: string, text: string]> = []
  return {
    add: (sink, value) => told.push([sink, written(value)]),
    names: () => new Set(told.map(([sink]) => sink)),
    leaks: () => told.flatMap(([sink, text]) => leaksIn(text).map((leak) => `${sink}: ${leak}`))
  }
}

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

interface Run {
  readonly sinks: Sinks
  readonly folder: string
  readonly runtime: McpRuntime.McpRuntime["Type"]
  readonly trust: Trust.Trust["Type"]
}

const failing = ["refuses", "ends", "absent", "unauthorized", "redirect", "down"]

/** Every way in which these servers can be used, and fail. */
const used = ({ runtime, sinks, trust }: Run) =>
  Effect.gen(function*() {
    for (const server of failing) {
      sinks.add("error", yield* Effect.flip(runtime.servers.connect(server)))
      sinks.add("error", yield* Effect.flip(runtime.callTool({ server, tool: "echo" })))
    }
    yield* runtime.servers.connect("serves")
    yield* runtime.servers.connect("remote")
    // what a list of tools has of secrets is not kept
    yield* runtime.refreshTools("names")
    // what servers and callers tell each other is left as it is
    assert.include(
      NodeRuntime.textOf(yield* runtime.callTool({ server: "serves", tool: "echo" })),
      canaries.LEAK_TOKEN
    )
    assert.include(
      NodeRuntime.textOf(yield* runtime.callTool({ server: "serves", tool: "reports" })),
      canaries.LEAK_PLAIN
    )
    assert.include(
      NodeRuntime.textOf(yield* runtime.callTool({ server: "remote", tool: "echo" })),
      canaries.LEAK_BEARER
    )
    yield* Stream.runDrain(runtime.callToolStream({ server: "serves", tool: "notifies" }))
    for (const tool of ["fails", "odd", "worse", "dies"]) {
      sinks.add("error", yield* Effect.flip(runtime.callTool({ server: "serves", tool })))
    }
    for (const tool of ["fails", "odd", "unknown", "broken", "markup", "streams"]) {
      sinks.add("error", yield* Effect.flip(runtime.callTool({ server: "remote", tool })))
    }
    yield* runtime.servers.reconnect("serves")
    yield* runtime.servers.reconnect("remote")
    sinks.add("error", yield* Effect.flip(runtime.callTool({ server: "serves", tool: "fails" })))
    yield* runtime.withClient("serves", (session) =>
      Effect.map(session.stderrTail, (tail) => {
        assert.include(tail, "starting with [redacted]")
        sinks.add("stderr", tail)
      }))
    const pending = (yield* trust.pending).map(({ server }) => server)
    sinks.add("trust", pending)
    sinks.add("status", yield* runtime.servers.list)
    sinks.add("tools", (yield* runtime.tools).missing)
  })

const layer = (folder: string, sinks: Sinks) => {
  const path = (name: string) => join(folder, name)
  const events = Layer.scoped(
    McpEvent.McpEvents,
    Effect.tap(McpEvent.make(), ({ onEvent }) =>
      Effect.sync(() => {
        onEvent((event) => {
          sinks.add("event", event)
          if ("error" in event) sinks.add("event", event.error)
        })
      }))
  )
  return NodeMcpRuntime.layerConfigured({
    cacheDirectory: path("cache"),
    circuitBreaker: { failures: 1_000 },
    reconnect: {
      schedule: Schedule.intersect(Schedule.spaced("20 millis"), Schedule.recurs(1)),
      stormReconnects: 10_000
    },
    trust: { directory: path("trust") },
    config: { directory: path("root"), root: path("root"), home: path("home") }
  }).pipe(
    NodeMcpRuntime.using(events),
    NodeMcpRuntime.using(HostEnvironment.layer({ ...canaries, HOME: path("home"), PATH: process.env["PATH"] ?? "" }))
  )
}

const folder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "mcp-leaks-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

describe("a secret of a configuration", () => {
  NodeRuntime.test(
    "is in no error, event, log, span, status or file, whatever a server does with it",
    Effect.gen(function*() {
      const sinks = makeSinks()
      const place = yield* folder
      const origin = yield* Leaking.remote
      mkdirSync(join(place, "root"))
      mkdirSync(join(place, "home/.config/mcp-runtime"), { recursive: true, mode: 0o755 })
      writeFileSync(
        join(place, "home/.config/mcp-runtime/mcp-client.json"),
        JSON.stringify({ mcpServers: entries(origin) }),
        { mode: 0o644 }
      )
      writeFileSync(
        join(place, "root/.mcp.json"),
        JSON.stringify({
          mcpServers: {
            workspace: { command: process.execPath, args: [script, "end"], env: { API_TOKEN: canaries.LITERAL } }
          }
        })
      )
      const log = Logger.make((line) => {
        sinks.add("log", line.message)
        sinks.add("log", Cause.pretty(line.cause))
        sinks.add("log", Array.from(line.annotations))
      })
      const spans = new InMemorySpanExporter()
      const sdk = NodeSdk.layer(() => ({
        resource: { serviceName: "test" },
        spanProcessor: new SimpleSpanProcessor(spans)
      }))
      const program = Effect.scoped(Effect.gen(function*() {
        const runtime = yield* McpRuntime.McpRuntime
        const trust = yield* Trust.Trust
        yield* trust.approve("workspace")
        yield* NodeRuntime.until(runtime, "workspace", ({ _tag }) => _tag !== "Blocked")
        sinks.add("error", yield* Effect.flip(runtime.servers.connect("workspace")))
        yield* used({ runtime, sinks, trust, folder: place })
      })).pipe(Effect.provide(layer(place, sinks)))
      const exit = yield* Effect.exit(program).pipe(
        Effect.tap(() =>
          Effect.sync(() => {
            for (const { attributes, events, name, status } of spans.getFinishedSpans()) {
              sinks.add("span", { attributes, events, name, status })
            }
          })
        ),
        Effect.provide(
          Layer.mergeAll(sdk, Logger.replace(Logger.defaultLogger, log), Logger.minimumLogLevel(LogLevel.All))
        )
      )
      if (Exit.isFailure(exit)) return yield* exit
      for (const room of ["cache", "trust"]) {
        const files = filesIn(join(place, room))
        assert.isNotEmpty(files, room)
        for (const file of files) sinks.add(room, readFileSync(file, "latin1"))
      }
      assert.sameMembers(Array.from(sinks.names()), [
        "error",
        "event",
        "log",
        "span",
        "stderr",
        "status",
        "tools",
        "trust",
        "cache"
      ])
      assert.deepStrictEqual(sinks.leaks(), [])
      // when the last connection has ended, nothing is known of any of them
      const { text } = yield* Redaction.Redaction
      for (const canary of Object.values(canaries)) assert.strictEqual(text(canary), canary)
    })
  )
})
