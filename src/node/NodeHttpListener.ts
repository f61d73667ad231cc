// @effect-diagnostics nodeBuiltinImport:off -- the HTTP server of platform waits without a limit when it closes
/** An HTTP server with limits for slow callers and for the number of connections. */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import * as McpError from "../McpError.ts"
import * as CallSpan from "../observability/CallSpan.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as HttpEndpoint from "../server/HttpEndpoint.ts"
import type * as McpServer from "../server/McpServer.ts"
import * as Listen from "./listen.ts"

export interface Options {
  readonly host: string
  /** 0 selects a free port. */
  readonly port: number
  readonly maxConnections: number
  /** The time limit for receiving a request. */
  readonly requestTimeout: Duration.DurationInput
  /** The announced idle time of a connection. It is closed after twice this time, because callers may be late. */
  readonly keepAliveTimeout: Duration.DurationInput
  /** The time limit for connections to end when the server closes. */
  readonly closeTimeout: Duration.DurationInput
}

export const defaults: Options = {
  host: "127.0.0.1",
  port: 0,
  maxConnections: 4_096,
  requestTimeout: Duration.seconds(30),
  keepAliveTimeout: Duration.seconds(15),
  closeTimeout: Duration.seconds(2)
}

const failed = ({ host, port }: Options, code: string) =>
  new McpError.ConfigurationError({
    server: "",
    path: `${host}:${port}`,
    detail: `the port ${Listen.faultOf(code)}; choose another port or host, or port 0 for any free port`
  })

const close = (server: Http.Server, limit: Duration.Duration): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    server.close(() => resume(Effect.void))
    server.closeIdleConnections()
  }).pipe(
    BoundedWait.within(limit),
    Effect.zipRight(Effect.sync(() => server.closeAllConnections()))
  )

/** Serves the app until the scope closes. Returns the port. */
const listen = (
  app: HttpApp.Default,
  options?: Partial<Options>
): Effect.Effect<number, McpError.ConfigurationError, Scope.Scope> =>
  Effect.gen(function*() {
    const all: Options = { ...defaults, ...options }
    // imported on demand, because it doubles the size of a program that does not listen
    const { makeHandler } = yield* Effect.promise(() => import("@effect/platform-node/NodeHttpServer"))
    // disabled without a tracer, because a span costs more than the rest of a request
    const isTraced = yield* CallSpan.isTraced
    const handler = yield* HttpMiddleware.withTracerDisabledWhenEffect(makeHandler(app), () => !isTraced)
    const server = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const requestTimeout = Duration.toMillis(all.requestTimeout)
        const keepAliveTimeout = Duration.toMillis(all.keepAliveTimeout)
        const server = Http.createServer({
          requestTimeout,
          headersTimeout: requestTimeout,
          connectionsCheckingInterval: 1_000,
          keepAliveTimeout,
          noDelay: true
        })
        server.maxConnections = all.maxConnections
        server.on("request", (request, response) => {
          // Node closes an idle connection at the announced time, even if a request is about to arrive
          response.on("finish", () => {
            const { socket } = request
            const isIdle = (socket.timeout ?? 0) >= keepAliveTimeout
            if (isIdle) socket.setTimeout(2 * keepAliveTimeout)
          })
          // while the server closes, a connection would stay open for the next request
          response.on("close", () => {
            if (!server.listening) server.closeIdleConnections()
          })
          // ignored: the caller disconnected during the response
          response.on("error", () => undefined)
          request.on("error", () => undefined)
          handler(request, response)
        })
        return server
      }),
      (server) => close(server, Duration.decode(all.closeTimeout))
    )
    // connections wait in the backlog while the process is busy; a full backlog would reset them
    return yield* Listen.listen(server, { host: all.host, port: all.port, backlog: all.maxConnections }).pipe(
      Effect.mapError((code) => failed(all, code))
    )
  })

/** The address for callers. */
export class NodeHttpListener extends Context.Tag("effect-mcp-runtime/node/NodeHttpListener")<NodeHttpListener, {
  readonly url: string
  readonly port: number
  readonly endpoint: HttpEndpoint.HttpEndpoint
}>() {}

/** Serves an offer over HTTP until the scope closes. */
export const serve = (
  offer: McpServer.Offer,
  options?: Partial<HttpEndpoint.Options & Options>
): Effect.Effect<NodeHttpListener["Type"], McpError.ConfigurationError, Scope.Scope> =>
  Effect.gen(function*() {
    const { host } = { ...defaults, ...options }
    const name = host.includes(":") ? `[${host}]` : host
    const endpoint = yield* HttpEndpoint.make(offer, {
      ...options,
      hosts: [...(options?.hosts ?? HttpEndpoint.defaults.hosts), name]
    })
    const port = yield* listen(endpoint.app, options)
    // ends the streams before the listener waits for connections
    yield* Effect.addFinalizer(() => endpoint.close)
    return { url: `http://${name}:${port}${options?.path ?? HttpEndpoint.defaults.path}`, port, endpoint }
  })

export const layer = <E, R>(
  offer: Effect.Effect<McpServer.Offer, E, R>,
  options?: Partial<HttpEndpoint.Options & Options>
): Layer.Layer<NodeHttpListener, E | McpError.ConfigurationError, Exclude<R, Scope.Scope>> =>
  Layer.scoped(NodeHttpListener, Effect.flatMap(offer, (offer) => serve(offer, options)))
