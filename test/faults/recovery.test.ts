import { assert, describe } from "@effect/vitest"
import { Effect, Schedule, type Scope } from "effect"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpError from "../../src/McpError.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeMcpRuntime from "../../src/node/NodeMcpRuntime.ts"
import * as ReconnectPolicy from "../../src/resilience/ReconnectPolicy.ts"
import { modes } from "../fixtures/faults/httpModes.ts"
import type * as HttpServer from "../fixtures/faults/httpServer.ts"
import { modes as sseModes } from "../fixtures/faults/sseModes.ts"
import type * as SseServer from "../fixtures/faults/sseServer.ts"
import * as Configs from "../support/configs.ts"
import * as Node from "../support/nodeRuntime.ts"
import * as harness from "./harness.ts"
import { serverFor, sseServerFor } from "./http.ts"
import type * as Journal from "./journal.ts"
import * as Stdio from "./stdio.ts"

type Runtime = McpRuntime.McpRuntime["Type"]

interface Options {
  readonly config?: Partial<ServerConfig.StdioInput & ServerConfig.HttpInput>
  readonly reconnect?: Partial<ReconnectPolicy.Options>
}

/** One after the other, without a wait that a test would have to sit out. */
const attempts = (times: number): Partial<ReconnectPolicy.Options> => ({
  schedule: Schedule.intersect(Schedule.spaced("20 millis"), Schedule.recurs(times))
})

/** A case of the fleet as it is for a runtime. */
const recovery = <Server, E>(
  mode: string,
  says: string,
  arrange: Effect.Effect<
    { readonly config: ServerConfig.ServerConfig; readonly server: Server; readonly remains: harness.Remains },
    never,
    Scope.Scope
  >,
  use: (runtime: Runtime, server: Server) => Effect.Effect<unknown, E, Scope.Scope>,
  { reconnect = attempts(4) }: Options
): void =>
  harness.test(
    mode,
    says,
    harness.run(
      Effect.map(arrange, ({ config, remains, server }) => ({ config, remains, server: { config, server } })),
      (_peer, { config, server }) =>
        Effect.scoped(Effect.flatMap(McpRuntime.McpRuntime, (runtime) => use(runtime, server))).pipe(
          Effect.provide(NodeMcpRuntime.layerTest({
            servers: [config],
            reconnect,
            teardown: { stdinGrace: "300 millis", termGrace: "300 millis", farewellTimeout: "300 millis" }
          }))
        )
    )
  )

const stdio = <E>(
  mode: string,
  says: string,
  use: (runtime: Runtime, journal: Journal.Journal) => Effect.Effect<unknown, E, Scope.Scope>,
  options: Options & { readonly mode?: string } = {}
) => recovery(mode, says, Stdio.processFor(options.mode ?? mode, { config: options.config }), use, options)

const http = <E>(
  mode: keyof typeof modes,
  says: string,
  use: (runtime: Runtime, server: HttpServer.HttpServer) => Effect.Effect<unknown, E, Scope.Scope>,
  options: Options & { readonly name?: string } = {}
) => recovery(options.name ?? mode, says, serverFor(modes[mode], { config: options.config }), use, options)

const sse = <E>(
  mode: keyof typeof sseModes,
  says: string,
  use: (runtime: Runtime, server: SseServer.SseServer) => Effect.Effect<unknown, E, Scope.Scope>,
  options: Options & { readonly name?: string } = {}
) => recovery(options.name ?? mode, says, sseServerFor(sseModes[mode], { config: options.config }), use, options)

const call = (runtime: Runtime, tool: string, args = {}, options: McpRuntime.CallOptions = {}) =>
  runtime.callTool({ server: "fleet", tool }, args, options)

/** It works, be it at the second try: nobody is harmed by an echo more. */
const echoes = (runtime: Runtime, text = "grüß dich 👋") =>
  Effect.map(
    harness.succeeds("echo", call(runtime, "echo", { text }, { idempotent: true })),
    (result) => assert.strictEqual(harness.textOf(result), text)
  )

/** How often the supervisor has begun anew. */
const reconnects = (runtime: Runtime) => Effect.map(runtime.servers.get("fleet"), (info) => info.reconnects)

describe("a process that fails in the middle", () => {
  const rows: ReadonlyArray<{
    readonly mode: string
    readonly bad: harness.Expected | { readonly text: string }
    readonly config?: Partial<ServerConfig.StdioInput>
  }> = [
    { mode: "sigkill-mid-call", bad: "ConnectionLost/exited" },
    { mode: "exit-with-last-result", bad: { text: "the last words" } },
    { mode: "grandchild-holds-and-server-dies", bad: "ConnectionLost/exited" },
    { mode: "close-stdout", bad: "ConnectionLost" },
    { mode: "close-stdin", bad: { text: "deaf from now on" } },
    { mode: "endless-line", bad: "MessageTooLarge", config: { maxMessageBytes: 64 * 1024 } }
  ]
  for (const { bad, config, mode } of rows) {
    stdio(
      mode,
      "the next call works on a new process, the old one is gone, and the call was run once",
      (runtime, journal) =>
        Effect.gen(function*() {
          yield* runtime.tools
          if (typeof bad === "string") yield* harness.fails("bad", call(runtime, "bad"), bad, { outcome: "unknown" })
          else {
            assert.strictEqual(harness.textOf(yield* harness.succeeds("bad", call(runtime, "bad"))), bad.text)
          }
          yield* echoes(runtime)
          yield* journal.until(() => journal.entries().filter(({ role }) => role === "server").length === 2)
          yield* echoes(runtime)
          const [first, second] = journal.entries().filter(({ role }) => role === "server")
          yield* journal.until(() => !Stdio.alive(journal).includes(first!.pid!))
          assert.include(Stdio.alive(journal), second!.pid!)
          assert.strictEqual(journal.executions("bad"), 1)
          assert.strictEqual(yield* reconnects(runtime), 1)
        }),
      { config: config ?? {} }
    )
  }

  stdio(
    "stop-reading",
    "a process that reads no more is replaced after the stall limit",
    (runtime, journal) =>
      Effect.gen(function*() {
        assert.strictEqual(harness.textOf(yield* call(runtime, "bad")), "not reading any more")
        yield* echoes(runtime, "x".repeat(400_000))
        assert.strictEqual(journal.pids().length, 2)
        assert.strictEqual(yield* reconnects(runtime), 1)
      }),
    { config: { stallTimeout: "250 millis" } }
  )

  stdio(
    "crash-loop",
    "fifteen calls that kill the server start it no more often than the storm breaker allows, each fails typed",
    (runtime, journal) =>
      Effect.gen(function*() {
        const tags: Array<string> = []
        for (let round = 0; round < 15; round++) {
          const error = yield* harness.fails(
            `call ${round}`,
            call(runtime, "bad"),
            ["ConnectionLost/exited", "CircuitOpen", "ServerUnavailable"]
          )
          tags.push(McpError.label(error))
        }
        const crashes = tags.filter((tag) => tag === "ConnectionLost/exited").length
        assert.isAtMost(journal.pids().length, 1 + ReconnectPolicy.defaults.stormReconnects)
        assert.isAtLeast(crashes, 3)
        assert.isAtMost(journal.executions("bad"), crashes)
        assert.include(tags, "CircuitOpen")
      }),
    { mode: "sigkill-mid-call", reconnect: { schedule: Schedule.spaced("20 millis") } }
  )
})

describe("a server that cannot be connected", () => {
  /** How it is once it is tried no more. */
  const givenUp = (runtime: Runtime) =>
    Effect.gen(function*() {
      yield* Node.until(runtime, "fleet", ({ _tag }) => _tag === "Failed" || _tag === "NeedsAuth")
      return (yield* runtime.servers.get("fleet")).status
    })

  interface Row {
    readonly mode: string
    readonly tag: harness.Expected
    readonly times: number
    readonly config?: Partial<ServerConfig.StdioInput>
  }
  /** Long enough for a process to have started, and said so, on a machine with other things to do. */
  const patient = { startupTimeout: "1500 millis" } as const

  for (
    const { config, mode, tag, times } of [
      { mode: "init-exit", tag: "ConnectionLost/exited", times: 2 },
      { mode: "init-answer-after-exit", tag: "ConnectionLost/exited", times: 2 },
      { mode: "init-never", tag: "ConnectTimeout", times: 2, config: patient },
      { mode: "init-error", tag: "HandshakeFailed/rejected", times: 1 },
      { mode: "ver-unknown", tag: "HandshakeFailed/version", times: 1 },
      { mode: "ver-missing", tag: "ProtocolViolation", times: 1 }
    ] satisfies ReadonlyArray<Row>
  ) {
    stdio(
      mode,
      times === 1 ? "is not tried again, because it would say the same" : "is tried again, and then given up",
      (runtime, journal) =>
        Effect.gen(function*() {
          const status = yield* givenUp(runtime)
          assert.isTrue(status._tag === "Failed" && McpError.label(status.error) === tag, JSON.stringify(status))
          assert.strictEqual(journal.entries().filter(({ role }) => role === "server").length, times)
          if (times === 1) yield* harness.fails("call", call(runtime, "echo"), tag, { outcome: "not-sent" })
        }),
      { config: config ?? {}, reconnect: attempts(1) }
    )
  }

  stdio(
    "spawn-enoent",
    "is not tried again, because it would say the same",
    (runtime) =>
      Effect.gen(function*() {
        const status = yield* givenUp(runtime)
        assert.isTrue(status._tag === "Failed" && status.error._tag === "SpawnFailed")
      }),
    { mode: "ok", config: { command: "there-is-no-such-program" } }
  )

  for (
    const [mode, tag, times] of [
      ["http-500-init", "HttpError", 2],
      ["http-401-init", "AuthorizationFailed/unauthorized", 1],
      ["http-403-init", "HttpError/forbidden", 1],
      ["http-html-200", "HttpError/content-type", 1]
    ] as const
  ) {
    http(
      mode,
      times === 1 ? "is not tried again, because it would say the same" : "is tried again, and then given up",
      (runtime, server) =>
        Effect.gen(function*() {
          const status = yield* givenUp(runtime)
          assert.isTrue("error" in status && McpError.label(status.error) === tag, JSON.stringify(status))
          assert.strictEqual(status._tag, tag === "AuthorizationFailed/unauthorized" ? "NeedsAuth" : "Failed")
          assert.strictEqual(server.count("server/discover"), times)
          const before = server.seen.length
          yield* harness.fails("call", call(runtime, "echo"), tag, { outcome: "not-sent" })
          // a login is not to be had by asking again
          if (tag === "AuthorizationFailed/unauthorized") assert.strictEqual(server.seen.length, before)
        }),
      { reconnect: attempts(1) }
    )
  }
})

describe("a session or a stream that ends", () => {
  http(
    "http-ok",
    "the next call opens a new session over the same connection",
    (runtime, server) =>
      Effect.gen(function*() {
        yield* echoes(runtime)
        server.sessions.clear()
        yield* echoes(runtime)
        assert.strictEqual(server.count("initialize"), 2)
        assert.strictEqual(yield* reconnects(runtime), 0)
        assert.strictEqual((yield* runtime.servers.get("fleet")).status._tag, "Connected")
      }),
    { name: "http-session-expire-concurrent" }
  )

  http(
    "http-ok",
    "twenty calls at once in an expired session all work, and open one new session",
    (runtime, server) =>
      Effect.gen(function*() {
        yield* echoes(runtime)
        server.sessions.clear()
        const texts = Array.from({ length: 20 }, (_, index) => `call ${index}`)
        const results = yield* Effect.forEach(
          texts,
          (text) => harness.succeeds("echo", call(runtime, "echo", { text })),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(results.map(harness.textOf), texts)
        assert.strictEqual(server.executions("echo"), 21)
        assert.strictEqual(server.count("initialize"), 2)
        assert.strictEqual(server.sessions.size, 1)
      }),
    { name: "http-session-expire-concurrent" }
  )

  for (const mode of ["http-429-init", "http-503-init"] as const) {
    http(
      mode,
      "a call waits as long as the server asks for before the next attempt to connect, and works",
      (runtime, server) =>
        Effect.gen(function*() {
          yield* echoes(runtime)
          assert.strictEqual(server.count("server/discover"), 2)
          assert.strictEqual(yield* reconnects(runtime), 0)
        }),
      { reconnect: attempts(1) }
    )
  }

  http(
    "http-ok-stream",
    "after a restart the next call works, and was run once",
    (runtime, server) =>
      Effect.gen(function*() {
        yield* echoes(runtime)
        yield* server.restart
        // client and server share an event loop here: the ends of the sockets have yet to arrive
        yield* Effect.sleep("50 millis")
        yield* harness.succeeds("echo", call(runtime, "echo", { text: "once" }))
        assert.strictEqual(server.executions("echo"), 2)
        assert.strictEqual(server.count("initialize"), 2)
      }),
    { name: "http-restart-sse" }
  )

  sse(
    "sse-ok",
    "a stream that is cut while idle has a successor with a handshake of its own before anybody asks",
    (runtime, server) =>
      Effect.gen(function*() {
        yield* echoes(runtime)
        server.cut()
        yield* Node.until(runtime, "fleet", Node.is("Reconnecting"))
        yield* Node.until(runtime, "fleet", Node.is("Connected"))
        yield* echoes(runtime)
        assert.strictEqual(server.messages.filter(({ method }) => method === "initialize").length, 2)
        assert.strictEqual(yield* reconnects(runtime), 1)
      }),
    { name: "sse-drop-idle" }
  )

  sse(
    "sse-drop-midcall",
    "the call fails with an unknown outcome and is not made again, the next one works",
    (runtime, server) =>
      Effect.gen(function*() {
        yield* harness.fails("bad", call(runtime, "bad"), "ConnectionLost", {
          reason: "stream-interrupted",
          outcome: "unknown"
        })
        yield* echoes(runtime)
        assert.strictEqual(server.messages.filter(({ params }) => params?.["name"] === "bad").length, 1)
        assert.strictEqual(server.messages.filter(({ method }) => method === "initialize").length, 2)
      })
  )

  recovery(
    "sse-fallback",
    "a server reached over the older transport says so",
    Effect.map(sseServerFor(sseModes["sse-ok"]), ({ remains, server }) => ({
      config: Configs.http({ ...Stdio.defaults, url: server.url }),
      remains,
      server
    })),
    (runtime) =>
      Effect.gen(function*() {
        yield* echoes(runtime)
        assert.strictEqual((yield* runtime.servers.get("fleet")).transport, "sse")
      }),
    {}
  )

  for (
    const [mode, tag, times] of [
      ["sse-500", "HttpError", 2],
      ["sse-401", "AuthorizationFailed/unauthorized", 1]
    ] as const
  ) {
    sse(
      mode,
      times === 1 ? "is not tried again, because it would say the same" : "is tried again, and then given up",
      (runtime, server) =>
        Effect.gen(function*() {
          yield* Node.until(runtime, "fleet", ({ _tag }) => _tag === "Failed" || _tag === "NeedsAuth")
          const { status } = yield* runtime.servers.get("fleet")
          assert.isTrue("error" in status && McpError.label(status.error) === tag, JSON.stringify(status))
          assert.strictEqual(server.streams, times)
        }),
      { reconnect: attempts(1) }
    )
  }
})
