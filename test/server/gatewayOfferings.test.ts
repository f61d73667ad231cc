import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit } from "effect"
import type * as McpServer from "../../src/server/McpServer.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as Gateway from "../support/gateway.ts"
import * as Pool from "../support/pool.ts"

const file = (uri: string, text: string): MemoryServer.Resource => ({
  uri,
  name: uri,
  mimeType: "text/plain",
  read: () => Effect.succeed(text)
})

const contents = (result: JsonRpc.JsonObject): ReadonlyArray<unknown> =>
  (result["contents"] as ReadonlyArray<JsonRpc.JsonObject>).map(({ text }) => text)

const uris = (result: JsonRpc.JsonObject, list = "resources", key = "uri"): ReadonlyArray<unknown> =>
  (result[list] as ReadonlyArray<JsonRpc.JsonObject>).map((item) => item[key])

const refused = (exit: Exit.Exit<unknown, McpServer.Refusal>): McpServer.Refusal => {
  if (Exit.isFailure(exit) && exit.cause._tag === "Fail") return exit.cause.error
  throw new Error("it was not refused")
}

const both = (
  one: MemoryServer.Options,
  two: MemoryServer.Options,
  options: Gateway.Options = {}
) =>
  Effect.gen(function*() {
    const peers = { one: yield* MemoryServer.make(one), two: yield* MemoryServer.make(two) }
    const gateway = yield* Gateway.make(peers, [Pool.remote("one"), Pool.remote("two")], options)
    return { ...peers, caller: yield* Gateway.caller(gateway) }
  })

const read = (caller: Gateway.Caller, uri: string) => caller.call("resources/read", { uri })

describe("resources behind a gateway", () => {
  it.scopedLive("keep their addresses, except for one that two servers list, which names its server", () =>
    Effect.gen(function*() {
      const { caller } = yield* both(
        { era: "session", resources: [file("a://own", "own"), file("a://same", "of one")] },
        { era: "session", resources: [file("a://same", "of two")] }
      )
      const listed = uris(yield* caller.call("resources/list"))
      assert.deepStrictEqual(listed, ["a://own", "mcp+server:one/a://same", "mcp+server:two/a://same"])
      const texts = yield* Effect.forEach(listed, (uri) => Effect.map(read(caller, String(uri)), contents))
      assert.deepStrictEqual(texts, [["own"], ["of one"], ["of two"]])
    }))

  it.scopedLive("are read from the server whose template matches or whose result linked to them", () =>
    Effect.gen(function*() {
      const { caller } = yield* both(
        {
          era: "session",
          templates: [{ uriTemplate: "a://{id}/x", name: "x", read: (uri) => Effect.succeed(`one ${uri}`) }]
        },
        {
          era: "session",
          resources: [file("b://listed", "listed")],
          tools: [{
            name: "link",
            call: () => Effect.succeed({ content: [{ type: "resource_link", uri: "c://linked", name: "l" }] })
          }],
          methods: {
            "resources/read": ({ uri }) => Effect.succeed({ contents: [{ uri: uri ?? "", text: `two ${uri}` }] })
          }
        }
      )
      assert.deepStrictEqual(uris(yield* caller.call("resources/templates/list"), "resourceTemplates", "uriTemplate"), [
        "a://{id}/x"
      ])
      assert.deepStrictEqual(contents(yield* read(caller, "a://7/x")), ["one a://7/x"])
      yield* caller.call("tools/call", { name: "mcp__two__link" })
      assert.deepStrictEqual(contents(yield* read(caller, "c://linked")), ["two c://linked"])
    }))

  it.scopedLive("that no server has are refused with invalid params", () =>
    Effect.gen(function*() {
      const { caller } = yield* both(
        { era: "session", resources: [file("a://a", "a")] },
        { era: "session", resources: [file("b://b", "b")] }
      )
      const { code, data } = refused(yield* Effect.exit(read(caller, "c://c")))
      assert.deepStrictEqual([code, data], [-32602, { uri: "c://c" }])
      assert.strictEqual(refused(yield* Effect.exit(caller.call("resources/read", { uri: 1 }))).code, -32602)
      assert.strictEqual(refused(yield* Effect.exit(read(caller, "mcp+server:nobody/a://a"))).code, -32602)
    }))

  it.scopedLive("are neither listed nor read if a rule denies them", () =>
    Effect.gen(function*() {
      const { caller, one } = yield* both(
        { era: "session", resources: [file("a://open", "open"), file("a://closed", "closed")] },
        { era: "session" },
        {
          permissions: {
            otherwise: { model: "allow", program: "allow", person: "allow" },
            rules: [{ decision: "deny", tool: "one/resource:a://closed" }]
          }
        }
      )
      assert.deepStrictEqual(uris(yield* caller.call("resources/list")), ["a://open"])
      assert.isTrue(Exit.isFailure(yield* Effect.exit(read(caller, "mcp+server:one/a://closed"))))
      assert.lengthOf(one.received("resources/read"), 0)
    }))

  it.scopedLive("notify of their changes until the watch ends", () =>
    Effect.gen(function*() {
      const { caller, one } = yield* both({ era: "session", resources: [file("a://a", "a")] }, { era: "session" })
      yield* Effect.scoped(Effect.gen(function*() {
        const changed = yield* Deferred.make<void>()
        yield* caller.service.watch!("a://a", () => Deferred.unsafeDone(changed, Effect.void))
        yield* one.until(() => one.received("resources/subscribe").length === 1)
        // the server has the request, and may not have begun to send changes
        const updates = Effect.forever(Effect.delay(one.resourceUpdated("a://a"), "10 millis"))
        yield* Effect.raceFirst(Deferred.await(changed), updates)
      }))
      yield* one.until(() => one.received("resources/unsubscribe").length === 1)
    }))
})

describe("prompts behind a gateway", () => {
  const prompt = (name: string, text: string): MemoryServer.Prompt => ({
    name,
    description: `${name}\u200b!`,
    arguments: [{ name: "to", required: true }],
    get: ({ to }) => Effect.succeed(`${text} ${to}`)
  })

  const said = (result: JsonRpc.JsonObject): unknown =>
    (result["messages"] as ReadonlyArray<{ content: { text: string } }>)[0]?.content.text

  it.scopedLive("are named after their servers, and fetched from them", () =>
    Effect.gen(function*() {
      const { caller } = yield* both(
        { era: "session", prompts: [prompt("greet", "hello"), prompt("part", "bye")] },
        { era: "session", prompts: [prompt("greet", "hi")] }
      )
      const list = yield* caller.call("prompts/list")
      assert.deepStrictEqual(Gateway.named(list, "prompts"), ["mcp__one__greet", "mcp__one__part", "mcp__two__greet"])
      assert.strictEqual((list["prompts"] as ReadonlyArray<JsonRpc.JsonObject>)[0]?.["description"], "greet!")
      const get = (name: string) => Effect.map(caller.call("prompts/get", { name, arguments: { to: "you" } }), said)
      assert.strictEqual(yield* get("mcp__one__greet"), "hello you")
      assert.strictEqual(yield* get("mcp__two__greet"), "hi you")
      assert.strictEqual(refused(yield* Effect.exit(get("greet"))).code, -32602)
    }))

  it.scopedLive("and templates are completed by their servers", () =>
    Effect.gen(function*() {
      const { caller } = yield* both(
        {
          era: "session",
          prompts: [prompt("greet", "hello")],
          complete: (params) => Effect.succeed([JSON.stringify(params["ref"])])
        },
        {
          era: "session",
          templates: [{ uriTemplate: "b://{id}", name: "b", read: () => Effect.succeed("") }]
        }
      )
      const complete = (ref: JsonRpc.JsonObject) =>
        Effect.map(
          caller.call("completion/complete", { ref, argument: { name: "to", value: "y" } }),
          ({ completion }) => (completion as { values: ReadonlyArray<string> }).values
        )
      assert.deepStrictEqual(
        yield* complete({ type: "ref/prompt", name: "mcp__one__greet" }),
        ["{\"type\":\"ref/prompt\",\"name\":\"greet\"}"]
      )
      // a server that completes nothing is not asked
      assert.deepStrictEqual(yield* complete({ type: "ref/resource", uri: "b://{id}" }), [])
      assert.strictEqual(refused(yield* Effect.exit(complete({ type: "ref/prompt", name: "x" }))).code, -32602)
      assert.strictEqual(refused(yield* Effect.exit(complete({ type: "odd" }))).code, -32602)
    }))
})

describe("a gateway with the output of servers cleaned", () => {
  // an invisible character, which texts for a model lose
  const odd = { "own/key": { b: [2, "a\u200bb"] } }
  const extra = { title: "T", icons: [{ src: "data:image/png;base64,aGk=" }], unknown: [{ c: null }], _meta: odd }
  const annotations = { audience: ["user"], priority: 0.5 }
  const prompt = { ...extra, name: "p", arguments: [{ name: "a", required: true, unknown: 1 }] }
  const resource = { ...extra, uri: "a://r", name: "r", size: 3, annotations }
  const template = { ...extra, uriTemplate: "a://{id}", name: "t", annotations }
  const read = {
    contents: [
      { uri: "a://r", mimeType: "application/octet-stream", blob: "AAEC/w==", _meta: odd },
      { uri: "a://r", text: "text", unknown: 1, _meta: odd }
    ],
    unknown: 1,
    _meta: odd
  }
  const got = {
    description: "D",
    messages: [{ role: "user", content: { type: "text", text: "text", annotations, _meta: odd }, unknown: 1 }],
    _meta: odd
  }

  for (const era of ["session", "stateless"] as const) {
    it.scopedLive(`keeps _meta and every unknown field of a server of the ${era} era, and of the caller's requests`, () =>
      Effect.gen(function*() {
        const requests: Array<unknown> = []
        const answer = (result: JsonRpc.JsonObject) => (params: JsonRpc.JsonObject) =>
          Effect.sync(() => {
            requests.push((params["_meta"] as JsonRpc.JsonObject)["mine"])
            return result
          })
        const peer = yield* MemoryServer.make({
          era,
          capabilities: { resources: {}, prompts: {}, completions: {} },
          methods: {
            "resources/list": () => Effect.succeed({ resources: [resource] }),
            "resources/templates/list": () => Effect.succeed({ resourceTemplates: [template] }),
            "prompts/list": () => Effect.succeed({ prompts: [prompt] }),
            "resources/read": answer(read),
            "prompts/get": answer(got),
            "completion/complete": answer({ completion: { values: ["x"], unknown: 1 }, _meta: odd })
          }
        })
        const gateway = yield* Gateway.make({ one: peer }, [Pool.remote("one")])
        const caller = yield* Gateway.caller(gateway, { era })
        assert.deepStrictEqual(yield* caller.call("resources/list"), { resources: [resource] })
        assert.deepStrictEqual(yield* caller.call("resources/templates/list"), { resourceTemplates: [template] })
        assert.deepStrictEqual(yield* caller.call("prompts/list"), { prompts: [{ ...prompt, name: "mcp__one__p" }] })
        const _meta = { mine: "yes" }
        // this peer adds hints for caches
        assert.deepInclude(yield* caller.call("resources/read", { uri: "a://r", _meta }), read)
        assert.deepStrictEqual(yield* caller.call("prompts/get", { name: "mcp__one__p", _meta }), got)
        const ref = { type: "ref/resource", uri: "a://{id}" }
        assert.deepStrictEqual(
          yield* caller.call("completion/complete", { ref, argument: { name: "id", value: "x" }, _meta }),
          { completion: { values: ["x"], unknown: 1 }, _meta: odd }
        )
        assert.deepStrictEqual(requests, ["yes", "yes", "yes"])
      }))
  }
})
