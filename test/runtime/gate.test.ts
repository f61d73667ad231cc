import * as KeyValueStore from "@effect/platform/KeyValueStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, TestClock } from "effect"
import * as McpEvent from "../../src/McpEvent.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as ToolCache from "../../src/tools/ToolCache.ts"
import * as Pool from "../support/pool.ts"
import * as Runtime from "../support/runtime.ts"

const runtime = McpRuntime.McpRuntime

describe("the gate", () => {
  it.scoped("is open in time, however long it takes to read what was kept", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({
        era: "session",
        tools: [{ name: "one", call: () => Effect.succeed("one") }]
      })
      const values = new Map<string, string>()
      let slowness = 0
      const disk = KeyValueStore.makeStringOnly({
        get: (key) => Effect.delay(Effect.sync(() => Option.fromNullable(values.get(key))), slowness),
        set: (key, value) => Effect.sync(() => void values.set(key, value)),
        remove: (key) => Effect.sync(() => void values.delete(key)),
        clear: Effect.die("not used"),
        size: Effect.die("not used")
      })
      const cache = ToolCache.layerPersisted().pipe(
        Layer.provide(Layer.succeed(KeyValueStore.KeyValueStore, disk)),
        Layer.provide(McpEvent.layer)
      )
      const layer = Runtime.layer({ a: peer }, { servers: [Pool.remote("a")], cache })
      yield* Effect.provide(Effect.flatMap(runtime, ({ tools }) => tools), layer)
      assert.strictEqual(values.size, 1)

      slowness = 200
      yield* peer.slowConnect("1 minute")
      yield* Effect.gen(function*() {
        const asked = yield* Effect.fork((yield* runtime).tools)
        yield* TestClock.adjust("249 millis")
        assert.isTrue(Option.isNone(yield* Fiber.poll(asked)))
        yield* TestClock.adjust("1 millis")
        assert.isTrue(Option.isSome(yield* Fiber.poll(asked)))
        const { tools } = yield* Fiber.join(asked)
        assert.deepStrictEqual(tools.map(({ _tag, name }) => [_tag, name]), [["Deferred", "mcp__a__one"]])
      }).pipe(Effect.provide(layer))

      // what was kept is nothing for somebody who has not agreed to the server
      const reads: Array<string> = []
      const watched = Layer.succeed(KeyValueStore.KeyValueStore, {
        ...disk,
        get: (key) => Effect.zipRight(Effect.sync(() => reads.push(key)), disk.get(key))
      })
      const untrusted = Runtime.layer({ a: peer }, {
        servers: [Pool.remote("a", { blocked: "untrusted" })],
        cache: Layer.provide(ToolCache.layerPersisted(), Layer.merge(watched, McpEvent.layer))
      })
      const { missing, tools } = yield* Effect.provide(Effect.flatMap(runtime, ({ tools }) => tools), untrusted)
      assert.deepStrictEqual([tools.length, missing[0]?.status._tag, reads.length], [0, "Blocked", 0])
    }))
})
