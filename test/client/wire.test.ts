import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Hiding from "../../src/client/internal/hiding.ts"
import * as Wire from "../../src/client/internal/wire.ts"
import * as Limits from "../../src/config/Limits.ts"
import * as McpError from "../../src/McpError.ts"
import * as Redaction from "../../src/safety/Redaction.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import type * as Transport from "../../src/transport/Transport.ts"
import * as FakeTransport from "../support/fakeTransport.ts"
import * as ManualClock from "../support/manualClock.ts"

const opened = (limits: Partial<Limits.Limits> = {}) =>
  Effect.gen(function*() {
    const time = ManualClock.make()
    const transport = FakeTransport.make()
    const diagnostics: Array<Transport.Diagnostic> = []
    const wire = yield* Effect.withClock(
      Wire.make({
        server: "peer",
        limits: { ...Limits.defaults, ...limits },
        transport,
        hiding: Hiding.make(Redaction.make()),
        diagnostic: (diagnostic) => diagnostics.push(diagnostic)
      }),
      time.clock
    )
    const options: Wire.RequestOptions = { idle: 1000, total: 5000, progress: true, cancellable: true }
    /** Begins a request; its id is that of the last message sent. */
    const begin = (method: string, over: Partial<Wire.RequestOptions> = {}) =>
      Effect.gen(function*() {
        let id: JsonRpc.Id = -1
        const fiber = yield* Effect.fork(
          wire.request(method, {}, { ...options, ...over, onId: (given) => (id = given) })
        )
        yield* ManualClock.settle
        return { id, fiber }
      })
    const hear = (message: JsonRpc.Incoming) =>
      Effect.sync(() => transport.sink().message({ jsonrpc: "2.0", ...message }))
    const answer = (id: JsonRpc.Id, result: JsonRpc.JsonObject) => hear({ id, result })
    const methods = () => transport.sent.map((message) => "method" in message ? message.method : "answer")
    return { wire, time, transport, diagnostics, begin, hear, answer, methods }
  })

const guestOf = (wire: Wire.Wire) => {
  const requests: Array<JsonRpc.Incoming> = []
  const notifications: Array<JsonRpc.Incoming> = []
  const access = wire.inhabit({
    request: (message) => requests.push(message),
    notification: (message) => notifications.push(message),
    ended: () => undefined
  })
  return { access, requests, notifications }
}

const nested = (depth: number): unknown => {
  let value: unknown = {}
  for (let level = 0; level < depth; level++) value = { value }
  return value
}

describe("wire: answers", () => {
  it.scoped("reach their own request whatever their order", () =>
    Effect.gen(function*() {
      const { answer, begin } = yield* opened()
      const first = yield* begin("a")
      const second = yield* begin("b")
      yield* answer(second.id, { n: 2 })
      yield* answer(first.id, { n: 1 })
      assert.deepStrictEqual(yield* Fiber.join(first.fiber), { n: 1 })
      assert.deepStrictEqual(yield* Fiber.join(second.fiber), { n: 2 })
    }))

  it.scoped("that come again or were never asked for are told and harm nobody", () =>
    Effect.gen(function*() {
      const { answer, begin, diagnostics, wire } = yield* opened()
      const first = yield* begin("a")
      yield* answer(first.id, { n: 1 })
      yield* answer(first.id, { n: 2 })
      yield* answer("nobody", {})
      assert.deepStrictEqual(yield* Fiber.join(first.fiber), { n: 1 })
      assert.deepStrictEqual(diagnostics.map(({ kind }) => kind), ["dropped", "dropped"])
      assert.strictEqual(wire.inFlight(), 0)
    }))

  it.scoped("of the wrong type of id are nobody's", () =>
    Effect.gen(function*() {
      const { answer, begin, diagnostics, wire } = yield* opened()
      const first = yield* begin("a")
      yield* answer(String(first.id), {})
      assert.strictEqual(wire.inFlight(), 1)
      assert.lengthOf(diagnostics, 1)
    }))

  it.scoped("that make no sense fail their request at once", () =>
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

  it.scoped("too deep to be shown cost nothing but themselves", () =>
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

describe("wire: ids", () => {
  it.scoped("are never those of a guest, never twice at once, and do not follow each other", () =>
    Effect.gen(function*() {
      const { transport, wire } = yield* opened()
      const options: Wire.RequestOptions = { idle: Infinity, total: Infinity, progress: false, cancellable: false }
      yield* Effect.forEach(Array.from({ length: 2000 }), () => Effect.fork(wire.request("a", {}, options)))
      yield* ManualClock.settle
      const ids = transport.sent.map((message) => "id" in message ? Number(message.id) : -1)
      assert.strictEqual(new Set(ids).size, 2000)
      assert.isTrue(ids.every((id) => Number.isSafeInteger(id) && id >= 2 ** 20 && id < 2 ** 31))
      assert.isBelow(ids.filter((id, index) => index > 0 && Math.abs(id - ids[index - 1]!) < 1000).length, 5)
    }))
})

describe("wire: progress", () => {
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

  it.scoped("arrives in order, all of it, before the answer, and never after", () =>
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

  it.scoped("whose reader throws harms neither the request nor the connection", () =>
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

describe("wire: notifications", () => {
  it.scoped("reach every listener, in order, until it has left", () =>
    Effect.gen(function*() {
      const { hear, wire } = yield* opened()
      const seen: Array<string> = []
      const leave = wire.onNotification(({ method }) => seen.push(`a ${method}`))
      wire.onNotification(({ method }) => seen.push(`b ${method}`))
      yield* hear({ method: "x" })
      leave()
      yield* hear({ method: "y" })
      assert.deepStrictEqual(seen, ["a x", "b x", "b y"])
    }))

  it.scoped("whose listener throws still reach the others, and the next message is read", () =>
    Effect.gen(function*() {
      const { diagnostics, hear, wire } = yield* opened()
      const seen: Array<string> = []
      wire.onNotification(() => {
        throw new Error("a bug in the application")
      })
      wire.onNotification(({ method }) => seen.push(method))
      yield* hear({ method: "x" })
      assert.deepStrictEqual(seen, ["x"])
      assert.lengthOf(diagnostics, 1)
    }))
})

describe("wire: requests of the server", () => {
  it.scoped("are bounded: what is too much is refused, and all of it is answered", () =>
    Effect.gen(function*() {
      const { diagnostics, hear, transport, wire } = yield* opened({ maxServerRequests: 4 })
      const guest = guestOf(wire)
      for (let id = 0; id < 1000; id++) yield* hear({ id, method: "roots/list" })
      assert.lengthOf(guest.requests, 4)
      assert.lengthOf(transport.sent, 996)
      assert.isTrue(diagnostics.every(({ kind }) => kind === "shed"))
      guest.access.send({ jsonrpc: "2.0", id: 0, result: {} })
      yield* hear({ id: "next", method: "roots/list" })
      assert.lengthOf(guest.requests, 5)
    }))

  it.scoped("that the server cancels make room, though nobody answers them", () =>
    Effect.gen(function*() {
      const { hear, wire } = yield* opened({ maxServerRequests: 2 })
      const guest = guestOf(wire)
      for (let id = 0; id < 10; id++) {
        yield* hear({ id, method: "elicitation/create" })
        yield* hear({ method: "notifications/cancelled", params: { requestId: id } })
      }
      assert.lengthOf(guest.requests, 10)
      assert.lengthOf(guest.notifications, 10)
    }))

  it.scoped("that ask the user stop the idle limits until they are answered or cancelled", () =>
    Effect.gen(function*() {
      const { begin, hear, time, wire } = yield* opened()
      const guest = guestOf(wire)
      const { fiber } = yield* begin("slow", { total: Infinity })
      yield* hear({ id: 1, method: "elicitation/create" })
      yield* hear({ id: 2, method: "elicitation/create" })
      yield* time.advance(60_000)
      guest.access.send({ jsonrpc: "2.0", id: 1, result: { action: "decline" } })
      yield* time.advance(60_500)
      assert.strictEqual(wire.inFlight(), 1)
      yield* hear({ method: "notifications/cancelled", params: { requestId: 2 } })
      yield* time.advance(999)
      assert.strictEqual(wire.inFlight(), 1)
      yield* time.advance(1)
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error._tag === "RequestTimeout" ? error.kind : undefined, "idle")
    }))

  it.scoped("are dropped where the protocol has none, but for nothing else", () =>
    Effect.gen(function*() {
      const { diagnostics, hear, transport, wire } = yield* opened()
      wire.serverRequests = false
      yield* hear({ id: 1, method: "ping" })
      assert.lengthOf(transport.sent, 0)
      assert.deepStrictEqual(diagnostics.map(({ kind }) => kind), ["dropped"])
      wire.serverRequests = true
      yield* hear({ id: 2, method: "ping" })
      assert.deepStrictEqual(transport.sent, [{ jsonrpc: "2.0", id: 2, result: {} }])
    }))
})

describe("wire: the end", () => {
  const lost = (outcome: McpError.Outcome) =>
    new McpError.ConnectionLost({ server: "peer", reason: "reset", detail: "", outcome })

  it.scoped("settles what is pending by what is known of it, and refuses what comes later", () =>
    Effect.gen(function*() {
      const { begin, transport, wire } = yield* opened()
      const sent = yield* begin("sent")
      const queued = yield* begin("queued")
      transport.sink().ended({ error: lost, unsent: (id) => id === queued.id })
      assert.strictEqual((yield* Effect.flip(Fiber.join(sent.fiber))).outcome, "unknown")
      assert.strictEqual((yield* Effect.flip(Fiber.join(queued.fiber))).outcome, "not-sent")
      const later = yield* begin("later")
      assert.strictEqual((yield* Effect.flip(Fiber.join(later.fiber))).outcome, "not-sent")
      assert.strictEqual((yield* wire.ending.wait)._tag, "ConnectionLost")
      assert.lengthOf(transport.sent, 2)
    }))

  it.scoped("comes once: a close after it changes nothing", () =>
    Effect.gen(function*() {
      const { transport, wire } = yield* opened()
      let ends = 0
      wire.inhabit({ request: () => undefined, notification: () => undefined, ended: () => ends++ })
      transport.sink().ended({ error: lost, unsent: () => false })
      yield* wire.close(Duration.zero)
      assert.strictEqual(ends, 1)
      assert.strictEqual((yield* wire.ending.wait)._tag, "ConnectionLost")
    }))

  it.scoped("by our own close waits for what is in flight no longer than the drain", () =>
    Effect.gen(function*() {
      const { answer, begin, methods, time, wire } = yield* opened()
      const quick = yield* begin("quick")
      const stuck = yield* begin("stuck", { total: Infinity, idle: Infinity })
      const closing = yield* Effect.fork(Effect.withClock(wire.close(Duration.seconds(2)), time.clock))
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
})
