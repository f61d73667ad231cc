import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as Pool from "../support/pool.ts"
import * as Runtime from "../support/runtime.ts"

const runtime = McpRuntime.McpRuntime

const tool = (name: string): MemoryServer.Tool => ({ name, call: () => Effect.succeed(name) })

const url = "http://a.test/mcp"

/** One server under two names, over one connection. */
const withShared = <A, E>(
  body: (server: MemoryServer.Server, service: McpRuntime.McpRuntime["Type"]) => Effect.Effect<A, E>
) =>
  Effect.flatMap(MemoryServer.make({ era: "session", tools: [tool("one")] }), (server) =>
    Effect.gen(function*() {
      const service = yield* runtime
      yield* service.tools
      yield* body(server, service)
    }).pipe(Effect.provide(Runtime.layer(() => server, {
      shareIdentical: true,
      servers: [Pool.remote("a"), Pool.remote("b", { url })]
    }))))

const names = (service: McpRuntime.McpRuntime["Type"]) =>
  Effect.map(service.tools, ({ tools }) => tools.map(({ name }) => name))

describe("shareIdentical", () => {
  it.scoped("lists new tools under both names", () =>
    withShared((server, service) =>
      Effect.gen(function*() {
        yield* server.update({ tools: [tool("two")] })
        yield* TestClock.adjust("5 seconds")
        assert.deepStrictEqual(yield* names(service), ["mcp__a__two", "mcp__b__two"])
      })
    ))

  it.scoped("moves both names to another address over one connection", () =>
    withShared((server, service) =>
      Effect.gen(function*() {
        const other = { url: "http://c.test/mcp" }
        const report = yield* service.servers.reload([Pool.remote("a", other), Pool.remote("b", other)])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(report.changed, ["a", "b"])
        assert.strictEqual(server.connections().open, 1)
        assert.deepStrictEqual(yield* names(service), ["mcp__a__one", "mcp__b__one"])
      })
    ))

  it.scoped("gives a name that is disabled a link of its own", () =>
    withShared((server, service) =>
      Effect.gen(function*() {
        yield* service.servers.disable("b")
        assert.strictEqual((yield* service.servers.get("b")).status._tag, "Disabled")
        assert.strictEqual((yield* service.servers.get("a")).status._tag, "Connected")
        assert.strictEqual((yield* service.callTool("mcp__a__one")).isError, false)
        assert.strictEqual(
          (yield* Effect.flip(service.callTool({ server: "b", tool: "one" })))._tag,
          "ServerUnavailable"
        )
        assert.strictEqual(server.connections().opened, 1)
      })
    ))

  it.scoped("names the other server in sharedWith while both are configured", () =>
    withShared((_, service) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* service.servers.get("b")).sharedWith, "a")
        yield* service.servers.reload([Pool.remote("b", { url })])
        assert.isUndefined((yield* service.servers.get("b")).sharedWith)
      })
    ))
})
