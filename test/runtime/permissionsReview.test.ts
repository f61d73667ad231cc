/** Ways around a decision, and what becomes of one when something changes between it and what is sent. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Either, Exit, Fiber, Layer, type Scope, Stream, TestClock } from "effect"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpError from "../../src/McpError.ts"
import type * as McpEvent from "../../src/McpEvent.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as Approval from "../../src/safety/Approval.ts"
import * as Grants from "../../src/safety/Grants.ts"
import type * as PermissionRule from "../../src/safety/PermissionRule.ts"
import * as Permissions from "../../src/safety/Permissions.ts"
import type * as Faults from "../../src/testing/Faults.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as Pool from "../support/pool.ts"
import * as Runtime from "../support/runtime.ts"

const rules = (
  lists: Partial<Record<PermissionRule.Decision, ReadonlyArray<string>>>
): Pick<Permissions.Options, "rules"> => ({
  rules: (["allow", "ask", "deny"] as const).flatMap((decision) =>
    (lists[decision] ?? []).map((tool) => ({ decision, tool }))
  )
})

const peerOf = (more: Partial<MemoryServer.Options> = {}) =>
  MemoryServer.make({
    era: "session",
    tools: [
      { name: "get", call: (args) => Effect.succeed(JSON.stringify(args)) },
      { name: "put", call: () => Effect.succeed("put") }
    ],
    resources: [{ uri: "mem://secret/a", name: "a", read: () => Effect.succeed("secret") }],
    templates: [{ uriTemplate: "mem://secret/{name}", name: "t", read: () => Effect.succeed("secret") }],
    prompts: [{ name: "hello", arguments: [{ name: "to" }], get: (args) => Effect.succeed(JSON.stringify(args)) }],
    complete: () => Effect.succeed(["x"]),
    ...more
  })

type Provided = Layer.Layer.Success<ReturnType<typeof Runtime.layer>>

type Body<A, E> = (
  service: McpRuntime.McpRuntime["Type"],
  peer: MemoryServer.Server,
  permissions: Permissions.Permissions["Type"]
) => Effect.Effect<A, E, Provided | Scope.Scope>

const over = <A, E>(
  peer: MemoryServer.Server,
  options: Partial<Runtime.Options>,
  body: Body<A, E>,
  peers: Parameters<typeof Runtime.layer>[0] = { s: peer }
) =>
  Effect.gen(function*() {
    return yield* body(yield* McpRuntime.McpRuntime, peer, yield* Permissions.Permissions)
  }).pipe(Effect.provide(Runtime.layer(peers, { servers: [Pool.remote("s")], ...options })))

/** A runtime with one server, of which the tools are known. */
const running = <A, E>(options: Partial<Runtime.Options>, body: Body<A, E>) =>
  Effect.flatMap(
    peerOf(),
    (peer) =>
      over(peer, options, (service, peer, permissions) =>
        Effect.zipRight(service.tools, body(service, peer, permissions)))
  )

const model = { origin: "model" } as const

const get = { server: "s", tool: "get" }

const denied = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.either(effect), (either) => {
    if (Either.isRight(either)) return "permitted"
    const error: unknown = either.left
    return error instanceof McpError.PermissionDenied ? error.why : `${String(error)}`
  })

const refused: Faults.End = (server, outcome) =>
  new McpError.NetworkError({ server, code: "ECONNREFUSED", detail: "refused", outcome })

const paramsOf = (message: JsonRpc.Incoming | undefined): JsonRpc.Incoming => {
  const params = message?.["params"]
  return JsonRpc.isObject(params) ? params : {}
}

const isOther = (config: ServerConfig.ServerConfig): boolean =>
  "url" in config && `${config.url}`.includes("other.test")

/** Holds the one place of a server until it is let go. */
const holding = Effect.gen(function*() {
  const release = yield* Deferred.make<void>()
  const peer = yield* peerOf({
    tools: [
      { name: "hold", call: () => Effect.as(Deferred.await(release), "") },
      { name: "get", call: (args) => Effect.succeed(JSON.stringify(args)) }
    ]
  })
  return { peer, release: Deferred.succeed(release, undefined) }
})

const narrow = Pool.remote("s", { concurrency: 1 })

/** Until so many calls of the server wait for a permit. */
const waiting = (count: number) =>
  Effect.flatMap(
    McpRuntime.McpRuntime,
    (service) =>
      Effect.repeat(Effect.zipRight(Effect.yieldNow(), service.servers.get("s")), {
        until: ({ bulkhead }) => bulkhead.queued === count
      })
  )

/** Holds the place, has a call of `get` wait behind it, does something, and says what became of the call. */
const meanwhile = <E>(
  options: Partial<Runtime.Options>,
  call: (service: McpRuntime.McpRuntime["Type"]) => Effect.Effect<unknown, McpError.McpError>,
  change: (
    service: McpRuntime.McpRuntime["Type"],
    permissions: Permissions.Permissions["Type"]
  ) => Effect.Effect<unknown, E, Provided | Scope.Scope>,
  peers: (peer: MemoryServer.Server) => Parameters<typeof Runtime.layer>[0] = (peer) => ({ s: peer })
) =>
  Effect.flatMap(
    holding,
    ({ peer, release }) =>
      over(peer, { servers: [narrow], ...options }, (service, _, permissions) =>
        Effect.gen(function*() {
          yield* service.tools
          const first = yield* Effect.fork(Effect.either(service.callTool({ server: "s", tool: "hold" })))
          yield* peer.until(() => peer.executions("hold") === 1)
          const outcome = yield* Effect.fork(denied(call(service)))
          yield* waiting(1)
          yield* change(service, permissions)
          yield* release
          yield* Fiber.join(first)
          return { outcome: yield* Fiber.join(outcome), executions: peer.executions("get"), peer }
        }), peers(peer))
  )

describe("no way around a rule that denies", () => {
  it.scoped("is a completion, a subscription of the other era, or a request that wants no answer", () =>
    running({ permissions: rules({ deny: ["mcp__s"] }) }, (service, peer) =>
      Effect.gen(function*() {
        const before = new Set(["initialize", "notifications/initialized", "tools/list"])
        const prompt = { prompt: "hello", argument: "to", value: "a" }
        const ways: Record<string, Effect.Effect<unknown, McpError.McpError>> = {
          "completion of a prompt": service.withClient("s", ({ complete }) => complete(prompt)),
          "completion of a template": service.withClient("s", ({ complete }) =>
            complete({ template: "mem://secret/{name}", argument: "name", value: "a" })),
          "completion, as a request": service.withClient("s", ({ request }) =>
            request("completion/complete", {
              ref: { type: "ref/prompt", name: "hello" },
              argument: { name: "to", value: "a" }
            })),
          "subscription, as a request": service.withClient("s", ({ request }) =>
            request("subscriptions/listen", {
              notifications: { resourceSubscriptions: ["mem://secret/a"] }
            })),
          "a call without an answer": service.withClient("s", ({ notify }) =>
            notify("tools/call", { name: "get", arguments: {} }))
        }
        for (const [name, way] of Object.entries(ways)) {
          assert.strictEqual(yield* denied(way), "rule", name)
        }
        for (const method of ["completion/complete", "subscriptions/listen", "tools/call"]) {
          assert.isFalse(before.has(method))
          assert.strictEqual(peer.received(method).length, 0, method)
        }
      })))

  it.scoped("is a session, for a tool that is filtered out", () =>
    running({ servers: [Pool.remote("s", { disabledTools: ["get"] })] }, (service, peer) =>
      Effect.gen(function*() {
        for (
          const way of [
            service.withClient("s", ({ callTool }) => callTool("get")),
            service.withClient("s", ({ callToolStream }) => Stream.runDrain(callToolStream("get"))),
            service.withClient("s", ({ request }) => request("tools/call", { name: "get", arguments: {} }))
          ]
        ) assert.strictEqual((yield* Effect.flip(way))._tag, "NotFound")
        assert.strictEqual(peer.executions("get"), 0)
        yield* service.withClient("s", ({ callTool }) => callTool("put"))
        assert.strictEqual(peer.executions("put"), 1)
      })))
})

describe("what was decided is what is sent", () => {
  it.scoped("over a session in every way, whatever becomes of the caller's own", () =>
    Effect.gen(function*() {
      const args = { path: "a" }
      const params = { name: "get", arguments: args }
      const approval = Approval.layer(() =>
        Effect.sync((): Approval.Answer => {
          args.path = "b"
          params.name = "put"
          return { _tag: "Once" }
        })
      )
      yield* running({ approval, permissions: rules({ ask: ["s/*", "s/prompt:*"] }) }, (service, peer) =>
        Effect.gen(function*() {
          const ways: ReadonlyArray<Effect.Effect<unknown, McpError.McpError>> = [
            service.withClient("s", ({ callTool }) =>
              callTool("get", args)),
            service.withClient("s", ({ request }) => request("tools/call", params)),
            service.getPrompt("s", "hello", args),
            service.withClient("s", ({ getPrompt }) => getPrompt("hello", args)),
            service.withClient("s", ({ request }) => request("prompts/get", { name: "hello", arguments: args }))
          ]
          for (const way of ways) {
            args.path = "a"
            params.name = "get"
            yield* way
          }
          const sent = [...peer.received("tools/call"), ...peer.received("prompts/get")]
          assert.deepStrictEqual(
            sent.map((message) => [paramsOf(message)["name"], paramsOf(message)["arguments"]]),
            [
              ...Array.from({ length: 2 }, () => ["get", { path: "a" }]),
              ...Array.from({ length: 3 }, () => ["hello", { path: "a" }])
            ]
          )
        }))
    }))

  it.scoped("where a rule has looked at it and nobody was asked", () =>
    Effect.gen(function*() {
      const args = { path: "/repo/a" }
      const { outcome, peer } = yield* meanwhile(
        { permissions: rules({ allow: ["s/get(path=/repo/*)"], ask: ["s/put"] }) },
        (service) => service.callTool(get, args, model),
        () => Effect.sync(() => args.path = "/etc/passwd")
      )
      assert.strictEqual(outcome, "permitted")
      const last = peer.received("tools/call").at(-1)
      assert.deepStrictEqual(paramsOf(last)["arguments"], { path: "/repo/a" })
    }))

  it.scoped("and not what whoever is asked makes of it", () =>
    Effect.gen(function*() {
      const approval = Approval.layer(({ subject }) =>
        Effect.sync((): Approval.Answer => {
          Object.assign(subject.args ?? {}, { path: "b" })
          return { _tag: "Once" }
        })
      )
      yield* running({ approval }, (service, peer) =>
        Effect.gen(function*() {
          yield* service.callTool(get, { path: "a" }, model)
          assert.deepStrictEqual(paramsOf(peer.received("tools/call").at(-1))["arguments"], { path: "a" })
        }))
    }))

  it.scoped("or nothing is, where nobody can look at all of it", () =>
    running({ approval: Approval.layerTest([{ _tag: "Once" }]) }, (service, peer) =>
      Effect.gen(function*() {
        let deep: ReadonlyArray<unknown> = []
        for (let at = 0; at < 100_000; at++) deep = [deep]
        const call = service.callTool(get, JSON.parse("{}"), model)
        assert.match(yield* denied(service.callTool(get, { deep }, model)), /^InvalidArguments: .*"arguments\/deep\/0/)
        assert.strictEqual(peer.executions("get"), 0)
        assert.strictEqual(yield* denied(call), "permitted")
      })))
})

describe("what changes between a decision and what is sent", () => {
  for (const [name, slow] of [["read", "find"], ["written", "add"]] as const) {
    it.scoped(`is obeyed, also while what was agreed to is ${name}`, () =>
      Effect.gen(function*() {
        const begun = yield* Deferred.make<void>()
        const goOn = yield* Deferred.make<void>()
        const memory = yield* Grants.makeMemory
        const wait = Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(goOn))
        const grants = Layer.succeed(Grants.Grants, {
          ...memory,
          find: (place) =>
            slow === "find"
              ? Effect.as(wait, [{ args: undefined, pin: undefined, until: undefined, at: 0 }])
              : memory.find(place),
          add: (place, grant) => Effect.zipRight(wait, memory.add(place, grant))
        })
        const approval = Approval.layerTest([{ _tag: "Always" }])
        yield* running({ grants, approval }, (service, peer, permissions) =>
          Effect.gen(function*() {
            const read = service.readResource("s", "mem://secret/a", model)
            const reading = yield* Effect.fork(denied(read))
            yield* Deferred.await(begun)
            yield* permissions.configure("files", [{ decision: "deny", tool: "s/resource:*" }])
            yield* Deferred.succeed(goOn, undefined)
            assert.strictEqual(yield* Fiber.join(reading), "rule")
            assert.strictEqual(peer.received("resources/read").length, 0)
          }))
      }))
  }

  it.scoped("is another server of the same name, which nobody has agreed to", () =>
    Effect.gen(function*() {
      const other = yield* peerOf()
      const uri = "mem://secret/a"
      // of a resource, of which there is no definition that could tell the servers apart
      for (const call of ["tool", "resource"]) {
        const { outcome, peer } = yield* meanwhile(
          { approval: Approval.layerTest([{ _tag: "Session" }]) },
          (service) =>
            call === "tool"
              ? service.callTool(get, { secret: 1 }, model)
              : service.readResource("s", uri, model),
          (service) => service.servers.reload([Pool.remote("s", { url: "http://other.test/mcp", concurrency: 1 })]),
          (peer) => (config) => isOther(config) ? other : peer
        )
        assert.strictEqual(outcome, "changed", call)
        for (const one of [peer, other]) {
          assert.deepStrictEqual([one.executions("get"), one.received("resources/read").length], [0, 0], call)
        }
      }
    }))

  it.scoped("is told where it stops something", () =>
    Effect.gen(function*() {
      const told: Array<unknown> = []
      const { outcome } = yield* meanwhile(
        { permissions: rules({ allow: ["s/get"] }) },
        (service) => service.callTool(get, {}, { ...model, callId: "c" }),
        (service, permissions) =>
          Effect.gen(function*() {
            const events = yield* service.subscribe
            yield* permissions.configure("files", [{ decision: "deny", tool: "s/get" }])
            yield* Effect.addFinalizer(() =>
              Effect.map(events.clear, (all) => {
                for (const event of Chunk.toReadonlyArray(all)) {
                  if (event._tag === "PermissionDecided") {
                    told.push([event.callId, event.decision, event.by, event.rule])
                  }
                }
              })
            )
          })
      ).pipe(Effect.scoped)
      assert.strictEqual(outcome, "rule")
      assert.deepStrictEqual(told, [["c", "deny", "rule", "s/get"]])
    }))
})

describe("what was agreed to", () => {
  it.scoped("does not outlive that it is revoked, not even for a call that waits already", () =>
    Effect.gen(function*() {
      const { peer, release } = yield* holding
      const approval = Approval.layerTest([{ _tag: "Session" }])
      yield* over(peer, { servers: [narrow], approval }, (service, _, permissions) =>
        Effect.gen(function*() {
          yield* service.tools
          yield* service.callTool(get, {}, model)
          const first = yield* Effect.fork(service.callTool({ server: "s", tool: "hold" }))
          yield* peer.until(() => peer.executions("hold") === 1)
          const call = yield* Effect.fork(denied(service.callTool(get, {}, model)))
          yield* waiting(1)
          yield* permissions.revoke(narrow, { kind: "tool", name: "get" })
          yield* release
          yield* Fiber.join(first)
          assert.strictEqual(yield* Fiber.join(call), "changed")
          assert.strictEqual(peer.executions("get"), 1)
        }))
    }))

  it.scoped("of a tool whose definition nobody knew yet is not kept for any definition", () =>
    Effect.gen(function*() {
      const kept = Layer.succeed(Grants.Grants, yield* Grants.makeMemory)
      const asked: Array<Approval.Request> = []
      const run = (description: string) =>
        Effect.gen(function*() {
          const peer = yield* peerOf({ tools: [{ name: "get", description, call: () => Effect.succeed("") }] })
          const approval = Approval.layerTest([{ _tag: "Always" }], asked)
          const servers = [Pool.remote("s", { lazy: true })]
          return yield* over(
            peer,
            { servers, approval, grants: kept },
            (service) => denied(service.callTool(get, {}, model))
          )
        })
      assert.strictEqual(yield* run("Gets."), "permitted")
      assert.isUndefined(asked[0]?.tool)
      assert.strictEqual(yield* run("Gets, and sends it to somebody else."), "permitted")
      assert.strictEqual(asked.length, 2)
    }))

  it.scoped("is taken for nothing where the store did not respond", () =>
    Effect.gen(function*() {
      const grants = Layer.succeed(Grants.Grants, {
        find: () => Effect.uninterruptible(Effect.never),
        add: () => Effect.uninterruptible(Effect.never),
        remove: () => Effect.void
      })
      const asked: Array<Approval.Request> = []
      yield* running({ grants, approval: Approval.layerTest([{ _tag: "Always" }], asked) }, (service) =>
        Effect.gen(function*() {
          const call = yield* Effect.fork(denied(service.callTool(get, {}, model)))
          yield* TestClock.adjust("1 minute")
          assert.strictEqual(yield* Fiber.join(call), "permitted")
          assert.strictEqual(asked.length, 1)
        }))
    }))
})

describe("somebody who is asked", () => {
  it.scoped("and cannot be stopped, is waited for no longer than anybody else", () =>
    running({
      approval: Approval.layer(() => Effect.uninterruptible(Effect.never)),
      permissions: { patience: "1 minute" }
    }, (service, peer) =>
      Effect.gen(function*() {
        const call = yield* Effect.fork(denied(service.callTool(get, {}, model)))
        yield* Effect.yieldNow()
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(yield* Fiber.join(call), "unanswered")
        assert.strictEqual(peer.executions("get"), 0)
      })))

  it.scoped("and fails in a way of its own, permits nothing and holds nobody up", () =>
    Effect.gen(function*() {
      let asked = 0
      const approval = Approval.layer(() =>
        asked++ === 0 ? Effect.die(new Error("no window")) : Effect.succeed({ _tag: "Once" })
      )
      yield* running({ approval }, (service, peer) =>
        Effect.gen(function*() {
          const exit = yield* Effect.exit(service.callTool(get, {}, model))
          assert.isTrue(Exit.isFailure(exit) && exit.cause._tag === "Die")
          assert.strictEqual(peer.executions("get"), 0)
          assert.strictEqual(yield* denied(service.callTool(get, {}, model)), "permitted")
        }))
    }))

  it.scoped("is told in the log of what a new rule has decided in the meantime", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const answer = yield* Deferred.make<Approval.Answer>()
      const approval = Approval.layer(() => Effect.zipRight(Deferred.succeed(asked, undefined), Deferred.await(answer)))
      yield* running({ approval }, (service, _, permissions) =>
        Effect.gen(function*() {
          const events = yield* service.subscribe
          const calls = yield* Effect.forEach([1, 2], () => Effect.fork(denied(service.callTool(get, {}, model))))
          yield* Deferred.await(asked)
          yield* permissions.configure("files", [{ decision: "allow", tool: "s/get" }])
          yield* Deferred.succeed(answer, { _tag: "Once" })
          assert.deepStrictEqual(yield* Effect.forEach(calls, Fiber.join), ["permitted", "permitted"])
          const told = Chunk.toReadonlyArray(yield* events.clear).filter(
            (event): event is McpEvent.McpEvent & { readonly _tag: "PermissionDecided" } =>
              event._tag === "PermissionDecided"
          )
          assert.deepStrictEqual(told.map(({ by, rule }) => [by, rule]), [["approval", undefined], ["rule", "s/get"]])
        }))
    }))
})

describe("a reload", () => {
  it.scoped("that cannot change a server approves none of its tools for what was to come", () =>
    Effect.gen(function*() {
      const peer = yield* peerOf()
      const broken = yield* peerOf()
      yield* over(peer, {}, (service) =>
        Effect.gen(function*() {
          yield* service.tools
          yield* broken.refuseConnect(refused, 100)
          const more = { url: "http://other.test/mcp", autoApprove: ["*"] }
          const reloading = yield* Effect.fork(service.servers.reload([Pool.remote("s", more)]))
          yield* Effect.yieldNow()
          assert.strictEqual(yield* denied(service.callTool(get, {}, model)), "unanswered")
          yield* TestClock.adjust("5 minutes")
          const { failed } = yield* Fiber.join(reloading)
          assert.strictEqual(failed.length, 1)
          assert.strictEqual(yield* denied(service.callTool(get, {}, model)), "unanswered")
          assert.strictEqual(peer.executions("get"), 0)
          // what is the same server is approved at once
          yield* service.servers.reload([Pool.remote("s", { autoApprove: ["get"] })])
          assert.strictEqual(yield* denied(service.callTool(get, {}, model)), "permitted")
        }), (config) => isOther(config) ? broken : peer)
    }))
})
