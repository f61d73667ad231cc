import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Duration, Effect, Exit, Fiber, Layer, Queue, Scope, Stream, TestClock } from "effect"
import * as Connector from "../../src/client/Connector.ts"
import * as InputHandlers from "../../src/client/InputHandlers.ts"
import type * as McpClient from "../../src/client/McpClient.ts"
import * as ServerRequests from "../../src/client/serverRequests.ts"
import * as McpError from "../../src/McpError.ts"
import * as Faults from "../../src/testing/Faults.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as Configs from "../support/configs.ts"
import * as OverMemory from "../support/overMemory.ts"

const echo: MemoryServer.Tool = { name: "echo", call: (args) => Effect.succeed(String(args["text"])) }
const hang: MemoryServer.Tool = { name: "hang", call: () => Effect.never }

const connectTo = (peer: MemoryTransport.Peer, overrides?: Parameters<typeof Configs.memory>[1]) =>
  Effect.provide(
    Effect.flatMap(Connector.Connector, (connector) => connector.connect(Configs.memory("peer", overrides))),
    OverMemory.client({ peer })
  )

const call = (connection: McpClient.Channel, name: string, args = {}, options?: McpClient.RequestOptions) =>
  connection.request("tools/call", { name, arguments: args }, options)

const textOf = (result: unknown): unknown =>
  (result as { readonly content: ReadonlyArray<{ readonly text: string }> }).content[0]?.text

const failureOf = <A, E>(exit: Exit.Exit<A, E>): E | undefined =>
  Exit.isFailure(exit) && exit.cause._tag === "Fail" ? exit.cause.error : undefined

/** A peer of the session era that fails calls as HTTP would, until it is initialized often enough. */
const failing = (error: (server: string, sessions: number) => McpError.CallError | undefined) => {
  let sessions = 0
  return MemoryTransport.peer((message, io) => {
    const { id, method } = message
    if (typeof id !== "number") return Effect.void
    const answer = (result: object) => io.send({ jsonrpc: "2.0", id, result })
    if (method === "server/discover") {
      return io.send({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } })
    }
    if (method === "initialize") {
      sessions++
      return answer({ protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "p", version: "1" } })
    }
    const failed = error(io.config.name, sessions)
    return failed === undefined ? answer({ content: [{ type: "text", text: "done" }] }) : io.fail(id, () => failed)
  })
}

describe("a request", () => {
  const expired = (outcome: McpError.Outcome, until: number) => (server: string, sessions: number) =>
    sessions < until ? new McpError.SessionExpired({ server, detail: "", outcome }) : undefined

  it.scoped("replaces an expired session, once for all requests, and is sent again if it was not sent", () =>
    Effect.gen(function*() {
      const peer = yield* failing(expired("not-sent", 2))
      const connection = yield* connectTo(peer)
      const resynced = yield* Deferred.make<void>()
      connection.onNotification((notification) => {
        if (notification.method === "$/resync") Deferred.unsafeDone(resynced, Effect.void)
      })
      const results = yield* Effect.all(Array.from({ length: 20 }, () => call(connection, "echo")), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(new Set(results.map(textOf)), new Set(["done"]))
      assert.strictEqual(peer.received("initialize").length, 2)
      assert.strictEqual(peer.received("notifications/initialized").length, 2)
      yield* Deferred.await(resynced)
    }))

  it.scoped("fails with SessionExpired if it is a tool call that was sent, and the next call uses a new session", () =>
    Effect.gen(function*() {
      const peer = yield* failing(expired("unknown", 2))
      const connection = yield* connectTo(peer)
      const error = yield* Effect.flip(call(connection, "echo"))
      assert.deepInclude(error, { _tag: "SessionExpired", outcome: "unknown" })
      assert.strictEqual(peer.received("tools/call").length, 1)
      assert.strictEqual(textOf(yield* call(connection, "echo")), "done")
      assert.strictEqual(peer.received("initialize").length, 2)
    }))

  it.scoped("fails with SessionExpired if new sessions do not help", () =>
    Effect.gen(function*() {
      for (const [outcome, sent] of [["unknown", 2], ["not-sent", 4]] as const) {
        const peer = yield* failing(expired(outcome, Infinity))
        const connection = yield* connectTo(peer)
        const error = yield* Effect.flip(connection.request("tools/list"))
        assert.deepInclude(error, { _tag: "SessionExpired", outcome })
        assert.strictEqual(peer.received("tools/list").length, sent)
      }
    }))

  it.scoped("waits as long as a server asks if that fits its limit", () =>
    Effect.gen(function*() {
      let refusals = 1
      const peer = yield* failing((server) =>
        refusals-- > 0
          ? new McpError.HttpError({
            server,
            reason: "unavailable",
            outcome: "not-sent",
            retryAfter: Duration.seconds(7),
            detail: ""
          })
          : undefined
      )
      const connection = yield* connectTo(peer)
      const fiber = yield* Effect.fork(call(connection, "echo"))
      yield* peer.until(() => peer.received("tools/call").length === 1)
      yield* TestClock.adjust("6 seconds")
      assert.strictEqual(peer.received("tools/call").length, 1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(textOf(yield* Fiber.join(fiber)), "done")
    }))

  it.scoped("does not wait beyond its limit, nor without a time", () =>
    Effect.gen(function*() {
      const peer = yield* failing((server, _) =>
        new McpError.HttpError({
          server,
          reason: "rate-limited",
          outcome: "not-sent",
          retryAfter: Duration.hours(1),
          detail: ""
        })
      )
      const connection = yield* connectTo(peer)
      assert.deepInclude(yield* Effect.flip(call(connection, "echo")), { _tag: "HttpError", reason: "rate-limited" })
      const untold = yield* failing((server) =>
        new McpError.HttpError({ server, reason: "rate-limited", outcome: "not-sent", detail: "" })
      )
      const other = yield* connectTo(untold)
      assert.deepInclude(yield* Effect.flip(call(other, "echo")), { _tag: "HttpError", reason: "rate-limited" })
      assert.strictEqual(untold.received("tools/call").length, 1)
    }))

  it.scoped("times out without an answer or progress, and cancels the request at the server", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({ era: "session", tools: [echo, hang] })
      const connection = yield* connectTo(peer, { requestTimeout: "10 seconds" })
      const fiber = yield* Effect.fork(Effect.flip(call(connection, "hang")))
      yield* peer.until(() => peer.received("tools/call").length === 1)
      yield* TestClock.adjust("10 seconds")
      const error = yield* Fiber.join(fiber)
      assert.strictEqual(error._tag, "RequestTimeout")
      if (error._tag === "RequestTimeout") assert.strictEqual(error.kind, "idle")
      yield* peer.until(() => peer.received("notifications/cancelled").length === 1)
      assert.strictEqual(textOf(yield* call(connection, "echo", { text: "hi" })), "hi")
    }))

  it.scoped("lives on progress up to its total limit, in order and to the last", () =>
    Effect.gen(function*() {
      const seen: Array<number> = []
      const peer = yield* MemoryServer.make({
        era: "session",
        tools: [{
          name: "slow",
          call: (args, context) =>
            Effect.forEach(
              Array.from({ length: Number(args["steps"]) }, (_, step) => step + 1),
              (step) => Effect.zipRight(Effect.sleep("4 seconds"), context.progress(step)),
              { discard: true }
            ).pipe(Effect.as("done"))
        }]
      })
      const connection = yield* connectTo(peer, { requestTimeout: "5 seconds", toolTimeout: "60 seconds" })
      const onProgress = (progress: McpClient.Progress) => {
        seen.push(progress.progress)
        throw new Error("a caller's fault")
      }
      const patient = yield* Effect.fork(call(connection, "slow", { steps: 5 }, { onProgress }))
      for (let step = 1; step <= 5; step++) {
        yield* TestClock.adjust("4 seconds")
        yield* Effect.yieldNow()
      }
      assert.strictEqual(textOf(yield* Fiber.join(patient)), "done")
      assert.deepStrictEqual(seen, [1, 2, 3, 4, 5])
      const endless = yield* Effect.fork(Effect.flip(call(connection, "slow", { steps: 100 })))
      for (let second = 0; second < 60; second++) yield* TestClock.adjust("1 second")
      const error = yield* Fiber.join(endless)
      assert.strictEqual(error._tag === "RequestTimeout" ? error.kind : error._tag, "total")
    }))

  it.scoped("is cancelled at the server when its caller is interrupted, and disturbs no other", () =>
    Effect.gen(function*() {
      for (const era of ["session", "stateless"] as const) {
        const peer = yield* MemoryServer.make({ era, tools: [echo, hang] })
        const connection = yield* connectTo(peer)
        const fiber = yield* Effect.fork(call(connection, "hang"))
        yield* peer.until(() => peer.received("tools/call").length === 1)
        yield* Fiber.interrupt(fiber)
        yield* peer.until(() => peer.received("notifications/cancelled").length === 1)
        assert.strictEqual(textOf(yield* call(connection, "echo", { text: era })), era)
      }
    }))

  it.effect("is refused as Closed once the scope is closed, and ends so if it was under way", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({ era: "session", tools: [hang] })
      const scope = yield* Scope.make()
      const connection = yield* Scope.extend(connectTo(peer), scope)
      const fiber = yield* Effect.fork(Effect.flip(call(connection, "hang")))
      yield* peer.until(() => peer.received("tools/call").length === 1)
      yield* Scope.close(scope, Exit.void)
      const under = yield* Fiber.join(fiber)
      assert.strictEqual(under._tag, "Closed")
      assert.strictEqual(under.outcome, "unknown")
      const after = yield* Effect.flip(call(connection, "hang"))
      assert.strictEqual(after._tag, "Closed")
      assert.strictEqual(after.outcome, "not-sent")
      assert.strictEqual((yield* connection.ended)._tag, "Closed")
    }))

  it.scoped("fails with how the server ended, and so do those after it", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({ era: "session", tools: [hang] })
      const connection = yield* connectTo(peer)
      const fiber = yield* Effect.fork(Effect.exit(call(connection, "hang")))
      yield* peer.until(() => peer.received("tools/call").length === 1)
      yield* peer.drop(Faults.killed())
      const error = failureOf(yield* Fiber.join(fiber))
      assert.deepInclude(error, { _tag: "ConnectionLost", reason: "exited" })
      assert.strictEqual(error?.outcome, "unknown")
      const after = yield* Effect.flip(call(connection, "hang"))
      assert.deepInclude(after, { _tag: "ConnectionLost", reason: "exited" })
      assert.strictEqual(after.outcome, "not-sent")
    }))
})

describe("the _meta of a request of the stateless era", () => {
  it.scoped("has the log level beside the envelope and the keys of the caller, once a level is set", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({ era: "stateless", tools: [echo] })
      const client = yield* connectTo(peer)
      const metas = () => peer.received("tools/call").map(({ params }) => Object(params)._meta)
      const traced = client.callTool("echo", { text: "a" }, { meta: { traceparent: "00-1" } })
      yield* traced
      yield* client.setLogLevel("warning")
      yield* traced
      const [before, after] = metas()
      assert.notProperty(before, "io.modelcontextprotocol/logLevel")
      assert.strictEqual(before.traceparent, "00-1")
      assert.include(after, {
        "io.modelcontextprotocol/logLevel": "warning",
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        traceparent: "00-1"
      })
      assert.containsAllKeys(after, [
        "io.modelcontextprotocol/clientInfo",
        "io.modelcontextprotocol/clientCapabilities",
        "progressToken"
      ])
    }))
})

describe("a request of the server", () => {
  const asking: MemoryServer.Tool = {
    name: "ask",
    call: (_, context) =>
      Effect.map(
        context.ask("elicitation/create", {
          message: "Who are you?",
          requestedSchema: { type: "object", properties: { name: { type: "string" } } }
        }),
        (answer) => JSON.stringify(answer)
      )
  }
  const accepting = InputHandlers.layer({
    elicit: (elicitation) =>
      Effect.succeed({ action: "accept", content: { name: `${elicitation.server}: ${elicitation.message}` } })
  })

  for (const era of ["session", "stateless"] as const) {
    it.scoped(`is answered by the application's handler (${era})`, () =>
      Effect.gen(function*() {
        const peer = yield* MemoryServer.make({ era, tools: [asking] })
        const connection = yield* Effect.provide(connectTo(peer), accepting)
        const answer = textOf(yield* call(connection, "ask"))
        assert.strictEqual(answer, "{\"action\":\"accept\",\"content\":{\"name\":\"peer: Who are you?\"}}")
        assert.strictEqual(peer.executions("ask"), 1)
      }))

    it.scoped(`takes the form's own values for fields that the person left as they were (${era})`, () =>
      Effect.gen(function*() {
        const form: MemoryServer.Tool = {
          name: "form",
          call: (_, context) =>
            Effect.map(
              context.ask("elicitation/create", {
                message: "?",
                requestedSchema: {
                  type: "object",
                  properties: {
                    name: { type: "string", default: "Ada" },
                    age: { type: "integer", default: 30 },
                    open: { type: "boolean", default: false },
                    note: { type: "string" }
                  }
                }
              }),
              (answer) => JSON.stringify(answer)
            )
        }
        const answers: Array<InputHandlers.ElicitationAnswer> = [
          { action: "accept", content: { age: 31 } },
          { action: "accept" },
          { action: "decline" }
        ]
        const handlers = InputHandlers.layer({ elicit: () => Effect.sync(() => answers.shift()!) })
        const peer = yield* MemoryServer.make({ era, tools: [form] })
        const connection = yield* Effect.provide(connectTo(peer), handlers)
        const given = Effect.map(call(connection, "form"), (result) => JSON.parse(String(textOf(result))))
        assert.deepStrictEqual(yield* given, { action: "accept", content: { age: 31, name: "Ada", open: false } })
        assert.deepStrictEqual(yield* given, { action: "accept", content: { name: "Ada", age: 30, open: false } })
        assert.deepStrictEqual(yield* given, { action: "decline" })
      }))

    it.scoped(`is not offered without a handler, and disturbs nothing (${era})`, () =>
      Effect.gen(function*() {
        const peer = yield* MemoryServer.make({ era, tools: [asking, echo] })
        const connection = yield* connectTo(peer)
        yield* Effect.exit(call(connection, "ask"))
        assert.strictEqual(textOf(yield* call(connection, "echo", { text: "on" })), "on")
      }))
  }

  it.scoped("is answered by the handlers of the opener before those of the connector", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({ era: "session", tools: [asking] })
      const answering = (name: string) =>
        InputHandlers.layer({ elicit: () => Effect.succeed({ action: "accept", content: { name } }) })
      const { connect } = yield* Connector.Connector.pipe(
        Effect.provide(Layer.provide(OverMemory.client({ peer }), answering("connector")))
      )
      const opened = connect(MemoryTransport.config("peer"))
      const byOpener = yield* Effect.provide(opened, answering("opener"))
      const byConnector = yield* opened
      const nameFrom = (connection: McpClient.Channel) =>
        Effect.map(call(connection, "ask"), (result) => JSON.parse(String(textOf(result))).content.name)
      assert.strictEqual(yield* nameFrom(byOpener), "opener")
      assert.strictEqual(yield* nameFrom(byConnector), "connector")
    }))

  it.scoped("stops the clock of the idle limit while it is open", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const decided = yield* Deferred.make<InputHandlers.ElicitationAnswer>()
      const peer = yield* MemoryServer.make({ era: "session", tools: [asking] })
      const slow = InputHandlers.layer({
        elicit: () => Effect.zipRight(Deferred.succeed(asked, undefined), Deferred.await(decided))
      })
      const connection = yield* Effect.provide(connectTo(peer, { requestTimeout: "10 seconds" }), slow)
      const fiber = yield* Effect.fork(call(connection, "ask"))
      yield* Deferred.await(asked)
      for (let minute = 0; minute < 5; minute++) yield* TestClock.adjust("1 minute")
      yield* Deferred.succeed(decided, { action: "decline" })
      assert.strictEqual(textOf(yield* Fiber.join(fiber)), "{\"action\":\"decline\"}")
    }))

  it.scoped("is given up after too many rounds", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({
        era: "stateless",
        methods: {
          "tools/call": () =>
            Effect.succeed({
              resultType: "input_required",
              inputRequests: { more: { method: "elicitation/create", params: { message: "more?" } } },
              requestState: "s"
            })
        }
      })
      const connection = yield* Effect.provide(connectTo(peer), accepting)
      const error = yield* Effect.flip(call(connection, "endless"))
      assert.deepInclude(error, { _tag: "ProtocolViolation", reason: "input-rounds" })
      assert.strictEqual(peer.received("tools/call").length, 11)
    }))

  const demanding = (result: JsonRpc.JsonObject) =>
    MemoryServer.make({
      era: "stateless",
      methods: { "tools/call": () => Effect.succeed({ resultType: "input_required", ...result }) }
    })

  it.scoped("are refused with more state than 1 MiB, which is not sent back", () =>
    Effect.gen(function*() {
      const peer = yield* demanding({ requestState: "s".repeat(1024 * 1024 + 1) })
      const connection = yield* Effect.provide(connectTo(peer), accepting)
      const error = yield* Effect.flip(call(connection, "endless"))
      assert(error._tag === "ProtocolViolation")
      assert.include(error.message, "requestState")
      assert.strictEqual(peer.received("tools/call").length, 1)
    }))

  it.scoped("are refused with more questions at once than maxServerRequests", () =>
    Effect.gen(function*() {
      const question = { method: "elicitation/create", params: { message: "more?" } }
      const inputRequests = Object.fromEntries(Array.from({ length: 65 }, (_, nth) => [`q${nth}`, question]))
      const peer = yield* demanding({ inputRequests })
      const connection = yield* Effect.provide(connectTo(peer), accepting)
      const error = yield* Effect.flip(call(connection, "endless"))
      assert(error._tag === "ProtocolViolation")
      assert.include(error.message, "input requests at once")
    }))
})

describe("sampling", () => {
  it.effect("is answered 60 times a minute for each connection", () =>
    Effect.gen(function*() {
      const connection = { server: "s", handlers: { sample: () => Effect.succeed({ role: "assistant" }) } }
      const other = { ...connection }
      const sample = (of: typeof connection) => Effect.option(ServerRequests.answer(of, "sampling/createMessage", {}))
      const answered = (of: typeof connection, count: number) =>
        Effect.map(
          Effect.forEach(Array.from({ length: count }), () => sample(of)),
          (all) => all.filter(({ _tag }) => _tag === "Some").length
        )
      assert.deepStrictEqual([yield* answered(connection, 100), yield* answered(other, 100)], [60, 60])
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(yield* answered(connection, 1), 0)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* answered(connection, 100), 60)
    }))
})

describe("watching", () => {
  it.scoped("in the session era subscribes to a resource once for all watchers, and unsubscribes with the last", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({
        era: "session",
        resources: [{ uri: "a:1", name: "a", read: () => Effect.succeed("") }]
      })
      const connection = yield* connectTo(peer)
      const one = yield* Scope.make()
      const two = yield* Scope.make()
      yield* Scope.extend(connection.watch({ resourceUris: ["a:1"] }), one)
      yield* Scope.extend(connection.watch({ resourceUris: ["a:1"] }), two)
      assert.strictEqual(peer.received("resources/subscribe").length, 1)
      yield* Scope.close(one, Exit.void)
      assert.strictEqual(peer.received("resources/unsubscribe").length, 0)
      yield* Scope.close(two, Exit.void)
      assert.strictEqual(peer.received("resources/unsubscribe").length, 1)
    }))

  it.scoped("in the stateless era receives changes, and subscribes again when the subscription ends", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({ era: "stateless", tools: [echo] })
      const connection = yield* connectTo(peer)
      const heard = yield* Queue.unbounded<string>()
      connection.onNotification((notification) => {
        heard.unsafeOffer(notification.method)
      })
      yield* connection.watch({ toolsListChanged: true })
      yield* peer.update({ tools: [echo, hang] })
      const next = Stream.fromQueue(heard).pipe(
        Stream.filter((method) => method.endsWith("list_changed") || method === "$/resync"),
        Stream.take(1),
        Stream.runCollect,
        Effect.map(Chunk.unsafeHead)
      )
      assert.strictEqual(yield* next, "notifications/tools/list_changed")
      yield* peer.endSubscriptions
      const resync = yield* Effect.fork(next)
      yield* Effect.repeat(TestClock.adjust("1 second"), { until: () => resync.unsafePoll() !== null, times: 30 })
      assert.strictEqual(yield* Fiber.join(resync), "$/resync")
      assert.strictEqual(peer.received("subscriptions/listen").length, 2)
    }))
})

describe("health", () => {
  it.scoped("is asked in the words of the era, and any answer is one", () =>
    Effect.gen(function*() {
      const session = yield* MemoryServer.make({ era: "session" })
      yield* Effect.flatMap(connectTo(session), (connection) => connection.health)
      assert.strictEqual(session.received("ping").length, 1)
      const stateless = yield* MemoryServer.make({ era: "stateless" })
      yield* Effect.flatMap(connectTo(stateless), (connection) => connection.health)
      assert.strictEqual(stateless.received("server/discover").length, 2)
      const mute = yield* MemoryServer.make({
        era: "session",
        methods: { ping: () => Effect.fail(new MemoryServer.Refused({ code: -32601, message: "no" })) }
      })
      yield* Effect.flatMap(connectTo(mute), (connection) => connection.health)
    }).pipe(Effect.provide(Layer.empty)))
})
