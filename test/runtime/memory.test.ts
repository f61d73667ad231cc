import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, FiberRef, Layer, Redacted } from "effect"
import { fileURLToPath } from "node:url"
import * as Connector from "../../src/client/Connector.ts"
import * as McpClient from "../../src/client/McpClient.ts"
import * as Resolution from "../../src/config/Resolution.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeMcpRuntime from "../../src/node/NodeMcpRuntime.ts"
import * as FakeConnection from "../support/fakeConnection.ts"
import * as heap from "../support/heap.ts"
import * as Pool from "../support/pool.ts"

const settled = Effect.promise(heap.settled)

/** How many bytes are kept of each, once as many have warmed everything up. */
const keptOfEach = <E>(times: number, one: Effect.Effect<unknown, E>) =>
  Effect.gen(function*() {
    yield* Effect.repeatN(one, times)
    const before = yield* settled
    yield* Effect.repeatN(one, times)
    return ((yield* settled) - before) / times
  })

const channel = FakeConnection.make({
  answers: {
    "tools/call": { content: [{ type: "text", text: "echo" }] },
    "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] }
  }
})

const connection = Effect.flatMap(channel, McpClient.make)

/** A runtime whose one server is connected like this. */
const running = (connect: Connector.Connector["Type"]["connect"]) =>
  Effect.gen(function*() {
    const layer = NodeMcpRuntime.layerTest({
      servers: [Pool.remote("a")],
      reconnect: { stormReconnects: Infinity }
    }).pipe(NodeMcpRuntime.using(Layer.succeed(Connector.Connector, { connect })))
    const service = Context.get(yield* Layer.build(layer), McpRuntime.McpRuntime)
    yield* service.tools
    return service
  })

describe("the memory of a runtime", () => {
  it.scopedLive("keeps nothing of the calls that it has made", () =>
    Effect.gen(function*() {
      // it remembers what it was asked, which is not to be measured
      const { request: _, ...rest } = yield* channel
      const service = yield* running(() =>
        McpClient.make({
          ...rest,
          request: (method) =>
            method === "tools/call" ? Effect.succeed({ content: [] }) : Effect.succeed({ tools: [echo] })
        })
      )
      assert.isBelow(yield* keptOfEach(20_000, service.callTool("mcp__a__echo")), 20)
    }))

  it.scopedLive("keeps nothing of what the variables of a process that runs were resolved to", () =>
    Effect.gen(function*() {
      const resolved: Array<WeakRef<object>> = []
      const resolution = Layer.succeed(Resolution.Resolution, {
        resolve: (config) =>
          Effect.sync(() => {
            const token = Redacted.make("token")
            const plain = { ...config, env: new Map([["TOKEN", token]]) }
            resolved.push(new WeakRef(plain), new WeakRef(token))
            return { config: plain, warnings: [], secrets: [] }
          })
      })
      const server = fileURLToPath(new URL("../fixtures/runtime/thin.mjs", import.meta.url))
      const service = Context.get(
        yield* Layer.build(
          NodeMcpRuntime.layerTest({
            servers: [Pool.local("a", { command: process.execPath, args: [server, "/dev/null"] })]
          }).pipe(NodeMcpRuntime.using(resolution))
        ),
        McpRuntime.McpRuntime
      )
      assert.isNotEmpty((yield* service.tools).tools)
      yield* settled
      assert.deepStrictEqual(resolved.map((kept) => kept.deref()), [undefined, undefined])
    }))

  it.scopedLive("keeps nothing of the connections that it has had", () =>
    Effect.gen(function*() {
      const connections: Array<WeakRef<object>> = []
      const service = yield* running(() =>
        Effect.withSpan(
          Effect.gen(function*() {
            const made = yield* connection
            connections.push(new WeakRef(made))
            yield* Effect.acquireRelease(Effect.succeed(made), () => Effect.void)
            return made
          }),
          "connect"
        )
      )
      for (let turn = 0; turn < 20; turn++) {
        yield* service.servers.reconnect("a")
        yield* service.callTool("mcp__a__echo")
      }
      yield* settled
      assert.isAtMost(connections.filter((one) => one.deref() !== undefined).length, 2)
    }))

  it.scopedLive("keeps nothing of the servers that it has had", () =>
    Effect.gen(function*() {
      const configs: Array<WeakRef<object>> = []
      const service = yield* running(() => connection)
      for (let turn = 0; turn < 20; turn++) {
        const config = Pool.remote(`s${turn}`)
        configs.push(new WeakRef(config))
        yield* service.servers.reload([config])
        yield* service.callTool({ server: config.name, tool: "echo" })
        yield* service.resources
      }
      yield* service.servers.reload([])
      yield* settled
      assert.isAtMost(configs.filter((one) => one.deref() !== undefined).length, 2)
    }))

  it.scopedLive("remembers nothing of the fibers that connected before", () =>
    Effect.gen(function*() {
      const depths: Array<number> = []
      const service = yield* running(() =>
        Effect.gen(function*() {
          const refs = yield* Effect.getFiberRefs
          depths.push(refs.locals.get(FiberRef.currentContext)?.length ?? 0)
          return yield* Effect.acquireRelease(connection, () => Effect.void)
        }).pipe(Effect.withSpan("connect"))
      )
      for (let turn = 0; turn < 10; turn++) yield* service.servers.reconnect("a")
      assert.strictEqual(depths.at(-1), depths[1])
    }))
})

const echo = { name: "echo", inputSchema: { type: "object" } }
