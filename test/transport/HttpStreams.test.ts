import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Resume from "../../src/transport/http/resume.ts"
import * as Peer from "../fixtures/httpPeer.ts"
import * as Client from "../support/httpTransport.ts"

const note = (n: number) => ({ jsonrpc: "2.0", method: "notifications/message", params: { n } })

/** A server whose GET is the test's; its sessions are called s-1, s-2 and so on. */
const withGet = (
  get: (hit: Peer.Hit) => void,
  post: (hit: Peer.Hit) => void = (hit) => Peer.json(hit, Peer.answer(hit)),
  options: Parameters<typeof Client.open>[2] = {}
) =>
  Effect.gen(function*() {
    let sessions = 0
    const peer = yield* Peer.serve((hit) => {
      if (hit.verb === "GET") return get(hit)
      if (hit.message?.method === "initialize") sessions++
      if (!Peer.standard(hit, `s-${sessions}`)) post(hit)
    })
    const client = yield* Client.open(peer.url, {}, options)
    yield* client.handshake
    return { peer, client }
  })

describe("the stream of notifications", () => {
  it.scopedLive("is opened when initialized is accepted, in the session, and delivers", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* withGet((hit) => Peer.sse(hit).write(Peer.event(note(1))))
      yield* client.heard.until(() => client.heard.order.includes("message notifications/message"))
      const verbs = peer.hits.map((hit) => hit.message?.method ?? hit.verb)
      assert.deepStrictEqual(verbs, ["initialize", "notifications/initialized", "GET"])
      assert.deepInclude(peer.of("GET")[0]!.headers, {
        accept: "text/event-stream",
        "mcp-session-id": "s-1",
        "mcp-protocol-version": "2025-11-25"
      })
      assert.deepInclude(peer.hits[1]!.headers, { "mcp-session-id": "s-1", "mcp-protocol-version": "2025-11-25" })
    }))

  for (
    const [name, get] of [
      ["405", (hit: Peer.Hit) => hit.response.writeHead(405).end()],
      ["404 with a page", (hit: Peer.Hit) => hit.response.writeHead(404, { "content-type": "text/html" }).end("<p>")],
      ["200 with a page", (hit: Peer.Hit) => hit.response.writeHead(200, { "content-type": "text/html" }).end("<p>")],
      ["500", (hit: Peer.Hit) => hit.response.writeHead(500).end()],
      ["401", (hit: Peer.Hit) => hit.response.writeHead(401).end()],
      ["a redirect to itself", (hit: Peer.Hit) => hit.response.writeHead(307, { location: "/mcp" }).end()]
    ] as const
  ) {
    it.scopedLive(`is optional: ${name} is reported once, and calls work`, () =>
      Effect.gen(function*() {
        const { client, peer } = yield* withGet(get)
        yield* client.heard.until(() => client.heard.diagnostics.length > 0)
        assert.deepInclude(yield* client.outcome(Client.call(1)), { id: 1 })
        assert.deepStrictEqual(client.heard.diagnostics.map(({ kind }) => kind), ["stream"])
        assert.lengthOf(peer.of("GET"), 1)
      }))
  }

  it.scopedLive("that redirects to another origin sends nothing there", () =>
    Effect.gen(function*() {
      const other = yield* Peer.serve((hit) => Peer.sse(hit))
      const { client } = yield* withGet((hit) => hit.response.writeHead(307, { location: other.url }).end())
      yield* client.heard.until(() => client.heard.diagnostics.length > 0)
      assert.strictEqual(other.connections(), 0)
    }))

  it.scopedLive("that gets no response disturbs no call, and is closed at the end", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* withGet(() => undefined)
      yield* peer.until(() => peer.of("GET").length === 1)
      assert.deepInclude(yield* client.outcome(Client.call(1)), { id: 1 })
      yield* client.close
      yield* peer.until(() => peer.sockets.size === 0)
      assert.deepStrictEqual(client.heard.diagnostics, [])
    }))

  it.scopedLive("is given up when it keeps ending at once", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* withGet((hit) => Peer.sse(hit).end("retry: 0\n\n"), undefined, {
        retryFailures: 3
      })
      yield* client.heard.until(() => client.heard.diagnostics.length > 0)
      assert.deepInclude(client.heard.diagnostics[0], { kind: "stream" })
      assert.lengthOf(peer.of("GET"), 3)
    }))

  it.scopedLive("is given up when it asks to wait for more than the ceiling", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* withGet((hit) => Peer.sse(hit).end("retry: 99999999999\n\n"))
      yield* client.heard.until(() => client.heard.diagnostics.length > 0)
      assert.lengthOf(peer.of("GET"), 1)
    }))

  it.scopedLive("resumes after its last whole event when it is cut", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* withGet((hit) => {
        const stream = Peer.sse(hit)
        if (hit.nth > 0) {
          stream.write(Peer.event(note(2)))
          return
        }
        stream.write(Peer.event(note(1), "id: e1\n") + "id: e2\ndata: {")
        setTimeout(() => hit.socket.destroy(), 20)
      })
      yield* client.heard.until(() => client.heard.messages.length === 3)
      assert.deepStrictEqual(client.heard.messages.slice(1), [note(1), note(2)])
      assert.strictEqual(peer.of("GET")[1]!.headers["last-event-id"], "e1")
    }))

  it.scopedLive("is opened again while the server asks to be polled", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* withGet(
        (hit) => hit.nth < 5 ? Peer.sse(hit).end(`id: ${hit.nth}\nretry: 25\ndata:\n\n`) : Peer.sse(hit),
        undefined,
        { retryFailures: 2 }
      )
      yield* peer.until(() => peer.of("GET").length === 6)
      assert.deepStrictEqual(client.heard.diagnostics, [])
    }))

  it.scopedLive("is replaced when there is a new session", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* withGet((hit) => Peer.sse(hit).write(": ok\n\n"))
      yield* peer.until(() => peer.of("GET").length === 1)
      yield* client.handshake
      yield* peer.until(() => peer.of("GET").length === 2 && peer.of("GET")[0]!.over)
      assert.strictEqual(peer.of("GET")[1]!.headers["mcp-session-id"], "s-2")
      assert.isFalse(peer.of("GET")[1]!.over)
    }))

  it.scopedLive("is no place for calls to wait behind", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* withGet((hit) => Peer.sse(hit), undefined, { maxInFlight: 1 })
      yield* peer.until(() => peer.of("GET").length === 1)
      assert.deepInclude(yield* client.outcome(Client.call(1)), { id: 1 })
    }))

  it.scopedLive("may carry the answer that a 202 has promised", () =>
    Effect.gen(function*() {
      let stream: Peer.Hit | undefined
      const { client, peer } = yield* withGet(
        (hit) => {
          stream = hit
          Peer.sse(hit).write(Peer.event(note(1)))
        },
        (hit) => {
          hit.response.writeHead(202).end()
          stream?.response.write(Peer.event(Peer.answer(hit, { late: true })))
        }
      )
      yield* client.heard.until(() => client.heard.order.includes("message notifications/message"))
      assert.deepInclude(yield* client.outcome(Client.call(1)), { id: 1, result: { late: true } })
      assert.lengthOf(peer.of("GET"), 1)
    }))
})

describe("an answer whose stream was cut", () => {
  const cut = (hit: Peer.Hit, text = "id: e1\ndata:\n\nid: e2\ndata: {\"json") => {
    Peer.sse(hit).write(text)
    setTimeout(() => hit.socket.destroy(), 10)
  }

  /** The first GET is the stream of notifications, which this server does not have. */
  const resumable = (
    get: (hit: Peer.Hit) => void,
    post: (hit: Peer.Hit) => void = (hit) => cut(hit)
  ) => withGet((hit) => hit.nth === 0 ? void hit.response.writeHead(405).end() : get(hit), post)

  it.scopedLive("is resumed by the last whole event's id, and comes once", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* resumable((hit) => {
        Peer.sse(hit).end(Peer.event({ jsonrpc: "2.0", id: 7, result: { resumed: true } }).repeat(2))
      })
      assert.deepInclude(yield* client.outcome(Client.call(7)), { id: 7, result: { resumed: true } })
      assert.deepInclude(peer.of("GET")[1]!.headers, { "last-event-id": "e1", "mcp-session-id": "s-1" })
      assert.lengthOf(peer.hits.filter((hit) => hit.message?.method === "tools/call"), 1)
      assert.lengthOf(client.heard.messages.filter((message) => message["id"] === 7), 1)
    }))

  it.scopedLive("is polled for as long as that brings something new", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* resumable((hit) => {
        const last = Peer.event({ jsonrpc: "2.0", id: 7, result: {} })
        Peer.sse(hit).end(hit.nth === 8 ? last : `retry: 1\nid: p${hit.nth}\ndata:\n\n`)
      })
      assert.deepInclude(yield* client.outcome(Client.call(7)), { id: 7 })
      assert.strictEqual(peer.of("GET")[8]!.headers["last-event-id"], "p7")
    }))

  it.scopedLive("is ConnectionLost/stream-interrupted once the resumption is refused", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* resumable((hit) => hit.response.writeHead(405).end())
      assert.deepInclude(yield* client.outcome(Client.call(7)), {
        _tag: "ConnectionLost",
        reason: "stream-interrupted",
        outcome: "unknown"
      })
      assert.lengthOf(peer.of("GET"), 2)
    }))

  it.scopedLive("is ConnectionLost/stream-interrupted after a bounded number of attempts", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* resumable((hit) => Peer.sse(hit).end())
      assert.deepInclude(yield* client.outcome(Client.call(7)), {
        _tag: "ConnectionLost",
        reason: "stream-interrupted"
      })
      assert.lengthOf(peer.of("GET"), 1 + Resume.defaults.retryFailures)
    }))

  it.scopedLive("is ConnectionLost/stream-interrupted at once when the server asks to wait too long, or gave no id", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* resumable(
        (hit) => Peer.sse(hit).end(),
        (hit) => cut(hit, hit.message?.id === 7 ? "id: e1\nretry: 99999999999\ndata:\n\n" : "data: {\"json")
      )
      assert.deepInclude(yield* client.outcome(Client.call(7)), {
        _tag: "ConnectionLost",
        reason: "stream-interrupted"
      })
      assert.deepInclude(yield* client.outcome(Client.call(8)), {
        _tag: "ConnectionLost",
        reason: "stream-interrupted"
      })
      assert.lengthOf(peer.of("GET"), 1)
    }))

  it.scopedLive("is not followed after its request was abandoned", () =>
    Effect.gen(function*() {
      const { client, peer } = yield* resumable((hit) => Peer.sse(hit).write(": wait\n\n"))
      client.transport.send(Client.call(7))
      yield* peer.until(() => peer.of("GET").length === 2)
      client.transport.abandon(7)
      yield* peer.until(() => peer.of("GET")[1]!.over)
      assert.deepStrictEqual(client.heard.failures, [])
    }))
})
