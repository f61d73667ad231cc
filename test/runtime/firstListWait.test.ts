import * as KeyValueStore from "@effect/platform/KeyValueStore"
import { assert, describe, it } from "@effect/vitest"
import {
  Chunk,
  Config,
  ConfigProvider,
  Deferred,
  Duration,
  Effect,
  Fiber,
  Layer,
  Option,
  type Scope,
  TestClock
} from "effect"
import * as AgentTools from "../../src/agent/AgentTools.ts"
import * as HostTools from "../../src/agent/HostTools.ts"
import * as ToolHandler from "../../src/agent/ToolHandler.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as ToolCache from "../../src/tools/ToolCache.ts"
import * as ToolCatalog from "../../src/tools/ToolCatalog.ts"
import { journalOfMine } from "../faults/stdio.ts"
import * as Agent from "../support/agent.ts"
import * as Configs from "../support/configs.ts"
import * as Gateway from "../support/gateway.ts"
import * as Node from "../support/nodeRuntime.ts"
import * as Pool from "../support/pool.ts"
import type * as Runtime from "../support/runtime.ts"

const listed = (peer: MemoryServer.Server) => peer.received("tools/list").length

const good = Array.from({ length: 4 }, (_, at) => `good${at}`)

const says = (name: string): MemoryServer.Tool => ({ name, call: () => Effect.succeed(name) })

const peerOf = (name: string, options: MemoryServer.Options = {}) =>
  Effect.map(
    MemoryServer.make({
      era: "session",
      tools: [says("one")],
      resources: [{ uri: `mem:///${name}`, name, read: () => Effect.succeed(name) }],
      prompts: [{ name: "ask", get: () => Effect.succeed(name) }],
      ...options
    }),
    (peer) => [name, peer] as const
  )

/** Servers that answer at once, and one named `hung`, whose first attempt takes as long as this. */
const peersOf = (slowness: Duration.DurationInput, hung: MemoryServer.Options = {}) =>
  Effect.gen(function*() {
    const entries = yield* Effect.forEach(good, (name) => peerOf(name))
    const [name, peer] = yield* peerOf("hung", hung)
    yield* peer.slowConnect(slowness)
    // the last list comes when every attempt has begun, because the server that hangs is the first to begin
    const begun = Effect.forEach(entries, ([, peer]) => peer.until(() => listed(peer) > 0), { discard: true })
    return { hung: peer, all: Object.fromEntries([...entries, [name, peer]]), begun }
  })

const servers = ["hung", ...good].map((name) => Pool.remote(name, { startupTimeout: "1 hour" }))

const run = <A, E>(
  slowness: Duration.DurationInput,
  body: (
    hung: MemoryServer.Server
  ) => Effect.Effect<A, E, Layer.Layer.Success<ReturnType<typeof Agent.layer>> | Scope.Scope>,
  { hung, ...options }: Partial<Runtime.Options> & { readonly hung?: MemoryServer.Options } = {}
) =>
  Effect.flatMap(
    peersOf(slowness, hung),
    ({ all, begun, hung }) =>
      Effect.provide(Effect.zipRight(begun, body(hung)), Agent.layer(all, { servers, ...options }))
  )

/** The answer after this time; an assertion fails if there is none by then. */
const after = <A, E, R>(time: Duration.DurationInput, self: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(self)
    yield* TestClock.adjust(time)
    const exit = yield* Fiber.poll(fiber)
    assert.isTrue(Option.isSome(exit), `there is an answer after ${Duration.format(time)}`)
    return yield* Fiber.join(fiber)
  })

const tools = Effect.flatMap(McpRuntime.McpRuntime, ({ tools }) => tools)

const words = (missing: ReadonlyArray<ToolCatalog.Missing>) =>
  missing.map(({ error, server }) => [
    server,
    error?._tag === "ServerUnavailable" ? error.why : error?._tag,
    error?.message
  ])

const isConnecting = [["hung", "connecting", "hung: still connecting"]]

describe("a server of which nothing is known", () => {
  it.scoped("is missing as still connecting after ten seconds, and its tools come with it", () =>
    run("30 seconds", (hung) =>
      Effect.gen(function*() {
        const runtime = yield* McpRuntime.McpRuntime
        const events = yield* runtime.subscribe
        const first = yield* after("10 seconds", tools)
        assert.deepStrictEqual(first.tools.map(({ serverName }) => serverName), good)
        assert.deepStrictEqual(words(first.missing), isConnecting)
        assert.strictEqual(first.missing[0]?.status._tag, "Connecting")
        yield* events.clear
        yield* TestClock.adjust("21 seconds")
        yield* events.take.pipe(
          Effect.repeat({ until: (event) => event._tag === "ToolsRefreshed" && event.server === "hung" })
        )
        const later = yield* tools
        assert.deepStrictEqual(later.missing, [])
        assert.strictEqual(later.tools.length, good.length + 1)
        // the attempt that was not waited for is the one that has succeeded
        assert.deepStrictEqual([hung.connections().opened, hung.received("initialize").length, listed(hung)], [1, 1, 1])
      })))

  it.scoped("is waited for until then, and no longer than its answer takes", () =>
    run("9 seconds", () =>
      Effect.gen(function*() {
        const asked = yield* Effect.fork(tools)
        yield* TestClock.adjust("8 seconds")
        assert.isTrue(Option.isNone(yield* Fiber.poll(asked)))
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* Fiber.join(asked)).tools.length, good.length + 1)
      })))

  it.scoped("is waited for as long as an application says, or an operator", () =>
    Effect.gen(function*() {
      yield* run("1 hour", () =>
        Effect.gen(function*() {
          assert.deepStrictEqual(words((yield* after("2 seconds", tools)).missing), isConnecting)
        }), { catalog: { firstListWait: "2 seconds" } })
      yield* run("1 hour", () =>
        Effect.gen(function*() {
          const variables = ConfigProvider.fromMap(new Map([["FIRST_LIST_WAIT", "3 seconds"]]))
          const firstListWait = yield* Effect.withConfigProvider(Config.duration("FIRST_LIST_WAIT"), variables)
          const { list } = yield* ToolCatalog.make(yield* Pool.Servers, { firstListWait })
          assert.deepStrictEqual(words((yield* after("3 seconds", list)).missing), isConnecting)
        }))
    }))

  it.scoped("is waited for until its first attempt has ended, if that is wanted", () =>
    run("40 seconds", () =>
      Effect.gen(function*() {
        const asked = yield* Effect.fork(tools)
        yield* TestClock.adjust("39 seconds")
        assert.isTrue(Option.isNone(yield* Fiber.poll(asked)))
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* Fiber.join(asked)).tools.length, good.length + 1)
      }), { catalog: { firstListWait: "settled" } }))

  it.scoped("is still connecting while its list does not come, which is asked for once", () =>
    Effect.gen(function*() {
      const answer = yield* Deferred.make<void>()
      const list = { tools: [{ name: "one", inputSchema: { type: "object" } }] }
      yield* run(0, (hung) =>
        Effect.gen(function*() {
          const first = yield* after("10 seconds", tools)
          assert.deepStrictEqual(first.tools.map(({ serverName }) => serverName), good)
          assert.deepStrictEqual(words(first.missing), [
            ["hung", "connecting", "hung: still connecting; its first list has not come yet"]
          ])
          yield* Deferred.succeed(answer, undefined)
          assert.strictEqual((yield* after("10 seconds", tools)).tools.length, good.length + 1)
          assert.strictEqual(listed(hung), 1)
        }), {
        hung: { methods: { "tools/list": () => Effect.as(Deferred.await(answer), list) } }
      })
    }))

  it.scoped("does not delay a list further when its kept list cannot be read", () =>
    run("1 hour", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(words((yield* after("10 seconds", tools)).missing), isConnecting)
      }), {
      cache: ToolCache.layerPersisted().pipe(
        Layer.provide(Layer.succeed(
          KeyValueStore.KeyValueStore,
          KeyValueStore.makeStringOnly({
            get: () => Effect.never,
            set: () => Effect.void,
            remove: () => Effect.void,
            clear: Effect.void,
            size: Effect.succeed(0)
          })
        )),
        Layer.provide(McpEvent.layer)
      )
    }))

  it.scoped("does not delay the lists of resources and prompts further", () =>
    run("1 hour", () =>
      Effect.gen(function*() {
        const { prompts, resourceTemplates, resources } = yield* McpRuntime.McpRuntime
        const lists = yield* after(
          "10 seconds",
          Effect.all({ prompts, resources, resourceTemplates }, { concurrency: "unbounded" })
        )
        assert.deepStrictEqual(lists.resources.items.map(({ server }) => server), good)
        assert.deepStrictEqual(lists.prompts.items.map(({ server }) => server), good)
        assert.deepStrictEqual(words(lists.resources.missing), isConnecting)
        assert.deepStrictEqual(words(lists.resourceTemplates.missing), isConnecting)
        assert.deepStrictEqual(words(lists.prompts.missing), isConnecting)
      })))

  it.scoped("is waited for by a call that names it, and by no call that does not", () =>
    run("30 seconds", () =>
      Effect.gen(function*() {
        const { callTool, tool } = yield* McpRuntime.McpRuntime
        const named = yield* Effect.fork(callTool("mcp__hung__one"))
        const looked = yield* Effect.fork(tool("mcp__hung__one"))
        const unknown = yield* after("10 seconds", Effect.flip(callTool("mcp__good0__nothing")))
        assert.strictEqual(unknown._tag, "NotFound")
        assert.isTrue(Option.isNone(yield* Fiber.poll(named)))
        yield* TestClock.adjust("20 seconds")
        assert.strictEqual((yield* Fiber.join(named)).metadata.serverName, "hung")
        assert.strictEqual((yield* Fiber.join(looked)).serverName, "hung")
      })))
})

describe("a list that takes longer than the gate", () => {
  it.scoped("replaces the old list when it arrives", () =>
    Effect.gen(function*() {
      const answer = yield* Deferred.make<void>()
      let times = 0
      const list = Effect.suspend(() => {
        const name = `list${++times}`
        const page = { tools: [{ name, inputSchema: { type: "object" } }] }
        return Effect.as(times === 1 ? Effect.void : Deferred.await(answer), page)
      })
      const named = Effect.map(
        tools,
        ({ tools }) => tools.flatMap(({ serverName, tool }) => serverName === "hung" ? [tool.name] : [])
      )
      yield* run(0, (hung) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* named, ["list1"])
          yield* TestClock.adjust("6 minutes")
          assert.deepStrictEqual(yield* after("250 millis", named), ["list1"])
          yield* Deferred.succeed(answer, undefined)
          assert.deepStrictEqual(yield* after("250 millis", named), ["list2"])
          assert.strictEqual(listed(hung), 2)
          assert.deepStrictEqual(hung.received("notifications/cancelled"), [])
        }), { hung: { methods: { "tools/list": () => list } } })
    }))
})

describe("an agent beside a server that hangs", () => {
  it.scoped("has the other tools, and is told that the server is still connecting", () =>
    run("1 hour", () =>
      Effect.gen(function*() {
        const { definitions, handle } = yield* ToolHandler.ToolHandler
        const { missing, tools } = yield* after("10 seconds", definitions())
        assert.strictEqual(tools.filter(({ server }) => server !== undefined).length, good.length)
        assert.deepStrictEqual(words(missing), isConnecting)

        const atOnce = yield* definitions({ wait: 0 })
        assert.deepStrictEqual(words(atOnce.missing), isConnecting)
        const soon = yield* after("2 seconds", definitions({ wait: "2 seconds" }))
        assert.deepStrictEqual(words(soon.missing), isConnecting)

        const { text } = yield* after(
          "10 seconds",
          handle({ id: "1", name: "list_mcp_resources", arguments: {} })
        )
        assert.include(text, "mem:///good0")
        assert.include(text, "These servers are still connecting: \"hung\".")

        const { commands } = yield* AgentTools.AgentTools
        assert.deepStrictEqual(words((yield* after("10 seconds", commands)).missing), isConnecting)
      })))

  it.scoped("has a warning that says so", () =>
    run("1 hour", () =>
      Effect.gen(function*() {
        const events = yield* (yield* McpRuntime.McpRuntime).subscribe
        const host = yield* HostTools.make({ core: [], wait: "2 seconds" })
        yield* after("2 seconds", host.tools())
        const warnings = Chunk.toArray(yield* events.clear).filter(McpEvent.McpEvent.$is("ServersMissing"))
        assert.deepStrictEqual(warnings.flatMap(({ servers }) => servers.map(({ server, why }) => [server, why])), [
          ["hung", "is still connecting"]
        ])
      })))
})

describe("a gateway over a server of which nothing is known", () => {
  const names = (result: Parameters<typeof Gateway.named>[0]) =>
    Gateway.named(result, "tools").filter((name) => name !== "mcp_read_output")

  it.scoped("lists its tools with the others if its first list arrives within ten seconds", () =>
    Effect.gen(function*() {
      const { all, begun } = yield* peersOf("5 seconds")
      const caller = yield* Gateway.caller(yield* Gateway.make(all, servers))
      yield* begun
      const listed = yield* after("5 seconds", caller.call("tools/list"))
      assert.strictEqual(names(listed).length, good.length + 1)
    }))

  it.scoped("lists the others after ten seconds, and sends list_changed when its list arrives", () =>
    Effect.gen(function*() {
      const { all, begun } = yield* peersOf("30 seconds")
      const caller = yield* Gateway.caller(yield* Gateway.make(all, servers))
      yield* begun
      const asked = yield* Effect.fork(caller.call("tools/list"))
      yield* TestClock.adjust("9 seconds")
      assert.isTrue(Option.isNone(yield* Fiber.poll(asked)), "it is waited for")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(names(yield* Fiber.join(asked)), good.map((name) => `mcp__${name}__one`))

      const news = () => caller.told.filter((method) => method === "notifications/tools/list_changed").length
      yield* TestClock.adjust("1 second")
      const before = news()
      yield* TestClock.adjust("20 seconds")
      assert.isAbove(news(), before)
      assert.strictEqual(names(yield* caller.call("tools/list")).length, good.length + 1)
    }))

  it.scoped("waits for it as long as the options of its runtimes say", () =>
    Effect.gen(function*() {
      const { all, begun } = yield* peersOf("1 hour")
      const caller = yield* Gateway.caller(
        yield* Gateway.make(all, servers, { catalog: { firstListWait: "3 seconds" } })
      )
      yield* begun
      const asked = yield* Effect.fork(caller.call("tools/list"))
      yield* TestClock.adjust("2 seconds")
      assert.isTrue(Option.isNone(yield* Fiber.poll(asked)), "it is waited for")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(names(yield* Fiber.join(asked)).length, good.length)
    }))
})

describe("a process that never answers", () => {
  Node.test(
    "does not keep the tools of another",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      const mute = Configs.stdio({ name: "mute", command: "sleep", args: ["60"], startupTimeout: "5 seconds" })
      const options = Node.options([Node.thin(journal), mute], {
        catalog: { firstListWait: "100 millis" },
        teardown: { stdinGrace: "200 millis" }
      })
      yield* Node.using(options, (runtime) =>
        Effect.gen(function*() {
          yield* runtime.refreshTools("thin")
          const { missing, tools } = yield* runtime.tools
          assert.deepStrictEqual(new Set(tools.map(({ serverName }) => serverName)), new Set(["thin"]))
          assert.deepStrictEqual(words(missing), [["mute", "connecting", "mute: still connecting"]])
        }))
    })
  )
})
