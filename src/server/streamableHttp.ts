/** Streamable HTTP for both eras at one path: admission, parsing, and routing to a session or the stateless era. */
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as Protocol from "../client/Protocol.ts"
import * as Scoped from "../scoped.ts"
import * as Admission from "./admission.ts"
import * as Conversation from "./conversation.ts"
import * as EventStream from "./eventStream.ts"
import type * as Exchange from "./exchange.ts"
import type * as HttpEndpoint from "./HttpEndpoint.ts"
import * as McpServer from "./McpServer.ts"
import * as Messages from "./messages.ts"
import * as ScopedTable from "./scopedTable.ts"
import * as StatelessEra from "./statelessEra.ts"

const { refuse } = Admission
const { codes } = McpServer

type Handled = Effect.Effect<Admission.Response, Admission.Response>

// Responses

/** The HTTP status of a protocol error in the stateless era. Errors of handlers have status 200. */
const statuses: ReadonlyMap<number, number> = new Map([
  ...Object.values(codes).map((code) => [code, 400] as const),
  [codes.methodNotFound, 404],
  [codes.overloaded, 503],
  [codes.internal, 500]
])

/** A response that takes longer is streamed, because proxies close connections that stay silent. */
const streamAfter = Duration.seconds(1)

const empty = (status: number): Admission.Response => HttpServerResponse.empty({ status, headers: Admission.always })

const events = (stream: Stream.Stream<Uint8Array>): Admission.Response =>
  HttpServerResponse.stream(stream, {
    headers: { ...Admission.always, "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" },
    contentType: "text/event-stream"
  })

/** A JSON body for a single message, and otherwise an event stream. A cancelled request has no response. */
const respond = (stream: EventStream.EventStream, status: (code: number) => number = () => 200): Admission.Response => {
  if (!stream.isShort) return events(stream.stream())
  const { first } = stream
  if (first === undefined) return empty(202)
  return Admission.json(first.code === undefined ? 200 : status(first.code), first.json)
}

const sessionNotFound = refuse(404, "Session not found: send initialize to start a new one")
const tooManySessions = McpServer.refusal("overloaded", "Too many sessions")

// Messages

/** The caller of a request, and its headers. */
type Sender = Omit<Exchange.Arrival, "done" | "output">

/** Handles the messages of a POST. Returns when its stream has an event or has ended, or at the limit. */
const receiveAll = (
  messages: ReadonlyArray<Messages.Received>,
  { receive }: Conversation.Conversation,
  output: EventStream.EventStream,
  sender: Sender,
  limit: Duration.DurationInput
): Effect.Effect<void> =>
  Effect.suspend(() => {
    let waiting = messages.length
    const done = (): void => {
      if (--waiting === 0) output.end()
    }
    const arrival = { ...sender, output, done }
    const received = Effect.forEach(messages, (message) => receive(message, arrival), { discard: true })
    return Effect.zipRight(received, output.ready(limit))
  })

/** The first version with priming events, which have an id and no data. */
const firstPriming = "2025-11-25"

/** Ended streams of a session that can still be resumed. */
const maxEnded = 16

type Session = Effect.Effect.Success<ReturnType<typeof makeSession>>

/** A session: a conversation over many event streams, which callers can resume. */
const makeSession = (
  id: string,
  principal: string | undefined,
  offer: McpServer.Offer,
  options: HttpEndpoint.Options
) =>
  Effect.gen(function*() {
    const fork = yield* FiberSet.makeRuntime<never, void>()
    const standalone = new EventStream.EventStream({ ...options, name: "0" })
    const streams = new Map([["0", standalone]])
    let posts = 0
    const conversation = yield* Conversation.make({ offer, limits: options, link: "http", output: standalone })
    const endStreams = (): void => streams.forEach((stream) => stream.end())
    yield* Scoped.onClose(endStreams)

    const keep = (name: string, stream: EventStream.EventStream): void => {
      streams.set(name, stream)
      const ended = Array.from(streams).filter(([, { isAttached, isEnded }]) => isEnded && !isAttached)
      for (const [name] of ended.slice(0, -maxEnded)) streams.delete(name)
    }

    const post = (messages: ReadonlyArray<Messages.Received>, sender: Sender, limit: Duration.DurationInput) =>
      Effect.gen(function*() {
        const name = `${++posts}`
        const cancel = (isAbandoned: () => boolean) =>
          Effect.sync(() => {
            if (!isAbandoned()) return
            for (const message of messages) if (message._tag === "Request") conversation.cancel(message.id)
          })
        const stream = new EventStream.EventStream({
          ...options,
          name,
          primes: (conversation.protocolVersion() ?? "") >= firstPriming,
          // the caller has some time to resume
          left: (isAbandoned) => Effect.sync(() => fork(Effect.delay(cancel(isAbandoned), options.resumeTimeout)))
        })
        yield* receiveAll(messages, conversation, stream, sender, limit)
        if (!stream.isShort) keep(name, stream)
        return stream
      })

    /** The rest of a stream that broke, or else the stream for messages that belong to no request. */
    const get = (lastEventId: string | undefined): Stream.Stream<Uint8Array> => {
      const last = lastEventId === undefined ? undefined : EventStream.parseId(lastEventId)
      const stream = last && streams.get(last.name)
      // a forgotten stream cannot be resumed, so its reader gets the messages that belong to no request
      return stream === undefined ? standalone.stream() : stream.stream(last?.number)
    }

    const isBusy = (): boolean =>
      !conversation.isIdle() || Array.from(streams.values()).some(({ isAttached }) => isAttached)

    return { id, principal, conversation, post, get, isBusy, endStreams }
  })

// Requests

export const make = (
  offer: McpServer.Offer,
  options: HttpEndpoint.Options
): Effect.Effect<HttpEndpoint.HttpEndpoint, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { isAllowed, isNamed } = Admission.hosts(options)
    const principalOf = Admission.principal(options, offer)
    const stateless = yield* Conversation.make({ offer, limits: options, link: "http" })
    const sessions = yield* ScopedTable.make<Session>({
      max: options.maxSessions,
      timeout: options.sessionTimeout,
      isBusy: (session) => session.isBusy(),
      evicts: true
    })
    const pages = new Map(options.pages.map((page) => [page.path, page]))
    let isClosing = false

    /** Routes one request. */
    const route = (request: HttpServerRequest.HttpServerRequest, principal: string | undefined): Handled => {
      const header: McpServer.Exchange["header"] = (name) => request.headers[name.toLowerCase()]
      const sender = { header, principal }
      const version = header("mcp-protocol-version")
      const isStateless = version !== undefined && Protocol.statelessVersions.includes(version)
      const id = header("mcp-session-id")
      const found = id === undefined ? undefined : sessions.find(id)
      const session = found?.principal === principal ? found : undefined

      const inSession = Effect.suspend(() => {
        if (version !== undefined && !Protocol.sessionVersions.includes(version)) {
          const supported = [...Protocol.sessionVersions, ...Protocol.statelessVersions]
          return Effect.fail(Admission.failure(400, StatelessEra.unsupported(version, supported)))
        }
        if (id === undefined) return refuse(400, "Bad Request: Mcp-Session-Id is missing; send initialize first")
        return session === undefined ? sessionNotFound : Effect.succeed(session)
      })

      const withoutSession = (message: Messages.Request): Handled =>
        Effect.gen(function*() {
          yield* Admission.repeated(message, header)
          // a unique key, because two callers may use the same id
          const key = Symbol()
          // closing the stream cancels the request
          const cancel = Effect.sync(() => stateless.cancel(key))
          const stream = new EventStream.EventStream({ ...options, left: () => cancel })
          yield* receiveAll([message], stateless, stream, { ...sender, key, era: "stateless" }, streamAfter)
          return respond(stream, (code) => statuses.get(code) ?? 200)
        })

      const initialize = (message: Messages.Request): Handled =>
        sessions.open((id) =>
          Effect.gen(function*() {
            const session = yield* makeSession(id, principal, offer, options)
            // the response waits for the handshake, because its headers carry the session id
            const response = respond(yield* session.post([message], sender, Duration.infinity))
            if (!session.conversation.isOpen()) return yield* Effect.fail(response)
            return [session, HttpServerResponse.setHeader(response, "mcp-session-id", id)]
          }), Admission.failure(503, tooManySessions, message.id, { "retry-after": "10" }))

      const post = Effect.gen(function*() {
        const text = yield* Admission.body(request, options.maxMessageBytes)
        const messages = Messages.read(text, session?.conversation.protocolVersion(), options.maxRequests)
        const only = messages.length === 1 ? messages[0] : undefined
        if (only?._tag === "Invalid") return Admission.failure(400, only.refusal, only.id)
        if (only?._tag === "Request") {
          if (isStateless || StatelessEra.includes(only)) return yield* withoutSession(only)
          if (only.method === "initialize" && id === undefined) return yield* initialize(only)
        }
        // the stateless era has no notifications from callers
        if (only !== undefined && isStateless) return empty(202)
        const current = yield* inSession
        const stream = yield* current.post(messages, sender, streamAfter)
        const isOver = stream.isShort && stream.first === undefined && sessions.find(current.id) !== current
        return isOver ? yield* sessionNotFound : respond(stream)
      })

      switch (request.method) {
        case "POST":
          return post
        case "GET":
          if (!Admission.accepts(header("accept"), "text/event-stream")) {
            return refuse(406, "Not Acceptable: accept text/event-stream")
          }
          if (isStateless) {
            return refuse(405, "Method Not Allowed: this protocol version has no GET stream", { allow: "POST" })
          }
          return Effect.map(inSession, (session) => events(session.get(header("last-event-id"))))
        case "DELETE":
          return Effect.flatMap(inSession, ({ id }) => Effect.as(sessions.remove(id), empty(200)))
        default:
          return refuse(405, "Method Not Allowed", { allow: "POST, GET, DELETE, OPTIONS" })
      }
    }

    const handle = (request: HttpServerRequest.HttpServerRequest): Handled =>
      Effect.gen(function*() {
        const { headers, method, url } = request
        const path = url.split("?", 1)[0]!
        const page = method === "GET" ? pages.get(path) : undefined
        if (path !== options.path && page === undefined) return yield* refuse(404, "Not Found")
        if (page?.guarded === false) return yield* page.render
        const principal = yield* principalOf(headers)
        if (page !== undefined) return yield* page.render
        return yield* isClosing ? refuse(503, "This server is shutting down") : route(request, principal)
      })

    const cors = HttpMiddleware.cors({
      allowedOrigins: (origin: string | undefined) => origin !== undefined && isAllowed(origin),
      allowedMethods: ["POST", "GET", "DELETE"],
      exposedHeaders: ["Mcp-Session-Id", "MCP-Protocol-Version", "WWW-Authenticate"],
      maxAge: 600
    })
    const app = cors(Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => Effect.merge(handle(request))))

    const close = Effect.suspend(() => {
      isClosing = true
      for (const session of sessions.values()) session.endStreams()
      return stateless.end
    })
    yield* Effect.addFinalizer(() => close)

    return {
      // interruptible, because platform would otherwise wait for requests whose caller has disconnected
      app: Effect.interruptible(Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers: { host, origin } }) => {
        if (host === undefined || !isNamed(host)) {
          return Effect.merge(refuse(403, "Forbidden: this Host is not allowed"))
        }
        return origin === undefined || isAllowed(origin)
          ? app
          : Effect.merge(refuse(403, "Forbidden: this Origin is not allowed"))
      })),
      sessions: () => sessions.values().length,
      close
    }
  })
