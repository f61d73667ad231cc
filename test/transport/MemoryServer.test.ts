import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import type * as Transport from "../../src/transport/Transport.ts"
import * as Sink from "../support/sink.ts"

const stateless = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} }
}

const tools: ReadonlyArray<MemoryServer.Tool> = [
  { name: "greet", description: "Greets", call: (args) => Effect.succeed(`hello ${String(args["name"])}`) },
  { name: "wait", call: () => Effect.never },
  { name: "count", call: (_, context) => Effect.as(context.progress(1, 2, "half"), "counted") },
  { name: "bug", call: () => Effect.die(new Error("oh")) },
  { name: "no", call: () => Effect.fail(new MemoryServer.Refused({ code: -32050, message: "no", data: 1 })) },
  {
    name: "ask",
    call: (_, context) =>
      Effect.gen(function*() {
        const first = yield* context.ask("elicitation/create", { message: "first?" })
        const second = yield* context.ask("elicitation/create", { message: "second?" })
        return `${String(first["action"])} ${String(second["action"])}`
      })
  }
]

/** A client that speaks in requests by hand. */
const connected = (server: MemoryServer.Server) =>
  Effect.gen(function*() {
    const transport: Transport.Transport = yield* server.open(MemoryTransport.config("memory"))
    const heard = Sink.make()
    transport.start(heard.sink)
    let id = 0
    const send = (method: string, params: JsonRpc.JsonObject = {}): JsonRpc.Id => {
      transport.send({ jsonrpc: "2.0", id: ++id, method, params })
      return id
    }
    const notify = (method: string, params: JsonRpc.JsonObject = {}) =>
      transport.send({ jsonrpc: "2.0", method, params })
    const ask = (method: string, params: JsonRpc.JsonObject = {}) =>
      Effect.map(
        Effect.suspend(() => heard.answer(send(method, params))),
        ({ error, result }) => ({ error, result }) as Answer
      )
    return {
      transport,
      heard,
      send,
      notify,
      ask,
      /** A request of the stateless era. */
      call: (method: string, params: JsonRpc.JsonObject = {}) => ask(method, { ...params, _meta: stateless }),
      handshake: Effect.map(ask("initialize", { protocolVersion: "2025-11-25", capabilities: {} }), (answer) => {
        notify("notifications/initialized")
        return answer
      })
    }
  })

interface Answer {
  readonly result: JsonRpc.JsonObject
  readonly error: { readonly code: number; readonly data: JsonRpc.JsonObject }
}

describe("MemoryServer: the session era", () => {
  it.scoped("shakes hands with the version asked for, or its best", () =>
    Effect.gen(function*() {
      const client = yield* connected(yield* MemoryServer.make({ tools, instructions: "be kind" }))
      const { result } = yield* client.ask("initialize", { protocolVersion: "2025-03-26", capabilities: {} })
      assert.deepStrictEqual(result, {
        protocolVersion: "2025-03-26",
        capabilities: { tools: { listChanged: true }, logging: {} },
        serverInfo: { name: "memory", version: "1.0.0" },
        instructions: "be kind"
      })
      const other = yield* client.ask("initialize", { protocolVersion: "1999-01-01", capabilities: {} })
      assert.strictEqual(other.result["protocolVersion"], "2025-11-25")
    }))

  it.scoped("answers nothing but ping before the handshake", () =>
    Effect.gen(function*() {
      const client = yield* connected(yield* MemoryServer.make({ era: "session", tools }))
      assert.strictEqual((yield* client.ask("server/discover")).error.code, -32601)
      assert.strictEqual((yield* client.ask("tools/list")).error.code, -32600)
      assert.deepStrictEqual((yield* client.ask("ping")).result, {})
      yield* client.handshake
      assert.isUndefined((yield* client.ask("tools/list")).error)
    }))

  it.scoped("sends no notification to a client that is not ready", () =>
    Effect.gen(function*() {
      const server = yield* MemoryServer.make({ tools })
      const client = yield* connected(server)
      yield* client.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {} })
      yield* server.update({ tools: [] })
      client.notify("notifications/initialized")
      yield* client.ask("ping")
      yield* server.update({ tools })
      yield* client.ask("ping")
      assert.deepStrictEqual(client.heard.order, [
        "message 1",
        "message 2",
        "message notifications/tools/list_changed",
        "message 3"
      ])
    }))

  it.scoped("lists in pages and refuses an unknown cursor", () =>
    Effect.gen(function*() {
      const client = yield* connected(yield* MemoryServer.make({ tools: tools.slice(0, 5), pageSize: 2 }))
      yield* client.handshake
      const names: Array<unknown> = []
      let cursor: JsonRpc.Json | undefined = undefined
      let pages = 0
      do {
        const { result }: Answer = yield* client.ask("tools/list", cursor === undefined ? {} : { cursor })
        names.push(...(result["tools"] as ReadonlyArray<{ name: string }>).map(({ name }) => name))
        cursor = result["nextCursor"]
        pages++
      } while (cursor !== undefined)
      assert.deepStrictEqual(names, tools.slice(0, 5).map(({ name }) => name))
      assert.strictEqual(pages, 3)
      assert.strictEqual((yield* client.ask("tools/list", { cursor: "nonsense" })).error.code, -32602)
    }))

  it.scoped("calls tools, counts their executions and reports their failures", () =>
    Effect.gen(function*() {
      const server = yield* MemoryServer.make({ tools })
      const client = yield* connected(server)
      yield* client.handshake
      const { result } = yield* client.ask("tools/call", { name: "greet", arguments: { name: "you" } })
      assert.deepStrictEqual(result, { content: [{ type: "text", text: "hello you" }] })
      assert.strictEqual((yield* client.ask("tools/call", { name: "none" })).error.code, -32602)
      assert.strictEqual((yield* client.ask("tools/call", { name: "bug" })).error.code, -32603)
      assert.deepStrictEqual((yield* client.ask("tools/call", { name: "no" })).error as unknown, {
        code: -32050,
        message: "no",
        data: 1
      })
      assert.deepStrictEqual([server.executions("greet"), server.executions("none")], [1, 0])
    }))

  it.scoped("reports progress to the caller that asked for it, before the answer", () =>
    Effect.gen(function*() {
      const client = yield* connected(yield* MemoryServer.make({ tools }))
      yield* client.handshake
      yield* client.ask("tools/call", { name: "count" })
      yield* client.ask("tools/call", { name: "count", _meta: { progressToken: "t" } })
      const told = client.heard.messages.filter((message) => message["method"] === "notifications/progress")
      assert.deepStrictEqual(told.map((message) => message["params"]), [
        { progressToken: "t", progress: 1, total: 2, message: "half" }
      ])
      assert.deepStrictEqual(client.heard.order.slice(-2), ["message notifications/progress", "message 3"])
    }))

  it.scoped("stops a cancelled call and does not answer it", () =>
    Effect.gen(function*() {
      const server = yield* MemoryServer.make({ tools })
      const client = yield* connected(server)
      yield* client.handshake
      const id = client.send("tools/call", { name: "wait" })
      yield* server.until(() => server.executions("wait") === 1)
      client.notify("notifications/cancelled", { requestId: id })
      yield* client.ask("ping")
      yield* TestClock.adjust("1 minute")
      assert.isFalse(client.heard.messages.some((message) => message["id"] === id))
    }))

  it.scoped("answers a cancelled call if it is careless", () =>
    Effect.gen(function*() {
      const late: MemoryServer.Tool = {
        name: "late",
        call: (_, { cancelled }) => Effect.as(Effect.zipRight(cancelled, Effect.sleep("1 second")), "too late")
      }
      const server = yield* MemoryServer.make({ tools: [late], ignoresCancellation: true })
      const client = yield* connected(server)
      yield* client.handshake
      const id = client.send("tools/call", { name: "late" })
      yield* server.until(() => server.executions("late") === 1)
      client.notify("notifications/cancelled", { requestId: id })
      yield* client.ask("ping")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual((yield* client.heard.answer(id))["result"], {
        content: [{ type: "text", text: "too late" }]
      })
    }))

  it.scoped("asks the client while a tool runs", () =>
    Effect.gen(function*() {
      const client = yield* connected(yield* MemoryServer.make({ tools }))
      yield* client.handshake
      const id = client.send("tools/call", { name: "ask" })
      for (const [key, action] of [["ask-1", "accept"], ["ask-2", "decline"]] as const) {
        const question = yield* client.heard.answer(key)
        assert.strictEqual(question["method"], "elicitation/create")
        client.transport.send({ jsonrpc: "2.0", id: key, result: { action } })
      }
      const answer = yield* client.heard.answer(id)
      assert.deepStrictEqual(answer["result"], { content: [{ type: "text", text: "accept decline" }] })
    }))

  it.scoped("reads resources, and those that match a template", () =>
    Effect.gen(function*() {
      const client = yield* connected(
        yield* MemoryServer.make({
          resources: [{ uri: "note://one", name: "one", read: () => Effect.succeed("1") }],
          templates: [{ uriTemplate: "note://all/{name}.md", name: "any", read: (uri) => Effect.succeed(uri) }]
        })
      )
      yield* client.handshake
      const read = (uri: string) => client.ask("resources/read", { uri })
      assert.deepStrictEqual((yield* read("note://one")).result["contents"], [
        { uri: "note://one", mimeType: "text/plain", text: "1" }
      ])
      assert.isDefined((yield* read("note://all/two.md")).result)
      assert.strictEqual((yield* read("note://all/two.txt")).error.code, -32002)
      assert.strictEqual((yield* read("note://all/a/b.md")).error.code, -32002)
    }))

  it.scoped("notifies only subscribers of an updated resource", () =>
    Effect.gen(function*() {
      const server = yield* MemoryServer.make({ resources: [] })
      const first = yield* connected(server)
      const second = yield* connected(server)
      yield* first.handshake
      yield* second.handshake
      yield* first.ask("resources/subscribe", { uri: "note://one" })
      yield* second.ask("ping")
      yield* server.resourceUpdated("note://one")
      yield* first.heard.until(() => first.heard.order.includes("message notifications/resources/updated"))
      yield* second.ask("ping")
      assert.isFalse(second.heard.order.includes("message notifications/resources/updated"))
    }))

  it.scoped("changes its lists and announces it once for each", () =>
    Effect.gen(function*() {
      const server = yield* MemoryServer.make({ tools })
      const client = yield* connected(server)
      yield* client.handshake
      yield* client.ask("ping")
      yield* server.update({ tools: [], resources: [], templates: [] })
      const { result } = yield* client.ask("tools/list")
      assert.deepStrictEqual(result["tools"], [])
      assert.deepStrictEqual(
        client.heard.messages.filter(({ method }) => method !== undefined).map(({ method }) => method),
        [
          "notifications/tools/list_changed",
          "notifications/resources/list_changed"
        ]
      )
    }))

  it.scoped("serves prompts, completions and the methods that a script adds", () =>
    Effect.gen(function*() {
      const client = yield* connected(
        yield* MemoryServer.make({
          prompts: [{ name: "p", get: (args) => Effect.succeed(`say ${String(args["word"])}`) }],
          complete: () => Effect.succeed(["a", "b"]),
          methods: { "x/own": (params) => Effect.succeed({ got: params }) }
        })
      )
      yield* client.handshake
      const prompt = yield* client.ask("prompts/get", { name: "p", arguments: { word: "hi" } })
      assert.deepStrictEqual(prompt.result["messages"], [{ role: "user", content: { type: "text", text: "say hi" } }])
      const completion = yield* client.ask("completion/complete", {})
      assert.deepStrictEqual(completion.result["completion"], { values: ["a", "b"], total: 2, hasMore: false })
      assert.deepStrictEqual((yield* client.ask("x/own", { a: 1 })).result, { got: { a: 1 } })
      assert.strictEqual((yield* client.ask("x/other")).error.code, -32601)
    }))
})

describe("MemoryServer: the stateless era", () => {
  it.scoped("describes itself without a handshake", () =>
    Effect.gen(function*() {
      const client = yield* connected(yield* MemoryServer.make({ tools, ttlMs: 5000, cacheScope: "public" }))
      const { result } = yield* client.call("server/discover")
      assert.deepStrictEqual(result, {
        resultType: "complete",
        ttlMs: 5000,
        cacheScope: "public",
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: { listChanged: true }, logging: {} },
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "memory", version: "1.0.0" } }
      })
    }))

  it.scoped("may be anonymous", () =>
    Effect.gen(function*() {
      const client = yield* connected(yield* MemoryServer.make({ serverInfo: null }))
      assert.isUndefined((yield* client.call("server/discover")).result["_meta"])
    }))

  it.scoped("refuses a request without its meta, and a version that it does not speak", () =>
    Effect.gen(function*() {
      const client = yield* connected(yield* MemoryServer.make({ era: "stateless", tools }))
      assert.strictEqual((yield* client.ask("tools/list")).error.code, -32602)
      assert.strictEqual((yield* client.ask("initialize", { protocolVersion: "2025-11-25" })).error.code, -32022)
      const _meta = { ...stateless, "io.modelcontextprotocol/protocolVersion": "2027-01-01" }
      const { error } = yield* client.ask("tools/list", { _meta })
      assert.strictEqual(error.code, -32022)
      assert.deepStrictEqual(error.data, { supported: ["2026-07-28"], requested: "2027-01-01" })
      assert.strictEqual((yield* client.call("ping")).error.code, -32601)
    }))

  it.scoped("asks for input in rounds, and counts one execution", () =>
    Effect.gen(function*() {
      const server = yield* MemoryServer.make({ tools })
      const client = yield* connected(server)
      const first = yield* client.call("tools/call", { name: "ask" })
      assert.strictEqual(first.result["resultType"], "input_required")
      assert.deepStrictEqual(first.result["inputRequests"], {
        "input-1": { method: "elicitation/create", params: { message: "first?" } }
      })
      const second = yield* client.call("tools/call", {
        name: "ask",
        inputResponses: { "input-1": { action: "accept" } },
        requestState: first.result["requestState"]
      })
      const third = yield* client.call("tools/call", {
        name: "ask",
        inputResponses: { "input-2": { action: "cancel" } },
        requestState: second.result["requestState"]
      })
      assert.deepStrictEqual(third.result["content"], [{ type: "text", text: "accept cancel" }])
      assert.strictEqual(server.executions("ask"), 1)
    }))

  it.scoped("sends a listener the notifications it asked for, stamped, and ends a subscription gracefully", () =>
    Effect.gen(function*() {
      const server = yield* MemoryServer.make({ tools, prompts: [] })
      const client = yield* connected(server)
      const notifications = { toolsListChanged: true, resourceSubscriptions: ["a:b"] }
      const id = client.send("subscriptions/listen", { notifications, _meta: stateless })
      yield* client.heard.until(() => client.heard.messages.length === 1)
      yield* server.update({ tools: [], prompts: [] })
      yield* server.resourceUpdated("a:b")
      yield* server.resourceUpdated("a:c")
      yield* server.endSubscriptions
      const end = yield* client.heard.answer(id)
      assert.deepStrictEqual(client.heard.order, [
        "message notifications/subscriptions/acknowledged",
        "message notifications/tools/list_changed",
        "message notifications/resources/updated",
        `message ${id}`
      ])
      for (const message of client.heard.messages.slice(0, 3)) {
        const { _meta } = message["params"] as { readonly _meta: JsonRpc.JsonObject }
        assert.strictEqual(_meta["io.modelcontextprotocol/subscriptionId"], id)
      }
      assert.strictEqual((end["result"] as JsonRpc.JsonObject)["resultType"], "complete")
      yield* server.update({ tools })
      yield* client.call("tools/list")
      assert.lengthOf(client.heard.messages, 5)
    }))

  it.scoped("keeps no subscription that was cancelled", () =>
    Effect.gen(function*() {
      const server = yield* MemoryServer.make({ tools })
      const client = yield* connected(server)
      const id = client.send("subscriptions/listen", { notifications: { toolsListChanged: true }, _meta: stateless })
      yield* client.heard.until(() => client.heard.messages.length === 1)
      client.notify("notifications/cancelled", { requestId: id })
      yield* client.call("tools/list")
      yield* server.update({ tools: [] })
      yield* client.call("tools/list")
      assert.deepStrictEqual(client.heard.order.slice(1), ["message 2", "message 3"])
    }))

  it.scoped("takes the end of a request's stream for its cancellation where each has its own", () =>
    Effect.gen(function*() {
      const server = yield* MemoryServer.make({ tools, streamPerRequest: true, era: "stateless" })
      const client = yield* connected(server)
      const id = client.send("subscriptions/listen", { notifications: { toolsListChanged: true }, _meta: stateless })
      yield* client.heard.until(() => client.heard.messages.length === 1)
      client.transport.abandon(id)
      yield* client.call("tools/list")
      yield* server.update({ tools: [] })
      yield* client.call("tools/list")
      assert.deepStrictEqual(client.heard.order.slice(1), ["message 2", "message 3"])
    }))
})

describe("MemoryServer: connections", () => {
  it.scoped("runs its hooks for each connection", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const server = yield* MemoryServer.make({
        onConnect: (io) => Effect.sync(() => seen.push(`connected ${io.connection}`)),
        onDisconnect: (io) => Effect.sync(() => seen.push(`disconnected ${io.connection}`))
      })
      for (const _ of [1, 2]) {
        yield* Effect.scoped(Effect.gen(function*() {
          const client = yield* connected(server)
          yield* client.handshake
        }))
      }
      assert.deepStrictEqual(seen, ["connected 1", "disconnected 1", "connected 2", "disconnected 2"])
    }))
})
