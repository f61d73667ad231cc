/**
 * Streamable HTTP: one POST per message, answers as JSON or as a stream of events, the session and its stream of
 * notifications in the session era, headers that mirror the message in the stateless one.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import type * as Teardown from "../resilience/Teardown.ts"
import * as HeaderField from "../text/headerField.ts"
import * as Failure from "./failure.ts"
import * as Client from "./http/client.ts"
import * as Connection from "./http/connection.ts"
import * as Headers from "./http/headers.ts"
import * as Refusal from "./http/refusal.ts"
import * as Resume from "./http/resume.ts"
import * as Sse from "./http/sse.ts"
import * as JsonRpc from "./JsonRpc.ts"
import type * as Transport from "./Transport.ts"

export interface Options extends Resume.Options {
  /** Requests in flight at once, each on a socket of its own; more wait their turn. */
  readonly maxInFlight: number
}

export const defaults: Options = { maxInFlight: 64, ...Resume.defaults }

export class HttpTransport extends Context.Tag("effect-mcp-runtime/transport/HttpTransport")<HttpTransport, {
  readonly open: Transport.Open<ServerConfig.HttpServer>
}>() {}

export const make = (options?: Partial<Options>): Effect.Effect<HttpTransport["Type"], never, Teardown.Teardown> =>
  Connection.opener((peer, url) =>
    Effect.map(Connection.make(peer, url), (connection) => streamable(connection, { ...defaults, ...options }))
  )

export const layer = (options?: Partial<Options>): Layer.Layer<HttpTransport, never, Teardown.Teardown> =>
  Layer.effect(HttpTransport, make(options))

const sessionId = /^[\u0021-\u007e]{1,4096}$/

const isInitialize = (message: JsonRpc.Message): boolean => "method" in message && message.method === "initialize"

const isAnswer = (message: unknown, id: JsonRpc.Id): boolean =>
  JsonRpc.isObject(message) && !("method" in message) && "id" in message &&
  (message["id"] === id || (message["id"] === null && "error" in message))

const streamable = (connection: Connection.Connection, options: Options): Connection.Opened => {
  const { client, limits, path, server } = connection
  const headers = new Headers.RequestHeaders(connection.url, connection.source)
  let listening: Fiber.RuntimeFiber<void> | undefined
  let isListening = false
  /** True after the server refused the session: only `initialize` is sent until it has started a new one. */
  let expired = false
  /** True if the server may ask us; what it asks before it has the stream of notifications is lost. */
  let answersServer = false

  const handlers = (from: Connection.Post | undefined, onMessage?: () => void): Sse.Handlers => ({
    message: (message) => {
      onMessage?.()
      if (from !== undefined && isInitialize(from.message) && Object.hasOwn(message, "result")) expired = false
      channel.deliver(message, from)
    },
    diagnostic: channel.outlet.diagnostic,
    isDone: () => from !== undefined && !channel.isPending(from)
  })

  /** Reads a whole answer without an Effect, because most calls have one. */
  const readJson =
    (post: Connection.Post, id: JsonRpc.Id): Client.Read<void, McpError.CallError> => (response, done) => {
      const limit = limits.maxMessageBytes
      if (Number(response.headers["content-length"] ?? 0) > limit) return done(Refusal.broken(connection, "oversize"))
      Client.text(response, limit, (end, text) => {
        if (end !== "ended") return done(Refusal.broken(connection, end))
        const value = JsonRpc.parse(text)
        if (value === undefined) return done(Failure.violation(server, "a body that is not JSON", text))
        if (!(Array.isArray(value) ? value : [value]).some((message) => isAnswer(message, id))) {
          return done(Failure.violation(server, "an answer to another request", text))
        }
        JsonRpc.each(value, text, handlers(post))
        done(Effect.void)
      })
    }

  const expire = (session: string | undefined): Effect.Effect<void> =>
    Effect.sync(() => {
      if (headers.session !== session) return
      expired = true
      stopListening()
    })

  const heldBack = () => {
    const detail = "not sent, because the session has expired and a new one has not started yet"
    return new McpError.SessionExpired({ server, detail, outcome: "not-sent" })
  }

  const request = (post: Connection.Post, message: JsonRpc.Request): Effect.Effect<void, McpError.CallError> => {
    const begins = isInitialize(message)
    if (expired && !begins) return heldBack()
    const session = begins ? undefined : headers.session
    const isStateless = headers.stateless(message) !== undefined

    /** Goes on with the stream of the answer where it was cut. */
    const resume = ({ end, lastEventId, retry }: Sse.Cut): Effect.Effect<void, McpError.CallError> => {
      const interrupted = (detail: string) => Failure.lost(server, "stream-interrupted", detail)("unknown")
      if (end === "done") return Effect.void
      if (end !== "ended" && end !== "cut") return Refusal.broken(connection, end)
      if (isStateless || lastEventId === undefined) {
        return interrupted(end === "cut" ? "the connection was cut" : "the server ended it")
      }
      const rest: Resume.Follow = (lastEventId, onMessage) =>
        Sse.open(connection, headers.get(lastEventId), session !== undefined, handlers(post, onMessage))
      return Effect.flatMap(
        Resume.reopen(options, rest, { lastEventId, retry }),
        (why) => interrupted(`it could not be resumed: ${why}`)
      )
    }

    const call = channel.callOf(post, path, headers.post(message, post.bytes, post.headers))
    return client.exchange<void, McpError.CallError>(call, (response, done) => {
      if (!Client.isSuccess(response)) {
        const inSession = session !== undefined && !isStateless
        const refused = Refusal.refuseRequest(connection, response, inSession, message.id)
        return done(Effect.tapErrorTag(refused, "SessionExpired", () => expire(session)))
      }
      if (begins) {
        const named = response.headers["mcp-session-id"]
        if (named !== undefined && (typeof named !== "string" || !sessionId.test(named))) {
          const what = "a session id of other than visible ASCII"
          return done(Failure.violation(server, what, String(named), { phase: "initialize" }))
        }
        headers.session = named
      }
      if (response.statusCode === 202) {
        const what = "status 202 to a request, and no stream for its answer"
        return done(isListening ? client.drain(response) : Failure.violation(server, what, ""))
      }
      switch (Client.mediaType(response)) {
        case "application/json":
          return readJson(post, message.id)(response, done)
        case "text/event-stream":
          return done(Effect.flatMap(Sse.events(connection, response, handlers(post)), resume))
        default:
          return done(Refusal.unexpectedContent(connection, response))
      }
    })
  }

  const stopListening = (): void => {
    listening?.unsafeInterruptAsFork(FiberId.none)
    listening = undefined
    isListening = false
  }

  /** Opens the stream of notifications; waits until it is open, or will not be for now, if the server may ask us. */
  const listen = Effect.suspend(() => {
    if (channel.outlet.ended() !== undefined || headers.negotiated?.era === "stateless") return Effect.void
    stopListening()
    const settled = Deferred.unsafeMake<void>(FiberId.none)
    const change = (open: boolean): void => {
      isListening = open
      Deferred.unsafeDone(settled, Effect.void)
    }
    const inSession = headers.session !== undefined
    const follow: Resume.Follow = (lastEventId, onMessage) =>
      Effect.ensuring(
        Sse.open(connection, headers.get(lastEventId), inSession, {
          ...handlers(undefined, onMessage),
          open: () => change(true)
        }),
        Effect.sync(() => change(false))
      )
    listening = connection.fork(
      Effect.map(
        Resume.reopen(options, follow),
        (why) =>
          channel.outlet.diagnostic({
            kind: "stream",
            detail: `the server's stream of notifications was given up: ${why}`
          })
      )
    )
    return answersServer ? Deferred.await(settled) : Effect.void
  })

  const notify = (post: Connection.Post): Effect.Effect<void, McpError.CallError> => {
    const { bytes, headers: extra, message } = post
    const call = channel.callOf(post, path, headers.post(message, bytes, extra))
    const accepted = client.exchange<void, McpError.CallError>(call, (response, done) =>
      done(
        Client.isSuccess(response)
          ? client.drain(response)
          : Refusal.refuse(connection, response, headers.session !== undefined)
      ))
    return "method" in message && message.method === "notifications/initialized"
      ? Effect.zipRight(accepted, listen)
      : accepted
  }

  const channel = Connection.channel(
    connection,
    options.maxInFlight,
    (post) => JsonRpc.isRequest(post.message) ? request(post, post.message) : notify(post)
  )

  const send: Transport.Transport["send"] = (message, sendOptions) => {
    for (const name in sendOptions?.headers) {
      if (!HeaderField.isName(name) || !HeaderField.isValue(sendOptions.headers[name]!)) {
        return new McpError.ConfigurationError({ server, path: `headers.${name}`, detail: "not a header" })
      }
    }
    if (expired && !JsonRpc.isRequest(message)) return heldBack()
    if (JsonRpc.isRequest(message) && isInitialize(message)) {
      const capabilities = message.params?.["capabilities"]
      answersServer = JsonRpc.isObject(capabilities) && Object.keys(capabilities).length > 0
      headers.negotiated = undefined
      stopListening()
    }
    return channel.send(message, sendOptions)
  }

  return {
    transport: {
      ...channel.transport,
      kind: "streamable-http",
      streamPerRequest: true,
      send,
      negotiated: (negotiated) => {
        headers.negotiated = negotiated
      }
    },
    farewell: Effect.suspend(() => {
      stopListening()
      channel.end(Failure.closed(server))
      if (headers.session !== undefined && !expired) {
        const call: Client.Call = { method: "DELETE", path, headers: headers.inSession(), repeatable: true }
        const said = client.exchange<void, never>(call, (response, done) => done(client.drain(response)))
        connection.forkAside(Effect.ignore(said))
      }
      return connection.asideIdle
    })
  }
}
