import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as HeaderField from "../../src/text/headerField.ts"
import * as Peer from "../fixtures/httpPeer.ts"
import * as Client from "../support/httpTransport.ts"
import * as Texts from "../support/texts.ts"

const version = "2026-07-28"

const stateless = (post: (hit: Peer.Hit) => void = (hit) => Peer.json(hit, Peer.answer(hit))) =>
  Effect.gen(function*() {
    const peer = yield* Peer.serve(post)
    const client = yield* Client.open(peer.url)
    client.transport.negotiated({ era: "stateless", protocolVersion: version })
    return { peer, client }
  })

describe("the stateless era", () => {
  it.scopedLive("is in the headers of each request", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* stateless()
      yield* client.outcome(Client.request(1, "tools/call", { name: "add" }))
      yield* client.outcome(Client.request(2, "resources/read", { uri: "file:///a" }))
      yield* client.outcome(Client.request(3, "prompts/get", { name: "p" }))
      yield* client.outcome(Client.request(4, "tools/list"))
      assert.deepStrictEqual(
        peer.hits.map(({ headers }) => [
          headers["mcp-protocol-version"],
          headers["mcp-method"],
          headers["mcp-name"],
          headers["mcp-session-id"]
        ]),
        [
          [version, "tools/call", "add", undefined],
          [version, "resources/read", "file:///a", undefined],
          [version, "prompts/get", "p", undefined],
          [version, "tools/list", undefined, undefined]
        ]
      )
    }))

  it.scopedLive("follows from the message alone before anything is negotiated", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => Peer.json(hit, Peer.answer(hit)))
      const client = yield* Client.open(peer.url)
      const meta = { "io.modelcontextprotocol/protocolVersion": version }
      yield* client.outcome(Client.request(1, "server/discover", { _meta: meta }))
      yield* client.outcome(Client.request(2, "initialize", {}))
      assert.deepInclude(peer.hits[0]!.headers, { "mcp-protocol-version": version, "mcp-method": "server/discover" })
      assert.notProperty(peer.hits[1]!.headers, "mcp-method")
      assert.notProperty(peer.hits[1]!.headers, "mcp-protocol-version")
    }))

  it.scopedLive("carries names that are no header text in base64, and the headers of a message", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* stateless()
      yield* client.outcome(Client.call(1, "sökning\r\nx-evil: 1"), {
        headers: { "Mcp-Param-Region": "eu", Accept: "x" }
      })
      const { headers } = peer.hits[0]!
      const name = /^=\?base64\?(.*)\?=$/.exec(String(headers["mcp-name"]))?.[1] ?? ""
      assert.strictEqual(Buffer.from(name, "base64").toString("utf8"), "sökning\r\nx-evil: 1")
      assert.notProperty(headers, "x-evil")
      assert.deepInclude(headers, { "mcp-param-region": "eu", accept: "application/json, text/event-stream" })
    }))

  it.scopedLive("refuses headers of a message that are none, before anything is sent", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* stateless()
      const error = client.transport.send(Client.call(1), { headers: { "Mcp-Param-X": "a\nb" } })
      assert.deepInclude(error, { _tag: "ConfigurationError" })
      assert.strictEqual(peer.connections(), 0)
    }))

  it.scopedLive("has neither a stream of notifications nor a farewell", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* stateless((hit) => {
        if (hit.message?.id === undefined) hit.response.writeHead(202).end()
        else Peer.json(hit, Peer.answer(hit), { "mcp-session-id": "ignored" })
      })
      client.transport.send({ jsonrpc: "2.0", method: "notifications/initialized" })
      yield* client.outcome(Client.call(1))
      yield* client.outcome(Client.call(2))
      yield* client.close
      assert.deepStrictEqual(peer.hits.map(({ verb }) => verb), ["POST", "POST", "POST"])
      assert.deepInclude(client.ends[0], { how: "closed" })
    }))

  it.scopedLive("cancels by closing the stream", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* stateless((hit) => Peer.sse(hit).write(": working\n\n"))
      client.transport.send(Client.call(1))
      yield* peer.until(() => peer.hits.length === 1)
      client.transport.abandon(1)
      yield* peer.until(() => peer.hits[0]!.over)
      assert.deepStrictEqual(client.heard.order, [])
    }))

  it.scopedLive("resumes nothing: a stream that is cut is ConnectionLost/stream-interrupted, whatever ids it had", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* stateless((hit) => {
        Peer.sse(hit).write("id: e1\ndata:\n\n")
        setTimeout(() => hit.socket.destroy(), 10)
      })
      assert.deepInclude(yield* client.outcome(Client.call(1)), {
        _tag: "ConnectionLost",
        reason: "stream-interrupted",
        outcome: "unknown"
      })
      assert.lengthOf(peer.hits, 1)
    }))

  it.scopedLive("keeps a subscription open beside the calls, taking no place among them", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => {
        if (hit.message?.method !== "subscriptions/listen") return Peer.json(hit, Peer.answer(hit))
        Peer.sse(hit).write(Peer.event({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged" }))
      })
      const client = yield* Client.open(peer.url, {}, { maxInFlight: 1 })
      client.transport.negotiated({ era: "stateless", protocolVersion: version })
      client.transport.send(Client.request("sub", "subscriptions/listen"))
      yield* client.heard.until(() => client.heard.messages.length === 1)
      assert.deepInclude(yield* client.outcome(Client.call(1)), { id: 1 })
      assert.isFalse(peer.hits[0]!.over)
    }))
})

describe("text in a header", () => {
  const decode = (text: string) => {
    const inner = /^=\?base64\?(.*)\?=$/s.exec(text)?.[1]
    return inner === undefined ? text : Buffer.from(inner, "base64").toString("utf8")
  }

  it("is always a header value and always means the same", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.oneof(
          FastCheck.string({ unit: Texts.unit }),
          FastCheck.string(),
          FastCheck.constantFrom(" a", "a ", "", "=?base64?eA==?=", "a\tb", "\ta", "a\r\nb")
        ),
        (text) => {
          const header = HeaderField.encode(text)
          assert.match(header, /^[\t\x20-\x7e]+$/)
          assert.strictEqual(header, header.trim())
          assert.strictEqual(decode(header), text)
        }
      )
    )
  })

  it("is left alone where it is safe", () => {
    for (const text of ["add", "a b", "file:///a?b=c"]) assert.strictEqual(HeaderField.encode(text), text)
  })
})
