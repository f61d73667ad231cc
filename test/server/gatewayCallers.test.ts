import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import * as HttpEndpoint from "../../src/server/HttpEndpoint.ts"
import * as McpServe from "../../src/server/McpServe.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as Gateway from "../support/gateway.ts"
import * as Pool from "../support/pool.ts"

const call = (caller: Gateway.Caller, name: string, args = {}) =>
  Effect.map(caller.call("tools/call", { name, arguments: args }), Gateway.textOf)

/** Says what it was asked by whom, and asks them back. */
const asking: MemoryServer.Tool = {
  name: "ask",
  call: (args, { ask, clientCapabilities }) =>
    "elicitation" in clientCapabilities
      ? Effect.map(
        ask("elicitation/create", { message: `${args["of"]}?`, requestedSchema: { type: "object", properties: {} } }),
        (answer) => JSON.stringify(answer)
      )
      : Effect.succeed("cannot ask")
}

/** Counts what it was told on one connection. */
const remembering = () => {
  const counts = new Map<number, number>()
  const tool: MemoryServer.Tool = {
    name: "count",
    call: (_, { io }) =>
      Effect.sync(() => {
        const count = (counts.get(io.connection) ?? 0) + 1
        counts.set(io.connection, count)
        return `${count}`
      })
  }
  return tool
}

const elicitation = { elicitation: {} }

const accepts = (name: string) => ({ method, params }: Gateway.Asked) =>
  Effect.succeed({ action: "accept", content: { name, method, message: params?.["message"] ?? null } })

const over = (tools: ReadonlyArray<MemoryServer.Tool>, era: "session" | "stateless", options: Gateway.Options = {}) =>
  Effect.gen(function*() {
    const peer = yield* MemoryServer.make({ era, tools })
    const gateway = yield* Gateway.make({ one: peer }, [Pool.remote("one")], options)
    return { peer, gateway }
  })

describe("callers with sessions", () => {
  for (const era of ["session", "stateless"] as const) {
    it.scopedLive(`get the questions of their own calls, from servers of the ${era} era`, () =>
      Effect.gen(function*() {
        const { gateway } = yield* over([asking], era)
        const callers = yield* Effect.forEach(["ann", "bob"], (name) =>
          Gateway.caller(gateway, { capabilities: elicitation, answer: accepts(name) }))
        const answers = yield* Effect.forEach(
          callers.flatMap((caller, at) =>
            [1, 2].map((nth) => ({ caller, of: `${at}.${nth}` }))
          ),
          ({ caller, of }) => call(caller, "mcp__one__ask", { of }),
          { concurrency: "unbounded" }
        )
        const named = answers.map((text) => {
          const { content: { message, name } } = JSON.parse(text)
          return [name, message]
        })
        assert.deepStrictEqual(named, [
          ["ann", "one: 0.1?"],
          ["ann", "one: 0.2?"],
          ["bob", "one: 1.1?"],
          ["bob", "one: 1.2?"]
        ])
      }))
  }

  it.scopedLive("get no question for a capability that they have not declared", () =>
    Effect.gen(function*() {
      const { gateway } = yield* over([asking], "session")
      const caller = yield* Gateway.caller(gateway)
      assert.strictEqual(yield* call(caller, "mcp__one__ask"), "cannot ask")
      assert.deepStrictEqual(caller.asked, [])
    }))

  it.scopedLive("answer their servers with their roots and their model", () =>
    Effect.gen(function*() {
      const { gateway } = yield* over([{
        name: "use",
        call: (_, { ask }) =>
          Effect.map(
            Effect.all([ask("roots/list"), ask("sampling/createMessage", { messages: [], maxTokens: 1 })]),
            (answers) => JSON.stringify(answers)
          )
      }], "session")
      const roots = { roots: [{ uri: "file:///home", name: "home" }] }
      const said = { role: "assistant", model: "m", content: { type: "text", text: "well" } }
      const caller = yield* Gateway.caller(gateway, {
        capabilities: { roots: {}, sampling: {} },
        answer: ({ method }) => Effect.succeed(method === "roots/list" ? roots : said)
      })
      assert.deepStrictEqual(JSON.parse(yield* call(caller, "mcp__one__use")), [roots, said])
    }))

  it.scopedLive("have separate connections, which end with their session", () =>
    Effect.gen(function*() {
      const { gateway, peer } = yield* over([remembering()], "session")
      const other = yield* Gateway.caller(gateway)
      yield* Effect.scoped(Effect.gen(function*() {
        const caller = yield* Gateway.caller(gateway)
        assert.deepStrictEqual(
          yield* Effect.all([
            call(caller, "mcp__one__count"),
            call(caller, "mcp__one__count"),
            call(other, "mcp__one__count")
          ]),
          ["1", "2", "1"]
        )
        assert.strictEqual(gateway.seats(), 2)
        // theirs, and the one that lists come from
        assert.strictEqual(peer.connections().open, 3)
      }))
      assert.strictEqual(peer.connections().open, 2)
      assert.strictEqual(gateway.seats(), 1)
      assert.strictEqual(yield* call(other, "mcp__one__count"), "2")
    }))

  it.scopedLive("share the connection to a server that `shared` names", () =>
    Effect.gen(function*() {
      const { gateway, peer } = yield* over([remembering()], "session", { serve: { shared: (name) => name === "one" } })
      const callers = yield* Effect.forEach([1, 2], () => Gateway.caller(gateway))
      const counts = yield* Effect.forEach(callers, (caller) => call(caller, "mcp__one__count"))
      assert.deepStrictEqual(counts, ["1", "2"])
      assert.strictEqual(peer.connections().opened, 1)
    }))

  it.scopedLive("start servers once with `single`", () =>
    Effect.gen(function*() {
      const { gateway, peer } = yield* over([asking], "session", { serve: { single: true } })
      assert.strictEqual(peer.connections().opened, 0)
      const caller = yield* Gateway.caller(gateway, { capabilities: elicitation, answer: accepts("ann") })
      assert.deepStrictEqual(Gateway.named(yield* caller.call("tools/list"), "tools")[0], "mcp__one__ask")
      assert.include(yield* call(caller, "mcp__one__ask"), "ann")
      assert.strictEqual(peer.connections().opened, 1)
    }))

  it.scopedLive("get the log messages of their own connections, and no others", () =>
    Effect.gen(function*() {
      const { gateway } = yield* over([{
        name: "log",
        call: (_, { notify }) =>
          Effect.as(notify("notifications/message", { level: "warning", logger: "db", data: { slow: 1 } }), "logged")
      }], "session")
      const other = yield* Gateway.caller(gateway)
      const caller = yield* Gateway.caller(gateway)
      yield* call(other, "mcp__one__log")
      yield* other.hears("log")
      yield* call(caller, "mcp__one__log")
      yield* caller.hears("log")
      assert.deepStrictEqual(caller.logged, [{ level: "warning", logger: "one/db", data: { slow: 1 } }])
      assert.lengthOf(other.logged, 1)
    }))

  it("leave room for callers without sessions, because a full gateway ends silent sessions only over HTTP", () => {
    assert.isBelow(HttpEndpoint.defaults.maxSessions, McpServe.defaults.maxSeats)
  })

  it.scopedLive("are refused over the limit of separate connections", () =>
    Effect.gen(function*() {
      const { gateway } = yield* over([remembering()], "session", { serve: { maxSeats: 1 } })
      const first = yield* Gateway.caller(gateway)
      const second = yield* Gateway.caller(gateway)
      yield* call(first, "mcp__one__count")
      const end = yield* Effect.exit(call(second, "mcp__one__count"))
      assert.isTrue(Exit.isFailure(end) && end.cause._tag === "Fail" && end.cause.error.code === -32000)
      assert.strictEqual(yield* call(first, "mcp__one__count"), "2")
    }))
})

describe("callers without sessions", () => {
  const stateless = { era: "stateless", capabilities: elicitation } as const

  it.scopedLive("answer the questions of stateless servers themselves, unchanged", () =>
    Effect.gen(function*() {
      const { gateway, peer } = yield* over([asking], "stateless")
      const caller = yield* Gateway.caller(gateway, stateless)
      yield* caller.call("tools/list")
      const asked = yield* caller.call("tools/call", { name: "mcp__one__ask", arguments: { of: "who" } })
      assert.strictEqual(asked["resultType"], "input_required")
      const inputRequests = asked["inputRequests"] as Record<string, { params: { message: string } }>
      const [[key, question] = []] = Object.entries(inputRequests)
      assert.strictEqual(question?.params.message, "who?")
      const answer = { action: "accept", content: { a: 1 } }
      const result = yield* caller.call("tools/call", {
        name: "mcp__one__ask",
        arguments: { of: "who" },
        inputResponses: { [key!]: answer },
        requestState: asked["requestState"]
      })
      assert.deepStrictEqual(JSON.parse(Gateway.textOf(result)), answer)
      assert.deepStrictEqual(caller.asked, [])
      assert.strictEqual(peer.connections().open, 1)
    }))

  it.scopedLive("are asked by servers of the session era, one request per connection, which the next request reuses", () =>
    Effect.gen(function*() {
      const begun = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const { gateway, peer } = yield* over([asking], "session")
      const ann = yield* Gateway.caller(gateway, {
        ...stateless,
        answer: (asked) =>
          Effect.zipRight(
            Deferred.succeed(begun, undefined),
            Effect.zipRight(Deferred.await(go), accepts("ann")(asked))
          )
      })
      const bob = yield* Gateway.caller(gateway, { ...stateless, answer: accepts("bob") })
      const waiting = yield* Effect.fork(call(ann, "mcp__one__ask"))
      yield* Deferred.await(begun)
      assert.include(yield* call(bob, "mcp__one__ask"), "bob")
      yield* Deferred.succeed(go, undefined)
      assert.include(yield* Fiber.join(waiting), "ann")
      assert.include(yield* call(bob, "mcp__one__ask"), "bob")
      assert.strictEqual(gateway.seats(), 2)
      assert.strictEqual(peer.connections().opened, 3)
    }))

  it.scopedLive("that declare no capabilities share one connection", () =>
    Effect.gen(function*() {
      const { gateway, peer } = yield* over([asking], "session")
      const callers = yield* Effect.forEach([1, 2, 3], () => Gateway.caller(gateway, { era: "stateless" }))
      const answers = yield* Effect.forEach(callers, (caller) => call(caller, "mcp__one__ask"), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(answers, ["cannot ask", "cannot ask", "cannot ask"])
      assert.strictEqual(peer.connections().opened, 1)
    }))

  it.scopedLive("of different principals never share a connection that asks", () =>
    Effect.gen(function*() {
      const { gateway, peer } = yield* over([asking], "session")
      for (const principal of ["a", "b", "a"]) {
        const caller = yield* Gateway.caller(gateway, { ...stateless, principal, answer: accepts(principal) })
        assert.include(yield* call(caller, "mcp__one__ask"), `"name":"${principal}"`)
      }
      assert.strictEqual(peer.connections().opened, 3)
    }))
})

describe("the permissions of callers", () => {
  const rules = [
    { decision: "deny" as const, server: "one", tool: "count" },
    { decision: "allow" as const, server: "one", tool: "free" }
  ]
  const free: MemoryServer.Tool = { name: "free", call: () => Effect.succeed("free") }
  const options = { permissions: { rules } }

  it.scopedLive("hide denied tools, and ask the person about tools that no rule decides", () =>
    Effect.gen(function*() {
      const { gateway, peer } = yield* over([remembering(), free, asking], "session", options)
      const decisions = ["no", "once", "session"]
      const caller = yield* Gateway.caller(gateway, {
        capabilities: elicitation,
        answer: ({ params }) =>
          Effect.succeed(
            String(params?.["message"]).startsWith("Allow ")
              ? { action: "accept", content: { decision: decisions.shift() ?? "no" } }
              : { action: "decline" }
          )
      })
      assert.deepStrictEqual(Gateway.named(yield* caller.call("tools/list"), "tools"), [
        "mcp__one__ask",
        "mcp__one__free",
        "mcp_read_output"
      ])
      assert.strictEqual(yield* call(caller, "mcp__one__free"), "free")
      assert.deepStrictEqual(caller.asked, [])
      assert.isTrue(Exit.isFailure(yield* Effect.exit(call(caller, "mcp__one__count"))))
      assert.include(yield* call(caller, "mcp__one__ask", { of: "x" }), "PermissionDenied")
      assert.strictEqual(peer.executions("ask"), 0)
      assert.strictEqual(
        caller.asked[0]?.params?.["message"],
        "Allow the agent to call the tool ask of one with {\"of\":\"x\"}?"
      )
      for (const _ of [1, 2, 3]) assert.include(yield* call(caller, "mcp__one__ask"), "decline")
      // once, for the session, and not again
      assert.lengthOf(caller.asked.filter(({ params }) => String(params?.["message"]).startsWith("Allow ")), 3)
      assert.strictEqual(peer.executions("count"), 0)
    }))

  it.scopedLive("are asked for with the whole name, and a yes for the session covers the same arguments only", () =>
    Effect.gen(function*() {
      const uris = ["a", "b"].map((end) => `mem://${"x".repeat(300)}/${end}`)
      const peer = yield* MemoryServer.make({
        era: "session",
        tools: [free],
        resources: uris.map((uri) => ({ uri, name: "a", read: () => Effect.succeed("contents") }))
      })
      const gateway = yield* Gateway.make({ one: peer }, [Pool.remote("one")], {
        permissions: { rules: [{ decision: "ask", tool: "*" }] }
      })
      const caller = yield* Gateway.caller(gateway, {
        capabilities: elicitation,
        answer: () => Effect.succeed({ action: "accept", content: { decision: "session" } })
      })
      yield* caller.call("resources/list")
      for (const uri of uris) yield* caller.call("resources/read", { uri })
      assert.deepStrictEqual(
        caller.asked.map(({ params }) => params?.["message"]),
        uris.map((uri) => `Allow the agent to read the resource ${uri} of one?`)
      )
      for (const value of [1, 1, 2]) assert.strictEqual(yield* call(caller, "mcp__one__free", { value }), "free")
      assert.deepStrictEqual(caller.asked.slice(2).map(({ params }) => params?.["message"]), [
        "Allow the agent to call the tool free of one with {\"value\":1}?",
        "Allow the agent to call the tool free of one with {\"value\":2}?"
      ])
    }))

  it.scopedLive("refuse a call that needs consent if the caller cannot be asked", () =>
    Effect.gen(function*() {
      const { gateway, peer } = yield* over([asking, free], "session", options)
      for (const era of ["session", "stateless"] as const) {
        const caller = yield* Gateway.caller(gateway, { era })
        assert.include(yield* call(caller, "mcp__one__ask"), "PermissionDenied")
        assert.strictEqual(yield* call(caller, "mcp__one__free"), "free")
      }
      assert.strictEqual(peer.executions("ask"), 0)
    }))
})
