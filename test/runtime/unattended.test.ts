import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, type Scope } from "effect"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpError from "../../src/McpError.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as Approval from "../../src/safety/Approval.ts"
import type * as PermissionRule from "../../src/safety/PermissionRule.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as Pool from "../support/pool.ts"
import * as Runtime from "../support/runtime.ts"

const tool = (name: string, annotations: MemoryServer.Tool["annotations"] = {}): MemoryServer.Tool => ({
  name,
  annotations,
  call: () => Effect.succeed(name)
})

const tools = [
  tool("read", { readOnlyHint: true }),
  tool("write"),
  tool("odd", { readOnlyHint: true, destructiveHint: true })
]

const rule = (decision: PermissionRule.Decision, tool: string) => ({ decision, tool })

interface Options extends Partial<Runtime.Options> {
  readonly config?: Partial<ServerConfig.HttpInput>
}

/** A runtime whose one server is trusted, and that allows read-only tools where no person can be asked. */
const running = <A, E>(
  { config, permissions, ...options }: Options,
  body: (
    call: (tool: string) => Effect.Effect<string>,
    peer: MemoryServer.Server
  ) => Effect.Effect<A, E, McpEvent.McpEvents | McpRuntime.McpRuntime | Scope.Scope>
) =>
  Effect.gen(function*() {
    const peer = yield* MemoryServer.make({ era: "session", tools })
    return yield* Effect.gen(function*() {
      const { callTool } = yield* McpRuntime.McpRuntime
      const call = (tool: string) =>
        Effect.map(
          Effect.either(callTool({ server: "s", tool }, {}, { origin: "model" })),
          Either.match({
            onRight: ({ raw }) => JSON.stringify(raw["content"]),
            onLeft: (error) => error instanceof McpError.PermissionDenied ? error.message : error._tag
          })
        )
      return yield* body(call, peer)
    }).pipe(Effect.provide(Runtime.layer({ s: peer }, {
      servers: [Pool.remote("s", { trusted: true, ...config })],
      permissions: { unattended: "read-only", ...permissions },
      ...options
    })))
  })

const list = Effect.flatMap(McpRuntime.McpRuntime, ({ tools }) => tools)

describe("a call of a model where no person can be asked", () => {
  it.scoped("is allowed if its tool is read-only, however many there are at once", () =>
    running({}, (call, peer) =>
      Effect.gen(function*() {
        yield* list
        const results = yield* Effect.all(Array.from({ length: 64 }, () => call("read")), { concurrency: "unbounded" })
        assert.deepStrictEqual(new Set(results), new Set(["[{\"type\":\"text\",\"text\":\"read\"}]"]))
        assert.strictEqual(peer.executions("read"), 64)
      })))

  it.scoped("is refused if its tool is not, with the rule that allows it", () =>
    running({}, (call, peer) =>
      Effect.gen(function*() {
        yield* list
        assert.include(yield* call("write"), "allow it with the rule allow \"s/write\"")
        assert.include(yield* call("odd"), "allow it with the rule allow \"s/odd\"")
        assert.deepStrictEqual([peer.executions("write"), peer.executions("odd")], [0, 0])
      })))

  it.scoped("is permitted by the rule that its refusal names", () =>
    running({ permissions: { rules: [rule("allow", "s/write")] } }, (call) =>
      Effect.gen(function*() {
        assert.include(yield* call("write"), "\"text\":\"write\"")
        assert.include(yield* call("odd"), "the rule allow \"s/odd\"")
      })))

  it.scoped("waits for the first list of its server if there is none, and is decided by that", () =>
    running({ config: { lazy: true } }, (call, peer) =>
      Effect.gen(function*() {
        assert.include(yield* call("read"), "\"text\":\"read\"")
        assert.strictEqual(peer.executions("read"), 1)
      })))

  it.scoped("is refused before it is sent, if its tool is not listed", () =>
    running({ config: { lazy: true } }, (call, peer) =>
      Effect.gen(function*() {
        assert.include(yield* call("nowhere"), "the rule allow \"s/nowhere\"")
        assert.include(yield* call("write"), "the rule allow \"s/write\"")
        assert.deepStrictEqual([peer.executions("write"), peer.executions("nowhere")], [0, 0])
      })))

  it.scoped("is refused if its tool has become read-only since it was first seen", () =>
    running({}, (call, peer) =>
      Effect.gen(function*() {
        yield* list
        yield* peer.update({ tools: [tool("read", { readOnlyHint: true }), tool("write", { readOnlyHint: true })] })
        yield* Effect.flatMap(McpRuntime.McpRuntime, ({ refreshTools }) => refreshTools("s"))
        assert.include(yield* call("write"), "its definition changed")
        assert.include(yield* call("read"), "\"text\":\"read\"")
        assert.strictEqual(peer.executions("write"), 0)
      })))

  it.scoped("is refused if its server is not trusted", () =>
    running({ config: { trusted: false } }, (call, peer) =>
      Effect.gen(function*() {
        yield* list
        assert.include(yield* call("read"), "allow it with the rule allow \"s/read\"")
        assert.strictEqual(peer.executions("read"), 0)
      })))

  it.scoped("is refused under the default settings of an application", () =>
    running({ permissions: { unattended: "refuse" } }, (call) =>
      Effect.gen(function*() {
        yield* list
        assert.include(yield* call("read"), "allow it with the rule allow \"s/read\"")
      })))

  it.scoped("is decided by the rules first", () =>
    running(
      { permissions: { rules: [rule("ask", "s/read"), rule("deny", "s/write")] } },
      (call, peer) =>
        Effect.gen(function*() {
          assert.include(yield* call("read"), "the rule \"s/read\" asks for approval, and no person")
          assert.include(yield* call("write"), "the rule \"s/write\" denies it")
          assert.deepStrictEqual([peer.executions("read"), peer.executions("write")], [0, 0])
        })
    ))

  it.scoped("publishes the basis of the decision", () =>
    running({}, (call) =>
      Effect.gen(function*() {
        const decided: Array<unknown> = []
        const { onEvent } = yield* McpEvent.McpEvents
        onEvent((event) => event._tag === "PermissionDecided" && decided.push([event.name, event.decision, event.by]))
        yield* list
        yield* call("read")
        yield* call("write")
        assert.deepStrictEqual(decided, [["read", "allow", "read-only"], ["write", "deny", "unanswered"]])
      })))
})

describe("a call of a model where a person can be asked", () => {
  it.scoped("is put to the person, also if its tool is read-only", () => {
    const asked: Array<Approval.Request> = []
    return running(
      { approval: Approval.layerTest([{ _tag: "Deny" }, { _tag: "Once" }], asked) },
      (call) =>
        Effect.gen(function*() {
          yield* list
          assert.include(yield* call("read"), "it was not approved")
          assert.include(yield* call("read"), "\"text\":\"read\"")
          assert.lengthOf(asked, 2)
        })
    )
  })
})
