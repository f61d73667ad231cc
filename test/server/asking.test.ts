import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
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

describe("questions in the session era", () => {
  it.scoped("are requests before the answer", () =>
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

  it.scoped("are answered in any order", () =>
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

  it.scoped("can be answered with an error", () =>
    Effect.gen(function*() {
      const caller = yield* initialized(PipedCaller.offer({ asking }))
      caller.request(1, "asking")
      const asked = yield* caller.next
      caller.send({ jsonrpc: "2.0", id: idOf(asked), error: { code: -1, message: "never", data: [1] } })
      assert.deepStrictEqual((yield* caller.next).error, { code: -1, message: "never", data: [1] })
    }))

  it.scoped("take a result that is not an object as an empty one", () =>
    Effect.gen(function*() {
      const caller = yield* initialized(PipedCaller.offer({ asking }))
      caller.request(1, "asking")
      caller.send({ jsonrpc: "2.0", id: idOf(yield* caller.next), result: 7 })
      assert.deepStrictEqual((yield* caller.next).result, { answer: {} })
    }))

  it.scoped("are withdrawn at the input timeout", () =>
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

  it.scoped("are withdrawn when their request is cancelled", () =>
    Effect.gen(function*() {
      const caller = yield* initialized(PipedCaller.offer({ asking }))
      caller.request(1, "asking")
      const asked = yield* caller.next
      caller.notify("notifications/cancelled", { requestId: 1 })
      const withdrawn = yield* caller.next
      assert.strictEqual(withdrawn.method, "notifications/cancelled")
      assert.strictEqual(withdrawn.params?.["requestId"], asked.id)
    }))

  it.scoped("fail when the caller closes its input", () =>
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

  it.scoped("fail for a request that is answered", () =>
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

  it.scoped("can be asked outside of requests", () =>
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

describe("questions in the stateless era", () => {
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

  it.scoped("are a result, and the next request brings the answers", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({ asking }))
      const first = yield* round(caller, 1, { a: 1 })
      assert.deepStrictEqual(Object.values(first.result?.["inputRequests"] ?? {}), [
        { method: "elicitation/create", params: question }
      ])
      const second = yield* round(caller, 2, { a: 1, ...answering(first) })
      assert.deepInclude(second.result, { resultType: "complete", answer: accepted })
    }))

  it.scoped("leave together when asked in parallel, and again if unanswered, with a new state each time", () =>
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

  it.scoped("take one round each when asked in sequence", () =>
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

  it.scoped("have a state that is valid once", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({ asking }))
      const first = yield* round(caller, 1)
      yield* round(caller, 2, answering(first))
      assert.strictEqual((yield* round(caller, 3, answering(first))).error?.code, -32602)
    }))

  it.scoped("have a state that is valid for the same request only", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({ asking, other: asking }))
      const first = yield* round(caller, 1, { a: 1 })
      assert.strictEqual((yield* round(caller, 2, { a: 2, ...answering(first) })).error?.code, -32602)
      caller.request(3, "other", stateless({ a: 1, ...answering(first) }))
      assert.strictEqual((yield* caller.next).error?.code, -32602)
      // nobody has spoiled it by trying
      assert.deepInclude((yield* round(caller, 4, { a: 1, ...answering(first) })).result, { answer: accepted })
    }))

  it.scoped("have a state that cannot be guessed", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({ asking }))
      const first = yield* round(caller, 1)
      const tampered = `${stateOf(first).slice(0, -1)}${stateOf(first).endsWith("0") ? "1" : "0"}`
      const { error } = yield* round(caller, 2, { ...answering(first), requestState: tampered })
      assert.strictEqual(error?.code, -32602)
    }))

  it.scoped("interrupt the handler when no answer comes within the input timeout", () =>
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

  it.scoped("start the input timeout anew in each round", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({ asking }), { inputTimeout: "1 minute" })
      const first = yield* round(caller, 1)
      yield* TestClock.adjust("50 seconds")
      const second = yield* round(caller, 2, { requestState: stateOf(first) })
      yield* TestClock.adjust("50 seconds")
      assert.deepInclude((yield* round(caller, 3, answering(second))).result, { answer: accepted })
    }))

  it.scoped("interrupt the handler when a later round is cancelled", () =>
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

  it.scoped("report progress with the token of the current round", () =>
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

  it.scoped("fail without the capability of the caller", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({ asking }))
      const { error } = yield* round(caller, 1, {}, { "io.modelcontextprotocol/clientCapabilities": {} })
      assert.deepInclude(error, { code: -32021, data: { requiredCapabilities: { elicitation: {} } } })
    }))

  it.scoped("keep a result that comes between two rounds", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({
        asking: ({ ask }) =>
          Effect.as(Effect.timeout(Effect.orDie(ask("roots/list")), "1 second").pipe(Effect.option), { late: true })
      }))
      const first = yield* round(caller, 1)
      yield* TestClock.adjust("1 second")
      assert.deepInclude((yield* round(caller, 2, { requestState: stateOf(first) })).result, { late: true })
    }))

  it.scoped("stay with the server when they are withdrawn at once", () =>
    Effect.gen(function*() {
      const caller = yield* open(PipedCaller.offer({
        asking: ({ ask }) =>
          Effect.orDie(ask("roots/list")).pipe(
            Effect.timeoutOption("1 millis"),
            Effect.zipRight(Effect.sleep("1 second")),
            Effect.as({ done: true })
          )
      }))
      caller.request(1, "asking", stateless())
      yield* TestClock.adjust("5 millis")
      assert.lengthOf(yield* caller.taken, 0)
      yield* TestClock.adjust("1 second")
      assert.deepInclude((yield* caller.next).result, { resultType: "complete", done: true })
    }))

  it.scoped("pass the state of another server to the handler", () =>
    Effect.gen(function*() {
      const caller = yield* open(
        PipedCaller.offer({ asking: ({ params }) => Effect.succeed({ seen: params["requestState"]! }) })
      )
      assert.deepInclude((yield* round(caller, 1, { requestState: "theirs" })).result, { seen: "theirs" })
    }))
})

describe("a request of the stateless era", () => {
  const cases = [
    ["with an unknown version is refused with the known ones", {
      "io.modelcontextprotocol/protocolVersion": "2099-01-01"
    }, -32022],
    ["with a version that is not a string is invalid", { "io.modelcontextprotocol/protocolVersion": 7 }, -32602],
    ["without capabilities is invalid", { "io.modelcontextprotocol/clientCapabilities": 7 }, -32602]
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

  it.scoped("that discovers without its `_meta` is invalid", () =>
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

describe("subscriptions", () => {
  const following = Effect.gen(function*() {
    const peers: Array<McpServer.Peer> = []
    const watched: Array<string> = []
    const changes = new Map<string, () => void>()
    const offer = PipedCaller.offer({}, {
      capabilities: { tools: { listChanged: true }, prompts: {}, resources: { subscribe: true, listChanged: true } },
      open: (peer) =>
        Effect.sync(() => {
          peers.push(peer)
          return {
            handlers: new Map(),
            watch: (uri, changed) =>
              uri === "no:where"
                ? Effect.fail(new McpServer.Refusal({ code: -32002, message: "Resource not found" }))
                : Effect.as(
                  Effect.acquireRelease(
                    Effect.sync(() => {
                      changes.set(uri, changed)
                      watched.push(`+${uri}`)
                    }),
                    () => Effect.sync(() => watched.push(`-${uri}`))
                  ),
                  { ended: uri === "a:ended" ? Effect.void : Effect.never }
                )
          }
        })
    })
    return { changes, offer, peers, watched }
  })

  const subscriptionId = { "io.modelcontextprotocol/subscriptionId": "l" }

  it.scoped("of the stateless era are acknowledged, notified with their id, and ended in good order", () =>
    Effect.gen(function*() {
      const { changes, offer, peers, watched } = yield* following
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
      caller.request(1, "ping", stateless({}))
      yield* caller.next
      changes.get("a:1")?.()
      assert.deepStrictEqual(yield* caller.next, {
        jsonrpc: "2.0",
        method: "notifications/resources/updated",
        params: { uri: "a:1", _meta: subscriptionId }
      })
      notify("notifications/tools/list_changed", { _meta: { mine: 1 } })
      assert.deepStrictEqual(yield* caller.next, {
        jsonrpc: "2.0",
        method: "notifications/tools/list_changed",
        params: { _meta: { mine: 1, ...subscriptionId } }
      })
      yield* caller.end
      yield* caller.ended
      const last = yield* caller.next
      assert.strictEqual(last.id, "l")
      assert.deepInclude(last.result, { resultType: "complete" })
      assert.deepStrictEqual(watched, ["+a:1", "-a:1"])
    }))

  it.scoped("of the stateless era end when they are cancelled", () =>
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

  it.scoped("of the session era watch a resource once, until it is unsubscribed", () =>
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

  it.scoped("of the session era fail where the watch fails", () =>
    Effect.gen(function*() {
      const { offer } = yield* following
      const caller = yield* initialized(offer)
      caller.request(1, "resources/subscribe", { uri: "no:where" })
      assert.strictEqual((yield* caller.next).error?.code, -32002)
      caller.request(2, "resources/subscribe", { uri: 7 })
      assert.strictEqual((yield* caller.next).error?.code, -32602)
    }))

  it.scoped("of the session era can be renewed after the server has ended them", () =>
    Effect.gen(function*() {
      const { offer, watched } = yield* following
      const caller = yield* initialized(offer)
      for (const id of [1, 2]) {
        caller.request(id, "resources/subscribe", { uri: "a:ended" })
        assert.deepStrictEqual((yield* caller.next).result, {})
      }
      assert.deepStrictEqual(watched.slice(0, 3), ["+a:ended", "-a:ended", "+a:ended"])
    }))

  it.scoped("of the session era end when they are cancelled before they have begun", () =>
    Effect.gen(function*() {
      const begun = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      let watches = 0
      const caller = yield* initialized(PipedCaller.offer({}, {
        service: {
          watch: () =>
            Effect.suspend(() =>
              ++watches > 1
                ? Effect.succeed({ ended: Effect.never })
                : Effect.onInterrupt(
                  Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never),
                  () => Deferred.succeed(stopped, undefined)
                )
            )
        }
      }))
      caller.request(1, "resources/subscribe", { uri: "a:1" })
      yield* Deferred.await(begun)
      caller.notify("notifications/cancelled", { requestId: 1 })
      yield* Deferred.await(stopped)
      caller.request(2, "resources/subscribe", { uri: "a:1" })
      assert.deepStrictEqual((yield* caller.next).result, {})
      assert.strictEqual(watches, 2)
    }))

  /** An offer whose watches begin when the test says so. */
  const slow = Effect.gen(function*() {
    const started = yield* Effect.makeLatch()
    const begun = yield* Deferred.make<void, McpServer.Refusal>()
    const watched: Array<string> = []
    const logged: Array<unknown> = []
    const offer = PipedCaller.offer({}, {
      service: {
        watch: () =>
          Effect.acquireRelease(Effect.sync(() => watched.push("+")), () => Effect.sync(() => watched.push("-"))).pipe(
            Effect.zipRight(started.open),
            Effect.zipRight(Effect.interruptible(Deferred.await(begun))),
            Effect.as({ ended: Effect.never })
          )
      }
    })
    const caller = yield* Effect.provide(
      initialized(offer),
      Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => logged.push(message)))
    )
    return { begun, caller, logged, started, watched }
  })

  it.scoped("of the session era share a watch that has not begun, and are answered once it has", () =>
    Effect.gen(function*() {
      const { begun, caller, watched } = yield* slow
      caller.request(1, "resources/subscribe", { uri: "a:1" })
      caller.request(2, "resources/subscribe", { uri: "a:1" })
      caller.request(3, "ping")
      assert.strictEqual((yield* caller.next).id, 3)
      yield* Deferred.succeed(begun, undefined)
      const answers = [yield* caller.next, yield* caller.next]
      assert.sameDeepMembers(answers, [1, 2].map((id) => ({ jsonrpc: "2.0", id, result: {} })))
      assert.deepStrictEqual(watched, ["+"])
    }))

  it.scoped("of the session era fail together where their watch fails", () =>
    Effect.gen(function*() {
      const { begun, caller, started } = yield* slow
      caller.request(1, "resources/subscribe", { uri: "a:1" })
      caller.request(2, "resources/subscribe", { uri: "a:1" })
      yield* started.await
      yield* Deferred.fail(begun, new McpServer.Refusal({ code: -32002, message: "Resource not found" }))
      const answers = [yield* caller.next, yield* caller.next]
      assert.deepStrictEqual(answers.map(({ error }) => error?.code), [-32002, -32002])
    }))

  it.scoped("of the session era outlive a pending request for the same address that is cancelled", () =>
    Effect.gen(function*() {
      const { begun, caller, watched } = yield* slow
      caller.request(1, "resources/subscribe", { uri: "a:1" })
      caller.request(2, "resources/subscribe", { uri: "a:1" })
      caller.notify("notifications/cancelled", { requestId: 1 })
      caller.request(3, "ping")
      assert.strictEqual((yield* caller.next).id, 3)
      yield* Deferred.succeed(begun, undefined)
      assert.deepStrictEqual(yield* caller.next, { jsonrpc: "2.0", id: 2, result: {} })
      assert.deepStrictEqual(watched, ["+"])
    }))

  it.scoped("of the session era are refused without a defect when they are ended before they have begun", () =>
    Effect.gen(function*() {
      const { caller, logged, started, watched } = yield* slow
      caller.request(1, "resources/subscribe", { uri: "a:1" })
      yield* started.await
      caller.request(2, "resources/unsubscribe", { uri: "a:1" })
      const [first, second] = [yield* caller.next, yield* caller.next].toSorted((a, b) => Number(a.id) - Number(b.id))
      assert.strictEqual(first?.error?.code, McpServer.codes.invalidRequest)
      assert.deepStrictEqual(second, { jsonrpc: "2.0", id: 2, result: {} })
      assert.deepStrictEqual(watched, ["+", "-"])
      assert.deepStrictEqual(logged, [])
    }))

  it.scoped("of the stateless era with the same address each get a change once", () =>
    Effect.gen(function*() {
      const changes = new Set<() => void>()
      const caller = yield* open(PipedCaller.offer({}, {
        capabilities: { resources: { subscribe: true } },
        service: {
          watch: (_uri, changed) =>
            Effect.acquireRelease(Effect.sync(() => changes.add(changed)), () =>
              Effect.sync(() => changes.delete(changed))).pipe(Effect.as({ ended: Effect.never }))
        }
      }))
      for (const id of ["l", "m"]) {
        const notifications = { resourceSubscriptions: ["a:1", "a:1"] }
        caller.request(id, "subscriptions/listen", stateless({ notifications }))
        yield* caller.next
      }
      const change = Effect.gen(function*() {
        caller.request(1, "ping", stateless({}))
        yield* caller.next
        for (const changed of changes) {
          changed()
        }
        caller.request(2, "ping", stateless({}))
        const ids: Array<unknown> = []
        for (let message = yield* caller.next; message.id !== 2; message = yield* caller.next) {
          ids.push(message.params?.["_meta"])
        }
        return ids
      })
      const metaOf = (id: string) => ({ "io.modelcontextprotocol/subscriptionId": id })
      assert.deepStrictEqual(yield* change, [metaOf("l"), metaOf("m")])
      caller.notify("notifications/cancelled", { requestId: "l" })
      assert.deepStrictEqual(yield* change, [metaOf("m")])
      caller.notify("notifications/cancelled", { requestId: "m" })
      assert.deepStrictEqual(yield* change, [])
      assert.strictEqual(changes.size, 0)
    }))

  it.scoped("are no method where the offer cannot watch", () =>
    Effect.gen(function*() {
      const caller = yield* initialized(PipedCaller.offer())
      caller.request(1, "resources/subscribe", { uri: "a:1" })
      assert.strictEqual((yield* caller.next).error?.code, -32601)
    }))
})
