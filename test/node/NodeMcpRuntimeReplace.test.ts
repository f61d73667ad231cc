import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer, Stream } from "effect"
import * as McpError from "../../src/McpError.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeMcpRuntime from "../../src/node/NodeMcpRuntime.ts"
import * as CircuitBreaker from "../../src/resilience/CircuitBreaker.ts"
import * as ReconnectPolicy from "../../src/resilience/ReconnectPolicy.ts"
import * as Teardown from "../../src/resilience/Teardown.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as Pool from "../support/pool.ts"

const servers = [Pool.remote("a")]
const options = { servers, cacheDirectory: "memory", logs: false }
const echo: MemoryServer.Tool = { name: "echo", call: () => Effect.succeed("from memory") }
const runtime = McpRuntime.McpRuntime

describe("what replaces a concern", () => {
  it.live("is used by all that need it: the transports, the reconnects, the teardown", () =>
    Effect.gen(function*() {
      const server = yield* MemoryServer.make({ era: "session", tools: [echo] })
      const teardown = yield* Teardown.make()
      const replace = Layer.mergeAll(
        MemoryTransport.layer({ a: server }),
        ReconnectPolicy.layerNone,
        Layer.succeed(Teardown.Teardown, teardown)
      )
      yield* Effect.gen(function*() {
        const service = yield* runtime
        assert.deepStrictEqual((yield* service.tools).tools.map(({ name }) => name), ["mcp__a__echo"])
        yield* server.drop()
        // nothing is reconnected but on demand
        yield* Stream.runHead(Stream.filter(service.status, ([info]) => info?.status._tag === "Failed"))
        assert.strictEqual((yield* service.callTool("mcp__a__echo")).metadata.attempts, 1)
      }).pipe(Effect.provide(NodeMcpRuntime.layer({ ...options, replace })))
      assert.strictEqual(server.connections().open, 0)
      assert.deepStrictEqual((yield* teardown.report).servers.map(({ server }) => server), ["a", "a"])
    }))

  it.live("may fail, as an operator's setting can", () =>
    Effect.gen(function*() {
      const replace = CircuitBreaker.layerConfig({ failures: Config.integer("FAILURES") })
      const error = yield* Effect.flip(Effect.scoped(Layer.build(NodeMcpRuntime.layer({ ...options, replace }))))
      assert.isFalse(McpError.isMcpError(error))
      assert.isTrue("_op" in error && error._op === "InvalidData")
    }).pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["FAILURES", "many"]])))))

  it.live("finds what there is and what is not in one step", () =>
    Effect.scoped(Effect.gen(function*() {
      const server = yield* MemoryServer.make({ era: "session", tools: [echo] })
      const { errors, runtime: service, tools } = yield* NodeMcpRuntime.discover({
        ...options,
        servers: [Pool.remote("a"), Pool.remote("gone")],
        replace: MemoryTransport.layer({ a: server })
      })
      assert.deepStrictEqual(tools.map(({ name }) => name), ["mcp__a__echo"])
      assert.deepStrictEqual(errors.map(({ server }) => server), ["gone"])
      assert.strictEqual((yield* service.callTool("mcp__a__echo")).isError, false)
    })))
})
