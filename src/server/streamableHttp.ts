/** Streamable HTTP: one address for callers of both eras, whose requests are admitted, read, told apart and routed. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as Protocol from "../client/Protocol.ts"
import * as Admission from "./admission.ts"
import * as EventStream from "./eventStream.ts"
import type * as HttpEndpoint from "./HttpEndpoint.ts"
import * as HttpSession from "./httpSession.ts"
import * as McpServer from "./McpServer.ts"
import * as Messages from "./messages.ts"
import * as ScopedTable from "./scopedTable.ts"
import * as Stateless from "./stateless.ts"

const { refuse } = Admission
const { codes } = McpServer

type Handled = Effect.Effect<Admission.Response, Admission.Response>

const methods = "POST, GET, DELETE, OPTIONS"

const allowedHeaders =
  "Content-Type, Accept, Authorization, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID"

/** The HTTP status of an error of the stateless era; 200 for those of handlers. */
const statuses: ReadonlyMap<number, number> = new Map([
  [codes.methodNotFound, 404],
  [codes.parse, 400],
  [codes.invalidRequest, 400],
  [codes.invalidParams, 400],
  [codes.headerMismatch, 400],
  [codes.missingCapability, 400],
  [codes.unsupportedVersion, 400],
  [codes.overloaded, 503],
  [codes.internal, 500]
])

/** A response that takes longer begins as a stream, so that no proxy takes the silence for the end. */
const patience = Duration.seconds(1)

const empty = (status: number, headers = {}): Admission.Response =>
  HttpServerResponse.empty({ status, headers: { ...Admission.always, ...headers } })

const events = (stream: Stream.Stream<Uint8Array>): Admission.Response =>
  HttpServerResponse.stream(stream, {
    headers: { ...Admission.always, "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" },
    contentType: "text/event-stream"
  })

/** One JSON text, if that is all there is to say, and otherwise a stream. A cancelled request has no answer. */
const respond = (stream: EventStream.EventStream, status: (code: number) => number = () => 200): Admission.Response => {
  if (!stream.isShort) return events(stream.stream())
  const { first } = stream
  if (first === undefined) return empty(202)
  return Admission.json(first.code === undefined ? 200 : status(first.code), first.json)
}

const sessionNotFound = refuse(404, "Session not found; begin anew with initialize")
const tooManySessions = McpServer.refusal("overloaded", "Too many sessions")

export const make = (
  offer: McpServer.Offer,
  options: HttpEndpoint.Options
): Effect.Effect<HttpEndpoint.HttpEndpoint, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { keepAlive, maxMessageBytes } = options
    const originOf = Admission.origin(options)
    const principalOf = Admission.principal(options, offer)
    const stateless = yield* Stateless.make({ offer, limits: options, link: "http" })
    const sessions = yield* ScopedTable.make<HttpSession.HttpSession>({
      max: options.maxSessions,
      timeout: options.sessionTimeout,
      isBusy: (session) => session.isBusy(),
      evicts: true
    })
    const pages = new Map(options.pages.map((page) => [page.path, page]))
    let isClosing = false

    /** The protocol for one request. */
    const route = (request: HttpServerRequest.HttpServerRequest, principal: string | undefined): Handled => {
      const header: McpServer.Exchange["header"] = (name) => request.headers[name.toLowerCase()]
      const version = header("mcp-protocol-version")
      const isStateless = version !== undefined && Protocol.statelessVersions.includes(version)
      const id = header("mcp-session-id")
      const found = id === undefined ? undefined : sessions.find(id)
      const session = found?.principal === principal ? found : undefined

      const inSession = Effect.suspend(() => {
        if (version !== undefined && !Protocol.sessionVersions.includes(version)) {
          const supported = [...Protocol.sessionVersions, ...Protocol.statelessVersions]
          return Effect.fail(Admission.failure(400, Stateless.unsupported(version, supported)))
        }
        if (id === undefined) return refuse(400, "Bad Request: Mcp-Session-Id is missing; begin with initialize")
        return session === undefined ? sessionNotFound : Effect.succeed(session)
      })

      const withoutSession = (message: Messages.Request): Handled =>
        Effect.gen(function*() {
          yield* Admission.repeated(message, header)
          const key = Symbol()
          // a caller that closes the stream cancels
          const cancel = Effect.sync(() => stateless.cancel(key))
          const stream = new EventStream.EventStream({ maxMessageBytes, keepAlive, left: () => cancel })
          yield* stateless.receive(message, { output: stream, principal, header, done: stream.end }, key)
          yield* stream.ready(patience)
          return respond(stream, (code) => statuses.get(code) ?? 200)
        })

      const initialize = (message: Messages.Request): Handled =>
        sessions.open((id) =>
          Effect.gen(function*() {
            const session = yield* HttpSession.make(id, principal, offer, options)
            // the response says whether there is a session, so it waits for the handshake
            const response = respond(yield* session.post([message], header, Duration.infinity))
            if (!session.conversation.isOpen()) return yield* Effect.fail(response)
            return [session, HttpServerResponse.setHeader(response, "mcp-session-id", id)]
          }), Admission.failure(503, tooManySessions, message.id, { "retry-after": "10" }))

      const post = Effect.gen(function*() {
        const text = yield* Admission.body(request, maxMessageBytes)
        const messages = Messages.read(text, session?.conversation.protocolVersion(), options.maxRequests)
        const only = messages.length === 1 ? messages[0] : undefined
        if (only?._tag === "Invalid") return Admission.failure(400, only.refusal, only.id)
        if (only?._tag === "Request") {
          if (isStateless || Stateless.isOfEra(only)) return yield* withoutSession(only)
          if (only.method === "initialize" && id === undefined) return yield* initialize(only)
        }
        // notifications of callers mean nothing in the stateless era
        if (only !== undefined && isStateless) return empty(202)
        const current = yield* inSession
        const stream = yield* current.post(messages, header, patience)
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
            return refuse(405, "Method Not Allowed: this version has no such stream", { allow: "POST" })
          }
          return Effect.map(inSession, (session) => events(session.get(header("last-event-id"))))
        case "DELETE":
          return Effect.flatMap(inSession, ({ id }) => Effect.as(sessions.remove(id), empty(200)))
        default:
          return refuse(405, "Method Not Allowed", { allow: methods })
      }
    }

    const handle = (request: HttpServerRequest.HttpServerRequest): Handled =>
      Effect.gen(function*() {
        const { headers, method, url } = request
        const cors = yield* originOf(headers)
        const path = url.split("?", 1)[0]!
        const page = method === "GET" ? pages.get(path) : undefined
        if (path !== options.path && page === undefined) return yield* refuse(404, "Not Found")
        if (method === "OPTIONS") {
          return empty(204, {
            ...cors,
            allow: methods,
            "access-control-allow-methods": methods,
            "access-control-allow-headers": headers["access-control-request-headers"] ?? allowedHeaders,
            "access-control-max-age": "600"
          })
        }
        if (page?.guarded === false) return yield* page.render
        const admitted = Effect.flatMap(principalOf(headers), (principal): Handled => {
          if (page !== undefined) return page.render
          return isClosing ? refuse(503, "This server is closing") : route(request, principal)
        })
        const response = yield* Effect.merge(admitted)
        return headers["origin"] === undefined ? response : HttpServerResponse.setHeaders(response, cors)
      })

    const close = Effect.suspend(() => {
      isClosing = true
      for (const session of sessions.values()) session.endStreams()
      return stateless.end
    })
    yield* Effect.addFinalizer(() => close)

    return {
      // platform runs apps uninterruptibly, and would wait for requests whose caller is gone
      app: Effect.interruptible(
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => Effect.merge(handle(request)))
      ),
      sessions: () => sessions.values().length,
      close
    }
  })
