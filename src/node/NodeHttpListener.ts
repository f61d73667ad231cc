// @effect-diagnostics nodeBuiltinImport:off -- platform's HTTP server waits without a limit for callers that do not leave
/**
 * Listens for callers over HTTP on a port of this machine, with limits for how slow and how many they may be.
 */
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
  /** 0: any that is free. */
  readonly port: number
  readonly maxConnections: number
  /** How long a request may take to arrive. */
  readonly requestTimeout: Duration.DurationInput
  /** For how long callers may send the next request on a connection. It is kept for twice that, as they may be late. */
  readonly keepAliveTimeout: Duration.DurationInput
  /** How long connections have to end by themselves. */
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

const faults: ReadonlyMap<string, string> = new Map([
  ["EADDRINUSE", "is taken by another program; choose another, or 0 for any"],
  ["EACCES", "may not be used by this program; choose one above 1023"],
  ["EADDRNOTAVAIL", "is not at an address of this machine"]
])

const failed = ({ host, port }: Options, code: string) =>
  new McpError.ConfigurationError({
    server: "",
    path: `${host}:${port}`,
    detail: `the port ${faults.get(code) ?? `could not be opened (${code})`}`
  })

const close = (server: Http.Server, limit: Duration.Duration): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    server.close(() => resume(Effect.void))
    server.closeIdleConnections()
  }).pipe(
    BoundedWait.within(limit),
    Effect.zipRight(Effect.sync(() => server.closeAllConnections()))
  )

/** Serves the app until the scope closes, and returns the port. */
export const listen = (
  app: HttpApp.Default,
  options?: Partial<Options>
): Effect.Effect<number, McpError.ConfigurationError, Scope.Scope> =>
  Effect.gen(function*() {
    const all: Options = { ...defaults, ...options }
    // on demand, because it is as large as the rest of a program that does not listen
    const { makeHandler } = yield* Effect.promise(() => import("@effect/platform-node/NodeHttpServer"))
    // a span without a tracer costs more than the rest of a request
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
          // node ends an idle connection when it said it would, also where a request is on its way or not yet read
          response.on("finish", () => {
            const { socket } = request
            const isIdle = (socket.timeout ?? 0) >= keepAliveTimeout
            if (isIdle) socket.setTimeout(2 * keepAliveTimeout)
          })
          // one that is done while all is closing would be kept open for the next request
          response.on("close", () => {
            if (!server.listening) server.closeIdleConnections()
          })
          // a caller that breaks off in the middle of an answer is no fault of ours
          response.on("error", () => undefined)
          request.on("error", () => undefined)
          handler(request, response)
        })
        return server
      }),
      (server) => close(server, Duration.decode(all.closeTimeout))
    )
    // Callers that come while this process is busy wait in the system; a full backlog resets them later.
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

/**
 * Serves an offer at an address of this machine until the scope closes.
 */
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
    // streams end before the listener waits for them
    yield* Effect.addFinalizer(() => endpoint.close)
    return { url: `http://${name}:${port}${options?.path ?? HttpEndpoint.defaults.path}`, port, endpoint }
  })

/**
 * The same as a layer, for an offer that is yet to be made.
 */
export const layer = <E, R>(
  offer: Effect.Effect<McpServer.Offer, E, R>,
  options?: Partial<HttpEndpoint.Options & Options>
): Layer.Layer<NodeHttpListener, E | McpError.ConfigurationError, Exclude<R, Scope.Scope>> =>
  Layer.scoped(NodeHttpListener, Effect.flatMap(offer, (offer) => serve(offer, options)))
