import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Limits from "../../src/config/Limits.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import { assertNoLeak, eventually, gone } from "../support/leaks.ts"
import { live, open, request, resultOf, send, server } from "../support/stdioServer.ts"

describe("StdioTransport", () => {
  describe("reading", () => {
    const raw = (...pieces: ReadonlyArray<string | Buffer>) =>
      request("raw", "raw", { pieces: pieces.map((piece) => Buffer.from(piece).toString("base64")) })

    it.live("reports a banner as noise and continues", () =>
      Effect.scoped(Effect.gen(function*() {
        const { diagnostic, message, transport } = yield* open(server(["--banner"]))
        yield* send(transport, request(1, "echo"))
        assert.strictEqual((yield* message)["id"], 1)
        assert.deepStrictEqual(yield* diagnostic, { kind: "noise", detail: "Server is starting" })
        assert.deepStrictEqual(yield* diagnostic, { kind: "noise", detail: "Listening on stdio" })
      })).pipe(Effect.provide(live())))

    it.live("escapes control sequences in noise", () =>
      Effect.scoped(Effect.gen(function*() {
        const { diagnostic, transport } = yield* open(server())
        yield* send(transport, raw("\u001b]0;owned\u0007\u001b[2J\n"))
        assert.deepStrictEqual(yield* diagnostic, { kind: "noise", detail: "\\x1b]0;owned\\x07\\x1b[2J" })
      })).pipe(Effect.provide(live())))

    it.live("drops a byte order mark at the beginning", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, order, transport } = yield* open(server(["--bom"]))
        yield* send(transport, request(1, "echo"))
        assert.strictEqual((yield* message)["id"], 1)
        assert.deepStrictEqual(order, ["message"])
      })).pipe(Effect.provide(live())))

    it.live("assembles a message that arrives byte by byte, within characters too", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, transport } = yield* open(server())
        const bytes = Buffer.from(`{"text":"\u{1f600}\u00e9\u20ac"}\r\n`)
        yield* send(transport, raw(...Array.from(bytes, (byte) => Buffer.from([byte]))))
        assert.deepStrictEqual(yield* message, { text: "\u{1f600}\u00e9\u20ac" })
      })).pipe(Effect.provide(live())))

    it.live("replaces invalid UTF-8 with U+FFFD", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, transport } = yield* open(server())
        yield* send(
          transport,
          raw(Buffer.concat([Buffer.from("{\"text\":\""), Buffer.from([0xff, 0xfe]), Buffer.from("\"}\n")]))
        )
        assert.deepStrictEqual(yield* message, { text: "\ufffd\ufffd" })
      })).pipe(Effect.provide(live())))

    it.live("fails the request whose answer is not valid JSON, and no other", () =>
      Effect.scoped(Effect.gen(function*() {
        const { failed, message, transport } = yield* open(server())
        yield* send(transport, raw("{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{]}\n"))
        const { error, id } = yield* failed
        assert.strictEqual(id, 9)
        assert.deepInclude(error, { _tag: "ProtocolViolation", outcome: "unknown" })
        yield* send(transport, request(1, "echo"))
        assert.strictEqual((yield* message)["id"], 1)
      })).pipe(Effect.provide(live())))

    it.live("carries an answer of 5 MB, whole and in drips", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, transport } = yield* open(server())
        for (const chunk of [16 * 1024 * 1024, 2048]) {
          yield* send(transport, request(1, "big", { bytes: 5_000_000, chunk }))
          assert.strictEqual(String(resultOf(yield* message)["text"]).length, 5_000_000)
        }
      })).pipe(Effect.provide(live())))

    it.live("fails only the request whose answer is over the limit, and skips the rest of it", () =>
      Effect.scoped(Effect.gen(function*() {
        const { failed, message, order, transport } = yield* open(server([], { maxMessageBytes: 1024 * 1024 }))
        yield* send(transport, request(5, "big", { bytes: 8_000_000, chunk: 16 * 1024 * 1024 }))
        const { error, id } = yield* failed
        assert.strictEqual(id, 5)
        assert.deepInclude(error, { _tag: "MessageTooLarge", limit: 1024 * 1024, direction: "received" })
        yield* send(transport, request(6, "echo"))
        assert.strictEqual((yield* message)["id"], 6)
        assert.deepStrictEqual(order, ["failed", "message"])
      })).pipe(Effect.provide(live())))

    it.live("delivers the answers that are glued behind a line over the limit", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, transport } = yield* open(server([], { maxMessageBytes: 64 * 1024 }))
        yield* send(transport, request(1, "endless", { bytes: 1 }))
        const answers = [2, 3, 4].map((id) => JSON.stringify({ result: {}, jsonrpc: "2.0", id }))
        yield* send(transport, raw(`${answers[0]}${answers[1]}\n`, `${answers[2]}\n`))
        for (const id of [2, 3, 4]) assert.strictEqual((yield* message)["id"], id)
      })).pipe(Effect.provide(live())))

    it.live("reports a line over the limit that answers nothing", () =>
      Effect.scoped(Effect.gen(function*() {
        const { diagnostic, transport } = yield* open(server([], { maxMessageBytes: 1000 }))
        yield* send(transport, request(1, "bigNotification", { bytes: 2000 }))
        const told = yield* diagnostic
        assert.strictEqual(told.kind, "oversize")
        assert.match(told.detail, /^20\d\d bytes: \{"jsonrpc":"2.0","method":"log"/)
        assert.isBelow(told.detail.length, 400)
      })).pipe(Effect.provide(live())))

    it.live("loses a server whose line does not end, and ends it", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { ended, message, transport } = yield* open(server(["--ignore-end"], { maxMessageBytes: 1024 }))
          yield* send(transport, request(1, "pid"))
          const pid = Number(resultOf(yield* message)["pid"])
          yield* send(transport, request(2, "endless", { bytes: 256 * 1024 * 1024 }))
          const { error } = yield* ended
          assert.deepInclude(error("unknown"), { _tag: "ConnectionLost", reason: "stalled", outcome: "unknown" })
          yield* gone(pid)
        })).pipe(Effect.provide(live()))
      ))

    it.live("keeps the order of a flood of lines", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, transport } = yield* open(server())
        yield* send(transport, raw(Array.from({ length: 20_000 }, (_, n) => `{"n":${n}}\n`).join("")))
        for (let n = 0; n < 20_000; n++) assert.strictEqual((yield* message)["n"], n)
      })).pipe(Effect.provide(live())))

    it.live("drains stderr without limit and keeps its end", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, transport } = yield* open(server())
        yield* send(transport, request(1, "stderr", { text: "0123456789abcde\n".repeat(4096), times: 320 }))
        assert.strictEqual((yield* message)["id"], 1)
        yield* eventually(() => transport.stderrTail()?.length === Limits.defaults.stderrBytes)
        assert.isTrue(transport.stderrTail()!.endsWith("0123456789abcde\n"))
      })).pipe(Effect.provide(live())))
  })

  describe("writing", () => {
    it.live("refuses a message over the limit, and one that cannot be encoded", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, transport } = yield* open(server([], { maxMessageBytes: 1000 }))
        assert.deepInclude(transport.send(request(1, "echo", { text: "x".repeat(1000) })), {
          _tag: "MessageTooLarge",
          direction: "sent",
          limit: 1000
        })
        const circular: { [key: string]: JsonRpc.Json } = {}
        circular["self"] = circular
        assert.deepInclude(transport.send(request(2, "echo", circular)), {
          _tag: "ProtocolViolation",
          outcome: "not-sent"
        })
        yield* send(transport, request(3, "echo"))
        assert.strictEqual((yield* message)["id"], 3)
      })).pipe(Effect.provide(live())))

    it.live("sends large and small messages whole and in order", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, transport } = yield* open(server())
        const sizes = [10, 70_000, 3_000_000, 1, 65_000, 65_000, 500_000, 2]
        for (const [id, size] of sizes.entries()) {
          yield* send(transport, request(id, "echo", { text: "\u00e9".repeat(size) }))
        }
        for (const [id, size] of sizes.entries()) {
          const answer = yield* message
          assert.strictEqual(answer["id"], id)
          assert.strictEqual(String(resultOf(answer)["text"]).length, size)
        }
      })).pipe(Effect.provide(live())))

    it.live("refuses messages with Overloaded when the write queue is full", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { message, transport } = yield* open(server())
          yield* send(transport, request(0, "stopReading"))
          yield* message
          const errors = Array.from({ length: 4000 }, (_, i) =>
            transport.send(request(i + 1, "echo", { text: "x".repeat(16_000) })))
          const refused = errors.filter((error) =>
            error !== undefined
          )
          assert.isAbove(refused.length, 3000)
          for (const error of refused) {
            assert.deepInclude(error, { _tag: "Overloaded", queue: "write", outcome: "not-sent" })
          }
        })).pipe(Effect.provide(live()))
      ))

    it.live("loses a peer that stops reading, reports the unsent requests, and ends it", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { ended, message, transport } = yield* open(server())
          yield* send(transport, request("pid", "pid"))
          const pid = Number(resultOf(yield* message)["pid"])
          yield* send(transport, request("stop", "stopReading"))
          yield* message
          for (let id = 0; id < 100; id++) yield* send(transport, request(id, "echo", { text: "x".repeat(60_000) }))
          const { error, unsent } = yield* ended
          assert.deepInclude(error("not-sent"), { _tag: "ConnectionLost", reason: "stalled", outcome: "not-sent" })
          assert.isFalse(unsent("stop"))
          assert.isFalse(unsent(0))
          assert.isTrue(unsent(99))
          yield* gone(pid)
        })).pipe(Effect.provide(live({ stallTimeout: Duration.millis(300) })))
      ))

    it.live("does not write an abandoned request that still waits", () =>
      Effect.scoped(Effect.gen(function*() {
        const { message, transport } = yield* open(server())
        for (let id = 0; id < 3; id++) yield* send(transport, request(id, "echo"))
        transport.abandon(1)
        assert.strictEqual((yield* message)["id"], 0)
        assert.strictEqual((yield* message)["id"], 2)
      })).pipe(Effect.provide(live())))

    it.live("survives a server that closes its stdin", () =>
      assertNoLeak(
        Effect.scoped(Effect.gen(function*() {
          const { ended, message, transport } = yield* open(server())
          yield* send(transport, request(1, "closeStdin"))
          yield* message
          const poke = setInterval(() => transport.send(request(2, "echo")), 5)
          const { error } = yield* ended
          clearInterval(poke)
          assert.deepInclude(error("unknown"), { _tag: "ConnectionLost", reason: "stdin-closed" })
          assert.deepInclude(transport.send(request(3, "echo")), { _tag: "ConnectionLost", outcome: "not-sent" })
        })).pipe(Effect.provide(live()))
      ))
  })
})
