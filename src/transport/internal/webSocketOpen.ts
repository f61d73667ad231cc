/** @internal */
// @effect-diagnostics nodeBuiltinImport:off - reads the refusal of a handshake, a response of node:http
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { IncomingMessage } from "node:http"
import type { WebSocket } from "ws"
import type * as Limits from "../../config/Limits.ts"
import type * as ServerConfig from "../../config/ServerConfig.ts"
import * as McpError from "../../McpError.ts"
import type * as RemoteHeaders from "../RemoteHeaders.ts"
import * as AnswerReader from "./answerReader.ts"
import * as HttpErrors from "./httpErrors.ts"
import * as RequestHeaders from "./requestHeaders.ts"
import * as ResponseBody from "./responseBody.ts"

/** Loaded on first use, because most applications have no such server. */
const library = Effect.promise(() => import("ws"))

const patience = "2 seconds"

const refused = Effect.fnUntraced(function*(
  server: string,
  response: IncomingMessage,
  limit: number,
  source: RemoteHeaders.Source
) {
  const status = response.statusCode ?? 0
  const { location } = response.headers
  if (status >= 300 && status < 400) {
    const reason = location === undefined ? "malformed" : "method"
    return yield* new McpError.RedirectBlocked({ server, to: (location ?? "").slice(0, 2048), reason })
  }
  const body = yield* Effect.async<string>((resume) =>
    ResponseBody.text(response, limit, (_, text) => resume(Effect.succeed(text)))
  ).pipe(Effect.timeoutTo({ duration: patience, onSuccess: (text) => text, onTimeout: () => "" }))
  const clock = yield* Effect.clock
  const decisive = HttpErrors.decisive(server, status, response.headers, body, clock.unsafeCurrentTimeMillis())
  if (decisive?._tag === "Unauthorized" || decisive?._tag === "Forbidden") source.refused(decisive)
  return yield* decisive ?? HttpErrors.status(server, status, body)
})

const handshake = (
  socket: WebSocket,
  server: string,
  limits: Limits.Limits,
  source: RemoteHeaders.Source
): Effect.Effect<WebSocket, McpError.ConnectError> =>
  Effect.async((resume) => {
    let upgraded = false
    socket.on("upgrade", () => {
      upgraded = true
    })
    socket.on("unexpected-response", (_, response) => {
      resume(refused(server, response, limits.errorBodyBytes, source))
    })
    // It stays: a socket that is terminated while it connects tells so by an error.
    socket.on("error", (error: HttpErrors.SystemError) => {
      resume(Effect.fail(
        upgraded && error.code === undefined
          ? AnswerReader.violation(server, "a WebSocket handshake that is not one", error.message, "open")
          : HttpErrors.network(server, error, true)
      ))
    })
    socket.on("open", () => {
      // Frames may follow the handshake in the same packet; they wait until somebody listens.
      socket.pause()
      resume(Effect.succeed(socket))
    })
  })

/**
 * A socket after its handshake, paused; terminated with the scope.
 *
 * @internal
 */
export const open = (
  config: ServerConfig.WebSocketServer,
  limits: Limits.Limits,
  source: RemoteHeaders.Source
): Effect.Effect<WebSocket, McpError.ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    const { WebSocket } = yield* library
    const headers: Array<readonly [string, string]> = []
    for (const [name, value] of source.current()) {
      if (!RequestHeaders.own.has(name.toLowerCase())) headers.push([name, Redacted.value(value)])
    }
    const url = new URL(config.url)
    url.hash = ""
    const create = Effect.sync(() =>
      new WebSocket(url, ["mcp"], {
        headers: Object.fromEntries(headers),
        perMessageDeflate: false,
        maxPayload: limits.maxMessageBytes,
        followRedirects: false
      })
    )
    const socket = yield* Effect.acquireRelease(create, (socket) => Effect.sync(() => socket.terminate()))
    return yield* handshake(socket, config.name, limits, source)
  })
