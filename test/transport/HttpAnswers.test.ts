import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Zlib from "node:zlib"
import * as McpError from "../../src/McpError.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as Peer from "../fixtures/httpPeer.ts"
import * as Client from "../support/httpTransport.ts"

const respond = (
  respond: (hit: Peer.Hit) => void,
  config: Parameters<typeof Client.open>[1] = {}
) =>
  Effect.gen(function*() {
    const peer = yield* Peer.serve((hit) => {
      if (!Peer.standard(hit)) respond(hit)
    })
    const client = yield* Client.open(peer.url, config)
    const outcome = yield* client.outcome(Client.call(7))
    return { peer, client, outcome, tag: "_tag" in outcome ? outcome["_tag"] : "answer" }
  })

const result = (text: string): JsonRpc.Json => ({ content: [{ type: "text", text }] })

describe("the answer to a POST", () => {
  it.scopedLive("comes as one JSON body", () =>
    Effect.gen(function*() {
      const { outcome, peer } = yield* respond((hit) => Peer.json(hit, Peer.answer(hit, result("日本"))))
      assert.deepStrictEqual(outcome, { jsonrpc: "2.0", id: 7, result: result("日本") })
      assert.deepInclude(peer.hits[0]!.headers, {
        "content-type": "application/json",
        accept: "application/json, text/event-stream"
      })
    }))

  it.scopedLive("comes with parameters of the content type, and with a BOM", () =>
    Effect.gen(function*() {
      const { outcome } = yield* respond((hit) => {
        hit.response.writeHead(200, { "content-type": "Application/JSON; charset=utf-8" })
        hit.response.end("\ufeff" + JSON.stringify(Peer.answer(hit, { ok: true })))
      })
      assert.deepStrictEqual(outcome, { jsonrpc: "2.0", id: 7, result: { ok: true } })
    }))

  it.scopedLive("comes in a stream, after the messages before it", () =>
    Effect.gen(function*() {
      const { client } = yield* respond((hit) => {
        const stream = Peer.sse(hit)
        stream.write(": ok\n\nid: 0\ndata:\n\n")
        stream.write(Peer.event({ jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } }))
        stream.end(Peer.event(Peer.answer(hit)))
      })
      assert.deepStrictEqual(client.heard.order, ["message notifications/progress", "message 7"])
    }))

  it.scopedLive("comes in a batch, as JSON and as an event", () =>
    Effect.gen(function*() {
      const note = { jsonrpc: "2.0", method: "notifications/message" }
      const json = yield* respond((hit) => Peer.json(hit, [note, Peer.answer(hit)]))
      const sse = yield* respond((hit) => Peer.sse(hit).end(Peer.event([note, Peer.answer(hit)])))
      for (const { client } of [json, sse]) {
        assert.deepStrictEqual(client.heard.order, ["message notifications/message", "message 7"])
      }
    }))

  for (
    const [encoding, compress] of [
      ["gzip", Zlib.gzipSync],
      ["deflate", Zlib.deflateSync],
      ["br", Zlib.brotliCompressSync]
    ] as const
  ) {
    it.scopedLive(`comes compressed with ${encoding}, as JSON and as a stream`, () =>
      Effect.gen(function*() {
        const send = (type: string, body: (hit: Peer.Hit) => string) => (hit: Peer.Hit) => {
          hit.response.writeHead(200, { "content-type": type, "content-encoding": encoding })
          hit.response.end(compress(body(hit)))
        }
        const json = yield* respond(send("application/json", (hit) => JSON.stringify(Peer.answer(hit))))
        const sse = yield* respond(send("text/event-stream", (hit) => Peer.event(Peer.answer(hit))))
        assert.deepStrictEqual([json.tag, sse.tag], ["answer", "answer"])
      }))
  }

  it.scopedLive("of 5 MB is whole", () =>
    Effect.gen(function*() {
      const text = "x".repeat(5 * 1024 * 1024)
      const { outcome } = yield* respond((hit) => Peer.json(hit, Peer.answer(hit, { text })))
      assert.deepStrictEqual(outcome, { jsonrpc: "2.0", id: 7, result: { text } })
    }))

  it.scopedLive("arrives although broken events come before it, which are reported", () =>
    Effect.gen(function*() {
      const { client, tag } = yield* respond((hit) => {
        const stream = Peer.sse(hit)
        stream.write("data: {broken\n\ndata: 17\n\nevent: other\ndata: {}\n\n")
        stream.end(Peer.event(Peer.answer(hit)))
      })
      assert.strictEqual(tag, "answer")
      assert.deepStrictEqual(client.heard.diagnostics.map(({ kind }) => kind), ["noise", "noise", "noise"])
    }))

  it.scopedLive("is delivered once, even if it is repeated", () =>
    Effect.gen(function*() {
      const { client } = yield* respond((hit) => {
        Peer.sse(hit).end(Peer.event(Peer.answer(hit)) + Peer.event(Peer.answer(hit)))
      })
      yield* client.heard.until(() => client.heard.diagnostics.length > 0)
      assert.deepStrictEqual(client.heard.order, ["message 7", "dropped"])
    }))

  it.scopedLive("with an error and no id fails the request whose stream it comes on", () =>
    Effect.gen(function*() {
      const error = { jsonrpc: "2.0", id: null, error: { code: -32603, message: "broken", data: { why: 1 } } }
      const { outcome } = yield* respond((hit) => Peer.sse(hit).end(Peer.event(error)))
      assert.deepInclude(outcome, { _tag: "RemoteError", code: -32603, detail: "broken" })
    }))
})

describe("a response that is not an answer", () => {
  const fails = (
    name: string,
    label: string,
    misbehave: (hit: Peer.Hit) => void,
    fields: Readonly<Record<string, unknown>> = {}
  ) =>
    it.scopedLive(`${name} is ${label}`, () =>
      Effect.gen(function*() {
        const { client, outcome } = yield* respond(misbehave)
        assert(McpError.isMcpError(outcome))
        assert.strictEqual(McpError.label(outcome), label)
        assert.deepInclude(outcome, { server: "peer", ...fields })
        assert.deepStrictEqual(client.heard.order.filter((word) => word !== "noise"), ["failed 7"])
      }))

  const body = (type: string, text: string, status = 200) => (hit: Peer.Hit) => {
    hit.response.writeHead(status, { "content-type": type }).end(text)
  }

  fails("JSON that is broken", "ProtocolViolation", body("application/json", "{\"jsonrpc\":"))
  fails("an empty JSON body", "ProtocolViolation", body("application/json", ""))
  fails("an empty body without a type", "ProtocolViolation", (hit) => hit.response.writeHead(200).end())
  fails("204", "ProtocolViolation", (hit) => hit.response.writeHead(204).end())
  fails("202 without a stream for the answer", "ProtocolViolation", (hit) => hit.response.writeHead(202).end())
  fails("another id", "ProtocolViolation", body("application/json", "{\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{}}"))
  fails(
    "the id as a text",
    "ProtocolViolation",
    body("application/json", "{\"jsonrpc\":\"2.0\",\"id\":\"7\",\"result\":{}}")
  )
  fails("a number", "ProtocolViolation", body("application/json", "17"))
  fails("plain text", "HttpError/content-type", body("text/plain", "hello"), {
    got: "text/plain",
    detail: "hello"
  })
  fails("an HTML page", "HttpError/content-type", body("text/html", "<h1>Log in</h1>"), {
    got: "text/html"
  })
  fails("corrupt gzip", "ProtocolViolation", (hit) => {
    hit.response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end("not gzip")
  })
  fails("an unknown encoding", "ProtocolViolation", (hit) => {
    hit.response.writeHead(200, { "content-type": "application/json", "content-encoding": "zstd" }).end("{}")
  })
  fails("a body shorter than it says", "ConnectionLost/stream-interrupted", (hit) => {
    hit.response.writeHead(200, { "content-type": "application/json", "content-length": 500 })
    hit.response.write("{\"jsonrpc\"")
    setImmediate(() => hit.socket.destroy())
  }, { outcome: "unknown" })
  fails("a body longer than it says", "ProtocolViolation", (hit) => {
    hit.response.strictContentLength = false
    hit.response.writeHead(200, { "content-type": "application/json", "content-length": 5 })
    hit.response.end("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}")
  })
  fails(
    "a stream that ends without the answer",
    "ConnectionLost/stream-interrupted",
    (hit) => Peer.sse(hit).end(": bye\n\n")
  )
  fails("a stream that is cut", "ConnectionLost/stream-interrupted", (hit) => {
    Peer.sse(hit).write("data: {\"jsonrpc\"")
    setImmediate(() => hit.socket.destroy())
  })
  fails("a reset after the request", "NetworkError", (hit) => hit.socket.destroy(), {
    code: "ECONNRESET",
    outcome: "unknown"
  })
})

describe("a message over the limit", () => {
  const limit = 1024 * 1024

  const tooLarge = (name: string, misbehave: (hit: Peer.Hit, onClose: (written: number) => void) => void) =>
    it.scopedLive(`${name} is MessageTooLarge, and its socket is closed`, () =>
      Effect.gen(function*() {
        let written: number | undefined
        const rss = process.memoryUsage.rss()
        const { outcome, peer } = yield* respond(
          (hit) =>
            misbehave(hit, (bytes) => {
              written = bytes
            }),
          { maxMessageBytes: limit }
        )
        assert.deepInclude(outcome, { _tag: "MessageTooLarge", limit, direction: "received" })
        yield* peer.until(() => peer.sockets.size === 0)
        if (written !== undefined) assert.isBelow(written, 64 * limit)
        assert.isBelow(process.memoryUsage.rss() - rss, 200 * 1024 * 1024)
      }))

  tooLarge("a JSON body without end", (hit, onClose) => {
    hit.response.writeHead(200, { "content-type": "application/json" })
    Peer.endless(hit.response, "{\"x\":\"", onClose)
  })
  tooLarge("an event without end", (hit, onClose) => Peer.endless(Peer.sse(hit), "data: ", onClose))
  tooLarge("a gzip bomb", (hit) => {
    const bomb = Zlib.gzipSync(Buffer.alloc(100 * limit))
    hit.response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
    hit.response.write(bomb)
  })
  tooLarge("a compressed event without end", (hit) => {
    // One gzip member per MiB, because the memory of this process is measured and the whole text would count too.
    const mebibyte = Zlib.gzipSync(Buffer.alloc(limit, "x"))
    const bomb = Buffer.concat([Zlib.gzipSync("data: "), ...Array.from({ length: 100 }, () => mebibyte)])
    hit.response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" })
    hit.response.write(bomb)
  })
  tooLarge("a body that announces too much", (hit) => {
    hit.response.writeHead(200, { "content-type": "application/json", "content-length": 10 * limit })
    hit.response.write("{")
  })

  it.scopedLive("an error body without end is read no further than needed", () =>
    Effect.gen(function*() {
      let written = 0
      const { outcome, peer } = yield* respond((hit) => {
        hit.response.writeHead(500, { "content-type": "text/html" })
        Peer.endless(hit.response, "<html>", (bytes) => {
          written = bytes
        })
      })
      assert.deepInclude(outcome, { _tag: "HttpError", reason: "status", status: 500 })
      yield* peer.until(() => peer.sockets.size === 0)
      assert.isBelow(written, 64 * limit)
    }))

  it.scopedLive("a request over the limit is not sent", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => Peer.json(hit, Peer.answer(hit)))
      const client = yield* Client.open(peer.url, { maxMessageBytes: 1000 })
      const error = client.transport.send(Client.request(1, "tools/call", { text: "x".repeat(1000) }))
      assert.deepInclude(error, { _tag: "MessageTooLarge", direction: "sent" })
      assert.strictEqual(peer.connections(), 0)
    }))
})
