import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import * as McpServer from "../../src/server/McpServer.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as PipedCaller from "../support/pipedCaller.ts"

const { echo, held, initialized, open, stateless } = PipedCaller

describe("StdioServer", () => {
  describe("handshake", () => {
    it.scoped("answers with the known version of the caller", () =>
      Effect.gen(function*() {
        const caller = yield* open(PipedCaller.offer({}, { instructions: "be kind" }))
        caller.request(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {} })
        assert.deepStrictEqual((yield* caller.next).result, {
          protocolVersion: "2025-06-18",
          capabilities: { tools: {}, logging: {} },
          serverInfo: { name: "test", version: "1.0.0" },
          instructions: "be kind"
        })
      }))

    it.scoped("answers an unknown version with the best known one", () =>
      Effect.gen(function*() {
        const caller = yield* open(PipedCaller.offer())
        caller.request(1, "initialize", { protocolVersion: "1999-01-01", capabilities: {} })
        assert.deepInclude((yield* caller.next).result, { protocolVersion: "2025-11-25" })
      }))

    it.scoped("can be repeated after an invalid one", () =>
      Effect.gen(function*() {
        const caller = yield* open(PipedCaller.offer())
        caller.request(1, "initialize", { capabilities: {} })
        caller.request(2, "initialize", { protocolVersion: "2025-11-25", capabilities: 3 })
        assert.strictEqual((yield* caller.next).error?.code, -32602)
        assert.strictEqual((yield* caller.next).error?.code, -32602)
        yield* PipedCaller.initialize(caller)
      }))

    it.scoped("can be repeated after the offer has refused to open", () =>
      Effect.gen(function*() {
        let times = 0
        const caller = yield* open(PipedCaller.offer({}, {
          open: () =>
            Effect.suspend(() =>
              ++times === 1
                ? Effect.fail(new McpServer.Refusal({ code: -32001, message: "not now" }))
                : Effect.succeed({ handlers: new Map() })
            )
        }))
        caller.request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {} })
        assert.strictEqual((yield* caller.next).error?.code, -32001)
        yield* PipedCaller.initialize(caller)
      }))

    it.scoped("is refused a second time", () =>
      Effect.gen(function*() {
        const caller = yield* initialized(PipedCaller.offer())
        caller.request(2, "initialize", { protocolVersion: "2025-11-25", capabilities: {} })
        assert.strictEqual((yield* caller.next).error?.code, -32600)
      }))

    it.scoped("precedes every request but ping", () =>
      Effect.gen(function*() {
        const caller = yield* open(PipedCaller.offer({ echo }))
        caller.request(1, "echo")
        assert.strictEqual((yield* caller.next).error?.code, -32600)
        caller.request(2, "ping")
        assert.deepStrictEqual((yield* caller.next).result, {})
      }))

    it.scoped("answers ping while it is pending, and holds other requests and notifications", () =>
      Effect.gen(function*() {
        const there = yield* Deferred.make<void>()
        const told: Array<string> = []
        const caller = yield* open(PipedCaller.offer({}, {
          open: () =>
            Effect.as(Deferred.await(there), {
              handlers: new Map([["echo", echo]]),
              notified: (method) => Effect.sync(() => told.push(method))
            })
        }))
        caller.request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {} })
        caller.notify("notifications/initialized")
        caller.request(2, "echo", { a: 1 })
        caller.request(3, "ping")
        assert.strictEqual((yield* caller.next).id, 3)
        yield* Deferred.succeed(there, undefined)
        assert.strictEqual((yield* caller.next).id, 1)
        assert.deepStrictEqual((yield* caller.next).result, { echo: { a: 1 } })
        assert.deepStrictEqual(told, ["notifications/initialized"])
      }))

    it.scoped("leaves the stateless era usable on the same link", () =>
      Effect.gen(function*() {
        const caller = yield* initialized(
          PipedCaller.offer({ who: ({ caller }) => Effect.succeed({ era: caller.era }) })
        )
        caller.request(1, "who")
        caller.request(2, "who", stateless())
        assert.deepInclude((yield* caller.next).result, { era: "session" })
        assert.deepInclude((yield* caller.next).result, { era: "stateless", resultType: "complete" })
      }))
  })

  describe("concurrent requests", () => {
    it.scoped("do not wait for a slow one", () =>
      Effect.gen(function*() {
        const { handler, release } = yield* held
        const caller = yield* initialized(PipedCaller.offer({ slow: handler, echo }))
        caller.request(1, "slow", { name: "a" })
        caller.request(2, "slow", { name: "b" })
        caller.request(3, "ping")
        caller.request(4, "echo")
        assert.strictEqual((yield* caller.next).id, 3)
        assert.strictEqual((yield* caller.next).id, 4)
        yield* release("b")
        assert.strictEqual((yield* caller.next).id, 2)
        yield* release("a")
        assert.strictEqual((yield* caller.next).id, 1)
      }))

    const eras = [
      { where: "", connect: initialized, asked: (params: JsonRpc.JsonObject) => params },
      { where: " in the stateless era", connect: open, asked: stateless }
    ]
    for (const { asked, connect, where } of eras) {
      it.scoped(`are interrupted and not answered when cancelled${where}`, () =>
        Effect.gen(function*() {
          const { begun, handler, stopped } = yield* held
          const caller = yield* connect(PipedCaller.offer({ slow: handler }))
          caller.request(1, "slow", asked({ name: "a" }))
          yield* begun("a")
          caller.notify("notifications/cancelled", { requestId: 1 })
          yield* stopped("a")
          caller.request(2, "ping")
          assert.strictEqual((yield* caller.next).id, 2)
        }))
    }

    it.scoped("may reuse the id of a cancelled one", () =>
      Effect.gen(function*() {
        const { begun, handler, release } = yield* held
        const caller = yield* initialized(PipedCaller.offer({ slow: handler }))
        caller.request(1, "slow", { name: "a" })
        yield* begun("a")
        caller.notify("notifications/cancelled", { requestId: 1 })
        caller.request(1, "slow", { name: "b" })
        yield* release("b")
        assert.deepStrictEqual(yield* caller.next, { jsonrpc: "2.0", id: 1, result: { name: "b" } })
      }))

    for (const requestId of [99, "1", null, {}, undefined]) {
      it.scoped(`go on when the unknown id ${JSON.stringify(requestId)} is cancelled`, () =>
        Effect.gen(function*() {
          const { begun, handler, release } = yield* held
          const caller = yield* initialized(PipedCaller.offer({ slow: handler }))
          caller.request(1, "slow", { name: "a" })
          yield* begun("a")
          caller.notify("notifications/cancelled", { requestId })
          yield* release("a")
          assert.strictEqual((yield* caller.next).id, 1)
        }))
    }

    it.scoped("are refused with an id that is in flight", () =>
      Effect.gen(function*() {
        const { handler, release } = yield* held
        const caller = yield* initialized(PipedCaller.offer({ slow: handler }))
        caller.request(1, "slow", { name: "a" })
        caller.request(1, "slow", { name: "b" })
        assert.strictEqual((yield* caller.next).error?.code, -32600)
        yield* release("a")
        assert.deepStrictEqual((yield* caller.next).result, { name: "a" })
        caller.request(1, "ping")
        assert.deepStrictEqual((yield* caller.next).result, {})
      }))

    it.scoped("are refused over the limit until one ends", () =>
      Effect.gen(function*() {
        const { handler, release } = yield* held
        const caller = yield* initialized(PipedCaller.offer({ slow: handler }), { maxRequests: 2 })
        caller.request(1, "slow", { name: "a" })
        caller.request(2, "slow", { name: "b" })
        caller.request(3, "slow", { name: "c" })
        assert.deepInclude((yield* caller.next).error, { code: -32000 })
        yield* release("a")
        yield* caller.next
        caller.request(4, "ping")
        assert.deepStrictEqual((yield* caller.next).result, {})
      }))

    it.scoped("count against the limit until a cancelled one has ended", () =>
      Effect.gen(function*() {
        const gate = yield* Deferred.make<void>()
        const began = yield* Deferred.make<void>()
        const caller = yield* initialized(
          PipedCaller.offer({
            stubborn: () =>
              Effect.uninterruptible(
                Effect.zipRight(Deferred.succeed(began, undefined), Effect.as(Deferred.await(gate), {}))
              )
          }),
          { maxRequests: 1 }
        )
        yield* Effect.addFinalizer(() => Deferred.succeed(gate, undefined))
        caller.request(1, "stubborn")
        yield* Deferred.await(began)
        caller.notify("notifications/cancelled", { requestId: 1 })
        caller.request(2, "ping")
        assert.deepInclude((yield* caller.next).error, { code: -32000 })
        yield* Deferred.succeed(gate, undefined)
      }))

    it.scoped("are answered with whole lines", () =>
      Effect.gen(function*() {
        const text = "é\n\r\u2028".repeat(2_000)
        const caller = yield* initialized(PipedCaller.offer({
          large: ({ notify, params }) =>
            Effect.gen(function*() {
              notify("notifications/message", { level: "info", data: text })
              yield* Effect.yieldNow()
              return { text, n: params["n"]! }
            })
        }))
        for (let n = 0; n < 200; n++) caller.request(n, "large", { n })
        yield* caller.end
        yield* caller.ended
        const answers = (yield* caller.taken).pipe((all) => Array.from(all).filter(({ id }) => id !== undefined))
        assert.lengthOf(answers, 200)
        for (const { id, result } of answers) assert.deepStrictEqual(result, { text, n: id })
      }))
  })

  describe("notifications to the caller", () => {
    const reporting = (progress: ReadonlyArray<number>): McpServer.Handler => (exchange) =>
      Effect.sync(() => {
        for (const one of progress) exchange.progress({ progress: one, total: 3, message: "on" })
        return {}
      })

    it.scoped("report progress before the answer, if the request has a token", () =>
      Effect.gen(function*() {
        const caller = yield* initialized(PipedCaller.offer({ work: reporting([1]) }))
        caller.request(1, "work", { _meta: { progressToken: "t" } })
        assert.deepStrictEqual(yield* caller.next, {
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progressToken: "t", progress: 1, total: 3, message: "on" }
        })
        assert.strictEqual((yield* caller.next).id, 1)
      }))

    it.scoped("report no progress without a token", () =>
      Effect.gen(function*() {
        const caller = yield* initialized(PipedCaller.offer({ work: reporting([1, 2]) }))
        caller.request(1, "work", { _meta: { progressToken: null } })
        assert.strictEqual((yield* caller.next).id, 1)
      }))

    it.scoped("report only progress that grows", () =>
      Effect.gen(function*() {
        const caller = yield* initialized(
          PipedCaller.offer({ work: reporting([1, 1, 0.5, Number.NaN, 2, Infinity, 3]) })
        )
        caller.request(1, "work", { _meta: { progressToken: 0 } })
        yield* caller.end
        yield* caller.ended
        const all = Array.from(yield* caller.taken)
        assert.deepStrictEqual(all.map(({ params }) => params?.["progress"]), [1, 2, 3, undefined])
      }))

    it.scoped("end with the answer of their request", () =>
      Effect.gen(function*() {
        const kept: Array<McpServer.Exchange> = []
        const keep: McpServer.Handler = (exchange) =>
          Effect.sync(() => {
            kept.push(exchange)
            return {}
          })
        const caller = yield* initialized(PipedCaller.offer({ keep }))
        caller.request(1, "keep", { _meta: { progressToken: "t" } })
        yield* caller.next
        caller.request(2, "keep", stateless({}, { progressToken: "t" }))
        yield* caller.next
        for (const { log, notify, progress } of kept) {
          progress({ progress: 1 })
          log({ level: "emergency", data: "late" })
          notify("late")
        }
        caller.request(3, "ping")
        assert.strictEqual((yield* caller.next).id, 3)
      }))

    const saying: McpServer.Handler = ({ log }) =>
      Effect.sync(() => {
        for (const level of ["debug", "info", "error"] as const) log({ level, logger: "l", data: { level } })
        return {}
      })

    const levels = (caller: PipedCaller.Caller) =>
      Effect.gen(function*() {
        const heard: Array<unknown> = []
        for (;;) {
          const { id, params } = yield* caller.next
          if (id !== undefined) return heard
          heard.push(params?.["level"])
        }
      })

    it.scoped("log from the level that the caller has set", () =>
      Effect.gen(function*() {
        const set: Array<string> = []
        const caller = yield* initialized(
          PipedCaller.offer({ saying }, {
            service: { setLogLevel: (level) => Effect.sync(() => set.push(level)) }
          })
        )
        caller.request(1, "saying")
        assert.deepStrictEqual(yield* levels(caller), ["info", "error"])
        caller.request(2, "logging/setLevel", { level: "error" })
        assert.deepStrictEqual((yield* caller.next).result, {})
        caller.request(3, "saying")
        assert.deepStrictEqual(yield* levels(caller), ["error"])
        assert.deepStrictEqual(set, ["error"])
      }))

    it.scoped("refuse an unknown log level", () =>
      Effect.gen(function*() {
        const caller = yield* initialized(PipedCaller.offer())
        caller.request(1, "logging/setLevel", { level: "loud" })
        assert.strictEqual((yield* caller.next).error?.code, -32602)
      }))

    it.scoped("have no log level where the offer does not log", () =>
      Effect.gen(function*() {
        const caller = yield* initialized(PipedCaller.offer({}, { capabilities: {} }))
        caller.request(1, "logging/setLevel", { level: "info" })
        assert.strictEqual((yield* caller.next).error?.code, -32601)
      }))

    it.scoped("log in the stateless era only if the request has a level", () =>
      Effect.gen(function*() {
        const caller = yield* open(PipedCaller.offer({ saying }))
        caller.request(1, "saying", stateless())
        assert.deepStrictEqual(yield* levels(caller), [])
        caller.request(2, "saying", stateless({}, { "io.modelcontextprotocol/logLevel": "debug" }))
        assert.deepStrictEqual(yield* levels(caller), ["debug", "info", "error"])
      }))
  })

  describe("notifications of the caller", () => {
    it.scoped("reach the offer", () =>
      Effect.gen(function*() {
        const heard = yield* Deferred.make<unknown>()
        const caller = yield* initialized(PipedCaller.offer({}, {
          service: { notified: (method, params) => Deferred.succeed(heard, { method, params }) }
        }))
        caller.notify("notifications/roots/list_changed", { a: 1 })
        assert.deepStrictEqual(yield* Deferred.await(heard), {
          method: "notifications/roots/list_changed",
          params: { a: 1 }
        })
      }))

    for (
      const [name, notified] of [
        ["block no request while they are handled", () => Effect.never],
        ["survive a handler that dies", () => Effect.die("bug")],
        ["survive a handler that throws", () => {
          throw new Error("bug")
        }]
      ] as const
    ) {
      it.scoped(name, () =>
        Effect.gen(function*() {
          const caller = yield* initialized(PipedCaller.offer({}, { service: { notified } }))
          caller.notify("notifications/roots/list_changed")
          caller.request(1, "ping")
          assert.strictEqual((yield* caller.next).id, 1)
        }))
    }
  })

  describe("end", () => {
    it.scoped("waits for the requests in flight", () =>
      Effect.gen(function*() {
        const { begun, handler, release } = yield* held
        const caller = yield* initialized(PipedCaller.offer({ slow: handler }))
        caller.request(1, "slow", { name: "a" })
        yield* begun("a")
        yield* caller.end
        yield* release("a")
        yield* caller.ended
        assert.strictEqual((yield* caller.next).id, 1)
      }))

    it.scoped("interrupts requests at the drain timeout", () =>
      Effect.gen(function*() {
        const { begun, handler, stopped } = yield* held
        const caller = yield* initialized(PipedCaller.offer({ slow: handler }), { drainTimeout: "5 seconds" })
        caller.request(1, "slow", { name: "a" })
        caller.request(2, "slow", stateless({ name: "b" }))
        yield* begun("a")
        yield* begun("b")
        yield* caller.end
        // the end has been seen, and the clock is waited for
        yield* TestClock.adjust("5 seconds")
        yield* stopped("a")
        yield* stopped("b")
        yield* caller.ended
        assert.lengthOf(caller.written, 1)
      }))

    it.scoped("drops answers that the caller does not read", () =>
      Effect.gen(function*() {
        const { begun, handler, release } = yield* held
        const caller = yield* initialized(PipedCaller.offer({ slow: handler }), { queue: 4, drainTimeout: "1 second" })
        for (let i = 0; i < 12; i++) caller.request(i, "slow", { name: String(i) })
        yield* begun("11")
        yield* caller.pause
        for (let i = 0; i < 12; i++) yield* release(String(i))
        yield* caller.end
        const ended = yield* Effect.fork(caller.ended)
        yield* Effect.repeatN(Effect.yieldNow(), 50)
        yield* TestClock.adjust("1 second")
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(ended)
      }))

    it.scoped("interrupts requests when the caller no longer reads", () =>
      Effect.gen(function*() {
        const { begun, handler, stopped } = yield* held
        const caller = yield* initialized(PipedCaller.offer({ slow: handler }), { queue: 2 })
        caller.request(1, "slow", { name: "a" })
        yield* begun("a")
        yield* caller.pause
        // more than fits into the queues, so that each of them has somebody waiting
        for (let i = 0; i < 200; i++) caller.line("no JSON")
        yield* Effect.repeatN(Effect.yieldNow(), 50)
        yield* caller.leave
        yield* caller.ended
        yield* stopped("a")
      }))

    it.scoped("follows the interruption of the server", () =>
      Effect.gen(function*() {
        const { begun, handler, stopped } = yield* held
        const caller = yield* initialized(PipedCaller.offer({ slow: handler }), { queue: 2 })
        caller.request(1, "slow", { name: "a" })
        yield* begun("a")
        yield* caller.pause
        for (let i = 0; i < 200; i++) caller.line("no JSON")
        yield* Effect.repeatN(Effect.yieldNow(), 50)
        yield* Fiber.interrupt(caller.fiber)
        yield* stopped("a")
      }))

    it.scoped("closes the scopes of both services", () =>
      Effect.gen(function*() {
        const closed: Array<string> = []
        const caller = yield* initialized(PipedCaller.offer({}, {
          open: ({ caller }) =>
            Effect.as(Effect.addFinalizer(() => Effect.sync(() => closed.push(caller.era))), { handlers: new Map() })
        }))
        caller.request(1, "server/discover", stateless())
        yield* caller.next
        caller.request(2, "nothing", stateless())
        yield* caller.next
        assert.deepStrictEqual(closed, [])
        yield* caller.end
        yield* caller.ended
        assert.sameMembers(closed, ["session", "stateless"])
      }))
  })

  describe("a caller that does not read", () => {
    it.scoped("gets all answers later, of which few are held meanwhile", () =>
      Effect.gen(function*() {
        const caller = yield* initialized(PipedCaller.offer({ echo }), { queue: 8 })
        yield* caller.pause
        for (let n = 0; n < 500; n++) caller.request(n, "echo", { n })
        yield* Effect.repeatN(Effect.yieldNow(), 200)
        assert.lengthOf(caller.texts, 2)
        yield* caller.resume
        const ids: Array<unknown> = []
        for (let n = 0; n < 500; n++) ids.push((yield* caller.next).id)
        assert.sameMembers(ids, Array.from({ length: 500 }, (_, n) => n))
      }))

    it.scoped("loses progress, and no answer", () =>
      Effect.gen(function*() {
        const caller = yield* initialized(
          PipedCaller.offer({
            chatty: ({ progress }) =>
              Effect.sync(() => {
                for (let i = 1; i <= 10_000; i++) progress({ progress: i })
                return {}
              })
          }),
          { queue: 8 }
        )
        yield* caller.pause
        caller.request(1, "chatty", { _meta: { progressToken: 1 } })
        caller.request(2, "chatty", { _meta: { progressToken: 2 } })
        yield* Effect.repeatN(Effect.yieldNow(), 50)
        yield* caller.resume
        yield* caller.end
        yield* caller.ended
        const all = Array.from(yield* caller.taken)
        assert.isBelow(all.length, 100)
        assert.sameMembers(all.flatMap(({ id }) => id === undefined ? [] : [id]), [1, 2])
      }))
  })
})
