/** Tools that a server adds after its first list, under an `allow` with a pattern. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Fiber, Layer, type Scope, TestClock } from "effect"
import * as TrustStore from "../../src/config/TrustStore.ts"
import * as McpError from "../../src/McpError.ts"
import type * as McpEvent from "../../src/McpEvent.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as Approval from "../../src/safety/Approval.ts"
import type * as Permissions from "../../src/safety/Permissions.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as ToolPins from "../../src/tools/ToolPins.ts"
import * as Pool from "../support/pool.ts"
import * as Runtime from "../support/runtime.ts"

const tool = (name: string): MemoryServer.Tool => ({ name, call: () => Effect.succeed(name) })

interface Given {
  readonly permissions: Partial<Permissions.Options>
  readonly answers?: ReadonlyArray<Approval.Answer>
  readonly asked?: Array<Approval.Request>
  readonly store?: TrustStore.TrustStore["Type"]
}

type Call = (tool: string, origin?: Permissions.Origin) => Effect.Effect<string, never, McpRuntime.McpRuntime>

const call: Call = (tool, origin = "model") =>
  Effect.flatMap(McpRuntime.McpRuntime, ({ callTool }) => callTool({ server: "s", tool }, {}, { origin })).pipe(
    Effect.either,
    Effect.map(Either.match({
      onRight: () => "called",
      onLeft: (error) => error instanceof McpError.PermissionDenied ? error.why : error._tag
    }))
  )

/** A runtime over a server that has listed `first`, and then adds `later`. */
const running = <A, E>(
  { answers = [], asked = [], permissions, store }: Given,
  body: Effect.Effect<A, E, McpRuntime.McpRuntime | McpEvent.McpEvents | Scope.Scope>
) =>
  Effect.gen(function*() {
    const peer = yield* MemoryServer.make({ era: "session", tools: [tool("first")] })
    const own = store ?? (yield* TrustStore.makeMemory)
    return yield* Effect.gen(function*() {
      const runtime = yield* McpRuntime.McpRuntime
      yield* runtime.tools
      yield* peer.update({ tools: [tool("first"), tool("later")] })
      yield* runtime.refreshTools()
      return yield* body
    }).pipe(Effect.provide(Runtime.layer({ s: peer }, {
      servers: [Pool.remote("s")],
      permissions,
      approval: Approval.layerTest(answers, asked),
      pins: Layer.provide(Layer.effect(ToolPins.ToolPins, ToolPins.make()), Layer.succeed(TrustStore.TrustStore, own))
    })))
  })

const allow = (...rules: ReadonlyArray<string>) => ({
  rules: rules.map((tool) => ({ decision: "allow" as const, tool }))
})

describe("a tool that was added after the first list", () => {
  it.scoped("needs an approval once under a pattern", () => {
    const asked: Array<Approval.Request> = []
    return running(
      { permissions: allow("s/*"), answers: [{ _tag: "Deny" }, { _tag: "Once" }], asked },
      Effect.gen(function*() {
        assert.strictEqual(yield* call("first"), "called")
        assert.deepStrictEqual(asked, [])
        assert.strictEqual(yield* call("later"), "refused")
        assert.strictEqual(yield* call("later"), "called")
        assert.strictEqual(yield* call("later"), "called")
        assert.deepStrictEqual(asked.map(({ rule, subject }) => [subject.name, rule]), [["later", "s/*"], [
          "later",
          "s/*"
        ]])
      })
    )
  })

  it.scoped("needs none under a rule that names it, or with `addedTools: \"allow\"`", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* running({ permissions: allow("s/*", "s/later") }, call("later")), "called")
      const permissions = { ...allow("mcp__*"), addedTools: "allow" as const }
      assert.strictEqual(yield* running({ permissions }, call("later")), "called")
    }))

  it.scoped("needs none for a program, which needs no rule", () =>
    Effect.map(
      running({ permissions: allow("s/*") }, call("later", "program")),
      (result) => assert.strictEqual(result, "called")
    ))

  it.scoped("is asked for by the first call of it in a run that has not listed it, while the deadline stands still", () =>
    Effect.gen(function*() {
      const store = yield* TrustStore.makeMemory
      const asked: Array<Approval.Request> = []
      const permissions = allow("s/*")
      assert.strictEqual(yield* running({ permissions, store }, call("later")), "refused")
      const peer = yield* MemoryServer.make({ era: "session", tools: [tool("first"), tool("later")] })
      const slow = Approval.layer((request) =>
        Effect.as(Effect.zipRight(Effect.sync(() => asked.push(request)), Effect.sleep("3 minutes")), { _tag: "Once" })
      )
      yield* Effect.gen(function*() {
        const { callTool } = yield* McpRuntime.McpRuntime
        const options = { origin: "model", idleTimeout: "1 minute", totalTimeout: "1 minute" } as const
        const calling = yield* Effect.fork(callTool({ server: "s", tool: "later" }, {}, options))
        while (asked.length === 0) yield* TestClock.adjust("1 millis")
        yield* TestClock.adjust("3 minutes")
        assert.strictEqual((yield* Fiber.join(calling)).isError, false)
        assert.strictEqual(yield* call("later"), "called")
      }).pipe(Effect.provide(Runtime.layer({ s: peer }, {
        servers: [Pool.remote("s", { lazy: true })],
        permissions,
        approval: slow,
        pins: Layer.provide(
          Layer.effect(ToolPins.ToolPins, ToolPins.make()),
          Layer.succeed(TrustStore.TrustStore, store)
        )
      })))
      assert.deepStrictEqual(asked.map(({ rule, subject, tool }) => [subject.name, rule, tool?.name]), [
        ["later", "s/*", "later"]
      ])
    }))

  it.scoped("is remembered as added, and as approved, in the next run", () =>
    Effect.gen(function*() {
      const store = yield* TrustStore.makeMemory
      const permissions = allow("s/*")
      assert.strictEqual(yield* running({ permissions, store }, call("later")), "refused")
      assert.strictEqual(yield* running({ permissions, store }, call("later")), "refused")
      assert.strictEqual(yield* running({ permissions, store, answers: [{ _tag: "Once" }] }, call("later")), "called")
      assert.strictEqual(yield* running({ permissions, store }, call("later")), "called")
    }))
})
