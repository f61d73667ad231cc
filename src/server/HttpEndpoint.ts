/** Serves an offer over Streamable HTTP in both eras, as an `HttpApp` for any server of @effect/platform. */
import type * as HttpApp from "@effect/platform/HttpApp"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as McpServer from "./McpServer.ts"

/** A page outside of the protocol, such as a health check. */
export interface Page {
  readonly path: string
  /** True if the page requires a token whenever the endpoint does. */
  readonly guarded: boolean
  readonly render: Effect.Effect<HttpServerResponse.HttpServerResponse>
}

export interface Options extends McpServer.Limits {
  readonly path: string
  /** The allowed values of `Host`, with or without a port (default: the loopback names). */
  readonly hosts: ReadonlyArray<string>
  /** More allowed origins of browser pages; those of `hosts` are always allowed. */
  readonly origins: ReadonlyArray<string>
  /** The bearer token of each caller, by name. If empty, no token is required. */
  readonly tokens: Readonly<Record<string, Redacted.Redacted>>
  /** At the limit, the session that has been idle longest is closed. */
  readonly maxSessions: number
  /** The idle time after which a session is closed. */
  readonly sessionTimeout: Duration.DurationInput
  /** How long responses are kept, and requests continue, for a caller whose connection broke. */
  readonly resumeTimeout: Duration.DurationInput
  /** The interval of the comments on an idle stream. */
  readonly keepAlive: Duration.DurationInput
  readonly pages: ReadonlyArray<Page>
}

export const defaults: Options = {
  ...McpServer.defaults,
  path: "/mcp",
  hosts: ["localhost", "127.0.0.1", "[::1]"],
  origins: [],
  tokens: {},
  maxSessions: 64,
  sessionTimeout: Duration.minutes(30),
  resumeTimeout: Duration.minutes(2),
  keepAlive: Duration.seconds(20),
  pages: []
}

export interface HttpEndpoint {
  readonly app: HttpApp.Default
  /** The number of open sessions. */
  readonly sessions: () => number
  /** Ends all streams gracefully, and refuses new requests. */
  readonly close: Effect.Effect<void>
}

/** Sessions and their requests end with the scope. */
export const make = (
  offer: McpServer.Offer,
  options?: Partial<Options>
): Effect.Effect<HttpEndpoint, never, Scope.Scope> =>
  // imported on demand, because only programs that serve need the HTTP modules of platform
  Effect.flatMap(
    Effect.promise(() => import("./streamableHttp.ts")),
    ({ make }) => make(offer, { ...defaults, ...options })
  )
