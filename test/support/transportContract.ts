/**
 * What every transport must do, whatever it goes over.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type * as McpError from "../../src/McpError.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import type * as Transport from "../../src/transport/Transport.ts"
import * as Sink from "./sink.ts"

export interface Subject {
  /**
   * Opens a transport to a peer that answers `echo` with its parameters as the result, never answers `silent`, and at
   * the notification `die` ends the connection.
   */
  readonly open: Effect.Effect<Transport.Transport, McpError.ConnectError, Scope.Scope>
}

export interface Options {
  /** Whether real time and input are involved. */
  readonly live: boolean
  /** Whether answers come in the order of the requests (default: yes). */
  readonly ordered?: boolean
  /** Whether a peer that dies ends the transport (default: yes; over HTTP there is nothing that could end). */
  readonly ends?: boolean
}

const request = (id: JsonRpc.Id, method: string, params: JsonRpc.JsonObject = {}): JsonRpc.Request => ({
  jsonrpc: "2.0",
  id,
  method,
  params
})

const die: JsonRpc.Notification = { jsonrpc: "2.0", method: "die" }

export const transportContract = (
  name: string,
  make: Effect.Effect<Subject, never, Scope.Scope>,
  options: Options
): void => {
  const test = options.live ? it.scopedLive : it.scoped
  const started = Effect.gen(function*() {
    const subject = yield* make
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    const transport = yield* Scope.extend(subject.open, scope)
    const heard = Sink.make()
    transport.start(heard.sink)
    return { subject, transport, heard, close: Scope.close(scope, Exit.void) }
  })

  describe(`${name}: the contract of a transport`, () => {
    test("delivers an answer, and not within the call that sends the request", () =>
      Effect.gen(function*() {
        const { heard, transport } = yield* started
        assert.isUndefined(transport.send(request(1, "echo", { n: 1 })))
        assert.lengthOf(heard.messages, 0)
        const answer = yield* heard.answer(1)
        assert.deepStrictEqual(answer["result"], { n: 1 })
      }))

    test("carries any text unharmed", () =>
      Effect.gen(function*() {
        const { heard, transport } = yield* started
        const text = "ünï\u2028cödé \u0000 \"\\ \r\n 🛰️"
        transport.send(request("text", "echo", { text }))
        assert.deepStrictEqual((yield* heard.answer("text"))["result"], { text })
      }))

    if (options.ordered !== false) {
      test("delivers in the order of sending", () =>
        Effect.gen(function*() {
          const { heard, transport } = yield* started
          const ids = Array.from({ length: 200 }, (_, index) => index)
          for (const id of ids) transport.send(request(id, "echo", { id }))
          yield* heard.until(() => heard.messages.length === ids.length)
          assert.deepStrictEqual(heard.messages.map((message) => message["id"]), ids)
        }))
    }

    test("keeps two connections apart", () =>
      Effect.gen(function*() {
        const { heard, subject, transport } = yield* started
        const second = yield* subject.open
        const other = Sink.make()
        second.start(other.sink)
        transport.send(request(7, "echo", { from: "first" }))
        second.send(request(7, "echo", { from: "second" }))
        assert.deepStrictEqual((yield* heard.answer(7))["result"], { from: "first" })
        assert.deepStrictEqual((yield* other.answer(7))["result"], { from: "second" })
        assert.lengthOf(heard.messages, 1)
      }))

    test("refuses to send after its scope has closed, and delivers nothing more", () =>
      Effect.gen(function*() {
        const { close, heard, transport } = yield* started
        transport.send(request(1, "silent"))
        transport.send(request(2, "echo"))
        yield* heard.answer(2)
        transport.send(request(3, "echo"))
        yield* close
        const before = heard.order.length
        const error = transport.send(request(4, "echo"))
        assert.strictEqual(error?._tag, "Closed")
        assert.strictEqual(error?.outcome, "not-sent")
        for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow()
        assert.lengthOf(heard.order, before)
        assert.isAtMost(heard.endings.length, 1)
      }))

    test("closes without having been started", () =>
      Effect.gen(function*() {
        const subject = yield* make
        yield* Effect.scoped(subject.open)
      }))

    if (options.ends !== false) {
      test("tells of the peer's end exactly once, after all that the peer had said", () =>
        Effect.gen(function*() {
          const { close, heard, transport } = yield* started
          transport.send(request(1, "echo"))
          transport.send(request(2, "echo"))
          transport.send(die)
          yield* heard.ended
          assert.deepStrictEqual(heard.order.filter((word) => word !== "noise"), ["message 1", "message 2", "ended"])
          yield* close
          assert.lengthOf(heard.endings, 1)
        }))

      test("does not call a request unsent that has reached the peer", () =>
        Effect.gen(function*() {
          const { heard, transport } = yield* started
          transport.send(request(1, "silent"))
          transport.send(request(2, "echo"))
          yield* heard.answer(2)
          transport.send(die)
          const ended = yield* heard.ended
          assert.isFalse(ended.unsent(1))
          assert.strictEqual(ended.error("unknown").outcome, "unknown")
        }))

      test("refuses to send after the peer has ended, as not sent", () =>
        Effect.gen(function*() {
          const { heard, transport } = yield* started
          transport.send(die)
          yield* heard.ended
          assert.strictEqual(transport.send(request(9, "echo"))?.outcome, "not-sent")
        }))
    }
  })
}
