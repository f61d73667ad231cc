import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import type * as Teardown from "../../src/resilience/Teardown.ts"
import * as LegacySseTransport from "../../src/transport/LegacySseTransport.ts"
import * as Peer from "../fixtures/httpPeer.ts"
import * as Configs from "../support/configs.ts"
import * as Client from "../support/httpTransport.ts"
import { transportContract } from "../support/transportContract.ts"

const transport = (
  config: ServerConfig.SseServer | ServerConfig.HttpServer,
  ends: Array<Teardown.ServerEnd> = []
) =>
  Effect.flatMap(LegacySseTransport.LegacySseTransport, (sse) => sse.open(config)).pipe(
    Effect.provide(Layer.provide(LegacySseTransport.layer, Client.teardown(ends)))
  )

const configured = (url: string, config: Partial<ServerConfig.RemoteInput> = {}) =>
  Configs.sse({ name: "peer", url, ...config })

const open = (url: string, config: Partial<ServerConfig.RemoteInput> = {}) =>
  Effect.suspend(() => {
    const ends: Array<Teardown.ServerEnd> = []
    return Client.started(transport(configured(url, config), ends), ends)
  })

/** A server of the old transport: the POSTs are the test's, which answers on the stream. */
const serve = (
  post: (hit: Peer.Hit, say: (value: unknown) => void) => void,
  endpoint = (origin: string) => `${origin}/messages?sessionId=1`
) =>
  Effect.gen(function*() {
    const streams = new Map<string, Peer.Hit>()
    const peer = yield* Peer.serve((hit) => {
      if (hit.verb === "GET") {
        const session = String(streams.size + 1)
        streams.set(session, hit)
        const named = endpoint(`http://${hit.headers.host}`).replace("sessionId=1", `sessionId=${session}`)
        Peer.sse(hit).write(`event: endpoint\ndata: ${named}\n\n`)
        return
      }
      const session = new URL(hit.path, "http://x").searchParams.get("sessionId") ?? "1"
      post(hit, (value) => streams.get(session)?.response.write(Peer.event(value, "event: message\n")))
    })
    return { peer, streams }
  })

const echo = (hit: Peer.Hit, say: (value: unknown) => void) => {
  hit.response.writeHead(202).end("Accepted")
  if (hit.message?.method === "echo" || hit.message?.method === "tools/call") {
    say(Peer.answer(hit, hit.message.params))
  }
}

transportContract(
  "HTTP+SSE",
  Effect.gen(function*() {
    const { peer, streams } = yield* serve((hit, say) => {
      echo(hit, say)
      if (hit.message?.method === "die") { for (const stream of streams.values()) stream.response.end() }
    })
    return { open: transport(configured(peer.url)) }
  }),
  { live: true, ordered: false }
)

describe("opening the old transport", () => {
  const fails = (name: string, get: (hit: Peer.Hit) => void, fields: Readonly<Record<string, unknown>>) =>
    it.scopedLive(name, () =>
      Effect.gen(function*() {
        const peer = yield* Peer.serve(get)
        const scope = yield* Scope.make()
        const error = yield* Effect.flip(Scope.extend(transport(configured(peer.url)), scope))
        assert.deepInclude(error, { server: "peer", ...fields })
        yield* Scope.close(scope, Exit.void)
        yield* peer.until(() => peer.sockets.size === 0)
        assert.lengthOf(peer.of("POST"), 0)
      }))

  const names = (endpoint: string) => (hit: Peer.Hit) => {
    Peer.sse(hit).write(`event: endpoint\ndata: ${endpoint}\n\n`)
  }

  fails("401 is Unauthorized", (hit) => hit.response.writeHead(401, { "www-authenticate": "Bearer" }).end(), {
    _tag: "AuthorizationFailed",
    reason: "unauthorized",
    challenge: "Bearer"
  })
  fails("403 is Forbidden", (hit) => hit.response.writeHead(403).end(), { _tag: "HttpError", reason: "forbidden" })
  fails("500 is HttpError", (hit) => hit.response.writeHead(500).end("no"), {
    _tag: "HttpError",
    reason: "status",
    status: 500
  })
  fails("405 with a JSON-RPC error is HttpError", (hit) => {
    Peer.json(hit, { jsonrpc: "2.0", id: null, error: { code: -32000, message: "no" } }, {}, 405)
  }, { _tag: "HttpError", reason: "status", status: 405 })
  fails("a page is HttpError/content-type", (hit) => {
    hit.response.writeHead(200, { "content-type": "text/html" }).end("<p>")
  }, { _tag: "HttpError", reason: "content-type", got: "text/html" })
  fails("an endpoint that is no URL is ProtocolViolation", names("http://[not a url"), {
    _tag: "ProtocolViolation",
    phase: "endpoint"
  })
  fails("an endpoint that is empty is ProtocolViolation", names(""), { _tag: "ProtocolViolation" })
  fails("an endpoint on another origin is HttpError/origin", names("http://127.0.0.1:1/messages"), {
    _tag: "HttpError",
    reason: "origin",
    to: "http://127.0.0.1:1/messages"
  })
  fails("an endpoint that is no place is HttpError/origin", names("javascript:alert(1)"), {
    _tag: "HttpError",
    reason: "origin"
  })
  fails(
    "a stream that ends before it names the endpoint is ConnectionLost/stream-interrupted",
    (hit) => Peer.sse(hit).end(),
    {
      _tag: "ConnectionLost",
      reason: "stream-interrupted",
      outcome: "not-sent"
    }
  )
  fails("an endless event is MessageTooLarge", (hit) => {
    Peer.endless(Peer.sse(hit), "event: endpoint\ndata: ")
  }, { _tag: "MessageTooLarge" })

  it.scopedLive("a refused connection is NetworkError", () =>
    Effect.gen(function*() {
      const port = yield* Peer.deadPort
      const error = yield* Effect.flip(transport(configured(`http://127.0.0.1:${port}/sse`)))
      assert.deepInclude(error, { _tag: "NetworkError", code: "ECONNREFUSED", outcome: "not-sent" })
    }))

  for (
    const [name, hang] of [
      ["without headers", () => undefined],
      ["without an endpoint", (hit: Peer.Hit) => void Peer.sse(hit).write(": wait\n\n")]
    ] as ReadonlyArray<readonly [string, (hit: Peer.Hit) => void]>
  ) {
    it.scopedLive(`${name} waits until it is interrupted, and then leaves no socket`, () =>
      Effect.gen(function*() {
        const peer = yield* Peer.serve(hang)
        const opening = yield* Effect.fork(Effect.scoped(transport(configured(peer.url))))
        yield* peer.until(() => peer.hits.length === 1)
        yield* Fiber.interrupt(opening)
        yield* peer.until(() => peer.sockets.size === 0)
      }))
  }
})

describe("the old transport", () => {
  for (const endpoint of ["/messages?sessionId=1", "messages?sessionId=1", "?sessionId=1"]) {
    it.scopedLive(`POSTs to the endpoint ${endpoint}`, () =>
      Effect.gen(function*() {
        const { peer } = yield* serve(echo, () => endpoint)
        const client = yield* open(peer.url, { headers: { "x-key": "k" } })
        assert.deepInclude(yield* client.outcome(Client.call(1)), { id: 1, result: { name: "echo" } })
        assert.deepInclude(peer.of("POST")[0]!.headers, { "x-key": "k" })
        assert.deepInclude(peer.of("GET")[0]!.headers, { "x-key": "k", accept: "text/event-stream" })
      }))
  }

  it.scopedLive("takes the configuration of Streamable HTTP", () =>
    Effect.gen(function*() {
      const { peer } = yield* serve(echo)
      const opened = yield* transport(Configs.http({ name: "peer", url: peer.url }))
      assert.strictEqual(opened.kind, "sse")
    }))

  it.scopedLive("signals when initialized is accepted, because a request could overtake it", () =>
    Effect.gen(function*() {
      let initialized: Peer.Hit | undefined
      const { peer } = yield* serve((hit, say) => {
        if (hit.message?.method === "notifications/initialized") initialized = hit
        else echo(hit, say)
      })
      const { transport } = yield* open(peer.url)
      transport.send({ jsonrpc: "2.0", method: "notifications/initialized" })
      const accepted = yield* Effect.fork(transport.accepted ?? Effect.void)
      transport.send({ jsonrpc: "2.0", method: "notifications/roots/list_changed" })
      yield* peer.until(() => peer.of("POST").length === 2 && peer.of("POST")[1]!.over)
      assert.isNull(accepted.unsafePoll())
      initialized!.response.writeHead(202).end()
      yield* Fiber.join(accepted)
    }))

  it.scopedLive("names the version that was negotiated", () =>
    Effect.gen(function*() {
      const { peer } = yield* serve(echo)
      const client = yield* open(peer.url)
      client.transport.negotiated({ era: "session", protocolVersion: "2025-11-25" })
      yield* client.outcome(Client.call(1))
      assert.strictEqual(peer.of("POST")[0]!.headers["mcp-protocol-version"], "2025-11-25")
    }))

  it.scopedLive("keeps messages that arrive with the endpoint until it is started", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => {
        Peer.sse(hit).write(
          "event: endpoint\ndata: /m\n\n" + Peer.event({ jsonrpc: "2.0", method: "notifications/early" })
        )
      })
      const client = yield* open(peer.url)
      yield* client.heard.until(() => client.heard.messages.length === 1)
    }))

  it.scopedLive("reports once that the stream was cut, and sends no POST afterwards", () =>
    Effect.gen(function*() {
      const { peer, streams } = yield* serve((hit) => {
        hit.response.writeHead(202).end()
        setTimeout(() => streams.get("1")?.socket.destroy(), 5)
      })
      const client = yield* open(peer.url)
      client.transport.send(Client.call(1))
      const ended = yield* client.heard.ended
      assert.deepInclude(ended.error("unknown"), {
        _tag: "ConnectionLost",
        reason: "stream-interrupted",
        outcome: "unknown"
      })
      assert.isFalse(ended.unsent(1))
      assert.deepInclude(client.transport.send(Client.call(2)), {
        _tag: "ConnectionLost",
        reason: "stream-interrupted",
        outcome: "not-sent"
      })
      yield* peer.until(() => peer.sockets.size === 0)
      yield* client.close
      assert.deepStrictEqual(client.heard.order, ["ended"])
    }))

  it.scopedLive("delivers the messages before the cut", () =>
    Effect.gen(function*() {
      const { peer, streams } = yield* serve((hit, say) => {
        echo(hit, say)
        streams.get("1")?.response.end()
      })
      const client = yield* open(peer.url)
      client.transport.send(Client.call(1))
      yield* client.heard.ended
      assert.deepStrictEqual(client.heard.order, ["message 1", "ended"])
    }))

  it.scopedLive("fails a call whose POST is refused, and that call only", () =>
    Effect.gen(function*() {
      const { peer } = yield* serve((hit, say) => {
        if (hit.message?.id === 1) hit.response.writeHead(500).end("no")
        else echo(hit, say)
      })
      const client = yield* open(peer.url)
      assert.deepInclude(yield* client.outcome(Client.call(1)), { _tag: "HttpError", reason: "status", status: 500 })
      assert.deepInclude(yield* client.outcome(Client.call(2)), { id: 2 })
      assert.lengthOf(client.heard.endings, 0)
    }))

  it.scopedLive("closes the socket of an abandoned POST at once", () =>
    Effect.gen(function*() {
      const { peer } = yield* serve(() => undefined)
      const client = yield* open(peer.url)
      client.transport.send(Client.call(1))
      yield* peer.until(() => peer.of("POST").length === 1)
      client.transport.abandon(1)
      yield* peer.until(() => peer.of("POST")[0]!.over)
      assert.isFalse(peer.of("GET")[0]!.over)
      assert.deepStrictEqual(client.heard.order, [])
    }))

  it.scopedLive("ends with MessageTooLarge at an event without end, and closes the stream", () =>
    Effect.gen(function*() {
      const { peer, streams } = yield* serve((hit) => {
        hit.response.writeHead(202).end()
        Peer.endless(streams.get("1")!.response, "data: ")
      })
      const client = yield* open(peer.url, { maxMessageBytes: 1024 * 1024 })
      client.transport.send(Client.call(1))
      const ended = yield* client.heard.ended
      assert.deepInclude(ended.error("unknown"), { _tag: "MessageTooLarge", limit: 1024 * 1024 })
      yield* peer.until(() => peer.sockets.size === 0)
    }))

  it.scopedLive("closes at once with everything open", () =>
    Effect.gen(function*() {
      const { peer } = yield* serve(() => undefined)
      const client = yield* open(peer.url)
      for (let id = 0; id < 70; id++) client.transport.send(Client.call(id))
      yield* peer.until(() => peer.of("POST").length === 64)
      yield* client.close
      yield* peer.until(() => peer.sockets.size === 0)
      const [ended] = client.heard.endings
      assert.deepInclude(ended?.error("unknown"), { _tag: "Closed", outcome: "unknown" })
      assert.deepStrictEqual([ended?.unsent(0), ended?.unsent(69)], [false, true])
      assert.deepInclude(client.ends[0], { transport: "sse", how: "closed" })
    }))
})
