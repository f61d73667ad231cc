import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { EventEmitter } from "node:events"
import * as Http from "node:http"
import { type WebSocket, WebSocketServer } from "ws"
import * as Connector from "../../src/client/Connector.ts"
import * as Limits from "../../src/config/Limits.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as NodeConnector from "../../src/node/NodeConnector.ts"
import type * as Teardown from "../../src/resilience/Teardown.ts"
import * as RemoteHeaders from "../../src/transport/RemoteHeaders.ts"
import * as WebSocketTransport from "../../src/transport/WebSocketTransport.ts"
import * as Peer from "../fixtures/httpPeer.ts"
import * as Configs from "../support/configs.ts"
import * as Client from "../support/httpTransport.ts"
import * as Sink from "../support/sink.ts"
import { transportContract } from "../support/transportContract.ts"

interface Incoming {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
}

interface WsPeer {
  readonly url: string
  readonly requests: ReadonlyArray<Http.IncomingMessage>
  readonly sockets: ReadonlySet<WebSocket>
  readonly connections: Peer.Sockets
}

/** A WebSocket server on a free port. */
const serve = (
  onMessage: (message: Incoming, socket: WebSocket) => void,
  options: { readonly onOpen?: (socket: WebSocket) => void; readonly protocols?: false } = {}
): Effect.Effect<WsPeer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const requests: Array<Http.IncomingMessage> = []
    const sockets = new Set<WebSocket>()
    const server = Http.createServer()
    const wss = new WebSocketServer({
      noServer: true,
      handleProtocols: () => options.protocols ?? "mcp"
    })
    server.on("upgrade", (request, socket, head) => {
      wss.handleUpgrade(request, socket, head, (ws) => {
        requests.push(request)
        sockets.add(ws)
        ws.on("close", () => sockets.delete(ws))
        ws.on("error", () => undefined)
        ws.on("message", (data) => {
          const text = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)
          onMessage(JSON.parse(text.toString("utf8")) as Incoming, ws)
        })
        options.onOpen?.(ws)
      })
    })
    const connections = yield* Peer.listening(server)
    return { url: `ws://127.0.0.1:${connections.port}/mcp`, requests, sockets, connections }
  })

const echo = (message: Incoming, socket: WebSocket) => {
  if (message.method === "die") return socket.close(1001, "going away")
  if (message.method === "silent") return
  socket.send(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: message.params ?? {} }))
}

const transport = (
  url: string,
  config: Partial<ServerConfig.RemoteInput> = {},
  ends: Array<Teardown.ServerEnd> = [],
  farewellTimeout: Duration.DurationInput = "1 second"
) =>
  Effect.flatMap(
    WebSocketTransport.WebSocketTransport,
    (ws) => ws.open(Configs.ws({ name: "peer", url, ...config }))
  ).pipe(
    Effect.provide(Layer.provide(WebSocketTransport.layer, Client.teardown(ends, farewellTimeout)))
  )

const open = (
  url: string,
  config: Partial<ServerConfig.RemoteInput> = {},
  farewellTimeout: Duration.DurationInput = "1 second"
) =>
  Effect.suspend(() => {
    const ends: Array<Teardown.ServerEnd> = []
    return Client.started(transport(url, config, ends, farewellTimeout), ends)
  })

transportContract(
  "WebSocket",
  Effect.map(serve(echo), ({ url }) => ({ open: transport(url) })),
  { live: true }
)

describe("the handshake of a WebSocket", () => {
  it.scopedLive("asks for mcp without compression, with the configured headers", () =>
    Effect.gen(function*() {
      const peer = yield* serve(echo)
      yield* open(peer.url, { headers: { authorization: "Bearer t" } })
      const { headers } = peer.requests[0]!
      assert.deepInclude(headers, { authorization: "Bearer t", "sec-websocket-protocol": "mcp" })
      assert.notProperty(headers, "sec-websocket-extensions")
    }))

  const fails = (
    name: string,
    answer: (hit: Peer.Hit) => void,
    fields: Readonly<Record<string, unknown>>
  ) =>
    it.scopedLive(name, () =>
      Effect.gen(function*() {
        const peer = yield* Peer.serve(answer)
        const error = yield* Effect.flip(Effect.scoped(transport(peer.url.replace("http", "ws"))))
        assert.deepInclude(error, { server: "peer", ...fields })
        yield* peer.until(() => peer.sockets.size === 0)
      }))

  fails("401 is Unauthorized", (hit) => hit.response.writeHead(401, { "www-authenticate": "Bearer scope=a" }).end(), {
    _tag: "AuthorizationFailed",
    reason: "unauthorized",
    scope: "a"
  })
  fails("403 is Forbidden", (hit) => hit.response.writeHead(403).end(), { _tag: "HttpError", reason: "forbidden" })
  fails("429 is HttpError/rate-limited", (hit) => hit.response.writeHead(429, { "retry-after": "2" }).end(), {
    _tag: "HttpError",
    reason: "rate-limited",
    retryAfter: Duration.seconds(2)
  })
  fails("200 with a page is HttpError", (hit) => hit.response.writeHead(200).end("<p>"), {
    _tag: "HttpError",
    reason: "status",
    status: 200,
    detail: "<p>"
  })
  fails("a redirect is not followed", (hit) => hit.response.writeHead(302, { location: "ws://127.0.0.1:1/" }).end(), {
    _tag: "HttpError",
    reason: "redirect",
    to: "ws://127.0.0.1:1/"
  })

  it.scopedLive("with another subprotocol is ProtocolViolation", () =>
    Effect.gen(function*() {
      const peer = yield* serve(echo, { protocols: false })
      const error = yield* Effect.flip(transport(peer.url))
      assert.deepInclude(error, { _tag: "ProtocolViolation", phase: "open" })
    }))

  it.scopedLive("that is refused is NetworkError", () =>
    Effect.gen(function*() {
      const port = yield* Peer.deadPort
      const error = yield* Effect.flip(transport(`ws://127.0.0.1:${port}/mcp`))
      assert.deepInclude(error, { _tag: "NetworkError", code: "ECONNREFUSED", outcome: "not-sent" })
    }))

  it.scopedLive("over TLS to a plain port is NetworkError/tls", () =>
    Effect.gen(function*() {
      const peer = yield* serve(echo)
      const error = yield* Effect.flip(transport(peer.url.replace("ws:", "wss:")))
      assert.deepInclude(error, { _tag: "NetworkError", reason: "tls" })
    }))

  it.scopedLive("that never ends waits until it is interrupted, and leaves no socket", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.raw(() => undefined)
      const opening = yield* Effect.fork(Effect.scoped(transport(peer.url.replace("http", "ws"))))
      yield* peer.until(() => peer.connections() === 1)
      yield* Fiber.interrupt(opening)
      for (const socket of peer.sockets) socket.resume()
      yield* peer.until(() => peer.sockets.size === 0)
    }))
})

describe("a WebSocket", () => {
  it.scopedLive("keeps messages that arrive with the handshake until it is started", () =>
    Effect.gen(function*() {
      const peer = yield* serve(echo, {
        onOpen: (socket) => socket.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/early" }))
      })
      const client = yield* open(peer.url)
      yield* client.heard.until(() => client.heard.messages.length === 1)
    }))

  it.scopedLive("reports frames that are not messages, and continues", () =>
    Effect.gen(function*() {
      const peer = yield* serve(echo, {
        onOpen: (socket) => {
          socket.send(Buffer.from([1, 2, 3]))
          socket.send("not json")
        }
      })
      const client = yield* open(peer.url)
      yield* client.outcome(Client.call(1))
      assert.deepStrictEqual(client.heard.order, ["noise", "noise", "message 1"])
    }))

  it.scopedLive("ends with MessageTooLarge at a message over the limit", () =>
    Effect.gen(function*() {
      const peer = yield* serve((_, socket) => socket.send("x".repeat(2000)))
      const client = yield* open(peer.url, { maxMessageBytes: 1000 })
      client.transport.send(Client.call(1))
      const ended = yield* client.heard.ended
      assert.deepInclude(ended.error("unknown"), { _tag: "MessageTooLarge", limit: 1000, direction: "received" })
    }))

  it.scopedLive("ends with ConnectionLost when it is cut", () =>
    Effect.gen(function*() {
      const peer = yield* serve((_, socket) => socket.terminate())
      const client = yield* open(peer.url)
      client.transport.send(Client.call(1))
      const ended = yield* client.heard.ended
      assert.deepInclude(ended.error("unknown"), {
        _tag: "ConnectionLost",
        reason: "socket-closed",
        outcome: "unknown"
      })
      assert.deepInclude(client.transport.send(Client.call(2)), { _tag: "ConnectionLost", outcome: "not-sent" })
    }))

  it.scopedLive("ends as stalled when nothing comes back for a ping", () =>
    Effect.gen(function*() {
      const peer = yield* serve(echo, { onOpen: (socket) => socket.pause() })
      const client = yield* open(peer.url, { keepAlive: "50 millis" })
      const ended = yield* client.heard.ended
      assert.deepInclude(ended.error("unknown"), { _tag: "ConnectionLost", reason: "stalled" })
      for (const socket of peer.sockets) socket.resume()
      yield* peer.connections.until(() => peer.connections.sockets.size === 0)
    }))

  it.scopedLive("is kept alive by a peer that answers pings", () =>
    Effect.gen(function*() {
      let pings = 0
      const enough = yield* Effect.makeLatch(false)
      const peer = yield* serve(echo, {
        onOpen: (socket) => socket.on("ping", () => ++pings >= 4 && enough.unsafeOpen())
      })
      const client = yield* open(peer.url, { keepAlive: "25 millis" })
      yield* enough.await
      assert.deepInclude(yield* client.outcome(Client.call(1)), { id: 1 })
    }))

  it.scopedLive("refuses to send when too many bytes wait", () =>
    Effect.gen(function*() {
      const peer = yield* serve(echo)
      const client = yield* open(peer.url)
      const big = (id: number) => Client.request(id, "tools/call", { text: "x".repeat(6 * 1024 * 1024) })
      const sent = [0, 1].map((id) => client.transport.send(big(id))?._tag)
      assert.deepStrictEqual(sent, [undefined, "Overloaded"])
    }))

  it.scopedLive("sends no request before initialized", () =>
    Effect.gen(function*() {
      const methods: Array<string | undefined> = []
      const answers: Readonly<Record<string, unknown>> = {
        initialize: {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "s", version: "1" }
        },
        "tools/call": { content: [{ type: "text", text: "hello" }] }
      }
      const peer = yield* serve(({ id, method = "" }, socket) => {
        methods.push(method)
        if (id === undefined) return
        const isTooEarly = method !== "initialize" && !methods.includes("notifications/initialized")
        const result = isTooEarly ? undefined : answers[method]
        const error = { code: -32601, message: isTooEarly ? "not initialized" : "no such method" }
        socket.send(JSON.stringify({ jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) }))
      })
      const session = yield* Connector.open(Configs.ws({ name: "peer", url: peer.url }))
      yield* Effect.all([session.callTool("echo"), session.callTool("echo")], { concurrency: "unbounded" })
      const [, ...later] = methods.slice(methods.indexOf("initialize"))
      assert.deepStrictEqual(later, ["notifications/initialized", "tools/call", "tools/call"])
    }).pipe(Effect.provide(NodeConnector.layer())))

  it("reports messages as unsent that the system did not accept whole", () => {
    const written: Array<(error?: Error) => void> = []
    const socket = Object.assign(new EventEmitter(), {
      bufferedAmount: 0,
      resume: () => undefined,
      send: (_: string, done: (error?: Error) => void) => written.push(done)
    })
    // Only what a link uses of a socket is there.
    const peer = {
      server: "peer",
      limits: Limits.defaults,
      source: RemoteHeaders.constant(new Map()),
      proxy: undefined
    }
    const { transport } = WebSocketTransport.link(peer, socket as unknown as WebSocket)
    const heard = Sink.make()
    transport.start(heard.sink)
    for (const id of [1, 2, 3]) transport.send(Client.call(id))
    written[0]!()
    written[2]!(new Error("cut"))
    socket.emit("close", 1006, Buffer.alloc(0))
    assert.deepStrictEqual([1, 2, 3].map((id) => heard.endings[0]?.unsent(id)), [false, true, true])
  })

  it.scopedLive("closes with a handshake", () =>
    Effect.gen(function*() {
      const codes: Array<number> = []
      const peer = yield* serve(echo, { onOpen: (socket) => socket.on("close", (code) => codes.push(code)) })
      const client = yield* open(peer.url)
      yield* client.close
      yield* peer.connections.until(() => peer.connections.sockets.size === 0)
      assert.deepStrictEqual(codes, [1000])
      assert.deepInclude(client.ends[0], { transport: "ws", how: "closed" })
      assert.deepInclude(client.heard.endings[0]?.error("unknown"), { _tag: "Closed" })
    }))

  it.scopedLive("closes with a handshake although it was not started", () =>
    Effect.gen(function*() {
      const ends: Array<Teardown.ServerEnd> = []
      const peer = yield* serve(echo)
      yield* Effect.scoped(transport(peer.url, {}, ends))
      assert.deepInclude(ends[0], { how: "closed" })
    }))

  it.scopedLive("is terminated when the handshake of the close is not answered", () =>
    Effect.gen(function*() {
      const peer = yield* serve(echo, { onOpen: (socket) => socket.pause() })
      const client = yield* open(peer.url, {}, "50 millis")
      const [took] = yield* Effect.timed(client.close)
      assert.isBelow(Duration.toMillis(took), 5000)
      assert.deepInclude(client.ends[0], { how: "abandoned" })
      for (const socket of peer.sockets) socket.resume()
      yield* peer.connections.until(() => peer.connections.sockets.size === 0)
    }))
})
