import { assert, describe, it } from "@effect/vitest"
import {
  Chunk,
  Deferred,
  Effect,
  Fiber,
  Layer,
  type Mailbox,
  Queue,
  Schedule,
  type Scope,
  Stream,
  TestClock
} from "effect"
import * as McpError from "../../src/McpError.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import { Refused } from "../../src/testing/connectedClient.ts"
import type * as Faults from "../../src/testing/Faults.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as ToolResult from "../../src/tools/ToolResult.ts"
import * as Pool from "../support/pool.ts"
import * as Runtime from "../support/runtime.ts"

const runtime = McpRuntime.McpRuntime

const refused: Faults.End = (server, outcome) =>
  new McpError.NetworkError({ server, code: "ECONNREFUSED", detail: "refused", outcome })

const tool = (name: string, text = name): MemoryServer.Tool => ({ name, call: () => Effect.succeed(text) })

const text = (result: McpRuntime.CallResult) => result.content.map((part) => part._tag === "Text" ? part.text : "?")

/** Servers in memory by name, each with these tools. */
const servers = (tools: Readonly<Record<string, ReadonlyArray<MemoryServer.Tool>>>) =>
  Effect.forEach(
    Object.entries(tools),
    ([name, offered]) =>
      Effect.map(MemoryServer.make({ era: "session", tools: offered }), (server) => [name, server] as const)
  ).pipe(
    Effect.map(Object.fromEntries<MemoryServer.Server>)
  )

const run = <A, E>(
  tools: Readonly<Record<string, ReadonlyArray<MemoryServer.Tool>>>,
  body: (
    peers: Readonly<Record<string, MemoryServer.Server>>
  ) => Effect.Effect<A, E, Layer.Layer.Success<ReturnType<typeof Runtime.layer>> | Scope.Scope>,
  { before, ...options }: Partial<Runtime.Options> & {
    readonly before?: (peers: Readonly<Record<string, MemoryServer.Server>>) => Effect.Effect<void>
  } = {}
) =>
  Effect.tap(servers(tools), (peers) => before?.(peers) ?? Effect.void).pipe(Effect.flatMap((peers) =>
    Effect.provide(
      body(peers),
      Runtime.layer(peers, { servers: Object.keys(tools).map((name) => Pool.remote(name)), ...options })
    )
  ))

describe("a runtime", () => {
  it.scoped("offers the tools of all servers under names of their own, in a stable order", () =>
    run({ b: [tool("two"), tool("one")], a: [tool("one")] }, () =>
      Effect.gen(function*() {
        const { missing, tools, toolsByName } = yield* (yield* runtime).tools
        assert.deepStrictEqual(tools.map(({ name }) => name), ["mcp__a__one", "mcp__b__one", "mcp__b__two"])
        assert.deepStrictEqual(toolsByName.get("one")?.map(({ serverName }) => serverName), ["a", "b"])
        assert.deepStrictEqual(missing, [])
        assert.isTrue(tools.every(({ _tag }) => _tag === "Ready"))
      })))

  it.scoped("calls a tool by its name, by its identity, and as it was listed", () =>
    run({ a: [tool("one", "done")] }, () =>
      Effect.gen(function*() {
        const service = yield* runtime
        const result = yield* service.callTool("mcp__a__one", { x: 1 })
        assert.deepStrictEqual(text(result), ["done"])
        assert.strictEqual(result.metadata.serverName, "a")
        assert.strictEqual(result.metadata.toolName, "one")
        assert.strictEqual(result.metadata.attempts, 1)
        assert.deepStrictEqual(text(yield* service.callTool({ server: "a", tool: "one" })), ["done"])
        const { tools } = yield* service.tools
        assert.deepStrictEqual(text(yield* tools[0]!.call()), ["done"])
      })))

  it.scoped("describes each tool beside the definition of its server", () =>
    Effect.gen(function*() {
      const described: MemoryServer.Tool = {
        ...tool("one"),
        description: "Says one",
        inputSchema: { type: "object", properties: { loud: { type: "boolean" } } },
        definition: { _meta: { category: "speech", fastmcp: { tags: ["short", 1], version: "2.0" } } }
      }
      yield* run({ a: [described, tool("two")] }, () =>
        Effect.gen(function*() {
          const { tools: [one, two] } = yield* (yield* runtime).tools
          assert.deepInclude(one, {
            name: "mcp__a__one",
            description: "Says one",
            serverName: "a",
            metadata: { category: "speech", tags: ["short"], version: "2.0" }
          })
          assert.deepStrictEqual(one?.inputSchema, one?.tool.inputSchema)
          assert.deepStrictEqual(two?.metadata, { category: undefined, tags: [], version: undefined })
        }))
    }))

  it.scoped("calls a tool by its bare name if one server has it", () =>
    run({ a: [tool("echo", "of a"), tool("add")], b: [tool("add")] }, () =>
      Effect.gen(function*() {
        const service = yield* runtime
        assert.deepStrictEqual(text(yield* service.callTool("echo")), ["of a"])
        assert.strictEqual((yield* service.tool("echo")).name, "mcp__a__echo")
        for (const effect of [service.callTool("add"), service.tool("add")]) {
          assert.deepInclude(yield* Effect.flip<unknown, McpError.McpError, never>(effect), {
            _tag: "NotFound",
            suggestions: ["mcp__a__add", "mcp__b__add"]
          })
        }
      })))

  it.scoped("lists all servers before it takes a bare name as unique", () =>
    run({ a: [tool("add")], b: [tool("add")], c: [tool("only", "of c")] }, () =>
      Effect.gen(function*() {
        const service = yield* runtime
        yield* service.callTool("mcp__a__add")
        assert.strictEqual((yield* Effect.flip(service.callTool("add")))._tag, "NotFound")
        assert.deepStrictEqual(text(yield* service.callTool("only")), ["of c"])
      }), { servers: ["a", "b", "c"].map((name) => Pool.remote(name, { lazy: true })) }))

  it.scoped("says which tool there is not, and which come near", () =>
    run({ a: [tool("list_files")] }, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip((yield* runtime).callTool("mcp__a__list_file"))
        assert.isTrue(
          error._tag === "NotFound" && error.kind === "tool" && error.suggestions?.includes("mcp__a__list_files")
        )
      })))

  it.scoped("offers what others have while one server is away, and says why it is", () =>
    run({ a: [tool("one")], b: [tool("two")] }, () =>
      Effect.gen(function*() {
        const { missing, tools } = yield* (yield* runtime).tools
        assert.deepStrictEqual(tools.map(({ name }) => name), ["mcp__a__one"])
        assert.strictEqual(missing[0]?.server, "b")
        assert.strictEqual(missing[0]?.status._tag, "Reconnecting")
        assert.strictEqual(missing[0]?.error?._tag, "NetworkError")
      }), { before: (peers) => peers["b"]!.refuseConnect(refused) }))

  it.scoped("builds without waiting for any server, and waits for the first attempt when tools are asked for", () =>
    run({ slow: [tool("one")] }, (peers) =>
      Effect.gen(function*() {
        const service = yield* runtime
        assert.strictEqual((yield* service.servers.list)[0]?.status._tag, "Connecting")
        const asked = yield* Effect.fork(service.tools)
        yield* TestClock.adjust("9 seconds")
        assert.isNull(yield* Fiber.poll(asked).pipe(Effect.map((exit) => exit._tag === "Some" ? exit : null)))
        yield* TestClock.adjust("500 millis")
        assert.strictEqual((yield* Fiber.join(asked)).tools.length, 1)
        assert.strictEqual(peers["slow"]!.connections().opened, 1)
      }), { before: (peers) => peers["slow"]!.slowConnect("9500 millis") }))

  it.scoped("wakes a lazy server to learn its tools, and not again to list them", () =>
    run({ a: [tool("one")] }, (peers) =>
      Effect.gen(function*() {
        const service = yield* runtime
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(peers["a"]!.connections().opened, 0)
        assert.strictEqual((yield* service.tools).tools[0]?._tag, "Ready")
        yield* TestClock.adjust("11 minutes")
        const { tools } = yield* service.tools
        assert.strictEqual(tools[0]?._tag, "Deferred")
        assert.strictEqual(peers["a"]!.connections().opened, 1)
        assert.deepStrictEqual(text(yield* tools[0]!.call()), ["one"])
        assert.strictEqual(peers["a"]!.connections().opened, 2)
      }), { servers: [Pool.remote("a", { lazy: true, idleTimeout: "10 minutes" })] }))

  it.scoped("learns new tools when a server says that they have changed", () =>
    run({ a: [tool("one")] }, (peers) =>
      Effect.gen(function*() {
        const service = yield* runtime
        yield* service.tools
        const events = yield* service.subscribe
        yield* peers["a"]!.update({ tools: [tool("one"), tool("two")] })
        yield* untilEvent(events, "ToolsRefreshed")
        assert.deepStrictEqual((yield* service.tools).tools.map(({ name }) => name), ["mcp__a__one", "mcp__a__two"])
      })))

  it.scoped("does not offer what is filtered out, and does not call it either", () =>
    run({ a: [tool("read"), tool("write"), tool("wipe")] }, () =>
      Effect.gen(function*() {
        const service = yield* runtime
        const { tools } = yield* service.tools
        assert.deepStrictEqual(tools.map(({ tool }) => tool.name), ["read"])
        assert.strictEqual((yield* Effect.flip(service.callTool({ server: "a", tool: "write" })))._tag, "NotFound")
        assert.strictEqual((yield* service.servers.get("a")).toolCount, 1)
      }), { servers: [Pool.remote("a", { disabledTools: ["w*"] })] }))

  it.scoped("makes a call again that was certainly not sent, on the next connection", () =>
    run({ a: [tool("one")] }, (peers) =>
      Effect.gen(function*() {
        const service = yield* runtime
        yield* service.tools
        yield* peers["a"]!.drop()
        const call = yield* Effect.fork(service.callTool("mcp__a__one"))
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(text(yield* Fiber.join(call)), ["one"])
        assert.strictEqual(peers["a"]!.executions("one"), 1)
      })))

  it.scoped("never makes a call again whose answer was lost", () =>
    Effect.gen(function*() {
      const began = yield* Deferred.make<void>()
      const stuck: MemoryServer.Tool = {
        name: "stuck",
        annotations: { readOnlyHint: true },
        call: () => Effect.zipRight(Deferred.succeed(began, undefined), Effect.never)
      }
      yield* run({ a: [stuck] }, (peers) =>
        Effect.gen(function*() {
          const service = yield* runtime
          const call = yield* Effect.fork(Effect.flip(service.callTool({ server: "a", tool: "stuck" })))
          yield* Deferred.await(began)
          yield* peers["a"]!.drop()
          const error = yield* Fiber.join(call)
          assert.strictEqual(error.outcome, "unknown")
          yield* TestClock.adjust("1 minute")
          assert.strictEqual(peers["a"]!.executions("stuck"), 1)
        }))
    }))

  it.scoped("makes it again if the server is trusted to know that this does no harm", () =>
    Effect.gen(function*() {
      const began = yield* Deferred.make<void>()
      let times = 0
      const once: MemoryServer.Tool = {
        name: "once",
        annotations: { readOnlyHint: true },
        call: () =>
          times++ > 0 ? Effect.succeed("again") : Effect.zipRight(Deferred.succeed(began, undefined), Effect.never)
      }
      yield* run({ a: [once] }, (peers) =>
        Effect.gen(function*() {
          const service = yield* runtime
          yield* service.tools
          const call = yield* Effect.fork(service.callTool({ server: "a", tool: "once" }))
          yield* Deferred.await(began)
          yield* peers["a"]!.drop()
          yield* TestClock.adjust("5 seconds")
          const result = yield* Fiber.join(call)
          assert.deepStrictEqual(text(result), ["again"])
          assert.strictEqual(result.metadata.attempts, 2)
        }), { servers: [Pool.remote("a", { trusted: true })] })
    }))

  it.scoped("stops asking a server that keeps failing, and says when it may be asked again", () =>
    run({ a: [tool("one")] }, (peers) =>
      Effect.gen(function*() {
        const service = yield* runtime
        const events = yield* service.subscribe
        yield* peers["a"]!.refuseConnect((server) =>
          new McpError.SpawnFailed({ server, errno: "ENOENT", command: "a", detail: "no such file" })
        )
        for (let n = 0; n < 3; n++) {
          const error = yield* Effect.flip(service.callTool({ server: "a", tool: "one" }))
          assert.strictEqual(error._tag, "SpawnFailed")
        }
        const refusedNow = peers["a"]!.connections().refused
        const error = yield* Effect.flip(service.callTool({ server: "a", tool: "one" }))
        assert.strictEqual(error._tag, "CircuitOpen")
        assert.strictEqual(peers["a"]!.connections().refused, refusedNow)
        yield* untilEvent(events, "BreakerChanged")
        assert.strictEqual((yield* service.servers.get("a")).breaker._tag, "Open")
        yield* peers["a"]!.heal
        yield* TestClock.adjust("5 minutes")
        assert.deepStrictEqual(text(yield* service.callTool({ server: "a", tool: "one" })), ["one"])
      }), { servers: [Pool.local("a", { lazy: true })] }))

  it.scoped("lets one call try a server that has come back, however long its circuit would stay open", () =>
    run({ a: [tool("one")] }, (peers) =>
      Effect.gen(function*() {
        const service = yield* runtime
        yield* service.tools
        yield* peers["a"]!.refuseConnect(refused)
        yield* peers["a"]!.drop()
        yield* TestClock.adjust("10 seconds")
        for (let n = 0; n < 3; n++) yield* Effect.flip(service.callTool("mcp__a__one"))
        assert.strictEqual((yield* Effect.flip(service.callTool("mcp__a__one")))._tag, "CircuitOpen")
        yield* peers["a"]!.heal
        yield* TestClock.adjust("3 minutes")
        assert.deepStrictEqual(text(yield* service.callTool("mcp__a__one")), ["one"])
        assert.strictEqual((yield* service.servers.get("a")).breaker._tag, "Closed")
      }), { reconnect: { stormReconnects: 100 } }))

  it.scoped("judges a server that was configured anew by what it does then", () =>
    run({ a: [tool("one")] }, (peers) =>
      Effect.gen(function*() {
        const service = yield* runtime
        for (let n = 0; n < 3; n++) yield* Effect.flip(service.callTool({ server: "a", tool: "one" }))
        assert.strictEqual((yield* service.servers.get("a")).breaker._tag, "Open")
        yield* peers["a"]!.heal
        yield* service.servers.reload([Pool.local("a", { args: ["--other"] })])
        assert.deepStrictEqual(text(yield* service.callTool({ server: "a", tool: "one" })), ["one"])
      }), {
      servers: [Pool.local("a", { lazy: true })],
      before: (peers) =>
        peers["a"]!.refuseConnect((server) =>
          new McpError.SpawnFailed({ server, errno: "ENOENT", command: "a", detail: "no such file" })
        )
    }))

  it.scoped("keeps a server isolated over a reload, and says that time does not help", () =>
    run({ a: [tool("one")] }, () =>
      Effect.gen(function*() {
        const service = yield* runtime
        yield* service.tools
        yield* service.servers.isolate("a")
        yield* service.servers.reload([Pool.remote("a", { title: "A" })])
        const error = yield* Effect.flip(service.callTool("mcp__a__one"))
        assert.isTrue(error._tag === "CircuitOpen" && error.isolated && !error.isRetryable)
        yield* service.servers.resetBreaker("a")
        assert.deepStrictEqual(text(yield* service.callTool("mcp__a__one")), ["one"])
      })))

  it.scoped("keeps a server isolated that one reload removes and another adds again", () =>
    run({ a: [tool("one")] }, () =>
      Effect.gen(function*() {
        const service = yield* runtime
        yield* service.tools
        yield* service.servers.isolate("a")
        yield* service.servers.reload([])
        assert.strictEqual((yield* Effect.flip(service.servers.resetBreaker("a")))._tag, "NotFound")
        yield* service.servers.reload([Pool.remote("a", { title: "A" })])
        const error = yield* Effect.flip(service.callTool("mcp__a__one"))
        assert.isTrue(error._tag === "CircuitOpen" && error.isolated)
        assert.deepStrictEqual((yield* service.servers.get("a")).breaker, { _tag: "Isolated" })
        yield* service.servers.resetBreaker("a")
        assert.deepStrictEqual(text(yield* service.callTool("mcp__a__one")), ["one"])
      })))

  it.scoped("says why a required server is not there, and not only that time is up", () =>
    Effect.gen(function*() {
      const peers = yield* servers({ a: [] })
      yield* peers["a"]!.refuseConnect(refused)
      const built = yield* Effect.fork(Effect.flip(Effect.scoped(Layer.build(Runtime.layer(peers, {
        servers: [Pool.remote("a", { required: true })],
        requiredTimeout: "2 seconds",
        reconnect: { schedule: Schedule.spaced("1 second") }
      })))))
      yield* TestClock.adjust("2 seconds")
      assert.include((yield* Fiber.join(built)).message, "ECONNREFUSED")
    }))

  it.scoped("cancels a call at the server when its caller is interrupted, and keeps the connection", () =>
    Effect.gen(function*() {
      const cancelled = yield* Deferred.make<void>()
      const stuck: MemoryServer.Tool = {
        name: "stuck",
        call: (_, { cancelled: told }) => Effect.as(Effect.zipRight(told, Deferred.succeed(cancelled, undefined)), "x")
      }
      yield* run({ a: [stuck, tool("one")] }, (peers) =>
        Effect.gen(function*() {
          const service = yield* runtime
          const call = yield* Effect.fork(service.callTool({ server: "a", tool: "stuck" }))
          yield* peers["a"]!.until(() => peers["a"]!.executions("stuck") === 1)
          assert.strictEqual((yield* service.servers.get("a")).callsInFlight, 1)
          yield* Fiber.interrupt(call)
          yield* Deferred.await(cancelled)
          assert.strictEqual((yield* service.servers.get("a")).callsInFlight, 0)
          assert.deepStrictEqual(text(yield* service.callTool("mcp__a__one")), ["one"])
          assert.strictEqual(peers["a"]!.connections().opened, 1)
        }))
    }))

  it.scoped("bounds the wait for a server that does not come", () =>
    run({ a: [tool("one")] }, () =>
      Effect.gen(function*() {
        const service = yield* runtime
        const call = yield* Effect.fork(Effect.flip(
          service.callTool({ server: "a", tool: "one" }, {}, { totalTimeout: "3 seconds" })
        ))
        yield* TestClock.adjust("3 seconds")
        const error = yield* Fiber.join(call)
        assert.isTrue(error._tag === "RequestTimeout" && error.kind === "total" && error.outcome === "not-sent")
      }), { before: (peers) => peers["a"]!.slowConnect("10 seconds") }))

  it.scoped("tells of a call from its begin to its end, and that it still runs", () =>
    Effect.gen(function*() {
      const slow: MemoryServer.Tool = {
        name: "slow",
        call: (_, { progress }) => Effect.as(Effect.zipRight(progress(1, 2), Effect.sleep("70 seconds")), "done")
      }
      yield* run({ a: [slow] }, (peers) =>
        Effect.gen(function*() {
          const service = yield* runtime
          yield* service.tools
          const events = yield* service.subscribe
          const call = yield* Effect.fork(service.callTool("mcp__a__slow", {}, { callId: "mine" }))
          yield* peers["a"]!.until(() => peers["a"]!.executions("slow") === 1)
          yield* TestClock.adjust("71 seconds")
          yield* Fiber.join(call)
          const told = Chunk.toArray(yield* events.clear).filter((event) => "callId" in event)
          assert.deepStrictEqual(told.map(({ _tag }) => _tag), [
            "CallBegan",
            "CallProgress",
            "CallRunning",
            "CallRunning",
            "CallEnded"
          ])
          assert.isTrue(told.every((event) => "callId" in event && event.callId === "mine"))
        }))
    }))

  it.scoped("publishes at most 100 CallProgress of a call in a second, and gives its caller all", () =>
    Effect.gen(function*() {
      const floods: MemoryServer.Tool = {
        name: "floods",
        call: (_, { progress }) =>
          Effect.as(Effect.forEach(Array.from({ length: 500 }), (_, step) => progress(step), { discard: true }), "done")
      }
      yield* run({ a: [floods] }, () =>
        Effect.gen(function*() {
          const service = yield* runtime
          yield* service.tools
          const events = yield* service.subscribe
          let seen = 0
          yield* service.callTool("mcp__a__floods", {}, { onProgress: () => void seen++ })
          const published = Chunk.filter(yield* events.clear, ({ _tag }) => _tag === "CallProgress")
          assert.deepStrictEqual([seen, published.length], [500, 100])
        }))
    }))

  it.scoped("reports a running call every 25 ms with a progressInterval of zero", () =>
    run(
      { a: [{ name: "slow", call: () => Effect.as(Effect.sleep("1 second"), "done") }] },
      () =>
        Effect.gen(function*() {
          const service = yield* runtime
          yield* service.tools
          const events = yield* service.subscribe
          const call = yield* Effect.fork(service.callTool("mcp__a__slow"))
          yield* TestClock.adjust("1 second")
          yield* Fiber.join(call)
          const running = Chunk.filter(yield* events.clear, ({ _tag }) => _tag === "CallRunning")
          assert.isAtLeast(running.length, 30)
          assert.isAtMost(running.length, 40)
        }),
      { progressInterval: 0 }
    ))

  it.scoped("says in CallEnded whether the call is an error, and how it ended", () =>
    Effect.gen(function*() {
      const broken: MemoryServer.Tool = {
        name: "broken",
        call: () => Effect.succeed({ isError: true, content: [{ type: "text", text: "no such city" }] })
      }
      const refusing: MemoryServer.Tool = {
        name: "refusing",
        call: () => Effect.fail(new Refused({ code: -32602, message: "bad arguments" }))
      }
      yield* run({ a: [tool("good"), broken, refusing] }, () =>
        Effect.gen(function*() {
          const service = yield* runtime
          yield* service.tools
          const events = yield* service.subscribe
          yield* service.callTool("good")
          const result = yield* service.callTool("broken")
          yield* Effect.flip(service.callTool("refusing"))
          const ends = Chunk.toArray(yield* events.clear).flatMap((event) =>
            event._tag === "CallEnded" ? [[event.tool, event.isError, event.outcome]] : []
          )
          assert.deepStrictEqual(ends, [
            ["good", false, "Success"],
            ["broken", true, "ToolError"],
            ["refusing", true, "RemoteError"]
          ])
          const error = yield* Effect.flip(ToolResult.orFail(result))
          assert.deepInclude(error, { _tag: "ToolError", server: "a", tool: "broken", detail: "no such city" })
        }))
    }))

  it.scoped("gives progress and the result as a stream", () =>
    Effect.gen(function*() {
      const steps: MemoryServer.Tool = {
        name: "steps",
        call: (_, { progress }) => Effect.as(Effect.zipRight(progress(1), progress(2)), "done")
      }
      yield* run({ a: [steps] }, () =>
        Effect.gen(function*() {
          const events = yield* Stream.runCollect((yield* runtime).callToolStream("mcp__a__steps"))
          assert.deepStrictEqual(Chunk.toArray(events).map(({ _tag }) => _tag), ["Progress", "Progress", "Result"])
        }))
    }))

  it.scoped("refuses to begin without the servers that are required, and names all of them", () =>
    Effect.gen(function*() {
      const peers = yield* servers({ a: [], b: [], c: [] })
      for (const name of ["a", "b"]) {
        yield* peers[name]!.refuseConnect((server) =>
          new McpError.SpawnFailed({ server, errno: "ENOENT", command: server, detail: "no such file" })
        )
      }
      const error = yield* Effect.flip(Effect.scoped(Layer.build(Runtime.layer(peers, {
        servers: [
          Pool.local("a", { required: true }),
          Pool.local("b", { required: true }),
          Pool.local("c", { required: true })
        ]
      }))))
      assert(error._tag === "RequiredServersFailed")
      assert.deepStrictEqual(error.failures.map(({ server }) => server), ["a", "b"])
      assert.include(error.message, "ENOENT")
    }))

  it.scoped("refuses to begin with a required server that is blocked, and says why", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.scoped(Layer.build(Runtime.layer(yield* servers({ a: [] }), {
        servers: [Pool.remote("a", { required: true, blocked: "untrusted" })]
      }))))
      assert(error._tag === "RequiredServersFailed")
      assert.deepInclude(error.failures[0]?.error, { _tag: "ServerUnavailable", why: "untrusted" })
      assert.include(error.message, "approve it first")
    }))

  it.scoped("shows nothing of a blocked server but that it is blocked, whatever is known of it", () =>
    run({ a: [tool("one")], b: [tool("two")] }, (peers) =>
      Effect.gen(function*() {
        const service = yield* runtime
        assert.strictEqual((yield* service.tools).tools.length, 2)
        yield* service.servers.reload([Pool.remote("a", { blocked: "untrusted" }), Pool.remote("b")])
        const { missing, tools } = yield* service.tools
        assert.deepStrictEqual(tools.map(({ name }) => name), ["mcp__b__two"])
        assert.deepStrictEqual(missing.map(({ server, status }) => ({ server, ...status })), [
          { server: "a", _tag: "Blocked", why: "untrusted" }
        ])
        const info = yield* service.servers.get("a")
        assert.deepInclude(info, { toolCount: undefined, instructions: undefined, serverInfo: undefined })
        const unknown = yield* Effect.flip(service.callTool("mcp__a__one"))
        assert.isTrue(unknown._tag === "NotFound" && !unknown.suggestions?.some((name) => name.includes("one")))
        const refused = yield* Effect.flip(service.callTool({ server: "a", tool: "one" }))
        assert.deepInclude(refused, { _tag: "ServerUnavailable", why: "untrusted" })
        assert.strictEqual((yield* service.resources).missing[0]?.server, "a")
        yield* service.servers.reload([Pool.remote("a"), Pool.remote("b")])
        assert.strictEqual((yield* service.tools).tools.length, 2)
        assert.strictEqual(peers["a"]!.connections().opened, 2)
      })))

  it.scoped("tells a call that was cut off that its server was blocked, and does not make it again", () =>
    Effect.gen(function*() {
      const stuck: MemoryServer.Tool = {
        name: "stuck",
        annotations: { readOnlyHint: true },
        call: () => Effect.never
      }
      yield* run({ a: [stuck] }, (peers) =>
        Effect.gen(function*() {
          const service = yield* runtime
          const call = yield* Effect.fork(Effect.flip(service.callTool({ server: "a", tool: "stuck" })))
          yield* peers["a"]!.until(() => peers["a"]!.executions("stuck") === 1)
          yield* service.servers.reload([Pool.remote("a", { blocked: "denied" })])
          const error = yield* Fiber.join(call)
          assert.deepInclude(error, { _tag: "Closed", blocked: "denied", outcome: "unknown" })
          assert.include(error.message, "blocked (denied)")
          assert.strictEqual(peers["a"]!.executions("stuck"), 1)
        }), { servers: [Pool.remote("a", { trusted: true })] })
    }))

  it.scoped("gives resources, templates and prompts of all servers, and reads them", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({
        era: "session",
        resources: [{ uri: "mem:///a", name: "a", read: () => Effect.succeed("text") }],
        templates: [{ uriTemplate: "mem:///{x}", name: "t", read: (uri) => Effect.succeed(uri) }],
        prompts: [{ name: "p", get: () => Effect.succeed("hello") }]
      })
      const bare = yield* MemoryServer.make({ era: "session", tools: [] })
      yield* Effect.gen(function*() {
        const service = yield* runtime
        const { items, missing } = yield* service.resources
        assert.deepStrictEqual(items.map(({ server, uri }) => `${server} ${uri}`), ["a mem:///a"])
        assert.deepStrictEqual(missing, [])
        assert.deepStrictEqual((yield* service.resourceTemplates).items.map(({ uriTemplate }) => uriTemplate), [
          "mem:///{x}"
        ])
        assert.deepStrictEqual((yield* service.prompts).items.map(({ name, server }) => `${server} ${name}`), ["a p"])
        const [contents] = yield* service.readResource("a", "mem:///a")
        assert.isTrue(contents?._tag === "Text" && contents.text === "text")
        assert.strictEqual((yield* service.getPrompt("a", "p")).messages.length, 1)
      }).pipe(Effect.provide(
        Runtime.layer({ a: peer, b: bare }, { servers: [Pool.remote("a"), Pool.remote("b")] })
      ))
    }))

  it.scoped("tells the state of the sandbox each time that it is given, even in the same object", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({
        era: "session",
        capabilities: { tools: {}, experimental: { "codex/sandbox-state": {} } }
      })
      const method = "codex/sandbox-state/update"
      yield* Effect.gen(function*() {
        const service = yield* runtime
        yield* Pool.until("a", "Connected")
        const state = { sandboxPolicy: "read-only" }
        yield* service.notifySandboxState(state)
        yield* peer.until(() => peer.received(method).length === 1)
        state.sandboxPolicy = "none"
        yield* service.notifySandboxState(state)
        yield* peer.until(() => peer.received(method).length === 2)
        assert.deepStrictEqual(peer.received(method)[1]?.["params"], { sandboxPolicy: "none" })
      }).pipe(Effect.provide(Runtime.layer({ a: peer }, { servers: [Pool.remote("a")] })))
    }))

  it.scoped("tells the state of the sandbox to those that want it, now and after a reconnect", () =>
    Effect.gen(function*() {
      const wants = yield* MemoryServer.make({
        era: "session",
        capabilities: { tools: {}, experimental: { "codex/sandbox-state": {} } }
      })
      const other = yield* MemoryServer.make({ era: "session" })
      const method = "codex/sandbox-state/update"
      yield* Effect.gen(function*() {
        const service = yield* runtime
        yield* Pool.until("a", "Connected")
        yield* Pool.until("b", "Connected")
        yield* service.notifySandboxState({ sandboxPolicy: "read-only" })
        yield* wants.until(() => wants.received(method).length === 1)
        yield* service.servers.reconnect("a")
        yield* wants.until(() => wants.received(method).length === 2)
        assert.deepStrictEqual(wants.received(method)[1]?.["params"], { sandboxPolicy: "read-only" })
        assert.strictEqual(other.received(method).length, 0)
      }).pipe(Effect.provide(
        Runtime.layer({ a: wants, b: other }, { servers: [Pool.remote("a"), Pool.remote("b")] })
      ))
    }))

  it.scoped("reloads its servers, and its tools with them", () =>
    run({ a: [tool("one")], b: [tool("two")] }, () =>
      Effect.gen(function*() {
        const service = yield* runtime
        assert.deepStrictEqual((yield* service.tools).tools.map(({ name }) => name), ["mcp__a__one"])
        const report = yield* service.servers.reload([Pool.remote("b")])
        assert.deepStrictEqual([report.added, report.removed], [["b"], ["a"]])
        assert.deepStrictEqual((yield* service.tools).tools.map(({ name }) => name), ["mcp__b__two"])
        assert.strictEqual((yield* Effect.flip(service.callTool({ server: "a", tool: "one" })))._tag, "NotFound")
      }), { servers: [Pool.remote("a")] }))

  it.scoped("counts a server as ready once its tools are listed, and as failed with the error of the list (C17)", () =>
    Effect.gen(function*() {
      const answer = yield* Deferred.make<void>()
      const good = yield* MemoryServer.make({ era: "session", tools: [tool("one")] })
      const broken = yield* MemoryServer.make({
        era: "session",
        capabilities: { tools: {} },
        methods: {
          "tools/list": () =>
            Effect.zipRight(
              Deferred.await(answer),
              Effect.fail(new MemoryServer.Refused({ code: -32603, message: "out of order" }))
            )
        }
      })
      yield* Effect.gen(function*() {
        const events = yield* (yield* runtime).subscribe
        yield* TestClock.adjust("1 second")
        const before = Chunk.toArray(yield* events.clear)
        assert.isTrue(before.some((event) => event._tag === "Connected" && event.server === "broken"))
        assert.isFalse(before.some((event) => event._tag === "StartupComplete"))
        yield* Deferred.succeed(answer, undefined)
        yield* TestClock.adjust("1 second")
        const after = Chunk.toArray(yield* events.clear)
        const complete = after.find((event) => event._tag === "StartupComplete")
        assert.deepStrictEqual(complete?.ready, ["good"])
        assert.deepStrictEqual(complete?.failed.map(({ error, server }) => [server, error._tag]), [[
          "broken",
          "RemoteError"
        ]])
        const failed = after.findIndex((event) => event._tag === "ListFailed" && event.list === "tools")
        assert.isBelow(failed, after.findIndex((event) => event._tag === "StartupUpdate" && event.server === "broken"))
      }).pipe(Effect.provide(
        Runtime.layer({ good, broken }, { servers: [Pool.remote("good"), Pool.remote("broken")] })
      ))
    }))

  it.scoped("tells how the start goes and when it is over", () =>
    run({ a: [], b: [] }, () =>
      Effect.gen(function*() {
        const events = yield* (yield* runtime).subscribe
        yield* TestClock.adjust("4 seconds")
        const told = Chunk.toArray(yield* events.clear).filter(({ _tag }) => _tag.startsWith("Startup"))
        assert.deepStrictEqual(told.map(({ _tag }) => _tag), ["StartupUpdate", "StartupUpdate", "StartupComplete"])
        assert.deepStrictEqual(told.flatMap((event) => event._tag === "StartupUpdate" ? [event.status._tag] : []), [
          "Connected",
          "Reconnecting"
        ])
        const complete = told[2]!
        assert.isTrue(complete._tag === "StartupComplete" && complete.ready[0] === "a")
        assert.isTrue(complete._tag === "StartupComplete" && complete.failed[0]?.error._tag === "NetworkError")
      }), {
      before: (peers) =>
        Effect.zipRight(
          peers["a"]!.slowConnect("2 seconds"),
          Effect.zipRight(peers["b"]!.slowConnect("3 seconds"), peers["b"]!.refuseConnect(refused))
        )
    }))

  it.scoped("keeps a subscription over a reconnect", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({
        era: "session",
        resources: [{ uri: "mem:///a", name: "a", read: () => Effect.succeed("text") }]
      })
      yield* Effect.gen(function*() {
        const service = yield* runtime
        const signals = yield* Queue.unbounded<void>()
        yield* Effect.forkScoped(
          Stream.runForEach(service.subscribeResource("a", "mem:///a"), () => Queue.offer(signals, undefined))
        )
        yield* peer.until(() => peer.received("resources/subscribe").length === 1)
        yield* TestClock.adjust("1 millis")
        yield* peer.resourceUpdated("mem:///a")
        yield* Queue.take(signals)
        yield* peer.drop()
        yield* TestClock.adjust("1 second")
        yield* Queue.take(signals)
        yield* peer.until(() => peer.received("resources/subscribe").length === 2)
        yield* TestClock.adjust("1 millis")
        yield* peer.resourceUpdated("mem:///a")
        yield* Queue.take(signals)
      }).pipe(Effect.provide(Runtime.layer({ a: peer }, { servers: [Pool.remote("a")] })))
    }))

  it.scoped("shows every server with what is known of it", () =>
    run({ a: [tool("one")] }, () =>
      Effect.gen(function*() {
        const service = yield* runtime
        yield* service.tools
        const info = yield* service.servers.get("a")
        assert.strictEqual(info.status._tag, "Connected")
        assert.strictEqual(info.toolCount, 1)
        assert.strictEqual(info.era, "session")
        assert.strictEqual(info.breaker._tag, "Closed")
        assert.strictEqual((yield* Effect.flip(service.servers.get("z")))._tag, "NotFound")
      })))

  it.scoped("shows all servers anew whenever one changes", () =>
    run({ a: [tool("one")] }, (peers) =>
      Effect.gen(function*() {
        const service = yield* runtime
        yield* service.tools
        const seen = yield* Queue.unbounded<string | undefined>()
        yield* Effect.forkScoped(
          Stream.runForEach(service.servers.changes, ([info]) => Queue.offer(seen, info?.status._tag))
        )
        assert.strictEqual(yield* Queue.take(seen), "Connected")
        yield* peers["a"]!.drop()
        assert.strictEqual(yield* Queue.take(seen), "Reconnecting")
      })))
})

const untilEvent = (events: Mailbox.ReadonlyMailbox<Pool.McpEvent.McpEvent>, tag: string) =>
  Effect.orDie(Effect.repeat(events.take, { until: ({ _tag }) => _tag === tag }))
