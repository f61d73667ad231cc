import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Reporting from "../../src/client/reporting.ts"
import * as RequestEngine from "../../src/client/RequestEngine.ts"
import { Refused } from "../../src/client/serverRequests.ts"
import * as McpError from "../../src/McpError.ts"
import * as Redaction from "../../src/safety/Redaction.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import type * as Transport from "../../src/transport/Transport.ts"
import * as DeadlineSupport from "../support/deadline.ts"
import * as FakeTransport from "../support/fakeTransport.ts"
import * as ManualClock from "../support/manualClock.ts"

const opened = (maxServerRequests = 100) =>
  Effect.gen(function*() {
    const time = ManualClock.make()
    const transport = FakeTransport.make()
    const diagnostics: Array<Transport.Diagnostic> = []
    /** The requests of the server that are being served, each until its answer is given. */
    const serving: Array<Deferred.Deferred<JsonRpc.JsonObject, Refused>> = []
    const report = Reporting.make({ server: "peer", redaction: Redaction.make(), publish: () => undefined })
    const engine = yield* Effect.withClock(
      RequestEngine.make({
        server: "peer",
        maxServerRequests,
        transport,
        report: { ...report, diagnostic: (diagnostic) => diagnostics.push(diagnostic) },
        serve: () =>
          Effect.suspend(() => {
            const answer = Deferred.unsafeMake<JsonRpc.JsonObject, Refused>(FiberId.none)
            serving.push(answer)
            return Deferred.await(answer)
          })
      }),
      time.clock
    )
    /** Begins a request; its id is that of the last message sent. */
    const begin = (
      method: string,
      { idle = 1000, total = 5000, ...over }: RequestEngine.RequestOptions & { idle?: number; total?: number } = {}
    ) =>
      Effect.gen(function*() {
        let id: JsonRpc.Id = -1
        const deadline = DeadlineSupport.make({ server: "peer", operation: method, idle, total, now: engine.now })
        const onId = (given: JsonRpc.Id) => (id = given)
        const fiber = yield* Effect.fork(
          engine.request(method, {}, { deadline, progress: true, cancellable: true, ...over, onId })
        )
        yield* ManualClock.settle
        return { id, fiber }
      })
    const hear = (message: JsonRpc.Incoming) =>
      Effect.sync(() => transport.sink().message({ jsonrpc: "2.0", ...message }))
    const answer = (id: JsonRpc.Id, result: JsonRpc.JsonObject) => hear({ id, result })
    const methods = () => transport.sent.map((message) => "method" in message ? message.method : "answer")
    return { engine, serving, time, transport, diagnostics, begin, hear, answer, methods }
  })

const nested = (depth: number): unknown => {
  let value: unknown = {}
  for (let level = 0; level < depth; level++) value = { value }
  return value
}

describe("RequestEngine, answers", () => {
  it.scoped("settle their own request in any order", () =>
    Effect.gen(function*() {
      const { answer, begin } = yield* opened()
      const first = yield* begin("a")
      const second = yield* begin("b")
      yield* answer(second.id, { n: 2 })
      yield* answer(first.id, { n: 1 })
      assert.deepStrictEqual(yield* Fiber.join(first.fiber), { n: 1 })
      assert.deepStrictEqual(yield* Fiber.join(second.fiber), { n: 2 })
    }))

  it.scoped("are reported and dropped when they come again or were never asked for", () =>
    Effect.gen(function*() {
      const { answer, begin, diagnostics, engine } = yield* opened()
      const first = yield* begin("a")
      yield* answer(first.id, { n: 1 })
      yield* answer(first.id, { n: 2 })
      yield* answer("unknown", {})
      assert.deepStrictEqual(yield* Fiber.join(first.fiber), { n: 1 })
      assert.deepStrictEqual(diagnostics.map(({ kind }) => kind), ["dropped", "dropped"])
      assert.strictEqual(engine.inFlight(), 0)
    }))

  it.scoped("are accepted with a numeric id as a string, unless the server has answered with a number", () =>
    Effect.gen(function*() {
      const { answer, begin, diagnostics, engine } = yield* opened()
      const first = yield* begin("a")
      yield* answer(`0${String(first.id)}`, {})
      yield* answer(`${String(first.id)}.0`, {})
      assert.strictEqual(engine.inFlight(), 1)
      assert.lengthOf(diagnostics, 2)
      yield* answer(String(first.id), { n: 1 })
      assert.deepStrictEqual(yield* Fiber.join(first.fiber), { n: 1 })
      const second = yield* begin("b")
      yield* answer(second.id, {})
      const third = yield* begin("c")
      yield* answer(String(third.id), {})
      assert.strictEqual(engine.inFlight(), 1)
      assert.lengthOf(diagnostics, 3)
    }))

  it.scoped("fail their request at once when they are malformed", () =>
    Effect.gen(function*() {
      const { begin, hear } = yield* opened()
      const odd: ReadonlyArray<JsonRpc.Incoming> = [{}, { result: 1 }, { result: {}, error: {} }, { error: "no" }, {
        error: {}
      }]
      for (const shape of odd) {
        const { fiber, id } = yield* begin("a")
        yield* hear({ id, ...shape })
        const error = yield* Effect.flip(Fiber.join(fiber))
        assert.strictEqual(error._tag, "ProtocolViolation")
        assert.strictEqual(error.outcome, "executed")
      }
    }))

  it.scoped("that are nested too deeply fail only their own request", () =>
    Effect.gen(function*() {
      const { answer, begin, diagnostics, hear } = yield* opened()
      const deep = nested(200_000)
      yield* hear({ id: deep, result: {} })
      yield* hear({ value: deep })
      const { fiber, id } = yield* begin("a")
      yield* hear({ id, result: {}, error: deep })
      assert.strictEqual((yield* Effect.flip(Fiber.join(fiber)))._tag, "ProtocolViolation")
      const next = yield* begin("b")
      yield* answer(next.id, { n: 1 })
      assert.deepStrictEqual(yield* Fiber.join(next.fiber), { n: 1 })
      assert.lengthOf(diagnostics, 2)
    }))
})

describe("RequestEngine, ids", () => {
  it.scoped("are unique, random and within 32 bits", () =>
    Effect.gen(function*() {
      const { transport, engine } = yield* opened()
      yield* Effect.forEach(Array.from({ length: 2000 }), () => Effect.fork(engine.request("a", {}, {})))
      yield* ManualClock.settle
      const ids = transport.sent.map((message) => "id" in message ? Number(message.id) : -1)
      assert.strictEqual(new Set(ids).size, 2000)
      assert.isTrue(ids.every((id) => Number.isSafeInteger(id) && id >= 2 ** 20 && id < 2 ** 31))
      assert.isBelow(ids.filter((id, index) => index > 0 && Math.abs(id - ids[index - 1]!) < 1000).length, 5)
    }))
})

describe("RequestEngine, progress", () => {
  it.scoped("postpones the idle limit and not the total limit", () =>
    Effect.gen(function*() {
      const { begin, hear, time } = yield* opened()
      const { fiber, id } = yield* begin("slow")
      for (let step = 1; step <= 6; step++) {
        yield* time.advance(900)
        yield* hear({ method: "notifications/progress", params: { progressToken: id, progress: step } })
      }
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error._tag === "RequestTimeout" ? error.kind : undefined, "total")
    }))

  it.scoped("arrives in order and complete before the answer, and never after it", () =>
    Effect.gen(function*() {
      const { answer, begin, hear } = yield* opened()
      const seen: Array<number> = []
      const { fiber, id } = yield* begin("slow", { onProgress: ({ progress }) => seen.push(progress) })
      for (let progress = 0; progress < 20_000; progress++) {
        yield* hear({ method: "notifications/progress", params: { progressToken: id, progress } })
      }
      yield* answer(id, {})
      yield* hear({ method: "notifications/progress", params: { progressToken: id, progress: -1 } })
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(seen, Array.from({ length: 20_000 }, (_, index) => index))
    }))

  it.scoped("survives a callback that throws", () =>
    Effect.gen(function*() {
      const { answer, begin, diagnostics, hear } = yield* opened()
      const { fiber, id } = yield* begin("slow", {
        onProgress: () => {
          throw new Error("a bug in the application")
        }
      })
      yield* hear({ method: "notifications/progress", params: { progressToken: id, progress: 1 } })
      yield* answer(id, {})
      yield* Fiber.join(fiber)
      assert.lengthOf(diagnostics, 1)
    }))
})

describe("RequestEngine, notifications", () => {
  it.scoped("reach every listener in order until it is removed", () =>
    Effect.gen(function*() {
      const { hear, engine } = yield* opened()
      const seen: Array<string> = []
      const leave = engine.onNotification(({ method }) => seen.push(`a ${method}`))
      engine.onNotification(({ method }) => seen.push(`b ${method}`))
      yield* hear({ method: "x" })
      leave()
      yield* hear({ method: "y" })
      assert.deepStrictEqual(seen, ["a x", "b x", "b y"])
    }))

  it.scoped("reach the other listeners when one throws", () =>
    Effect.gen(function*() {
      const { diagnostics, hear, engine } = yield* opened()
      const seen: Array<string> = []
      engine.onNotification(() => {
        throw new Error("a bug in the application")
      })
      engine.onNotification(({ method }) => seen.push(method))
      yield* hear({ method: "x" })
      assert.deepStrictEqual(seen, ["x"])
      assert.lengthOf(diagnostics, 1)
    }))
})

describe("RequestEngine, requests of the server", () => {
  const ask = { method: "elicitation/create" }
  const answerOf = (answer: Deferred.Deferred<JsonRpc.JsonObject, Refused> | undefined, result: JsonRpc.JsonObject) =>
    Effect.zipRight(Deferred.succeed(answer!, result), ManualClock.settle)

  it.scoped("serves a bounded number at once, refuses the others, and answers all of them", () =>
    Effect.gen(function*() {
      const { diagnostics, hear, serving, transport } = yield* opened(4)
      for (let id = 0; id < 1000; id++) yield* hear({ id, method: "roots/list" })
      yield* ManualClock.settle
      assert.lengthOf(serving, 4)
      assert.lengthOf(transport.sent, 996)
      assert.isTrue(diagnostics.every(({ kind }) => kind === "shed"))
      yield* answerOf(serving[0], { roots: [] })
      assert.deepStrictEqual(transport.sent.at(-1), { jsonrpc: "2.0", id: 0, result: { roots: [] } })
      yield* hear({ id: "next", method: "roots/list" })
      yield* ManualClock.settle
      assert.lengthOf(serving, 5)
    }))

  it.scoped("answers with the code of a refusal, and with an internal error for a defect", () =>
    Effect.gen(function*() {
      const { hear, serving, transport } = yield* opened()
      yield* hear({ id: 1, ...ask })
      yield* hear({ id: 2, ...ask })
      yield* ManualClock.settle
      yield* Deferred.fail(serving[0]!, new Refused({ code: -1, reason: "no" }))
      yield* Deferred.die(serving[1]!, new Error("a bug"))
      yield* ManualClock.settle
      assert.deepStrictEqual(transport.sent, [
        { jsonrpc: "2.0", id: 1, error: { code: -1, message: "no" } },
        { jsonrpc: "2.0", id: 2, error: { code: -32603, message: "The application could not answer" } }
      ])
    }))

  it.scoped("interrupts what the server cancels, without an answer, and makes room", () =>
    Effect.gen(function*() {
      const { hear, serving, transport } = yield* opened(2)
      for (let id = 0; id < 10; id++) {
        yield* hear({ id, ...ask })
        yield* ManualClock.settle
        yield* hear({ method: "notifications/cancelled", params: { requestId: id } })
      }
      assert.lengthOf(serving, 10)
      yield* answerOf(serving[0], {})
      assert.lengthOf(transport.sent, 0)
    }))

  it.scoped("stops the idle limits until all are answered or cancelled", () =>
    Effect.gen(function*() {
      const { begin, hear, serving, time, engine } = yield* opened()
      const { fiber } = yield* begin("slow", { total: Infinity })
      yield* hear({ id: 1, ...ask })
      yield* hear({ id: 2, ...ask })
      yield* ManualClock.settle
      yield* time.advance(60_000)
      yield* answerOf(serving[0], { action: "decline" })
      yield* time.advance(60_500)
      assert.strictEqual(engine.inFlight(), 1)
      yield* hear({ method: "notifications/cancelled", params: { requestId: 2 } })
      yield* time.advance(999)
      assert.strictEqual(engine.inFlight(), 1)
      yield* time.advance(1)
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error._tag === "RequestTimeout" ? error.kind : undefined, "idle")
    }))

  it.scoped("drops them where the protocol has none", () =>
    Effect.gen(function*() {
      const { diagnostics, hear, transport, engine } = yield* opened()
      engine.acceptsRequests = false
      yield* hear({ id: 1, method: "ping" })
      assert.lengthOf(transport.sent, 0)
      assert.deepStrictEqual(diagnostics.map(({ kind }) => kind), ["dropped"])
      engine.acceptsRequests = true
      yield* hear({ id: 2, method: "ping" })
      assert.deepStrictEqual(transport.sent, [{ jsonrpc: "2.0", id: 2, result: {} }])
    }))
})

describe("RequestEngine, the end", () => {
  const lost = (outcome: McpError.Outcome) =>
    new McpError.ConnectionLost({ server: "peer", reason: "reset", detail: "", outcome })

  it.scoped("settles pending requests by what was sent, and refuses later ones", () =>
    Effect.gen(function*() {
      const { begin, transport, engine } = yield* opened()
      const sent = yield* begin("sent")
      const queued = yield* begin("queued")
      transport.sink().ended({ error: lost, unsent: (id) => id === queued.id })
      assert.strictEqual((yield* Effect.flip(Fiber.join(sent.fiber))).outcome, "unknown")
      assert.strictEqual((yield* Effect.flip(Fiber.join(queued.fiber))).outcome, "not-sent")
      const later = yield* begin("later")
      assert.strictEqual((yield* Effect.flip(Fiber.join(later.fiber))).outcome, "not-sent")
      assert.strictEqual((yield* engine.ended)._tag, "ConnectionLost")
      assert.lengthOf(transport.sent, 2)
    }))

  it.scoped("comes once, and a close after it changes nothing", () =>
    Effect.gen(function*() {
      const { transport, engine } = yield* opened()
      let ends = 0
      engine.onEnded(() => ends++)
      transport.sink().ended({ error: lost, unsent: () => false })
      yield* engine.close(Duration.zero)
      assert.strictEqual(ends, 1)
      assert.strictEqual((yield* engine.ended)._tag, "ConnectionLost")
    }))

  it.scoped("by a close waits for pending requests no longer than the drain", () =>
    Effect.gen(function*() {
      const { answer, begin, methods, time, engine } = yield* opened()
      const quick = yield* begin("quick")
      const stuck = yield* begin("stuck", { total: Infinity, idle: Infinity })
      const closing = yield* Effect.fork(Effect.withClock(engine.close(Duration.seconds(2)), time.clock))
      yield* time.advance(900)
      yield* answer(quick.id, { n: 1 })
      const refused = yield* begin("refused")
      assert.strictEqual((yield* Effect.flip(Fiber.join(refused.fiber)))._tag, "Closed")
      yield* time.advance(1100)
      yield* Fiber.join(closing)
      assert.deepStrictEqual(yield* Fiber.join(quick.fiber), { n: 1 })
      const error = yield* Effect.flip(Fiber.join(stuck.fiber))
      assert.deepStrictEqual([error._tag, error.outcome], ["Closed", "unknown"])
      assert.deepStrictEqual(methods(), ["quick", "stuck", "notifications/cancelled"])
    }))

  it.scoped("by a close reports no late answers to the requests that it cancels", () =>
    Effect.gen(function*() {
      const { answer, begin, diagnostics, engine } = yield* opened()
      const list = yield* begin("tools/list")
      yield* Fiber.interrupt(list.fiber)
      yield* engine.close(Duration.zero)
      yield* answer(list.id, { tools: [] })
      assert.deepStrictEqual(diagnostics, [])
    }))
})
