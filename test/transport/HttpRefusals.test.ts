import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Http from "node:http"
import type * as Net from "node:net"
import * as Peer from "../fixtures/httpPeer.ts"
import * as Client from "../support/httpTransport.ts"

type Fields = Readonly<Record<string, unknown>>

const answered = (
  status: number,
  headers: Http.OutgoingHttpHeaders,
  body: string,
  session?: string
) =>
  Effect.gen(function*() {
    const peer = yield* Peer.serve((hit) => {
      if (!Peer.standard(hit, session)) hit.response.writeHead(status, headers).end(body)
    })
    const client = yield* Client.open(peer.url, {})
    if (session !== undefined) yield* client.handshake
    return { peer, client, outcome: yield* client.outcome(Client.call(7)) }
  })

const rpc = (code: number, id?: unknown, data?: unknown) =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code, message: "no", data } })

describe("a refusal by status", () => {
  const is = (name: string, status: number, headers: Http.OutgoingHttpHeaders, body: string, fields: Fields) =>
    it.scopedLive(`${name} is ${String(fields["_tag"])}`, () =>
      Effect.map(answered(status, headers, body), ({ outcome }) => {
        assert.deepInclude(outcome, { server: "peer", ...fields })
      }))

  const json = { "content-type": "application/json" }
  const seconds = (n: number) => Duration.seconds(n)

  is(
    "401",
    401,
    { "www-authenticate": "Bearer resource_metadata=\"https://a.example/.well-known/x\", scope=\"a b\"" },
    "",
    {
      _tag: "AuthorizationFailed",
      reason: "unauthorized",
      resourceMetadata: "https://a.example/.well-known/x",
      scope: "a b"
    }
  )
  is("401 without a challenge", 401, json, rpc(-32001), {
    _tag: "AuthorizationFailed",
    reason: "unauthorized",
    challenge: undefined
  })
  is("403 for want of scope", 403, { "www-authenticate": "Bearer error=\"insufficient_scope\", scope=files" }, "", {
    _tag: "HttpError",
    reason: "forbidden",
    scope: "files"
  })
  is("429 with seconds", 429, { "retry-after": "3" }, "slow", {
    _tag: "HttpError",
    reason: "rate-limited",
    retryAfter: seconds(3),
    detail: "slow"
  })
  is("429 with a date that is past", 429, { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }, "", {
    _tag: "HttpError",
    reason: "rate-limited",
    retryAfter: Duration.zero
  })
  is("429 without a time", 429, { "retry-after": "later" }, "", {
    _tag: "HttpError",
    reason: "rate-limited",
    retryAfter: undefined
  })
  is("503 with a time", 503, { "retry-after": "1" }, "", {
    _tag: "HttpError",
    reason: "unavailable",
    retryAfter: seconds(1)
  })
  is("503 without a time", 503, {}, "", { _tag: "HttpError", reason: "status", status: 503, outcome: "unknown" })
  is("500", 500, json, rpc(-32603, 7), { _tag: "HttpError", reason: "status", status: 500, outcome: "unknown" })
  is("404 without a session", 404, {}, "nope", { _tag: "HttpError", reason: "status", status: 404, detail: "nope" })
  is("400 with a JSON-RPC error without id", 400, json, rpc(-32022, undefined, { supported: ["2026-07-28"] }), {
    _tag: "RemoteError",
    code: -32022,
    data: { supported: ["2026-07-28"] }
  })
  is("404 with a JSON-RPC error for the request", 404, json, rpc(-32601, 7), { _tag: "RemoteError", code: -32601 })
  is("400 with a JSON-RPC error for another request", 400, json, rpc(-32602, 8), {
    _tag: "HttpError",
    reason: "status",
    status: 400
  })
  is("405 with text", 405, {}, "POST not allowed", { _tag: "HttpError", reason: "status", status: 405 })

  it.scopedLive("keeps no more than an excerpt of a long page", () =>
    Effect.map(answered(502, { "content-type": "text/html" }, `<p>\u001b[31m${"x".repeat(300_000)}`), ({ outcome }) => {
      assert.deepInclude(outcome, { _tag: "HttpError", reason: "status", status: 502 })
      const excerpt = String("excerpt" in outcome ? outcome.excerpt : "")
      assert.isBelow(excerpt.length, 1200)
      assert.notInclude(excerpt, "\u001b")
    }))

  it.scopedLive("is reported although its body never ends", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => {
        hit.response.writeHead(401, { "www-authenticate": "Bearer" }).write("wait")
      })
      const client = yield* Client.open(peer.url)
      const outcome = yield* client.outcome(Client.call(7)).pipe(Effect.timeout("10 seconds"))
      assert.deepInclude(outcome, { _tag: "AuthorizationFailed", reason: "unauthorized" })
      yield* peer.until(() => peer.sockets.size === 0)
    }))
})

describe("an expired session", () => {
  const inSession = (name: string, status: number, body: string, tag: string) =>
    it.scopedLive(`${name} is ${tag}`, () =>
      Effect.map(answered(status, { "content-type": "application/json" }, body, "s-1"), ({ outcome }) => {
        assert.deepInclude(outcome, { _tag: tag })
      }))

  inSession("404", 404, "", "SessionExpired")
  inSession("404 with a JSON-RPC error", 404, rpc(-32001, null), "SessionExpired")
  inSession("400 with -32000", 400, rpc(-32000, 7), "SessionExpired")
  inSession("400 with -32600 and no id", 400, rpc(-32600, null), "SessionExpired")
  inSession("400 with -32600 for the request", 400, rpc(-32600, 7), "RemoteError")
  inSession("400 with -32602", 400, rpc(-32602, 7), "RemoteError")
  inSession("404 with -32601 for the request", 404, rpc(-32601, 7), "RemoteError")

  it.scopedLive("is forgotten: the next handshake does not name it, and late refusals do not cost the new one", () =>
    Effect.gen(function*() {
      const held: Array<Peer.Hit> = []
      let sessions = 0
      const peer = yield* Peer.serve((hit) => {
        if (hit.message?.method === "tools/call") {
          if (hit.headers["mcp-session-id"] !== "s-1") return Peer.json(hit, Peer.answer(hit))
          held.push(hit)
          if (held.length === 2) held[0]!.response.writeHead(404).end()
          return
        }
        if (hit.message?.method === "initialize") sessions++
        Peer.standard(hit, `s-${sessions}`)
      })
      const client = yield* Client.open(peer.url)
      yield* client.handshake
      yield* Effect.all([client.outcome(Client.call(1)), Effect.sync(() => client.transport.send(Client.call(2)))], {
        concurrency: "unbounded"
      })
      yield* client.handshake
      const init = peer.hits.filter((hit) => hit.message?.method === "initialize")[1]!
      assert.notProperty(init.headers, "mcp-session-id")
      assert.notProperty(init.headers, "mcp-protocol-version")
      held[1]!.response.writeHead(404).end()
      yield* client.heard.until(() => client.heard.failures.length === 2)
      const outcome = yield* client.outcome(Client.call(3))
      assert.deepInclude(outcome, { id: 3 })
      assert.strictEqual(peer.hits.at(-1)?.headers["mcp-session-id"], "s-2")
    }))
})

describe("a way that does not exist", () => {
  const fails = (name: string, url: Effect.Effect<string>, fields: Fields) =>
    it.scopedLive(name, () =>
      Effect.gen(function*() {
        const client = yield* Client.open(yield* url)
        assert.deepInclude(yield* client.outcome(Client.call(7)), fields)
      }))

  fails(
    "refused connections are told as not sent",
    Effect.map(Peer.deadPort, (port) => `http://127.0.0.1:${port}/mcp`),
    { _tag: "NetworkError", code: "ECONNREFUSED", outcome: "not-sent" }
  )
  fails(
    "a refused name of several addresses is told as not sent",
    Effect.map(Peer.deadPort, (port) => `http://localhost:${port}/mcp`),
    { _tag: "NetworkError", code: "ECONNREFUSED", outcome: "not-sent" }
  )

  it.scopedLive("a name that does not resolve fails as not sent", () =>
    Effect.gen(function*() {
      const client = yield* Client.open("http://no-such-host.invalid/mcp")
      const outcome = yield* client.outcome(Client.call(7))
      assert.deepInclude(outcome, { _tag: "NetworkError", outcome: "not-sent" })
      assert.include(["ENOTFOUND", "EAI_AGAIN"], "code" in outcome ? outcome.code : "")
    }))

  it.scopedLive("https to a plain port is NetworkError/tls, and nothing is sent in the clear", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => Peer.json(hit, Peer.answer(hit)))
      const client = yield* Client.open(peer.url.replace("http:", "https:"))
      assert.deepInclude(yield* client.outcome(Client.call(7)), {
        _tag: "NetworkError",
        reason: "tls",
        isRetryable: false
      })
      assert.lengthOf(peer.hits, 0)
    }))

  it.scopedLive("a connection that ends within the TLS handshake fails as not sent", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.raw((socket) => socket.once("data", () => socket.destroy()))
      const client = yield* Client.open(peer.url.replace("http:", "https:"))
      assert.deepInclude(yield* client.outcome(Client.call(7)), { _tag: "NetworkError", outcome: "not-sent" })
    }))

  it.scopedLive("a port that speaks something else is NetworkError with the parser's code", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.raw((socket) => socket.write("SSH-2.0-OpenSSH_9.6\r\n"))
      const client = yield* Client.open(peer.url)
      const outcome = yield* client.outcome(Client.call(7))
      assert.deepInclude(outcome, { _tag: "NetworkError" })
      assert.match("code" in outcome ? String(outcome.code) : "", /^HPE_/)
    }))

  it.scopedLive("a header of 64 KB is NetworkError", () =>
    Effect.gen(function*() {
      const { outcome } = yield* answered(200, { "x-long": "x".repeat(64 * 1024) }, "")
      assert.deepInclude(outcome, { _tag: "NetworkError", code: "HPE_HEADER_OVERFLOW" })
    }))
})

describe("a redirect", () => {
  const elsewhere = Peer.serve((hit) => Peer.json(hit, Peer.answer(hit)))

  const to = (status: number, location: (peer: Peer.HttpPeer, hit: Peer.Hit) => string | undefined) =>
    Effect.gen(function*() {
      const other = yield* elsewhere
      const peer = yield* Peer.serve((hit) => {
        const target = hit.path === "/mcp" ? location(other, hit) : undefined
        if (hit.path !== "/mcp") return Peer.json(hit, Peer.answer(hit))
        hit.response.writeHead(status, target === undefined ? {} : { location: target }).end("moved")
      })
      const client = yield* Client.open(peer.url, { headers: { authorization: "Bearer secret" } })
      return { other, peer, client, outcome: yield* client.outcome(Client.call(7)) }
    })

  for (const status of [301, 302, 303, 307, 308]) {
    it.scopedLive(`${status} to another origin is blocked, and nothing is sent there`, () =>
      Effect.map(to(status, (other) => other.url), ({ other, outcome }) => {
        assert.deepInclude(outcome, { _tag: "HttpError", reason: "redirect", redirect: "other-origin", to: other.url })
        assert.strictEqual(other.connections(), 0)
      }))
  }

  it.scopedLive("to the same host on another port or scheme is another origin", () =>
    Effect.map(to(307, (_, hit) => `https://${hit.headers.host}/mcp/`), ({ outcome }) => {
      assert.deepInclude(outcome, { _tag: "HttpError", reason: "redirect", redirect: "other-origin" })
    }))

  for (const status of [307, 308]) {
    it.scopedLive(`${status} inside the origin is followed with its method and body, and remembered`, () =>
      Effect.gen(function*() {
        const { client, outcome, peer } = yield* to(status, () => "/mcp/?x=1")
        assert.deepInclude(outcome, { id: 7 })
        yield* client.outcome(Client.call(8))
        assert.deepStrictEqual(
          peer.hits.map(({ message, path, verb }) => [verb, path, message?.id]),
          [["POST", "/mcp", 7], ["POST", "/mcp/?x=1", 7], ["POST", "/mcp/?x=1", 8]]
        )
        assert.strictEqual(peer.hits[1]!.headers.authorization, "Bearer secret")
      }))
  }

  it.scopedLive("that would change the method is blocked", () =>
    Effect.map(to(302, () => "/other"), ({ outcome, peer }) => {
      assert.deepInclude(outcome, { _tag: "HttpError", reason: "redirect", redirect: "method" })
      assert.lengthOf(peer.hits, 1)
    }))

  it.scopedLive("to itself is a loop", () =>
    Effect.map(to(307, () => "/mcp"), ({ outcome, peer }) => {
      assert.deepInclude(outcome, { _tag: "HttpError", reason: "redirect", redirect: "loop" })
      assert.isAtMost(peer.hits.length, 6)
    }))

  it.scopedLive("round and round is given up after five", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => {
        hit.response.writeHead(307, { location: `/${hit.nth}` }).end()
      })
      const client = yield* Client.open(peer.url)
      assert.deepInclude(yield* client.outcome(Client.call(7)), {
        _tag: "HttpError",
        reason: "redirect",
        redirect: "loop"
      })
      assert.lengthOf(peer.hits, 6)
    }))

  for (const [name, location] of [["without a target", undefined], ["to no URL", "http://[bad"]] as const) {
    it.scopedLive(`${name} is malformed`, () =>
      Effect.map(to(307, () => location), ({ outcome }) => {
        assert.deepInclude(outcome, { _tag: "HttpError", reason: "redirect", redirect: "malformed" })
      }))
  }
})

describe("the configured headers", () => {
  it.scopedLive("go with each request, except those that the protocol sets itself", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => Peer.json(hit, Peer.answer(hit)))
      const client = yield* Client.open(peer.url, {
        headers: { "X-Key": Redacted.make("k"), Accept: "text/plain", "Mcp-Session-Id": "mine" }
      })
      yield* client.outcome(Client.call(1))
      const { headers } = peer.hits[0]!
      assert.deepInclude(headers, {
        "x-key": "k",
        host: `127.0.0.1:${peer.port}`,
        accept: "application/json, text/event-stream"
      })
      assert.notProperty(headers, "mcp-session-id")
    }))

  it.scopedLive("cannot carry a second header", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Client.open("http://127.0.0.1:1/mcp", { headers: { "x-a": "1\r\nx-b: 2" } }))
      assert.deepInclude(error, { _tag: "ConfigurationError", path: "headers.x-a" })
      assert.notInclude(error.message, "x-b")
    }))
})

describe("a peer that is gone", () => {
  it.scopedLive("in the middle of a connect attempt leaves nothing behind when the transport is closed", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.raw((socket: Net.Socket) => socket.pause())
      const client = yield* Client.open(peer.url)
      client.transport.send(Client.call(1))
      yield* peer.until(() => peer.connections() === 1)
      yield* client.close
      for (const socket of peer.sockets) socket.resume()
      yield* peer.until(() => peer.sockets.size === 0)
      const [end] = client.heard.endings
      assert.deepInclude(end?.error("unknown"), { _tag: "Closed", outcome: "unknown" })
    }))
})
