/** One address for callers of both eras: what comes is admitted, read, told apart and handed on. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import * as Protocol from "../../../client/Protocol.ts"
import type * as HttpEndpoint from "../../HttpEndpoint.ts"
import * as McpServer from "../../McpServer.ts"
import * as Envelope from "../envelope.ts"
import * as Exchange from "../exchange.ts"
import * as Stateless from "../stateless.ts"
import * as Admission from "./admission.ts"
import * as Body from "./body.ts"
import * as Channel from "./channel.ts"
import * as Responses from "./responses.ts"
import * as Sessions from "./sessions.ts"
import * as StandardHeaders from "./standardHeaders.ts"

type Header = McpServer.Exchange["header"]

/** What an error of the stateless era is to those who do not read it. */
const statusOf = (code: number): number => {
  switch (code) {
    case McpServer.codes.methodNotFound:
      return 404
    case McpServer.codes.parse:
    case McpServer.codes.invalidRequest:
    case McpServer.codes.invalidParams:
    case McpServer.codes.headerMismatch:
    case McpServer.codes.missingCapability:
    case McpServer.codes.unsupportedVersion:
      return 400
    case McpServer.codes.overloaded:
      return 503
    case McpServer.codes.internal:
      return 500
    default:
      return 200
  }
}

const accepts = (header: string | undefined, type: string): boolean => {
  const [kind = ""] = type.split("/")
  return header === undefined ||
    header.toLowerCase().split(",").some((one) => {
      const [range = ""] = one.trim().split(";")
      return range === type || range === "*/*" || range === `${kind}/*`
    })
}

const methods = "POST, GET, DELETE, OPTIONS"

const allowedHeaders =
  "Content-Type, Accept, Authorization, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID"

const closing = Responses.refused(503, "This server is closing", { "retry-after": "1" })

/** @internal */
export const make = (
  offer: McpServer.Offer,
  options: HttpEndpoint.Options
): Effect.Effect<HttpEndpoint.HttpEndpoint, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { maxMessageBytes } = options
    const keepAlive = Duration.decode(options.keepAlive)
    const admission = Admission.make(options, offer.info.name)
    const stateless = yield* Stateless.make({ offer, limits: options, link: "http" })
    const sessions = yield* Sessions.make(offer, options)
    const fork = yield* FiberSet.makeRuntime<never, void>()
    const pages = new Map(options.pages.map((page) => [page.path, page]))
    let isClosing = false
    let inFlight = 0

    /** A request of the stateless era, as long as somebody waits for it. */
    const alone = (
      { id, method, params }: Envelope.Envelope & { readonly _tag: "Request" },
      principal: string | undefined,
      header: Header
    ): Effect.Effect<Responses.Response> =>
      Effect.suspend(() => {
        const wrong = StandardHeaders.check(method, params, header)
        if (wrong !== undefined) {
          return Effect.succeed(Responses.failure(id, wrong, statusOf(wrong.code)))
        }
        if (inFlight >= options.maxRequests) {
          return Effect.succeed(
            Responses.refused(503, "Too many requests at once", { "retry-after": "1" }, McpServer.codes.overloaded, id)
          )
        }
        inFlight++
        const channel = new Channel.Channel({ name: undefined, primes: false, maxMessageBytes, keepAlive })
        const fiber = fork(
          stateless.answer({ id, method, params, principal, outlet: channel, header }).pipe(
            Effect.flatMap((end) => end === undefined ? Effect.void : channel.send(Exchange.answerOf(id, end))),
            Effect.ensuring(Effect.sync(() => {
              inFlight--
              channel.end()
            }))
          )
        )
        // whoever closes the stream cancels
        const left = Effect.sync(() => fiber.unsafeInterruptAsFork(fiber.id()))
        return Responses.reply(channel, { status: statusOf, left })
      })

    const initialize = (
      envelope: Envelope.Envelope & { readonly _tag: "Request" },
      principal: string | undefined,
      header: Header
    ): Effect.Effect<Responses.Response> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const opened = yield* sessions.open(principal)
          if (opened === undefined) {
            const { overloaded } = McpServer.codes
            return Responses.refused(503, "Too many sessions", { "retry-after": "10" }, overloaded, envelope.id)
          }
          const { discard, id, keep, session } = opened
          const response = yield* Effect.onError(
            restore(session.post([envelope], header, { "mcp-session-id": id })),
            () => Effect.sync(discard)
          )
          if (session.conversation.caller() === undefined) discard()
          else keep()
          return response
        })
      )

    const versionFault = (header: Header): Responses.Response | undefined => {
      const version = header("mcp-protocol-version")
      if (version === undefined || Protocol.sessionVersions.includes(version)) return undefined
      const refusal = new McpServer.Refusal({
        code: McpServer.codes.unsupportedVersion,
        message: "Unsupported protocol version",
        data: { supported: [...Protocol.sessionVersions, ...Protocol.statelessVersions], requested: version }
      })
      return Responses.failure(null, refusal, 400)
    }

    const sessionOf = (principal: string | undefined, header: Header) => {
      const id = header("mcp-session-id")
      if (id === undefined) {
        return Either.left(Responses.refused(400, "Bad Request: Mcp-Session-Id is missing; begin with initialize"))
      }
      const session = sessions.find(id, principal)
      return session === undefined
        ? Either.left(Responses.sessionNotFound)
        : Either.right(session)
    }

    const inSession = (
      envelopes: ReadonlyArray<Envelope.Envelope>,
      principal: string | undefined,
      header: Header
    ): Effect.Effect<Responses.Response> => {
      const fault = versionFault(header)
      if (fault !== undefined) return Effect.succeed(fault)
      const found = sessionOf(principal, header)
      return Either.isLeft(found) ? Effect.succeed(found.left) : found.right.post(envelopes, header)
    }

    const isStateless = (envelope: Envelope.Envelope, header: Header): boolean =>
      Protocol.statelessVersions.includes(header("mcp-protocol-version") ?? "") ||
      (envelope._tag === "Request" && Stateless.isForEra(envelope))

    const post = (
      request: HttpServerRequest.HttpServerRequest,
      principal: string | undefined,
      header: Header
    ): Effect.Effect<Responses.Response> => {
      if (!/^application\/json\s*(;|$)/i.test(header("content-type") ?? "")) {
        return Effect.succeed(Responses.refused(415, "Unsupported Media Type: send application/json"))
      }
      const accept = header("accept")
      if (!accepts(accept, "application/json") || !accepts(accept, "text/event-stream")) {
        return Effect.succeed(
          Responses.refused(406, "Not Acceptable: accept both application/json and text/event-stream")
        )
      }
      return Effect.matchEffect(Body.read(request, maxMessageBytes), {
        onFailure: (fault) =>
          Effect.succeed(
            fault === "too-large"
              ? Responses.refused(413, `Content Too Large: more than ${maxMessageBytes} bytes`, { connection: "close" })
              : Responses.refused(400, "Bad Request: the body ended too early", {}, McpServer.codes.parse)
          ),
        onSuccess: (text) => {
          const parsed = Envelope.parse(text)
          if (!("_tag" in parsed)) {
            const found = sessionOf(principal, header)
            const version = Either.isRight(found) ? found.right.conversation.caller()?.protocolVersion : undefined
            const batch = Envelope.batch(parsed, version, options.maxRequests)
            return batch.length === 1 && batch[0]?._tag === "Invalid"
              ? Effect.succeed(refusedAs(batch[0]))
              : inSession(batch, principal, header)
          }
          switch (parsed._tag) {
            case "Invalid":
              return Effect.succeed(refusedAs(parsed))
            case "Request":
              if (isStateless(parsed, header)) return alone(parsed, principal, header)
              return parsed.method === "initialize" && header("mcp-session-id") === undefined
                ? initialize(parsed, principal, header)
                : inSession([parsed], principal, header)
            default:
              // in the stateless era nothing is told to a server but by requests
              return isStateless(parsed, header)
                ? Effect.succeed(Responses.empty(202))
                : inSession([parsed], principal, header)
          }
        }
      })
    }

    const get = (principal: string | undefined, header: Header): Responses.Response => {
      if (!accepts(header("accept"), "text/event-stream")) {
        return Responses.refused(406, "Not Acceptable: accept text/event-stream")
      }
      if (Protocol.statelessVersions.includes(header("mcp-protocol-version") ?? "")) {
        return Responses.refused(405, "Method Not Allowed: this version has no such stream", { allow: "POST" })
      }
      const fault = versionFault(header)
      if (fault !== undefined) return fault
      const found = sessionOf(principal, header)
      return Either.isLeft(found) ? found.left : found.right.get(header("last-event-id"))
    }

    const end = (principal: string | undefined, header: Header): Responses.Response => {
      const id = header("mcp-session-id")
      if (id === undefined) return Responses.refused(400, "Bad Request: Mcp-Session-Id is missing")
      return sessions.end(id, principal) ? Responses.empty(200) : Responses.refused(404, "Session not found")
    }

    const protocol = (
      request: HttpServerRequest.HttpServerRequest,
      principal: string | undefined,
      header: Header
    ): Effect.Effect<Responses.Response> => {
      switch (request.method) {
        case "POST":
          return post(request, principal, header)
        case "GET":
          return Effect.sync(() => get(principal, header))
        case "DELETE":
          return Effect.sync(() => end(principal, header))
        default:
          return Effect.succeed(Responses.refused(405, "Method Not Allowed", { allow: methods }))
      }
    }

    const handle = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Responses.Response> =>
      Effect.suspend(() => {
        const { headers, method } = request
        const header: Header = (name) => headers[name.toLowerCase()]
        const admitted = admission.origin(headers)
        if (Either.isLeft(admitted)) return Effect.succeed(admitted.left)
        const cors = admitted.right
        const path = request.url.split("?", 1)[0]!
        const page = method === "GET" ? pages.get(path) : undefined
        if (path !== options.path && page === undefined) return Effect.succeed(Responses.refused(404, "Not Found"))
        if (method === "OPTIONS") {
          return Effect.succeed(Responses.empty(204, {
            ...cors,
            allow: methods,
            "access-control-allow-methods": methods,
            "access-control-allow-headers": header("access-control-request-headers") ?? allowedHeaders,
            "access-control-max-age": "600"
          }))
        }
        if (page?.guarded === false) return page.render
        const principal = admission.principal(headers)
        if (Either.isLeft(principal)) return Effect.succeed(Responses.withHeaders(principal.left, cors))
        if (page !== undefined) return page.render
        if (isClosing) return Effect.succeed(closing)
        return Effect.map(
          protocol(request, principal.right, header),
          (response) => Responses.withHeaders(response, cors)
        )
      })

    const close = Effect.sync(() => {
      isClosing = true
      stateless.end()
      sessions.close()
    })
    yield* Effect.addFinalizer(() => close)

    return {
      // platform runs apps uninterruptibly, and a caller that leaves would be waited for
      app: Effect.interruptible(Effect.flatMap(HttpServerRequest.HttpServerRequest, handle)),
      sessions: sessions.size,
      close
    }
  })

const refusedAs = ({ id, refusal }: Envelope.Envelope & { readonly _tag: "Invalid" }): Responses.Response =>
  Responses.failure(id, refusal, 400)
