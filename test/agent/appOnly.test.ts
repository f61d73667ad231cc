import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ToolHandler from "../../src/agent/ToolHandler.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as Agent from "../support/agent.ts"
import * as Pool from "../support/pool.ts"

const tool = (name: string, visibility?: ReadonlyArray<string>): MemoryServer.Tool => ({
  name,
  call: () => Effect.succeed(`called ${name}`),
  definition: { _meta: { ui: { resourceUri: `ui://s/${name}`, ...(visibility === undefined ? {} : { visibility }) } } }
})

/** Every form of `_meta.ui.visibility` (MCP Apps). */
const tools = [tool("any"), tool("both", ["model", "app"]), tool("model", ["model"]), tool("refresh", ["app"])]

const visible = ["any", "both", "model"]

const running = <A, E>(
  body: (peer: MemoryServer.Server) => Effect.Effect<A, E, McpRuntime.McpRuntime | ToolHandler.ToolHandler>
) =>
  Effect.gen(function*() {
    const peer = yield* MemoryServer.make({ era: "session", tools })
    return yield* Effect.provide(body(peer), Agent.layer({ s: peer }, { servers: [Pool.remote("s")] }))
  })

const call = (name: string): ToolHandler.Call => ({ id: "1", name, arguments: {} })

describe("an app-only tool", () => {
  it.scoped("is listed for apps and not for models", () =>
    running(() =>
      Effect.gen(function*() {
        const { apps, tools, toolsByName } = yield* Effect.flatMap(McpRuntime.McpRuntime, ({ tools }) => tools)
        assert.deepStrictEqual(tools.map(({ tool: { name } }) => name), visible)
        assert.isFalse(toolsByName.has("refresh"))
        assert.deepStrictEqual(apps.map(({ tool: { name } }) => name), ["refresh"])
      })
    ))

  it.scoped("has no definition for a model, and no search finds it", () =>
    running(() =>
      Effect.gen(function*() {
        const handler = yield* ToolHandler.ToolHandler
        for (const wait of [undefined, 0]) {
          const all = yield* handler.definitions({ wait })
          const names = all.tools.filter(({ server }) => server === "s").map(({ name }) => name)
          assert.deepStrictEqual(names, visible.map((name) => `mcp__s__${name}`))
        }
        const { text } = yield* handler.handle({
          ...call("mcp_search"),
          arguments: { query: "refresh the view" }
        })
        assert.notInclude(text, "mcp__s__refresh")
      })
    ))

  it.scoped("is not found if a model calls it", () =>
    running((peer) =>
      Effect.gen(function*() {
        const handler = yield* ToolHandler.ToolHandler
        yield* handler.definitions()
        const refused = yield* handler.handle(call("mcp__s__refresh"))
        assert.strictEqual(refused.error?._tag, "NotFound")
        assert.notInclude(refused.text, "called refresh")
        assert.strictEqual(peer.executions("refresh"), 0)
        assert.include((yield* handler.handle(call("mcp__s__both"))).text, "called both")
        const wrong = yield* handler.handle(call("mcp__s__refrehs"))
        assert.notInclude(wrong.text, "mcp__s__refresh\"")
      })
    ))

  it.scoped("can be called by the program that shows the app", () =>
    running((peer) =>
      Effect.gen(function*() {
        const { callTool, tools } = yield* McpRuntime.McpRuntime
        yield* tools
        const { content } = yield* callTool({ server: "s", tool: "refresh" })
        assert.deepInclude(content[0], { _tag: "Text", text: "called refresh" })
        assert.strictEqual(peer.executions("refresh"), 1)
      })
    ))
})
