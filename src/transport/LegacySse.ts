/**
 * The HTTP+SSE transport of 2024-11-05: one stream of events that carries everything the server says, and an endpoint,
 * named in its first event, that takes everything we say.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as RetryPolicy from "../resilience/RetryPolicy.ts"
import type * as Teardown from "../resilience/Teardown.ts"
import * as Ending from "./ending.ts"
import * as Client from "./http/client.ts"
import * as Connection from "./http/connection.ts"
import * as Headers from "./http/headers.ts"
import * as Refusal from "./http/refusal.ts"
import * as Sse from "./http/sse.ts"
import * as JsonRpc from "./JsonRpc.ts"
import type * as Transport from "./Transport.ts"

export class LegacySseTransport
  extends Context.Tag("effect-mcp-runtime/transport/LegacySse/LegacySseTransport")<LegacySseTransport, {
    /** Succeeds when the server has named its endpoint. The fallback opens a Streamable HTTP configuration. */
    readonly open: Transport.Open<ServerConfig.SseServer | ServerConfig.HttpServer>
  }>()
{}

export const make: Effect.Effect<LegacySseTransport["Type"], never, Teardown.Teardown> = Effect.map(
  Connection.services,
  (services) => ({
    // untraced, because a span would keep an error as it is before its secrets are hidden
    open: Effect.fnUntraced(function*(config: ServerConfig.SseServer | ServerConfig.HttpServer) {
      const connection = yield* Connection.make(services, config)
      const endpoint = yield* Deferred.make<void, McpError.ConnectError>()
      const { close, transport } = legacySse(connection, endpoint)
      yield* Ending.sayFarewell(services.ending, config.name, transport.kind, close, connection.client.destroy)
      yield* Deferred.await(endpoint)
      return transport
    })
  })
)

export const layer: Layer.Layer<LegacySseTransport, never, Teardown.Teardown> = Layer.effect(LegacySseTransport, make)

const maxInFlight = 64

/** How long a POST whose answer came first, on the stream, may take to be accepted. */
const grace = "1 second"

/** Opens the stream; `endpoint` is settled when the server has named a usable one, or can no longer. */
const legacySse = (
  connection: Connection.Connection,
  endpoint: Deferred.Deferred<void, McpError.ConnectError>
) => {
  const { client, limits, server, url } = connection
  const headers = Headers.make(url, connection.source)
  /** What comes after the endpoint and before `start`. */
  let early: Array<(sink: Transport.Sink) => void> = []
  let sink: Transport.Sink | undefined
  let path: string | undefined
  let end: Transport.Ended | undefined

  const tell = (what: (sink: Transport.Sink) => void): void => {
    if (sink !== undefined) what(sink)
    else if (path !== undefined) early.push(what)
  }

  const finish = (error: Transport.Ended["error"]): void => {
    if (end !== undefined) return
    const ended = outbox.close(error)
    end = ended
    tell((sink) => sink.ended(ended))
    Deferred.unsafeDone(endpoint, Effect.fail(error("not-sent")))
    client.destroy()
  }

  const diagnostic = (diagnostic: Transport.Diagnostic): void => {
    if (end === undefined) tell((sink) => sink.diagnostic(diagnostic))
  }

  const message = (message: JsonRpc.Incoming): void => {
    if (end !== undefined) return
    if (!Object.hasOwn(message, "method") && Object.hasOwn(message, "id")) {
      const pending = outbox.pending(message["id"])
      if (pending === undefined) return diagnostic({ kind: "dropped", detail: "an answer to no pending request" })
      outbox.settle(pending, pending)
      const { fiber } = pending
      if (fiber?.unsafePoll() === null) {
        connection.fork(Effect.delay(Effect.sync(() => fiber.unsafeInterruptAsFork(FiberId.none)), grace))
      }
    }
    tell((sink) => sink.message(message))
  }

  const onEvent = (event: Sse.SseEvent): void => {
    if (end !== undefined) return
    if (event.type !== "endpoint") return Sse.onMessage(event, { message, diagnostic })
    if (path !== undefined) return diagnostic({ kind: "lenient", detail: "another endpoint event was ignored" })
    const named = endpointOf(server, url, event.data)
    if (Either.isLeft(named)) return finish(() => named.left)
    path = named.right
    Deferred.unsafeDone(endpoint, Effect.void)
  }

  const outbox = Connection.outbox(connection, maxInFlight, {
    post: ({ body, bytes, message }) => {
      const request = JsonRpc.isRequest(message) ? message : undefined
      return client.exchange({
        method: "POST",
        path: path ?? connection.path,
        headers: headers.post(message, bytes),
        body,
        repeatable: request === undefined || RetryPolicy.isIdempotent(request.method)
      }, (response): Effect.Effect<void, McpError.CallError> => {
        if (Client.isSuccess(response)) {
          return Client.drain(client, response, limits.errorBodyBytes)
        }
        return request === undefined
          ? Refusal.refuse(connection, response, false)
          : Refusal.refuseRequest(connection, response, request.id, false)
      })
    },
    failed: (post, error) => {
      const { message } = post
      if (!JsonRpc.isRequest(message)) return diagnostic(Connection.notAccepted(message, error))
      if (!outbox.isPending(post)) return
      outbox.settle(post, post)
      tell((sink) => sink.failed(message.id, error))
    }
  })

  const stream = Sse.open(connection, {
    path: connection.path,
    headers: headers.get(undefined),
    inSession: false,
    onOpen: () => undefined,
    onEvent
  })
  connection.fork(Effect.match(stream, {
    onFailure: (error) => finish(() => error),
    onSuccess: (cut) =>
      finish((outcome) =>
        cut.end === "ended" || cut.end === "cut" || cut.end === "done"
          ? new McpError.StreamInterrupted({ server, detail: "the stream ended", outcome })
          : Refusal.broken(connection, cut.end)
      )
  }))

  const transport: Transport.Transport = {
    kind: "sse",
    streamPerRequest: false,
    start: (to) => {
      sink = to
      for (const what of early) what(to)
      early = []
    },
    send: (message) => end === undefined ? outbox.send(message) : end.error("not-sent"),
    accepted: Connection.accepted(connection),
    abandon: (id) => {
      const pending = outbox.pending(id)
      if (pending !== undefined) outbox.settle(pending)
    },
    negotiated: (negotiated) => {
      headers.negotiated = negotiated
    },
    stderrTail: () => undefined
  }

  return {
    transport,
    close: Effect.sync(() => finish((outcome) => new McpError.Closed({ server, operation: "the request", outcome })))
  }
}

/** The path to POST to, which must be on the origin of the stream. */
const endpointOf = (
  server: string,
  url: URL,
  text: string
): Either.Either<string, McpError.OriginMismatch | McpError.ProtocolViolation> => {
  if (text === "" || !URL.canParse(text, url.href)) {
    return Either.left(Refusal.violation(server, "an endpoint that is no URL", text, "endpoint"))
  }
  const endpoint = new URL(text, url)
  return endpoint.origin === url.origin
    ? Either.right(endpoint.pathname + endpoint.search)
    : Either.left(new McpError.OriginMismatch({ server, to: endpoint.href.slice(0, 2048) }))
}
