/** Every concern of `NodeMcpRuntime` takes effect when it is provided, and runtimes share nothing else. */
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Context, Duration, Effect, Layer, ManagedRuntime, type Scope, Stream } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Credentials from "../../src/auth/Credentials.ts"
import * as Connector from "../../src/client/Connector.ts"
import * as McpClient from "../../src/client/McpClient.ts"
import * as ConfigDiscovery from "../../src/config/ConfigDiscovery.ts"
import * as Limits from "../../src/config/Limits.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpError from "../../src/McpError.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeAgent from "../../src/node/NodeAgent.ts"
import * as NodeConnector from "../../src/node/NodeConnector.ts"
import * as NodeMcpRuntime from "../../src/node/NodeMcpRuntime.ts"
import * as NodeMcpServe from "../../src/node/NodeMcpServe.ts"
import * as Bulkhead from "../../src/resilience/Bulkhead.ts"
import * as CircuitBreaker from "../../src/resilience/CircuitBreaker.ts"
import * as ReconnectPolicy from "../../src/resilience/ReconnectPolicy.ts"
import * as Teardown from "../../src/resilience/Teardown.ts"
import * as Approval from "../../src/safety/Approval.ts"
import * as OutputGuard from "../../src/safety/OutputGuard.ts"
import * as Permissions from "../../src/safety/Permissions.ts"
import * as McpServe from "../../src/server/McpServe.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as ToolCache from "../../src/tools/ToolCache.ts"
import * as ToolPins from "../../src/tools/ToolPins.ts"
import * as DockerGateway from "../../src/transport/DockerGateway.ts"
import * as HttpTransport from "../../src/transport/HttpTransport.ts"
import * as LegacySseTransport from "../../src/transport/LegacySseTransport.ts"
import * as RemoteHeaders from "../../src/transport/RemoteHeaders.ts"
import * as StdioTransport from "../../src/transport/StdioTransport.ts"
import * as Transport from "../../src/transport/Transport.ts"
import * as WebSocketTransport from "../../src/transport/WebSocketTransport.ts"
import * as Configs from "../support/configs.ts"
import * as FakeConnection from "../support/fakeConnection.ts"
import * as Pool from "../support/pool.ts"

const options = { servers: [Pool.remote("a")], cacheDirectory: "memory", logs: false }
const echo: MemoryServer.Tool = { name: "echo", call: () => Effect.succeed("from memory") }
const hang: MemoryServer.Tool = { name: "hang", call: () => Effect.never }
const { using } = NodeMcpRuntime

const server = MemoryServer.make({ era: "session", tools: [echo, hang] })

const tools = Effect.flatMap(McpRuntime.McpRuntime, (mcp) => mcp.tools)
const namesOf = ({ tools }: McpRuntime.Tools) => tools.map(({ name }) => name)

const calling = (tool: string, more?: McpRuntime.CallOptions) =>
  Effect.flatMap(McpRuntime.McpRuntime, (mcp) => mcp.callTool({ server: "a", tool }, {}, more))

/** An application with two runtimes has them under tags of its own. */
class First extends Context.Tag("test/First")<First, McpRuntime.McpRuntime["Type"]>() {}
class Second extends Context.Tag("test/Second")<Second, McpRuntime.McpRuntime["Type"]>() {}

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "mcp-using-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const environment = (variables: Readonly<Record<string, string>>) =>
  Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables))))

/** The credentials of an application that has logged in elsewhere. */
const loggedIn: Credentials.Credentials["Type"] = {
  where: Effect.succeed("the application"),
  resolve: () => Effect.succeed(RemoteHeaders.constant(new Map())),
  authorize: () => Effect.void,
  onCall: () => Effect.succeed(false),
  logout: () => Effect.succeed({ revoked: false, error: undefined }),
  status: () =>
    Effect.succeed({ _tag: "LoggedIn", issuer: "app", scope: undefined, expiresAt: undefined, renewable: false })
}

describe("NodeMcpRuntime.using", () => {
  it.scopedLive("provides a configuration source", () =>
    Effect.gen(function*() {
      const directory = yield* folder
      const layer = NodeMcpRuntime.layerConfigured({
        cacheDirectory: "memory",
        logs: false,
        trust: { directory },
        config: { directory, root: directory, home: directory }
      }).pipe(
        using(ConfigDiscovery.layerStatic([Pool.remote("a")])),
        using(MemoryTransport.layer({ a: yield* server }))
      )
      assert.include(namesOf(yield* Effect.provide(tools, layer)), "mcp__a__echo")
    }))

  it.scopedLive("provides each single transport", () =>
    Effect.gen(function*() {
      const peer = yield* server
      const memory = yield* Effect.provide(Transport.Transports, MemoryTransport.layer({ a: peer }))
      const { open } = memory
      const url = "http://127.0.0.1:9/mcp"
      const over = (config: ServerConfig.ServerConfig) => NodeMcpRuntime.layer({ ...options, servers: [config] })
      const layers = {
        stdio: over(Pool.local("a")).pipe(using(Layer.succeed(StdioTransport.StdioTransport, { open }))),
        docker: over(Configs.docker({ name: "a" })).pipe(
          using(Layer.effect(
            DockerGateway.DockerGateway,
            Effect.map(DockerGateway.make(), (usual) => ({ ...usual, open }))
          )),
          using(Layer.succeed(StdioTransport.StdioTransport, { open })),
          using(Teardown.layer())
        ),
        http: over(Configs.http({ name: "a", url })).pipe(
          using(Layer.succeed(HttpTransport.HttpTransport, { open }))
        ),
        sse: over(Configs.sse({ name: "a", url })).pipe(
          using(Layer.succeed(LegacySseTransport.LegacySseTransport, { open }))
        ),
        ws: over(Configs.ws({ name: "a", url: "ws://127.0.0.1:9" })).pipe(
          using(Layer.succeed(WebSocketTransport.WebSocketTransport, { open }))
        )
      }
      for (const [kind, layer] of Object.entries(layers)) {
        assert.include(namesOf(yield* Effect.provide(tools, layer)), "mcp__a__echo", kind)
      }
    }))

  it.live("provides all transports, a reconnect policy and a teardown, to all that need them", () =>
    Effect.gen(function*() {
      const peer = yield* server
      const teardown = yield* Teardown.make()
      const replaced = Layer.mergeAll(
        MemoryTransport.layer({ a: peer }),
        ReconnectPolicy.layerNone,
        Layer.succeed(Teardown.Teardown, teardown)
      )
      yield* Effect.gen(function*() {
        const mcp = yield* McpRuntime.McpRuntime
        assert.include(namesOf(yield* mcp.tools), "mcp__a__echo")
        yield* peer.drop()
        // nothing is reconnected but on demand
        yield* Stream.runHead(Stream.filter(mcp.servers.changes, ([info]) => info?.status._tag === "Failed"))
        assert.strictEqual((yield* mcp.callTool({ server: "a", tool: "echo" })).metadata.attempts, 1)
      }).pipe(Effect.provide(NodeMcpRuntime.layer(options).pipe(using(replaced))))
      assert.strictEqual(peer.connections().open, 0)
      assert.deepStrictEqual((yield* teardown.report).servers.map(({ server }) => server), ["a", "a"])
    }))

  it.scopedLive("provides a connector and a circuit breaker", () =>
    Effect.gen(function*() {
      const lost = new McpError.NetworkError({ server: "a", code: "ECONNRESET", detail: "reset", outcome: "unknown" })
      const channel = yield* FakeConnection.make({
        answers: {
          "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
          "tools/call": () => Effect.fail(lost)
        }
      })
      const client = yield* McpClient.make(channel)
      const layer = NodeMcpRuntime.layer(options).pipe(
        using(Layer.succeed(Connector.Connector, { connect: () => Effect.succeed(client) })),
        using(CircuitBreaker.layer({ failures: 1 }))
      )
      const breaker = yield* Effect.gen(function*() {
        yield* Effect.flip(calling("echo"))
        return (yield* Effect.flatMap(McpRuntime.McpRuntime, (mcp) => mcp.servers.get("a"))).breaker
      }).pipe(Effect.provide(layer))
      assert.strictEqual(breaker._tag, "Open")
    }))

  it.live("provides the connector over the SDK, on the transports of the application", () =>
    Effect.gen(function*() {
      const layer = NodeMcpRuntime.layer(options).pipe(
        using(NodeConnector.layerSdk()),
        using(MemoryTransport.layer({ a: yield* server }))
      )
      assert.include(namesOf(yield* Effect.provide(tools, layer)), "mcp__a__echo")
    }))

  it.live("provides a connector whose connections have the credentials of the runtime", () =>
    Effect.gen(function*() {
      for (const connector of [NodeConnector.layer(), NodeConnector.layerSdk()]) {
        const asked: Array<string> = []
        const resolve: Credentials.Credentials["Type"]["resolve"] = (config) => {
          asked.push(config.name)
          return loggedIn.resolve(config)
        }
        const refused = Configs.http({ name: "a", url: "http://127.0.0.1:9/mcp" })
        const layer = NodeMcpRuntime.layer({ ...options, servers: [refused] }).pipe(
          using(Layer.succeed(Credentials.Credentials, { ...loggedIn, resolve })),
          using(ReconnectPolicy.layerNone),
          using(connector)
        )
        yield* Effect.provide(tools, layer)
        assert.include(asked, "a")
      }
    }))

  it.live("provides a tool cache with its store and its event bus", () =>
    Effect.gen(function*() {
      const store = Context.get(yield* Layer.build(KeyValueStore.layerMemory), KeyValueStore.KeyValueStore)
      const cache = ToolCache.layerPersisted().pipe(
        Layer.provide(Layer.succeed(KeyValueStore.KeyValueStore, store))
      )
      const layer = NodeMcpRuntime.layer(options).pipe(
        using(MemoryTransport.layer({ a: yield* server })),
        using(cache),
        using(McpEvent.layer)
      )
      yield* Effect.provide(tools, layer)
      assert.isAbove(yield* store.size, 0)
    }).pipe(Effect.scoped))

  it.live("provides an approval, with what it needs of the application", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      class Dialog extends Context.Tag("test/Dialog")<Dialog, (tool: string) => Approval.Answer>() {}
      const dialogs = Layer.effect(
        Approval.Approval,
        Effect.map(Dialog, (dialog) => ({ ask: ({ subject }) => Effect.sync(() => dialog(subject.name)) }))
      )
      const layer: Layer.Layer<NodeMcpRuntime.Services, NodeMcpRuntime.Failure, Dialog> = NodeMcpRuntime.layer(options)
        .pipe(using(dialogs), using(MemoryTransport.layer({ a: yield* server })))
      const result = yield* calling("echo", { origin: "model" }).pipe(
        Effect.provide(layer),
        Effect.provideService(Dialog, (tool) => {
          asked.push(tool)
          return { _tag: "Once" }
        })
      )
      assert.isFalse(result.isError)
      assert.deepStrictEqual(asked, ["echo"])
    }))

  it.live("provides plain settings", () =>
    Effect.gen(function*() {
      const layer = NodeMcpRuntime.layer({ ...options, bulkhead: { concurrency: 64 } }).pipe(
        using(
          Layer.merge(
            Bulkhead.layer({ concurrency: 1, queue: 0 }),
            Limits.layer({ requestTimeout: Duration.millis(100) })
          )
        ),
        using(MemoryTransport.layer({ a: yield* server }))
      )
      const errors = yield* Effect.all(Array.from({ length: 2 }, () => Effect.flip(calling("hang"))), {
        concurrency: "unbounded"
      }).pipe(Effect.provide(layer))
      assert.sameMembers(errors.map(({ _tag }) => _tag), ["Overloaded", "RequestTimeout"])
    }))

  it.live("fails with the error of a layer that fails", () =>
    Effect.gen(function*() {
      const breaker = Layer.unwrapEffect(
        Effect.map(Config.integer("FAILURES"), (failures) => CircuitBreaker.layer({ failures }))
      )
      const error = yield* Effect.flip(Effect.scoped(Layer.build(NodeMcpRuntime.layer(options).pipe(using(breaker)))))
      assert.isFalse(McpError.isMcpError(error))
      assert.isTrue("_op" in error && error._op === "InvalidData")
    }).pipe(environment({ FAILURES: "many" })))

  it.live("reaches `discover` through its environment", () =>
    Effect.scoped(Effect.gen(function*() {
      const peer = yield* server
      const { missing, runtime, tools } = yield* NodeMcpRuntime.discover({
        ...options,
        servers: [Pool.remote("a"), Pool.remote("gone")]
      }).pipe(Effect.provide(MemoryTransport.layer({ a: peer })))
      assert.include(tools.map(({ name }) => name), "mcp__a__echo")
      assert.deepStrictEqual(missing.map(({ server }) => server), ["gone"])
      assert.strictEqual((yield* runtime.callTool({ server: "a", tool: "echo" })).isError, false)
    })))
})

describe("the environment settings", () => {
  const limit = (layer: Layer.Layer<NodeMcpRuntime.Services, NodeMcpRuntime.Failure>) =>
    Effect.flip(calling("hang")).pipe(
      Effect.map((error) => error._tag === "RequestTimeout" ? Duration.toMillis(error.limit) : Infinity),
      Effect.provide(layer)
    )

  it.live("hold without a layer, and where the application provides no limits", () =>
    Effect.gen(function*() {
      const layer = NodeMcpRuntime.layer(options).pipe(using(MemoryTransport.layer({ a: yield* server })))
      // the error says what was left of the limit
      assert.isAtMost(yield* limit(layer), 1_000)
      assert.isAtMost(yield* limit(Layer.provide(layer, Limits.layer({ toolTimeout: Duration.millis(50) }))), 50)
    }).pipe(environment({ MCP_TOOL_TIMEOUT: "1000" })))

  it.live("are an error of configuration where they cannot be read", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.scoped(Layer.build(NodeMcpRuntime.layer(options))))
      assert.strictEqual(error._tag, "ConfigurationError")
      assert.isTrue("path" in error && error.path === "MCP_TIMEOUT")
    }).pipe(environment({ MCP_TIMEOUT: "soon" })))

  it.scopedLive("bound the output of an agent and of a gateway", () =>
    Effect.gen(function*() {
      const long = { content: [{ _tag: "Text", text: "x".repeat(10_000), raw: {} }], isError: false } as const
      const runtime = NodeMcpRuntime.layer({ ...options, servers: [] })
      const agent = Layer.provide(NodeAgent.layer({ output: { spill: false } }), runtime)
      const render = Effect.flatMap(OutputGuard.OutputGuard, (guard) =>
        guard.render({ ...long, structuredContent: undefined }, { server: "a", tool: "echo" }))
      const length = <E>(layer: Layer.Layer<OutputGuard.OutputGuard, E>) =>
        Effect.map(Effect.provide(render, layer), ({ text }) =>
          text.length)
      assert.isBelow(yield* length(agent), 2_000)
      assert.isBelow(yield* length(NodeMcpServe.layerGuards({ output: { spill: false } })), 2_000)
    }).pipe(environment({ MCP_MAX_RESULT_CHARS: "1000" })))
})

describe("runtimes of one application", () => {
  it.scopedLive("have teardowns, breakers and events of their own, with different policies and with none", () =>
    Effect.gen(function*() {
      const [a, b] = [yield* server, yield* server]
      const context = yield* Layer.build(Layer.merge(
        Layer.effect(First, McpRuntime.McpRuntime).pipe(
          Layer.provide(
            NodeMcpRuntime.layer(options).pipe(using(MemoryTransport.layer({ a })), using(ReconnectPolicy.layerNone))
          )
        ),
        Layer.effect(Second, McpRuntime.McpRuntime).pipe(
          Layer.provide(NodeMcpRuntime.layer(options).pipe(using(MemoryTransport.layer({ a: b }))))
        )
      ))
      const [first, second] = [Context.get(context, First), Context.get(context, Second)]
      const heard = yield* second.subscribe
      yield* Effect.all([first.tools, second.tools])
      yield* Effect.all([a.drop(), b.drop()])
      // the second reconnects by itself, the first does not
      yield* Stream.runHead(Stream.filter(first.servers.changes, ([info]) => info?.status._tag === "Failed"))
      yield* second.callTool({ server: "a", tool: "echo" })
      assert.strictEqual((yield* first.servers.get("a")).status._tag, "Failed")
      yield* first.servers.isolate("a")
      assert.strictEqual((yield* first.servers.get("a")).breaker._tag, "Isolated")
      assert.strictEqual((yield* second.servers.get("a")).breaker._tag, "Closed")
      yield* first.servers.disconnectAll
      yield* second.servers.disconnectAll
      const ends = ({ teardownReport }: McpRuntime.McpRuntime["Type"]) =>
        Effect.map(teardownReport, ({ servers }) => servers.length)
      assert.strictEqual(yield* ends(first), 1)
      assert.strictEqual(yield* ends(second), 2)
      const failures = Array.from(yield* heard.clear).filter((event) =>
        event._tag === "StatusChanged" && event.status._tag === "Failed"
      )
      assert.deepStrictEqual(failures, [])
    }))

  it.scopedLive("use the Permissions and Credentials that the application provides", () =>
    Effect.gen(function*() {
      const application = Layer.merge(Permissions.layerNone, Layer.succeed(Credentials.Credentials, loggedIn))
      const denied = { ...options, permissions: { rules: [{ decision: "deny", tool: "a/*" }] } } as const
      const transports = MemoryTransport.layer({ a: yield* server })
      const program = Effect.gen(function*() {
        const result = yield* Effect.either(calling("echo", { origin: "model" }))
        const { servers } = yield* McpRuntime.McpRuntime
        return [result._tag, (yield* servers.loginStatus("a"))._tag]
      })
      const layer = NodeMcpRuntime.layer(denied).pipe(using(transports))
      assert.deepStrictEqual(yield* Effect.provide(program, Layer.provide(layer, application)), ["Right", "LoggedIn"])
      const inside = Effect.suspend(() => Effect.provide(program, layer))
      assert.deepStrictEqual(yield* Effect.provide(inside, application), ["Right", "LoggedIn"])
      assert.deepStrictEqual(yield* Effect.provide(program, layer), ["Left", "LoggedOut"])
    }))

  it.scopedLive("do not take what another runtime of their environment has made", () =>
    Effect.gen(function*() {
      const transports = MemoryTransport.layer(() => undefined)
      const outer = yield* Layer.build(NodeMcpRuntime.layer(options).pipe(using(transports)))
      const inside = <A, E>(self: Effect.Effect<A, E, Scope.Scope>) => Effect.provide(self, outer)
      const inner = yield* inside(Layer.build(NodeMcpRuntime.layer(options).pipe(using(transports))))
      const innermost = yield* Effect.provide(Layer.build(NodeMcpRuntime.layer(options)), Context.merge(outer, inner))
      const keys = [McpEvent.McpEvents, Permissions.Permissions, Credentials.Credentials, ToolPins.ToolPins]
      for (const { key } of keys) {
        const services = [outer, inner, innermost].map(({ unsafeMap }) => unsafeMap.get(key))
        assert.strictEqual(new Set(services).size, 3, key)
        assert.notInclude(services, undefined)
      }
      const shared = yield* McpEvent.make()
      const given = yield* inside(
        Layer.build(NodeMcpRuntime.layer(options).pipe(using(Layer.succeed(McpEvent.McpEvents, shared))))
      )
      assert.strictEqual(Context.get(given, McpEvent.McpEvents), shared)
    }))

  it.scopedLive("of a gateway share what the application provides, but for events and permissions", () =>
    Effect.gen(function*() {
      const peer = yield* server
      const events = yield* McpEvent.make()
      const application = Layer.mergeAll(
        MemoryTransport.layer({ a: peer }),
        Permissions.layerNone,
        Layer.succeed(Credentials.Credentials, loggedIn),
        Layer.succeed(McpEvent.McpEvents, events)
      )
      const runtimes = yield* Effect.provide(
        McpServe.Runtimes,
        NodeMcpServe.layerRuntimes({ ...options, permissions: { rules: [{ decision: "deny", tool: "a/echo" }] } }).pipe(
          Layer.provide(application)
        )
      )
      const seats = yield* Effect.all([runtimes.open({ lazy: false }), runtimes.open({ lazy: true })])
      for (const seat of seats) {
        assert.notStrictEqual(Context.get(seat, McpEvent.McpEvents), events)
        const mcp = Context.get(seat, McpRuntime.McpRuntime)
        const error = yield* Effect.flip(mcp.callTool({ server: "a", tool: "echo" }))
        assert.strictEqual(error._tag, "PermissionDenied")
        assert.strictEqual((yield* mcp.servers.loginStatus("a"))._tag, "LoggedIn")
      }
      assert.strictEqual(new Set(seats.map((seat) => Context.get(seat, McpEvent.McpEvents))).size, 2)
    }))

  it.scopedLive("give what `Layer.provideMerge` provides to the application as well", () =>
    Effect.gen(function*() {
      const context = yield* Layer.build(
        NodeMcpRuntime.layer(options).pipe(
          using(MemoryTransport.layer({ a: yield* server })),
          Layer.provideMerge(Teardown.layer())
        )
      )
      const mcp = Context.get(context, McpRuntime.McpRuntime)
      yield* mcp.tools
      yield* mcp.servers.disconnectAll
      const { servers } = yield* Context.get(context, Teardown.Teardown).report
      assert.deepStrictEqual(servers.map(({ server }) => server), ["a"])
    }))

  it.live("live as long as their ManagedRuntime, and share nothing through its memo map", () =>
    Effect.gen(function*() {
      const peer = yield* server
      const make = () =>
        ManagedRuntime.make(
          NodeMcpRuntime.layer(options).pipe(using(MemoryTransport.layer({ a: peer }))),
          memoMap
        )
      const memoMap = yield* Layer.makeMemoMap
      const [first, second] = [make(), make()]
      yield* Effect.promise(() => first.runPromise(tools))
      yield* Effect.promise(() => second.runPromise(tools))
      assert.strictEqual(peer.connections().open, 2)
      yield* Effect.promise(() => first.dispose())
      assert.strictEqual(peer.connections().open, 1)
      const result = yield* Effect.promise(() => second.runPromise(calling("echo")))
      assert.isFalse(result.isError)
      yield* Effect.promise(() => second.dispose())
      assert.strictEqual(peer.connections().open, 0)
    }))
})
