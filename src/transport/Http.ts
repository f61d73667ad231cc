/**
 * Streamable HTTP: one POST per message, answers as JSON or as a stream of events, the session and its stream of
 * notifications in the session era, headers that mirror the message in the stateless one.
 */
// @effect-diagnostics nodeBuiltinImport:off - reads responses of node:http
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import type { IncomingMessage } from "node:http"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as RetryPolicy from "../resilience/RetryPolicy.ts"
import type * as Teardown from "../resilience/Teardown.ts"
import * as Ending from "./ending.ts"
import * as Client from "./http/client.ts"
import * as Connection from "./http/connection.ts"
import * as Headers from "./http/headers.ts"
import * as Messages from "./http/messages.ts"
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

export class HttpTransport extends Context.Tag("effect-mcp-runtime/transport/Http/HttpTransport")<HttpTransport, {
  readonly open: Transport.Open<ServerConfig.HttpServer>
}>() {}

export const make = (options?: Partial<Options>): Effect.Effect<HttpTransport["Type"], never, Teardown.Teardown> =>
  Effect.map(Connection.services, (services) => ({
    // untraced, because a span would keep an error as it is before its secrets are hidden
    open: Effect.fnUntraced(function*(config: ServerConfig.HttpServer) {
      const connection = yield* Connection.make(services, config)
      const { close, transport } = streamable(connection, { ...defaults, ...options })
      yield* Ending.sayFarewell(services.ending, config.name, transport.kind, close, connection.client.destroy)
      return transport
    })
  }))

export const layer = (options?: Partial<Options>): Layer.Layer<HttpTransport, never, Teardown.Teardown> =>
  Layer.effect(HttpTransport, make(options))

/** The methods that a caller waits for; the others keep a connection or run in the background. */
const foreground: ReadonlySet<string> = new Set(["tools/call", "resources/read", "prompts/get"])

const sessionId = /^[\u0021-\u007e]{1,4096}$/

const streamable = (connection: Connection.Connection, options: Options) => {
  const { asideIdle, client, limits, path, server } = connection
  const headers = Headers.make(connection.url, connection.source)
  let sink: Transport.Sink | undefined
  let listening: Fiber.RuntimeFiber<void> | undefined
  let isListening = false
  let closed = false
  /** True after the server refused the session: only `initialize` is sent until it has started a new one. */
  let expired = false
  /** True if the server may ask us; what it asks before it has the stream of notifications is lost. */
  let answersServer = false

  const diagnostic = (diagnostic: Transport.Diagnostic): void => {
    if (!closed) sink?.diagnostic(diagnostic)
  }

  const fail = (post: Connection.Post, error: McpError.CallError): void => {
    if (!outbox.isPending(post) || !JsonRpc.isRequest(post.message)) return
    outbox.settle(post, post)
    sink?.failed(post.message.id, error)
  }

  /** `from`: the request on whose stream the message came. */
  const deliver = (message: JsonRpc.Incoming, from: Connection.Post | undefined): void => {
    if (closed) return
    if (!Object.hasOwn(message, "method") && Object.hasOwn(message, "id")) {
      const failure = message["id"] === null && from !== undefined && outbox.isPending(from)
        ? Messages.failure(message)
        : undefined
      if (failure !== undefined && from !== undefined) {
        const { code, data, message: detail } = failure
        return fail(from, new McpError.RemoteError({ server, code, detail, data }))
      }
      const pending = outbox.pending(message["id"])
      if (pending === undefined) return diagnostic({ kind: "dropped", detail: "an answer to no pending request" })
      outbox.settle(pending, from)
      if (isInitialize(pending.message) && Object.hasOwn(message, "result")) expired = false
    }
    sink?.message(message)
  }

  const handlers = (from: Connection.Post | undefined): Messages.Handlers => ({
    message: (message) => deliver(message, from),
    diagnostic
  })

  const get = (inSession: boolean, onOpen: () => void): Resume.Follow => (lastEventId, onMessage) =>
    Effect.suspend(() => {
      const message = (message: JsonRpc.Incoming): void => {
        onMessage()
        deliver(message, undefined)
      }
      const onEvent = (event: Sse.SseEvent): void => Sse.onMessage(event, { message, diagnostic })
      return Sse.open(connection, { path, headers: headers.get(lastEventId), inSession, onOpen, onEvent })
    })

  const readJson = (post: Connection.Post, id: JsonRpc.Id, response: IncomingMessage) =>
    Effect.flatMap(Client.text(response, limits.maxMessageBytes), ({ end, text }) => {
      if (end !== "ended") return Effect.fail(Refusal.broken(connection, end))
      const value = Messages.parse(text)
      const isAnswer = (message: unknown): boolean =>
        JsonRpc.isObject(message) && !("method" in message) && "id" in message &&
        (message["id"] === id || (message["id"] === null && "error" in message))
      if (value === undefined) return Refusal.violation(server, "a body that is not JSON", text)
      if (!(Array.isArray(value) ? value : [value]).some(isAnswer)) {
        return Refusal.violation(server, "an answer to another request", text)
      }
      return Effect.sync(() => Messages.each(value, text, handlers(post)))
    })

  /** Succeeds with the cut if the answer did not come on its stream. */
  const readAnswer = (
    post: Connection.Post,
    id: JsonRpc.Id,
    response: IncomingMessage,
    inSession: boolean
  ): Effect.Effect<Sse.Cut | undefined, McpError.CallError> => {
    if (!Client.isSuccess(response)) return Refusal.refuseRequest(connection, response, id, inSession)
    if (response.statusCode === 202) {
      return isListening
        ? Effect.as(Client.drain(client, response, limits.errorBodyBytes), undefined)
        : Refusal.violation(server, "status 202 to a request, and no stream for its answer", "")
    }
    switch (Client.mediaType(response)) {
      case "application/json":
        return Number(response.headers["content-length"] ?? 0) > limits.maxMessageBytes
          ? Effect.fail(Refusal.broken(connection, "oversize"))
          : Effect.as(readJson(post, id, response), undefined)
      case "text/event-stream": {
        const on = handlers(post)
        const onEvent = (event: Sse.SseEvent): void => Sse.onMessage(event, on)
        return Effect.map(
          Sse.events(response, limits.maxMessageBytes, onEvent, () => !outbox.isPending(post)),
          (cut) => {
            if (cut.end !== "done") return cut
            if (!response.closed) client.linger(response)
            return undefined
          }
        )
      }
      default:
        return Refusal.unexpectedContent(connection, response)
    }
  }

  const interrupted = (detail: string) => new McpError.StreamInterrupted({ server, detail, outcome: "unknown" })

  const beginSession = (id: string | ReadonlyArray<string> | undefined): McpError.ProtocolViolation | undefined => {
    if (id !== undefined && (typeof id !== "string" || !sessionId.test(id))) {
      return Refusal.violation(server, "a session id of other than visible ASCII", String(id), "initialize")
    }
    headers.session = id
    return undefined
  }

  const heldBack = () =>
    new McpError.SessionExpired({
      server,
      detail: "not sent, because the session has expired and a new one has not started yet",
      outcome: "not-sent"
    })

  const request = (post: Connection.Post, message: JsonRpc.Request): Effect.Effect<void, McpError.CallError> => {
    const begins = isInitialize(message)
    if (expired && !begins) return heldBack()
    const session = begins ? undefined : headers.session
    const isStateless = headers.stateless(message) !== undefined
    const inSession = session !== undefined && !isStateless
    const exchange = client.exchange({
      method: "POST",
      path,
      headers: headers.post(message, post.bytes, post.headers),
      body: post.body,
      repeatable: RetryPolicy.isIdempotent(message.method),
      foreground: foreground.has(message.method),
      waiting: (open) => {
        if (outbox.isPending(post)) sink?.waiting(message.id, open)
      }
    }, (response): Effect.Effect<Sse.Cut | undefined, McpError.CallError> => {
      const broken = begins && Client.isSuccess(response)
        ? beginSession(response.headers["mcp-session-id"])
        : undefined
      return broken ?? readAnswer(post, message.id, response, inSession)
    })
    const resume = (cut: Sse.Cut | undefined): Effect.Effect<void, McpError.CallError> => {
      if (cut === undefined || cut.end === "done") return Effect.void
      const { end, lastEventId, retry } = cut
      if (end !== "ended" && end !== "cut") return Effect.fail(Refusal.broken(connection, end))
      if (isStateless || lastEventId === undefined) {
        return interrupted(end === "cut" ? "the connection was cut" : "the server ended it")
      }
      const rest = Resume.resume(options, get(session !== undefined, () => undefined), { lastEventId, retry })
      return Effect.flatMap(rest, interrupted)
    }
    return exchange.pipe(
      Effect.tapErrorTag("SessionExpired", () =>
        Effect.sync(() => {
          if (headers.session !== session) return
          expired = true
          stopListening()
        })),
      Effect.flatMap(resume)
    )
  }

  const stopListening = (): void => {
    listening?.unsafeInterruptAsFork(FiberId.none)
    listening = undefined
    isListening = false
  }

  /** Opens the stream of notifications; waits until it is open, or will not be for now, if the server may ask us. */
  const listen = Effect.suspend(() => {
    if (closed || headers.negotiated?.era === "stateless") return Effect.void
    stopListening()
    const settled = Deferred.unsafeMake<void>(FiberId.none)
    const change = (open: boolean): void => {
      isListening = open
      Deferred.unsafeDone(settled, Effect.void)
    }
    const follow = get(headers.session !== undefined, () => change(true))
    const once: Resume.Follow = (lastEventId, onMessage) =>
      Effect.ensuring(follow(lastEventId, onMessage), Effect.sync(() => change(false)))
    listening = connection.fork(Resume.listen(options, once, diagnostic))
    return answersServer ? Deferred.await(settled) : Effect.void
  })

  const notify = (post: Connection.Post): Effect.Effect<void, McpError.CallError> => {
    const { message } = post
    const exchange = client.exchange({
      method: "POST",
      path,
      headers: headers.post(message, post.bytes, post.headers),
      body: post.body,
      repeatable: true
    }, (response) =>
      Client.isSuccess(response)
        ? Client.drain(client, response, limits.errorBodyBytes)
        : Refusal.refuse(connection, response, headers.session !== undefined))
    return "method" in message && message.method === "notifications/initialized"
      ? Effect.zipRight(exchange, listen)
      : exchange
  }

  const outbox = Connection.outbox(connection, options.maxInFlight, {
    post: (post) => JsonRpc.isRequest(post.message) ? request(post, post.message) : notify(post),
    failed: (post, error) =>
      JsonRpc.isRequest(post.message) ? fail(post, error) : diagnostic(Connection.notAccepted(post.message, error))
  })

  const send: Transport.Transport["send"] = (message, sendOptions) => {
    if (closed) return new McpError.Closed({ server, operation: "sending", outcome: "not-sent" })
    for (const [name, value] of Object.entries(sendOptions?.headers ?? {})) {
      if (!Headers.isName(name) || !Headers.isValue(value)) {
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
    return outbox.send(message, sendOptions)
  }

  const farewell = Effect.suspend(() => {
    if (headers.session !== undefined && !expired) {
      const call: Client.Call = { method: "DELETE", path, headers: headers.delete(), repeatable: true }
      connection.forkAside(
        Effect.ignore(client.exchange(call, (response) => Effect.asVoid(Client.text(response, limits.errorBodyBytes))))
      )
    }
    return asideIdle
  })

  const transport: Transport.Transport = {
    kind: "streamable-http",
    streamPerRequest: true,
    start: (to) => {
      sink = to
    },
    send,
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
    /** Ends everything at once but the farewell to the server, and waits for that. */
    close: Effect.suspend(() => {
      closed = true
      stopListening()
      sink?.ended(outbox.close((outcome) => new McpError.Closed({ server, operation: "the request", outcome })))
      return farewell
    })
  }
}

const isInitialize = (message: JsonRpc.Message): boolean => "method" in message && message.method === "initialize"
