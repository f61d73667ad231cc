import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, type Layer, Logger, type Mailbox, type Scope, TestClock } from "effect"
import * as HostTools from "../../src/agent/HostTools.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as ToolCatalog from "../../src/tools/ToolCatalog.ts"
import * as Agent from "../support/agent.ts"
import * as Pool from "../support/pool.ts"

type Peers = Readonly<Record<string, MemoryServer.Server>>

const tool = (name: string): MemoryServer.Tool => ({ name, call: () => Effect.succeed(name) })

const core = [{ name: "read_file", run: 1 }, { name: "mcp__a__mine", run: 2 }]

const run = <A, E>(
  offers: Readonly<Record<string, ReadonlyArray<MemoryServer.Tool>>>,
  body: (
    peers: Peers
  ) => Effect.Effect<A, E, Layer.Layer.Success<ReturnType<typeof Agent.layer>> | Scope.Scope>,
  { before, ...options }: Partial<Agent.Options> & { readonly before?: (peers: Peers) => Effect.Effect<void> } = {}
) =>
  Effect.gen(function*() {
    const peers: Peers = Object.fromEntries(
      yield* Effect.forEach(Object.entries(offers), ([name, tools]) =>
        Effect.map(MemoryServer.make({ era: "session", tools }), (server) => [name, server] as const))
    )
    yield* before?.(peers) ?? Effect.void
    return yield* Effect.provide(
      body(peers),
      Agent.layer(peers, {
        servers: Object.keys(offers).map((name) =>
          Pool.remote(name)
        ),
        ...options
      })
    )
  })

const theirs = ({ mcp }: HostTools.Tools<HostTools.CoreTool>) =>
  mcp.filter(({ server }) => server !== undefined).map(({ name }) => name)

const next = <Tag extends McpEvent.McpEvent["_tag"]>(events: Mailbox.ReadonlyMailbox<McpEvent.McpEvent>, tag: Tag) =>
  events.take.pipe(Effect.repeat({ until: McpEvent.McpEvent.$is(tag) }))

describe("HostTools", () => {
  it.scoped("returns core tools at once, even if a server never answers", () =>
    run({ never: [tool("one")] }, () =>
      Effect.gen(function*() {
        const before = yield* TestClock.currentTimeMillis
        const host = yield* HostTools.make({ core })
        const { core: given, mcp, missing } = yield* host.tools()
        assert.strictEqual(given, core)
        assert.deepStrictEqual(mcp.map(({ server }) => server), [undefined, undefined, undefined])
        assert.deepStrictEqual(missing.map(({ server }) => server), ["never"])
        assert.strictEqual(yield* TestClock.currentTimeMillis, before)
      }), { before: (peers) => peers["never"]!.slowConnect("10 days") }))

  it.scoped("returns available MCP tools while another server never answers", () =>
    run({ good: [tool("one")], never: [tool("two")] }, () =>
      Effect.gen(function*() {
        const events = yield* (yield* McpRuntime.McpRuntime).subscribe
        const host = yield* HostTools.make({ core })
        yield* next(events, "ToolsRefreshed")
        const tools = yield* host.tools()
        assert.deepStrictEqual(theirs(tools), ["mcp__good__one"])
        assert.deepStrictEqual(tools.missing.map(({ server }) => server), ["never"])
      }), { before: (peers) => peers["never"]!.slowConnect("10 days") }))

  it.scoped("waits for servers up to the option `wait`", () =>
    run({ slow: [tool("one")], never: [tool("two")] }, () =>
      Effect.gen(function*() {
        const host = yield* HostTools.make({ core, wait: "30 seconds" })
        const asked = yield* Effect.fork(host.tools())
        yield* TestClock.adjust("10 seconds")
        yield* Pool.until("slow", "Connected")
        yield* (yield* ToolCatalog.ToolCatalog).refresh("slow")
        assert.isTrue((yield* Fiber.poll(asked))._tag === "None")
        yield* TestClock.adjust("20 seconds")
        assert.deepStrictEqual(theirs(yield* Fiber.join(asked)), ["mcp__slow__one"])
      }), {
      before: (peers) =>
        Effect.zipRight(peers["slow"]!.slowConnect("10 seconds"), peers["never"]!.slowConnect("10 days"))
    }))

  it.scoped("prefers core tools over MCP tools with the same name, and reports them", () =>
    run({ a: [tool("mine"), tool("other")] }, () =>
      Effect.gen(function*() {
        yield* (yield* McpRuntime.McpRuntime).tools
        const host = yield* HostTools.make({ core })
        const tools = yield* host.tools()
        assert.deepStrictEqual(theirs(tools), ["mcp__a__other"])
        assert.deepStrictEqual(tools.shadowed, ["mcp__a__mine"])
      })))

  it.scoped("warns once for each change of the missing servers, with an event and in the log", () => {
    const warnings: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (logLevel._tag === "Warning") warnings.push(String(message))
    })
    return run({ a: [tool("one")], b: [tool("two")] }, (peers) =>
      Effect.gen(function*() {
        const runtime = yield* McpRuntime.McpRuntime
        yield* Pool.until("b", "Connected")
        const events = yield* runtime.subscribe
        const told: Array<ReadonlyArray<string>> = []
        const host = yield* HostTools.make({ core, wait: "1 milli" })
        const asked = yield* Effect.fork(Effect.repeatN(host.tools(), 3))
        yield* TestClock.adjust("1 second")
        yield* TestClock.adjust("1 second")
        yield* TestClock.adjust("1 second")
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(asked)
        const first = yield* next(events, "ServersMissing")
        told.push(
          first._tag === "ServersMissing" ? first.servers.map(({ server, status }) => `${server} ${status}`) : []
        )
        assert.deepStrictEqual(told, [["a Connecting"]])
        assert.deepStrictEqual(warnings, ["The tools of 1 servers are missing: a is still connecting."])
        yield* peers["a"]!.heal
        yield* TestClock.adjust("1 hour")
        yield* Pool.until("a", "Connected")
        yield* (yield* ToolCatalog.ToolCatalog).refresh("a")
        const whole = yield* host.tools()
        assert.deepStrictEqual(whole.missing, [])
        assert.strictEqual(warnings.length, 1)
        // who was switched off is not missed
        yield* runtime.servers.disable("a")
        assert.deepStrictEqual((yield* host.tools()).missing.map(({ server }) => server), ["a"])
        assert.strictEqual(warnings.length, 1)
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger))), {
      before: (peers) => peers["a"]!.slowConnect("30 seconds")
    })
  })

  /** The tools of the servers, once they are these. */
  const until = (host: HostTools.HostTools<HostTools.CoreTool>, names: ReadonlyArray<string>) =>
    Effect.repeat(Effect.zipLeft(host.tools(), Effect.yieldNow()), {
      until: (tools) => theirs(tools).join() === names.join()
    })

  it.scoped("follows a server that connects, changes its tools, and is disabled", () =>
    run({ a: [tool("one")] }, (peers) =>
      Effect.gen(function*() {
        const runtime = yield* McpRuntime.McpRuntime
        const host = yield* HostTools.make({ core })
        yield* until(host, ["mcp__a__one"])
        yield* peers["a"]!.update({ tools: [tool("one"), tool("two")] })
        yield* until(host, ["mcp__a__one", "mcp__a__two"])
        yield* runtime.servers.disable("a")
        yield* until(host, [])
      })))

  it.scoped("includes the tools of a lazy server", () =>
    run({ lazy: [tool("one")] }, () =>
      Effect.gen(function*() {
        const host = yield* HostTools.make({ core })
        yield* until(host, ["mcp__lazy__one"])
      }), { servers: [Pool.remote("lazy", { lazy: true })] }))
})
