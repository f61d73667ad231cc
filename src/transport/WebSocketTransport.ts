/** MCP over a WebSocket: one JSON message per text frame, subprotocol `mcp`. */
// @effect-diagnostics nodeBuiltinImport:off - reads the refusal of a handshake, a response of node:http
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { WebSocket } from "ws"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import type * as Teardown from "../resilience/Teardown.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as Ending from "./ending.ts"
import * as Failure from "./failure.ts"
import * as Client from "./http/client.ts"
import * as Connection from "./http/connection.ts"
import * as Headers from "./http/headers.ts"
import * as Proxy from "./http/proxy.ts"
import * as Refusal from "./http/refusal.ts"
import * as JsonRpc from "./JsonRpc.ts"
import type * as Transport from "./Transport.ts"

export class WebSocketTransport
  extends Context.Tag("effect-mcp-runtime/transport/WebSocketTransport")<WebSocketTransport, {
    readonly open: Transport.Open<ServerConfig.WebSocketServer>
  }>()
{}

export const make: Effect.Effect<WebSocketTransport["Type"], never, Teardown.Teardown> = Connection.opener((
  peer,
  url
) => Effect.map(opened(peer, url), (socket) => link(peer, socket)))

export const layer: Layer.Layer<WebSocketTransport, never, Teardown.Teardown> = Layer.effect(WebSocketTransport, make)

/** A socket after its handshake, paused; terminated with the scope. */
const opened = (peer: Refusal.Peer, url: URL): Effect.Effect<WebSocket, McpError.ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    // loaded on first use, because most applications have no such server
    const { WebSocket } = yield* Effect.promise(() => import("ws"))
    const headers = Headers.unreserved(peer.source.current()).map(([name, value]) => [name, Redacted.value(value)])
    url.hash = ""
    const { limits, proxy } = peer
    const ending = yield* Effect.acquireRelease(
      Effect.sync(() => new AbortController()),
      (ending) => Effect.sync(() => ending.abort())
    )
    const agent = proxy === undefined ? {} : { agent: Proxy.agent(proxy, url.protocol === "wss:", ending.signal) }
    const socket = yield* Effect.acquireRelease(
      Effect.sync(() =>
        new WebSocket(url, ["mcp"], {
          headers: Object.fromEntries(headers),
          perMessageDeflate: false,
          maxPayload: limits.maxMessageBytes,
          followRedirects: false,
          ...agent
        })
      ),
      (socket) => Effect.sync(() => socket.terminate())
    )
    return yield* handshake(socket, peer)
  })

const handshake = (socket: WebSocket, peer: Refusal.Peer): Effect.Effect<WebSocket, McpError.ConnectError> =>
  Effect.async((resume) => {
    const { server } = peer
    let upgraded = false
    socket.on("upgrade", () => {
      upgraded = true
    })
    socket.on("unexpected-response", (_, response) => {
      const status = response.statusCode ?? 0
      const { location } = response.headers
      if (status < 300 || status >= 400) return resume(Refusal.refuse(peer, response, false))
      resume(Failure.redirected(server, location ?? "", location === undefined ? "malformed" : "method"))
    })
    // this listener stays, because a socket that is terminated while it connects emits an error
    socket.on("error", (error: Client.SystemError) =>
      resume(Effect.fail(
        upgraded && error.code === undefined
          ? Failure.violation(server, "a WebSocket handshake that is not one", error.message, { phase: "open" })
          : Client.network(server, error, true)
      )))
    socket.on("open", () => {
      // frames can follow the handshake in the same packet; they wait until the transport is started
      socket.pause()
      resume(Effect.succeed(socket))
    })
  })

/** After an event loop that was blocked, timers run before input that has already arrived. */
const grace = "100 millis"

/** The transport over an open socket. */
export const link = ({ limits, server }: Refusal.Peer, socket: WebSocket): Connection.Opened => {
  /** Requests whose bytes the system does not have yet: an incomplete frame was not seen by the server. */
  const unwritten = new Set<JsonRpc.Id>()
  const outlet = Ending.outlet(server, limits)
  let isAlive = true

  const finish = (error: Transport.Ended["error"]): void => {
    const unsent = new Set(unwritten)
    outlet.end(error, (id) => unsent.has(id))
  }

  socket.on("message", (data, isBinary) => {
    isAlive = true
    if (isBinary) return outlet.diagnostic({ kind: "noise", detail: "a binary frame" })
    // a `Buffer`, because that is the binary type of the socket
    const text = String(data)
    JsonRpc.each(JsonRpc.parse(text), text, outlet)
  })
  socket.on("pong", () => {
    isAlive = true
  })
  socket.on("error", (error: Client.SystemError) => {
    const { code } = error
    finish((outcome) => {
      if (code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") {
        return Failure.tooLarge(server, limits.maxMessageBytes, "received")
      }
      if (code?.startsWith("WS_ERR_") === true) return Failure.violation(server, `a broken frame (${code})`, "")
      const broken = Client.network(server, error, outcome === "not-sent")
      return broken.reason === "tls" ? broken : Failure.lost(server, "reset", code ?? "?")(outcome)
    })
  })
  socket.on("close", (code, reason) => {
    const why = reason.length === 0 ? "" : ` ${UntrustedText.excerpt(reason.toString("utf8"), 128)}`
    finish(Failure.lost(server, "socket-closed", `close code ${code}${why}`))
  })

  const send = (message: JsonRpc.Message): McpError.CallError | undefined => {
    const encoded = outlet.encode(message)
    if (Either.isLeft(encoded)) return encoded.left
    const { bytes, text } = encoded.right
    const queued = socket.bufferedAmount
    if (queued + bytes > limits.writeQueueBytes && queued > 0) {
      return Failure.queueFull(server, queued, limits.writeQueueBytes)
    }
    const id = JsonRpc.isRequest(message) ? message.id : undefined
    if (id !== undefined) unwritten.add(id)
    // a failed write ends the socket, whose events report it
    socket.send(text, (error) => {
      if (id !== undefined && (error === undefined || error === null)) unwritten.delete(id)
    })
    return undefined
  }

  /** Pings while the socket lives, and ends it when nothing comes back. */
  const keepAlive = Effect.gen(function*() {
    while (outlet.ended() === undefined) {
      yield* Effect.sleep(limits.keepAlive)
      if (!isAlive) yield* Effect.sleep(grace)
      if (!isAlive) {
        finish(Failure.lost(server, "stalled", "nothing came back for a ping"))
        return socket.terminate()
      }
      isAlive = false
      if (socket.readyState === socket.OPEN) socket.ping()
    }
  })

  return {
    transport: {
      kind: "ws",
      streamPerRequest: false,
      start: (sink) => {
        outlet.start(sink)
        if (outlet.ended() === undefined) socket.resume()
      },
      send,
      abandon: () => undefined,
      negotiated: () => undefined,
      stderrTail: () => undefined
    },
    ready: Effect.forkScoped(keepAlive),
    farewell: Effect.async<void>((resume) => {
      finish(Failure.closed(server))
      if (socket.readyState === socket.CLOSED) return resume(Effect.void)
      socket.on("close", () => resume(Effect.void))
      socket.resume()
      socket.close(1000)
    })
  }
}
