import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Duration, Effect, Either, Fiber, Layer, type Scope, Stream, TestClock } from "effect"
import * as McpError from "../../src/McpError.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as Approval from "../../src/safety/Approval.ts"
import * as Grants from "../../src/safety/Grants.ts"
import type * as PermissionRule from "../../src/safety/PermissionRule.ts"
import * as Permissions from "../../src/safety/Permissions.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as ToolPins from "../../src/tools/ToolPins.ts"
import * as Pool from "../support/pool.ts"
import * as Runtime from "../support/runtime.ts"

const rules = (
  lists: Partial<Record<PermissionRule.Decision, ReadonlyArray<string>>>
): Pick<Permissions.Options, "rules"> => ({
  rules: (["allow", "ask", "deny"] as const).flatMap((decision) =>
    (lists[decision] ?? []).map((tool) => ({ decision, tool }))
  )
})

const server = MemoryServer.make({
  era: "session",
  tools: [
    { name: "get", call: (args) => Effect.succeed(JSON.stringify(args)) },
    { name: "put", call: () => Effect.succeed("put") }
  ],
  resources: [{ uri: "mem://secret/a", name: "a", read: () => Effect.succeed("secret") }],
  prompts: [{ name: "hello", get: () => Effect.succeed("hello") }]
})

/** A runtime with one server, and what it sent is told by the server. */
const running = <A, E>(
  options: Partial<Runtime.Options>,
  body: (
    service: McpRuntime.McpRuntime["Type"],
    peer: MemoryServer.Server,
    permissions: Permissions.Permissions["Type"]
  ) => Effect.Effect<A, E, Scope.Scope>
) =>
  Effect.gen(function*() {
    const peer = yield* server
    return yield* Effect.gen(function*() {
      const service = yield* McpRuntime.McpRuntime
      yield* service.tools
      return yield* body(service, peer, yield* Permissions.Permissions)
    }).pipe(Effect.provide(Runtime.layer({ s: peer }, { servers: [Pool.remote("s")], ...options })))
  })

const model = { origin: "model" } as const

const denied = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.either(effect), (either) => {
    if (Either.isRight(either)) return "permitted"
    const error: unknown = either.left
    return error instanceof McpError.PermissionDenied ? error.why : `${String(error)}`
  })

/** Until so many calls of the server wait for a permit. */
const waiting = (count: number) =>
  Effect.flatMap(
    McpRuntime.McpRuntime,
    (service) =>
      Effect.repeat(Effect.zipRight(Effect.yieldNow(), service.servers.get("s")), {
        until: ({ bulkhead }) => bulkhead.queued === count
      })
  )

const get = { server: "s", tool: "get" }

describe("who calls", () => {
  it.scoped("decides where no rule speaks: a model must be agreed to, the program and a person need not (perm-009)", () =>
    running({}, (service, peer) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* denied(service.callTool(get, {}, model)), "unanswered")
        assert.strictEqual(yield* denied(service.callTool("mcp__s__get", {}, model)), "unanswered")
        assert.strictEqual(peer.executions("get"), 0)
        yield* service.callTool(get)
        yield* service.callTool(get, {}, { origin: "person" })
        assert.strictEqual(peer.executions("get"), 2)
        const { tools } = yield* service.tools
        assert.deepStrictEqual(tools.map(({ requiresApproval }) => requiresApproval), [true, true])
      })))

  it.scoped("decides nothing where a rule speaks", () =>
    running(
      { permissions: rules({ allow: ["s/get"], deny: ["s/put"], ask: ["s/resource:*"] }) },
      (service, peer) =>
        Effect.gen(function*() {
          yield* service.callTool(get, {}, model)
          for (const origin of ["model", "program", "person"] as const) {
            assert.strictEqual(yield* denied(service.callTool({ server: "s", tool: "put" }, {}, { origin })), "rule")
            assert.strictEqual(yield* denied(service.readResource("s", "mem://secret/a", { origin })), "unanswered")
          }
          assert.strictEqual(peer.executions("put"), 0)
          const { denied: hidden, tools } = yield* service.tools
          assert.deepStrictEqual(tools.map(({ requiresApproval, tool }) => [tool.name, requiresApproval]), [[
            "get",
            false
          ]])
          assert.deepStrictEqual(hidden, [{ server: "s", tool: "put", rule: "s/put" }])
        })
    ))
})

describe("a rule that denies", () => {
  it.scoped("holds on every way to a server", () =>
    running({ permissions: rules({ deny: ["mcp__s"] }) }, (service, peer) =>
      Effect.gen(function*() {
        const ways: Record<string, Effect.Effect<unknown, McpError.McpError>> = {
          call: service.callTool(get),
          "call by name": service.callTool("mcp__s__get"),
          "call, to be made again": service.callTool(get, {}, { idempotent: true }),
          stream: Stream.runDrain(service.callToolStream(get)),
          "by what was listed": Effect.flatMap(service.tool(get), (tool) => tool.call()),
          read: service.readResource("s", "mem://secret/a"),
          subscribe: Stream.runDrain(service.subscribeResource("s", "mem://secret/a")),
          prompt: service.getPrompt("s", "hello"),
          "client, call": service.withClient("s", ({ callTool }) => callTool("get")),
          "client, stream": service.withClient("s", ({ callToolStream }) => Stream.runDrain(callToolStream("get"))),
          "client, read": service.withClient("s", ({ readResource }) => readResource("mem://secret/a")),
          "client, subscribe": service.withClient("s", ({ subscribeResource }) =>
            Stream.runDrain(subscribeResource("mem://secret/a"))),
          "client, prompt": service.withClient("s", ({ getPrompt }) =>
            getPrompt("hello")),
          "client, request": service.withClient("s", ({ request }) => request("tools/call", { name: "get" })),
          "client, any request": service.withClient("s", ({ request }) =>
            request("resources/read", { uri: "mem://secret/a" })),
          "client, watch": service.withClient("s", ({ watch }) =>
            Effect.scoped(watch({ resourceUris: ["mem://secret/a"] })))
        }
        const before = peer.received("tools/call").length
        for (const [name, way] of Object.entries(ways)) {
          assert.strictEqual(yield* denied(way), "rule", name)
        }
        assert.strictEqual(peer.received("tools/call").length, before)
        for (const method of ["resources/read", "resources/subscribe", "prompts/get"]) {
          assert.strictEqual(peer.received(method).length, 0, method)
        }
        // what is no use of it is possible still
        yield* service.withClient("s", ({ health }) =>
          health)
      })))

  it.scoped("that comes while a call waits to be sent is obeyed (perm-040)", () =>
    Effect.gen(function*() {
      const release = yield* Deferred.make<void>()
      const peer = yield* MemoryServer.make({
        era: "session",
        tools: [
          { name: "hold", call: () => Effect.as(Deferred.await(release), "") },
          { name: "get", call: () => Effect.succeed("") }
        ]
      })
      yield* Effect.gen(function*() {
        const service = yield* McpRuntime.McpRuntime
        const permissions = yield* Permissions.Permissions
        yield* service.tools
        const first = yield* Effect.fork(service.callTool({ server: "s", tool: "hold" }))
        yield* peer.until(() => peer.executions("hold") === 1)
        // one that was decided on, and one of which nothing had to be decided
        const others = yield* Effect.forEach([model, undefined], (own) =>
          Effect.fork(denied(service.callTool(get, {}, own))))
        yield* waiting(2)
        yield* permissions.configure("files", [{ decision: "deny", tool: "s/get" }])
        yield* Deferred.succeed(release, undefined)
        yield* Fiber.join(first)
        assert.deepStrictEqual(yield* Effect.forEach(others, Fiber.join), ["rule", "rule"])
        assert.strictEqual(peer.executions("get"), 0)
      }).pipe(Effect.provide(Runtime.layer({ s: peer }, {
        servers: [Pool.remote("s", { concurrency: 1 })],
        permissions: rules({ allow: ["s/get"] })
      })))
    }))

  it.scoped("that comes while somebody is asked is obeyed (perm-040)", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const answer = yield* Deferred.make<Approval.Answer>()
      const approval = Approval.layer(() => Effect.zipRight(Deferred.succeed(asked, undefined), Deferred.await(answer)))
      yield* running({ approval }, (service, peer, permissions) =>
        Effect.gen(function*() {
          const call = yield* Effect.fork(denied(service.callTool(get, {}, model)))
          yield* Deferred.await(asked)
          yield* permissions.configure("files", [{ decision: "deny", tool: "*.get" }])
          yield* Deferred.succeed(answer, { _tag: "Always" })
          assert.strictEqual(yield* Fiber.join(call), "rule")
          assert.strictEqual(peer.executions("get"), 0)
        }))
    }))
})

describe("somebody who is asked", () => {
  it.scoped("is shown what will be sent, whatever becomes of the caller's arguments (perm-041)", () =>
    Effect.gen(function*() {
      const args = { path: "a", list: [1] }
      const asked: Array<Approval.Request> = []
      const approval = Approval.layer((request) =>
        Effect.sync((): Approval.Answer => {
          asked.push(request)
          args.path = "b"
          args.list.push(2)
          return { _tag: "Once" }
        })
      )
      yield* running({ approval, permissions: rules({ ask: ["s/g*"] }) }, (service) =>
        Effect.gen(function*() {
          const { content } = yield* service.callTool(get, args, { callId: "c1" })
          const [part] = content
          assert.deepStrictEqual(part?._tag === "Text" ? JSON.parse(part.text) : undefined, { path: "a", list: [1] })
          const [request] = asked
          assert.deepStrictEqual(request?.subject.args, { path: "a", list: [1] })
          assert.strictEqual(request?.rule, "s/g*")
          assert.strictEqual(request?.callId, "c1")
          assert.strictEqual(request?.tool?.name, "get")
          yield* service.callTool(get, { path: "a", list: [1] })
          assert.notStrictEqual(asked[1]?.digest, undefined)
          assert.strictEqual(asked[1]?.digest, asked[0]?.digest)
          yield* service.callTool(get, { path: "a", list: [1, 3] })
          assert.notStrictEqual(asked[2]?.digest, asked[0]?.digest)
        }))
    }))

  it.scoped("is asked again each time, once, for a session, or never again", () =>
    Effect.gen(function*() {
      const asked: Array<Approval.Request> = []
      const approval = Approval.layerTest([{ _tag: "Once" }, { _tag: "Deny" }, { _tag: "Session" }], asked)
      yield* running({ approval }, (service, _, permissions) =>
        Effect.gen(function*() {
          const call = (args = {}) => denied(service.callTool(get, args, model))
          assert.strictEqual(yield* call(), "permitted")
          assert.strictEqual(yield* call(), "refused")
          assert.strictEqual(yield* call(), "permitted")
          assert.strictEqual(yield* call({ other: 1 }), "permitted")
          assert.strictEqual(asked.length, 3)
          // of another tool nothing was said
          assert.strictEqual(yield* denied(service.callTool({ server: "s", tool: "put" }, {}, model)), "refused")
          yield* permissions.revoke(Pool.remote("s"), { kind: "tool", name: "get" })
          assert.strictEqual(yield* call(), "refused")
        }))
    }))

  it.scoped("is asked again for another user, whose calls no remembered approval of the first one permits", () =>
    Effect.gen(function*() {
      const asked: Array<Approval.Request> = []
      const approval = Approval.layerTest([{ _tag: "Session" }, { _tag: "Always" }, { _tag: "Session" }], asked)
      yield* running({ approval }, (service, _, permissions) =>
        Effect.gen(function*() {
          const call = (identity?: string) => denied(service.callTool(get, {}, { ...model, identity }))
          const lent = (identity?: string) =>
            denied(service.withClient("s", ({ callTool }) => callTool("get"), { ...model, identity }))
          for (const user of ["alice", "bob", undefined]) assert.strictEqual(yield* call(user), "permitted")
          assert.deepStrictEqual(asked.map(({ identity }) => identity), ["alice", "bob", undefined])
          for (const user of ["alice", "bob", undefined]) assert.strictEqual(yield* call(user), "permitted")
          for (const user of ["alice", "bob", undefined]) assert.strictEqual(yield* lent(user), "permitted")
          assert.strictEqual(yield* call("carol"), "refused")
          assert.strictEqual(yield* lent("carol"), "refused")
          yield* permissions.revoke(Pool.remote("s"), { kind: "tool", name: "get" }, "alice")
          assert.strictEqual(yield* call("alice"), "refused")
          assert.strictEqual(yield* call("bob"), "permitted")
        }))
    }))

  it.scoped("can agree to these arguments only, and for a while only (perm-031)", () =>
    running({
      approval: Approval.layerTest([{ _tag: "Session", exactly: true, lasting: "1 minute" }])
    }, (service) =>
      Effect.gen(function*() {
        const call = (args: { readonly a: number }) => denied(service.callTool(get, args, model))
        assert.strictEqual(yield* call({ a: 1 }), "permitted")
        assert.strictEqual(yield* call({ a: 1 }), "permitted")
        assert.strictEqual(yield* call({ a: 2 }), "refused")
        yield* TestClock.adjust("2 minutes")
        assert.strictEqual(yield* call({ a: 1 }), "refused")
      })))

  it.scoped("is asked again about a tool that is defined otherwise, or of another server (perm-028, perm-030)", () =>
    Effect.gen(function*() {
      const kept = Layer.succeed(Grants.Grants, yield* Grants.makeMemory)
      const definition = { description: "Gets." }
      const once = (description: string, more: Parameters<typeof Pool.remote>[1]) =>
        Effect.gen(function*() {
          const peer = yield* MemoryServer.make({
            era: "session",
            tools: [{ name: "get", description, call: () => Effect.succeed("") }]
          })
          const asked: Array<Approval.Request> = []
          const approval = Layer.merge(Approval.layerTest([{ _tag: "Always" }], asked), kept)
          yield* Effect.gen(function*() {
            const service = yield* McpRuntime.McpRuntime
            yield* service.tools
            yield* service.callTool(get, {}, model)
          }).pipe(Effect.provide(
            Runtime.layer({ s: peer }, { servers: [Pool.remote("s", more)], approval, grants: kept })
          ))
          return asked.length
        })
      assert.strictEqual(yield* once(definition.description, {}), 1)
      assert.strictEqual(yield* once(definition.description, {}), 0)
      assert.strictEqual(yield* once("Gets, and sends it to somebody else.", {}), 1)
      assert.strictEqual(yield* once("Gets, and sends it to somebody else.", {}), 0)
      assert.strictEqual(yield* once(definition.description, { url: "http://elsewhere.example/mcp" }), 1)
    }))

  it.scoped("is asked for one thing at a time, and answers for what waits as well", () =>
    Effect.gen(function*() {
      let open = 0
      let most = 0
      const asked: Array<Approval.Request> = []
      const approval = Approval.layer((request) =>
        Effect.gen(function*() {
          asked.push(request)
          most = Math.max(most, ++open)
          yield* Effect.sleep("1 second")
          open -= 1
          return { _tag: "Session" } as const
        })
      )
      yield* running({ approval, permissions: { maxWaiting: 3 } }, (service) =>
        Effect.gen(function*() {
          const calls = yield* Effect.forEach(
            Array.from({ length: 6 }),
            () => Effect.fork(denied(service.callTool(get, {}, model)))
          )
          yield* Effect.repeat(Effect.yieldNow(), { until: () => asked.length === 1 })
          yield* TestClock.adjust("1 second")
          const outcomes = yield* Effect.forEach(calls, Fiber.join)
          assert.deepStrictEqual(outcomes, [
            "permitted",
            "permitted",
            "permitted",
            "permitted",
            "crowded",
            "crowded"
          ])
          assert.strictEqual(asked.length, 1)
          assert.strictEqual(most, 1)
        }))
    }))

  it.scoped("and does not answer, is waited for no longer than patience lasts", () =>
    running(
      { approval: Approval.layer(() => Effect.never), permissions: { patience: "1 minute" } },
      (service) =>
        Effect.gen(function*() {
          const call = yield* Effect.fork(denied(service.callTool(get, {}, model)))
          yield* Effect.yieldNow()
          yield* TestClock.adjust(Duration.minutes(1))
          assert.strictEqual(yield* Fiber.join(call), "unanswered")
        })
    ))

  it.scoped("is not asked any more when the call is not wanted any more", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const gone = yield* Deferred.make<void>()
      const approval = Approval.layer(() =>
        Effect.zipRight(Deferred.succeed(asked, undefined), Effect.never).pipe(
          Effect.onInterrupt(() => Deferred.succeed(gone, undefined))
        )
      )
      yield* running({ approval }, (service, peer) =>
        Effect.gen(function*() {
          const call = yield* Effect.fork(service.callTool(get, {}, model))
          yield* Deferred.await(asked)
          const exit = yield* Fiber.interrupt(call)
          assert.isTrue(exit._tag === "Failure")
          yield* Deferred.await(gone)
          assert.strictEqual(peer.executions("get"), 0)
        }))
    }))
})

describe("the log of decisions", () => {
  it.scoped("has each decision with who wanted it, what decided and the rule", () =>
    running({
      approval: Approval.layerTest([{ _tag: "Session" }]),
      permissions: rules({ allow: ["s/put"], deny: ["s/prompt:*"] })
    }, (service) =>
      Effect.gen(function*() {
        const events = yield* service.subscribe
        yield* service.callTool(get)
        yield* service.callTool(get, {}, { ...model, callId: "c" })
        yield* service.callTool(get, {}, model)
        yield* service.callTool({ server: "s", tool: "put" }, {}, model)
        yield* denied(service.getPrompt("s", "hello"))
        yield* denied(service.readResource("s", "mem://secret/a", model))
        const told = Chunk.toReadonlyArray(yield* events.clear).filter(
          (event): event is McpEvent.McpEvent & { readonly _tag: "PermissionDecided" } =>
            event._tag === "PermissionDecided"
        ).map(({ by, decision, kind, name, origin, rule }) => [origin, kind, name, decision, by, rule])
        assert.deepStrictEqual(told, [
          ["model", "tool", "get", "allow", "approval", undefined],
          ["model", "tool", "get", "allow", "grant", undefined],
          ["model", "tool", "put", "allow", "rule", "s/put"],
          ["program", "prompt", "hello", "deny", "rule", "s/prompt:*"],
          ["model", "resource", "mem://secret/a", "deny", "refused", undefined]
        ])
      })))
})

describe("rules given in code", () => {
  it.effect("that cannot be read are an error at once", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(Effect.scoped(
        Layer.build(Permissions.layer(rules({ allow: ["s/get", "*/get"] }))).pipe(
          Effect.provide(
            Layer.mergeAll(Approval.layerNone, McpEvent.layerNone, ToolPins.layerNone)
          )
        )
      ))
      assert.isTrue(exit._tag === "Failure" && exit.cause._tag === "Fail")
      if (exit._tag === "Failure" && exit.cause._tag === "Fail") {
        assert.strictEqual(exit.cause.error._tag, "ConfigurationError")
        assert.include(exit.cause.error.message, "permissions.rules[1]")
      }
    }))
})
