/** Streamable HTTP: one address for callers of both eras, whose requests are admitted, read, told apart and routed. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Protocol from "../client/Protocol.ts"
import * as Admission from "./admission.ts"
import * as EventStream from "./eventStream.ts"
import type * as HttpEndpoint from "./HttpEndpoint.ts"
import * as Sessions from "./httpSessions.ts"
import * as McpServer from "./McpServer.ts"
import * as Messages from "./messages.ts"
import * as Stateless from "./stateless.ts"

const { refuse } = Admission

type Header = McpServer.Exchange["header"]
type Handled = Effect.Effect<Admission.Response, Admission.Response>

const methods = "POST, GET, DELETE, OPTIONS"

const allowedHeaders =
  "Content-Type, Accept, Authorization, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID"

const { codes } = McpServer

/** The HTTP status of an error of the stateless era. */
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

const events = (stream: ReturnType<EventStream.EventStream["stream"]>): Admission.Response =>
  HttpServerResponse.stream(stream, {
    headers: { ...Admission.always, "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" },
    contentType: "text/event-stream"
  })

/** One JSON text, if that is all there is to say, and otherwise a stream. A cancelled request has no answer. */
const respond = (stream: EventStream.EventStream, status: (code: number) => number = () => 200): Admission.Response => {
  if (!stream.isShort) return events(stream.stream())
  const { first } = stream
  return first === undefined
    ? empty(202)
    : Admission.json(first.code === undefined ? 200 : status(first.code), first.json)
}

const sessionNotFound = refuse(404, "Session not found; begin anew with initialize")

const isStatelessVersion = (header: Header): boolean =>
  Protocol.statelessVersions.includes(header("mcp-protocol-version") ?? "")

export const make = (
  offer: McpServer.Offer,
  options: HttpEndpoint.Options
): Effect.Effect<HttpEndpoint.HttpEndpoint, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { maxMessageBytes, maxRequests } = options
    const originOf = Admission.origin(options)
    const principalOf = Admission.principal(options, offer)
    const stateless = yield* Stateless.make({ offer, limits: options, link: "http" })
    const sessions = yield* Sessions.make(offer, options)
    const pages = new Map(options.pages.map((page) => [page.path, page]))
    let isClosing = false

    const withoutSession = (message: Messages.Request, principal: string | undefined, header: Header): Handled =>
      Effect.gen(function*() {
        yield* Admission.repeated(message, header)
        const key = Symbol()
        // a caller that closes the stream cancels
        const stream = new EventStream.EventStream({
          ...options,
          left: () => Effect.sync(() => stateless.cancel(key))
        })
        yield* stateless.receive({ ...message, output: stream, principal, header, done: stream.end }, key)
        yield* stream.ready(patience)
        return respond(stream, (code) => statuses.get(code) ?? 200)
      })

    const initialize = (message: Messages.Request, principal: string | undefined, header: Header): Handled =>
      Effect.acquireUseRelease(
        Effect.mapError(
          sessions.open(principal),
          (refusal) => Admission.failure(503, refusal, message.id, { "retry-after": "10" })
        ),
        // the response says whether there is a session, so it waits for the handshake
        (session) =>
          Effect.map(
            session.post([message], header, Duration.infinity),
            (stream) =>
              session.conversation.isOpen()
                ? HttpServerResponse.setHeader(respond(stream), "mcp-session-id", session.id)
                : respond(stream)
          ),
        (session) => session.conversation.isOpen() ? Effect.void : sessions.end(session)
      )

    const sessionOf = (
      principal: string | undefined,
      header: Header
    ): Effect.Effect<Sessions.Session, Admission.Response> =>
      Effect.suspend(() => {
        const version = header("mcp-protocol-version")
        if (version !== undefined && !Protocol.sessionVersions.includes(version)) {
          const supported = [...Protocol.sessionVersions, ...Protocol.statelessVersions]
          const message = "Unsupported protocol version"
          const data = { supported, requested: version }
          return Effect.fail(
            Admission.failure(400, new McpServer.Refusal({ code: codes.unsupportedVersion, message, data }))
          )
        }
        const id = header("mcp-session-id")
        if (id === undefined) return refuse(400, "Bad Request: Mcp-Session-Id is missing; begin with initialize")
        const session = sessions.find(id, principal)
        return session === undefined ? sessionNotFound : Effect.succeed(session)
      })

    const post = (
      request: HttpServerRequest.HttpServerRequest,
      principal: string | undefined,
      header: Header
    ): Handled =>
      Effect.gen(function*() {
        const text = yield* Admission.body(request, maxMessageBytes)
        const id = header("mcp-session-id")
        const known = id === undefined ? undefined : sessions.find(id, principal)
        const messages = Messages.read(text, known?.conversation.protocolVersion(), maxRequests)
        const only = messages.length === 1 ? messages[0] : undefined
        if (only?._tag === "Invalid") return Admission.failure(400, only.refusal, only.id)
        const isStateless = isStatelessVersion(header) || (only?._tag === "Request" && Stateless.isOfEra(only))
        if (isStateless && only?._tag === "Request") return yield* withoutSession(only, principal, header)
        // notifications of callers mean nothing in the stateless era
        if (isStateless && only !== undefined) return empty(202)
        if (only?._tag === "Request" && only.method === "initialize" && id === undefined) {
          return yield* initialize(only, principal, header)
        }
        const session = yield* sessionOf(principal, header)
        const stream = yield* session.post(messages, header, patience)
        const isOver = stream.isShort && stream.first === undefined &&
          sessions.find(session.id, principal) === undefined
        return isOver ? yield* sessionNotFound : respond(stream)
      })

    const get = (principal: string | undefined, header: Header): Handled =>
      Effect.gen(function*() {
        if (!Admission.accepts(header("accept"), "text/event-stream")) {
          return yield* refuse(406, "Not Acceptable: accept text/event-stream")
        }
        if (isStatelessVersion(header)) {
          return yield* refuse(405, "Method Not Allowed: this version has no such stream", { allow: "POST" })
        }
        const session = yield* sessionOf(principal, header)
        return events(session.get(header("last-event-id")))
      })

    const end = (principal: string | undefined, header: Header): Handled =>
      Effect.gen(function*() {
        const id = header("mcp-session-id")
        if (id === undefined) return yield* refuse(400, "Bad Request: Mcp-Session-Id is missing")
        const session = sessions.find(id, principal)
        if (session === undefined) return yield* refuse(404, "Session not found")
        yield* sessions.end(session)
        return empty(200)
      })

    const admitted = (request: HttpServerRequest.HttpServerRequest, page: HttpEndpoint.Page | undefined): Handled =>
      Effect.gen(function*() {
        const header: Header = (name) => request.headers[name.toLowerCase()]
        const principal = yield* principalOf(request.headers)
        if (page !== undefined) return yield* page.render
        if (isClosing) return yield* refuse(503, "This server is closing")
        switch (request.method) {
          case "POST":
            return yield* post(request, principal, header)
          case "GET":
            return yield* get(principal, header)
          case "DELETE":
            return yield* end(principal, header)
          default:
            return yield* refuse(405, "Method Not Allowed", { allow: methods })
        }
      })

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
        return HttpServerResponse.setHeaders(yield* Effect.merge(admitted(request, page)), cors)
      })

    const close = Effect.suspend(() => {
      isClosing = true
      sessions.close()
      return stateless.end
    })
    yield* Effect.addFinalizer(() => close)

    return {
      // platform runs apps uninterruptibly, and would wait for requests whose caller is gone
      app: Effect.interruptible(
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => Effect.merge(handle(request)))
      ),
      sessions: sessions.size,
      close
    }
  })
