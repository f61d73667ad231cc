import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as ReconnectPolicy from "../../src/resilience/ReconnectPolicy.ts"
import { Faults, layerTest, MemoryServer } from "../../src/testing/index.ts"

const server = (text: string) => MemoryServer.make({ tools: [{ name: "say", call: () => Effect.succeed(text) }] })

const say = (name: string) =>
  Effect.gen(function*() {
    const { callTool } = yield* McpRuntime.McpRuntime
    const { content } = yield* callTool({ server: name, tool: "say" })
    return content[0]?._tag === "Text" ? content[0].text : undefined
  })

describe("layerTest", () => {
  it.effect("has one server for each peer, and closes all connections", () =>
    Effect.gen(function*() {
      const [one, two] = yield* Effect.all([server("1"), server("2")])
      const said = yield* Effect.provide(Effect.all([say("one"), say("two")]), layerTest({ one, two }))
      assert.deepStrictEqual(said, ["1", "2"])
      assert.deepStrictEqual([one.connections().open, two.connections().open], [0, 0])
    }))

  it.effect("takes the concerns that are provided to it", () =>
    Effect.gen(function*() {
      const one = yield* server("1")
      yield* one.refuseConnect(Faults.exited(1))
      const failed = Effect.gen(function*() {
        const { servers } = yield* McpRuntime.McpRuntime
        yield* servers.changes.pipe(Stream.filter(([server]) => server?.status._tag === "Failed"), Stream.runHead)
      })
      yield* Effect.provide(failed, layerTest({ one }).pipe(Layer.provide(ReconnectPolicy.layerNone)))
      assert.strictEqual(one.connections().refused, 1)
    }))
})
