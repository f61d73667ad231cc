import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as TestClock from "effect/TestClock"
import * as McpServer from "../../src/server/McpServer.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as PipedCaller from "../support/pipedCaller.ts"

const { initialized, open, stateless } = PipedCaller

const question = { message: "really?" }

/** Answers with what it was answered. */
const asking: McpServer.Handler = ({ ask }) => Effect.map(ask("elicitation/create", question), (answer) => ({ answer }))

/** Answers with why it was not answered. */
const failing = (heard: Deferred.Deferred<McpServer.Refusal>): McpServer.Handler => ({ ask }) =>
  Effect.tapError(Effect.as(ask("elicitation/create", question), {}), (refusal) => Deferred.succeed(heard, refusal))

const accepted = { action: "accept", content: { yes: true } }

const idOf = ({ id }: PipedCaller.Message): JsonRpc.Id => {
  assert.exists(id)
  return id!
}

describe("a caller of the session era is asked", () => {
  it.scoped("by a request on the way to its answer", () =>
    Effect.gen(function*() {
      const caller = yield* initialized(PipedCaller.offer({ asking }))
      caller.request(1, "asking")
      const asked = yield* caller.next
      assert.deepStrictEqual({ method: asked.method, params: asked.params }, {
        method: "elicitation/create",
        params: question
      })
      caller.send({ jsonrpc: "2.0", id: idOf(asked), result: accepted })
      assert.deepStrictEqual(yield* caller.next, { jsonrpc: "2.0", id: 1, result: { answer: accepted } })
    }))

  it.scoped("many things at once, and each answer finds its question", () =>
    Effect.gen(function*() {
      const caller = yield* initialized(PipedCaller.offer({
        asking: ({ ask, params }) => Effect.map(ask("sampling/createMessage", params), (answer) => ({ answer }))
      }))
      for (let n = 0; n < 20; n++) caller.request(n, "asking", { n })
      const asked: Array<PipedCaller.Message> = []
      for (let n = 0; n < 20; n++) asked.push(yield* caller.next)
      for (const one of asked.toReversed()) caller.send({ jsonrpc: "2.0", id: idOf(one), result: one.params })
      for (let n = 0; n < 20; n++) {
        const { id, result } = yield* caller.next
        assert.deepStrictEqual(result, { answer: { n: id } })
      }
    }))

  it.scoped("and may refuse with an error of its own", () =>
    Effect.gen(function*() {
      const caller = yield* initialized(PipedCaller.offer({ asking }))
      caller.request(1, "asking")
      const asked = yield* caller.next
      caller.send({ jsonrpc: "2.0", id: idOf(asked), error: { code: -1, message: "never", data: [1] } })
      assert.deepStrictEqual((yield* caller.next).error, { code: -1, message: "never", data: [1] })
    }))

  it.scoped("and may say something that is no answer", () =>
    Effect.gen(function*() {
      const caller = yield* initialized(PipedCaller.offer({ asking }))
      caller.request(1, "asking")
      caller.send({ jsonrpc: "2.0", id: idOf(yield* caller.next), result: 7 })
      assert.deepStrictEqual((yield* caller.next).result, { answer: {} })
    }))

  it.scoped("but is not waited for longer than it may take", () =>
    Effect.gen(function*() {
      const caller = yield* initialized(PipedCaller.offer({ asking }), { inputTimeout: "1 minute" })
      caller.request(1, "asking")
      const asked = yield* caller.next
      yield* TestClock.adjust("1 minute")
      const withdrawn = yield* caller.next
      assert.deepInclude(withdrawn, { method: "notifications/cancelled" })
      assert.strictEqual(withdrawn.params?.["requestId"], asked.id)
      assert.strictEqual((yield* caller.next).error?.code, -32603)
      // an answer that comes too late is nobody's
      caller.send({ jsonrpc: "2.0", id: idOf(asked), result: accepted })
      caller.request(2, "ping")
      assert.strictEqual((yield* caller.next).id, 2)
    }))

  it.scoped("and told that it is not needed any more, once what it was asked for is cancelled", () =>
    Effect.gen(function*() {
      const caller = yield* initialized(PipedCaller.offer({ asking }))
      caller.request(1, "asking")
      const asked = yield* caller.next
      caller.notify("notifications/cancelled", { requestId: 1 })
      const withdrawn = yield* caller.next
      assert.strictEqual(withdrawn.method, "notifications/cancelled")
      assert.strictEqual(withdrawn.params?.["requestId"], asked.id)
    }))

  it.scoped("for nothing once it writes no more", () =>
    Effect.gen(function*() {
      const heard = yield* Deferred.make<McpServer.Refusal>()
      const caller = yield* initialized(PipedCaller.offer({ failing: failing(heard) }))
      caller.request(1, "failing")
      yield* caller.next
      yield* caller.end
      assert.strictEqual((yield* Deferred.await(heard)).code, -32603)
      yield* caller.ended
      assert.strictEqual((yield* caller.next).error?.code, -32603)
    }))

  it.scoped("for nothing by a request that is answered already", () =>
    Effect.gen(function*() {
      const kept = yield* Deferred.make<McpServer.Exchange>()
      const caller = yield* initialized(
        PipedCaller.offer({ keep: (exchange) => Effect.as(Deferred.succeed(kept, exchange), {}) })
      )
      caller.request(1, "keep")
      yield* caller.next
      const { ask } = yield* Deferred.await(kept)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(ask("roots/list"))))
    }))

  it.scoped("outside of its requests, too", () =>
    Effect.gen(function*() {
      const peers = yield* Deferred.make<McpServer.Peer>()
      const caller = yield* initialized(
        PipedCaller.offer({}, {
          open: (peer) => Effect.as(Deferred.succeed(peers, peer), { handlers: new Map() })
        })
      )
      const { ask } = yield* Deferred.await(peers)
      const roots = yield* Effect.fork(ask("roots/list"))
      const asked = yield* caller.next
      assert.notProperty(asked, "params")
      caller.send({ jsonrpc: "2.0", id: idOf(asked), result: { roots: [] } })
      assert.deepStrictEqual(yield* roots, { roots: [] })
    }))
})

describe("a caller of the stateless era is asked", () => {
  const round = (caller: PipedCaller.Caller, id: number, params: object = {}, meta: object = {}) =>
    Effect.gen(function*() {
      caller.request(id, "asking", stateless(params, meta))
      // questions that are asked side by side are gathered
      yield* TestClock.adjust("5 millis")
      const answer = yield* caller.next
      assert.strictEqual(answer.id, id)
      return answer
    })

  const stateOf = ({ result }: PipedCaller.Message): string => {
    assert.strictEqual(result?.["resultType"], "input_required")
    return String(result?.["requestState"])
  }

  const keysOf = ({ result }: PipedCaller.Message): ReadonlyArray<string> =>
    Object.keys(result?.["inputRequests"] ?? {})

  const answering = (message: PipedCaller.Message, answer: object = accepted) => ({
    requestState: stateOf(message),
    inputResponses: Object.fromEntries(keysOf(message).map((key) => [key, answer]))
  })

  it.scoped("by a result, and answers with its next request", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({ asking }))
      const first = yield* round(caller, 1, { a: 1 })
      assert.deepStrictEqual(Object.values(first.result?.["inputRequests"] ?? {}), [
        { method: "elicitation/create", params: question }
      ])
      const second = yield* round(caller, 2, { a: 1, ...answering(first) })
      assert.deepInclude(second.result, { resultType: "complete", answer: accepted })
    }))

  it.scoped("all that is asked side by side at once, and again for what it has left out, each time with another state", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({
        asking: ({ ask }) =>
          Effect.map(
            Effect.all([ask("roots/list"), ask("elicitation/create", question)], { concurrency: 2 }),
            (answers) => ({ answers })
          )
      }))
      const first = yield* round(caller, 1)
      const [one, other] = keysOf(first)
      assert.lengthOf(keysOf(first), 2)
      const second = yield* round(caller, 2, {
        requestState: stateOf(first),
        inputResponses: { [one!]: { roots: [] } }
      })
      assert.deepStrictEqual(keysOf(second), [other!])
      assert.notStrictEqual(stateOf(second), stateOf(first))
      const third = yield* round(caller, 3, answering(second))
      assert.deepInclude(third.result, { answers: [{ roots: [] }, accepted] })
    }))

  it.scoped("once more, one thing after the other", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({
        asking: ({ ask }) =>
          Effect.gen(function*() {
            yield* ask("roots/list")
            return { answer: yield* ask("elicitation/create", question) }
          })
      }))
      const first = yield* round(caller, 1)
      const second = yield* round(caller, 2, answering(first, { roots: [] }))
      assert.notDeepEqual(keysOf(first), keysOf(second))
      assert.deepInclude((yield* round(caller, 3, answering(second))).result, { answer: accepted })
    }))

  it.scoped("by a state that is good for one answer only", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({ asking }))
      const first = yield* round(caller, 1)
      yield* round(caller, 2, answering(first))
      assert.strictEqual((yield* round(caller, 3, answering(first))).error?.code, -32602)
    }))

  it.scoped("by a state that is good for the same request only", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({ asking, other: asking }))
      const first = yield* round(caller, 1, { a: 1 })
      assert.strictEqual((yield* round(caller, 2, { a: 2, ...answering(first) })).error?.code, -32602)
      caller.request(3, "other", stateless({ a: 1, ...answering(first) }))
      assert.strictEqual((yield* caller.next).error?.code, -32602)
      // nobody has spoiled it by trying
      assert.deepInclude((yield* round(caller, 4, { a: 1, ...answering(first) })).result, { answer: accepted })
    }))

  it.scoped("by a state that cannot be made up", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({ asking }))
      const first = yield* round(caller, 1)
      const tampered = `${stateOf(first).slice(0, -1)}${stateOf(first).endsWith("0") ? "1" : "0"}`
      const { error } = yield* round(caller, 2, { ...answering(first), requestState: tampered })
      assert.strictEqual(error?.code, -32602)
    }))

  it.scoped("and is given up when it does not come back", () =>
    Effect.gen(function*() {
      const stopped = yield* Deferred.make<void>()
      const caller = yield* open(
        PipedCaller.offer({
          asking: (exchange) => Effect.onInterrupt(asking(exchange), () => Deferred.succeed(stopped, undefined))
        }),
        { inputTimeout: "1 minute" }
      )
      const first = yield* round(caller, 1)
      yield* TestClock.adjust("1 minute")
      yield* Deferred.await(stopped)
      assert.strictEqual((yield* round(caller, 2, answering(first))).error?.code, -32602)
    }))

  it.scoped("and has all of its time again in each round", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({ asking }), { inputTimeout: "1 minute" })
      const first = yield* round(caller, 1)
      yield* TestClock.adjust("50 seconds")
      const second = yield* round(caller, 2, { requestState: stateOf(first) })
      yield* TestClock.adjust("50 seconds")
      assert.deepInclude((yield* round(caller, 3, answering(second))).result, { answer: accepted })
    }))

  it.scoped("and cancels what asks by cancelling the round that it waits for", () =>
    Effect.gen(function*() {
      const stopped = yield* Deferred.make<void>()
      const begun = yield* Deferred.make<void>()
      const caller = yield* open(PipedCaller.offer({
        asking: ({ ask }) =>
          Effect.zipRight(
            ask("roots/list"),
            Effect.zipRight(
              Deferred.succeed(begun, undefined),
              Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined))
            )
          )
      }))
      const first = yield* round(caller, 1)
      caller.request(2, "asking", stateless(answering(first)))
      yield* Deferred.await(begun)
      caller.notify("notifications/cancelled", { requestId: 2 })
      yield* Deferred.await(stopped)
    }))

  it.scoped("and hears of progress under the name of the round that it waits for", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({
        asking: ({ ask, progress }) =>
          Effect.map(ask("roots/list"), () => {
            progress({ progress: 1 })
            return {}
          })
      }))
      const first = yield* round(caller, 1, {}, { progressToken: "first" })
      caller.request(2, "asking", stateless(answering(first), { progressToken: "second" }))
      assert.deepInclude((yield* caller.next).params, { progressToken: "second" })
      assert.strictEqual((yield* caller.next).id, 2)
    }))

  it.scoped("nothing that it cannot be asked", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({ asking }))
      const { error } = yield* round(caller, 1, {}, { "io.modelcontextprotocol/clientCapabilities": {} })
      assert.deepInclude(error, { code: -32021, data: { requiredCapabilities: { elicitation: {} } } })
    }))

  it.scoped("a result that came while nobody waited is there for the next round", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({
        asking: ({ ask }) =>
          Effect.as(Effect.timeout(Effect.orDie(ask("roots/list")), "1 second").pipe(Effect.option), { late: true })
      }))
      const first = yield* round(caller, 1)
      yield* TestClock.adjust("1 second")
      assert.deepInclude((yield* round(caller, 2, { requestState: stateOf(first) })).result, { late: true })
    }))

  it.scoped("a state of another server is that server's", () =>
    Effect.gen(function*() {
      const caller = yield* open(
        PipedCaller.offer({ asking: ({ params }) => Effect.succeed({ seen: params["requestState"]! }) })
      )
      assert.deepInclude((yield* round(caller, 1, { requestState: "theirs" })).result, { seen: "theirs" })
    }))
})

describe("a request of the stateless era", () => {
  const cases = [
    ["of a version that nobody knows is refused with those that are", {
      "io.modelcontextprotocol/protocolVersion": "2099-01-01"
    }, -32022],
    ["with a version that is no text is invalid", { "io.modelcontextprotocol/protocolVersion": 7 }, -32602],
    ["that does not say what its caller can do is invalid", { "io.modelcontextprotocol/clientCapabilities": 7 }, -32602]
  ] as const
  for (const [name, meta, code] of cases) {
    it.scoped(name, () =>
      Effect.gen(function*() {
        const caller = yield* open(PipedCaller.offer({ echo: PipedCaller.echo }))
        caller.request(1, "echo", stateless({}, meta))
        assert.strictEqual((yield* caller.next).error?.code, code)
      }))
  }

  for (const method of ["ping", "initialize", "logging/setLevel", "resources/subscribe", "nothing"]) {
    it.scoped(`for ${method} finds no method`, () =>
      Effect.gen(function*() {
        const caller = yield* open(PipedCaller.offer())
        caller.request(1, method, stateless())
        assert.strictEqual((yield* caller.next).error?.code, -32601)
      }))
  }

  it.scoped("discovers the server", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({}, { instructions: "be kind" }))
      caller.request(1, "server/discover", stateless())
      assert.deepStrictEqual((yield* caller.next).result, {
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {}, logging: {} },
        instructions: "be kind",
        resultType: "complete",
        ttlMs: 0,
        cacheScope: "private",
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "test", version: "1.0.0" } }
      })
    }))

  it.scoped("that discovers without saying who asks is invalid", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer())
      caller.request(1, "server/discover")
      assert.strictEqual((yield* caller.next).error?.code, -32602)
    }))

  it.scoped("is answered with an internal error when the offer dies while it opens", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({}, { open: () => Effect.die("bug") }))
      caller.request(1, "echo", stateless())
      assert.strictEqual((yield* caller.next).error?.code, -32603)
    }))
})

describe("what a caller follows", () => {
  const following = Effect.gen(function*() {
    const peers: Array<McpServer.Peer> = []
    const watched: Array<string> = []
    const offer = PipedCaller.offer({}, {
      capabilities: { tools: { listChanged: true }, prompts: {}, resources: { subscribe: true, listChanged: true } },
      open: (peer) =>
        Effect.sync(() => {
          peers.push(peer)
          return {
            handlers: new Map(),
            watch: (uri) =>
              uri === "no:where"
                ? Effect.fail(new McpServer.Refusal({ code: -32002, message: "Resource not found" }))
                : Effect.acquireRelease(
                  Effect.sync(() => watched.push(`+${uri}`)),
                  () => Effect.sync(() => watched.push(`-${uri}`))
                )
          }
        })
    })
    return { offer, peers, watched }
  })

  const subscriptionId = { "io.modelcontextprotocol/subscriptionId": "l" }

  it.scoped("in the stateless era is acknowledged first, then told with the id of its subscription, until all ends", () =>
    Effect.gen(function*() {
      const { offer, peers, watched } = yield* following
      const caller = yield* open(offer)
      caller.request(
        "l",
        "subscriptions/listen",
        stateless({
          notifications: {
            toolsListChanged: true,
            promptsListChanged: true,
            resourcesListChanged: false,
            resourceSubscriptions: ["a:1", 7]
          }
        })
      )
      assert.deepStrictEqual(yield* caller.next, {
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: { toolsListChanged: true, resourceSubscriptions: ["a:1"] }, _meta: subscriptionId }
      })
      const { notify } = peers[0]!
      notify("notifications/prompts/list_changed")
      notify("notifications/resources/list_changed")
      notify("notifications/resources/updated", { uri: "a:2" })
      notify("notifications/resources/updated", { uri: "a:1", _meta: { mine: 1 } })
      assert.deepStrictEqual((yield* caller.next).params, { uri: "a:1", _meta: { mine: 1, ...subscriptionId } })
      notify("notifications/tools/list_changed")
      assert.deepStrictEqual(yield* caller.next, {
        jsonrpc: "2.0",
        method: "notifications/tools/list_changed",
        params: { _meta: subscriptionId }
      })
      yield* caller.end
      yield* caller.ended
      const last = yield* caller.next
      assert.strictEqual(last.id, "l")
      assert.deepInclude(last.result, { resultType: "complete" })
      assert.deepStrictEqual(watched, ["+a:1", "-a:1"])
    }))

  it.scoped("in the stateless era ends when it is cancelled", () =>
    Effect.gen(function*() {
      const { offer, peers, watched } = yield* following
      const caller = yield* open(offer)
      caller.request(
        "l",
        "subscriptions/listen",
        stateless({
          notifications: { toolsListChanged: true, resourceSubscriptions: ["a:1"] }
        })
      )
      yield* caller.next
      caller.notify("notifications/cancelled", { requestId: "l" })
      caller.request(1, "ping")
      yield* caller.next
      peers[0]!.notify("notifications/tools/list_changed")
      caller.request(2, "ping")
      assert.strictEqual((yield* caller.next).id, 2)
      assert.deepStrictEqual(watched, ["+a:1", "-a:1"])
    }))

  it.scoped("in the session era is watched once, and until it wants no more of it", () =>
    Effect.gen(function*() {
      const { offer, watched } = yield* following
      const caller = yield* initialized(offer)
      for (const [id, method] of ["subscribe", "subscribe", "unsubscribe", "unsubscribe", "subscribe"].entries()) {
        caller.request(id, `resources/${method}`, { uri: "a:1" })
        assert.deepStrictEqual((yield* caller.next).result, {})
      }
      assert.deepStrictEqual(watched, ["+a:1", "-a:1", "+a:1"])
      yield* caller.end
      yield* caller.ended
      assert.deepStrictEqual(watched, ["+a:1", "-a:1", "+a:1", "-a:1"])
    }))

  it.scoped("in the session era is refused, where it cannot be watched", () =>
    Effect.gen(function*() {
      const { offer } = yield* following
      const caller = yield* initialized(offer)
      caller.request(1, "resources/subscribe", { uri: "no:where" })
      assert.strictEqual((yield* caller.next).error?.code, -32002)
      caller.request(2, "resources/subscribe", { uri: 7 })
      assert.strictEqual((yield* caller.next).error?.code, -32602)
    }))

  it.scoped("is nothing where nothing can be watched", () =>
    Effect.gen(function*() {
      const caller = yield* initialized(PipedCaller.offer())
      caller.request(1, "resources/subscribe", { uri: "a:1" })
      assert.strictEqual((yield* caller.next).error?.code, -32601)
    }))
})
