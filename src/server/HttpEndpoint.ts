/** Serves callers over Streamable HTTP, of either era, as an `HttpApp` that any server of @effect/platform can mount. */
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
  /** True if it needs a token where callers need one. */
  readonly guarded: boolean
  readonly render: Effect.Effect<HttpServerResponse.HttpServerResponse>
}

export interface Options extends McpServer.Limits {
  readonly path: string
  /** The values of `Host` that are allowed (default: this machine), with or without a port. */
  readonly hosts: ReadonlyArray<string>
  /** More allowed origins of browser pages; those of `hosts` are always allowed. */
  readonly origins: ReadonlyArray<string>
  /** The bearer token of each caller, by its name; without tokens, callers need none. */
  readonly tokens: Readonly<Record<string, Redacted.Redacted>>
  /** At the limit, the session that was silent for longest gives way. */
  readonly maxSessions: number
  /** How long a session may be silent before it ends. */
  readonly sessionTimeout: Duration.DurationInput
  /** How long responses are kept, and requests continue, for a caller whose connection broke. */
  readonly resumeTimeout: Duration.DurationInput
  /** The time between comments on a stream without messages. */
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
  /** The number of sessions. */
  readonly sessions: () => number
  /** Ends all streams in good order, and refuses new requests. */
  readonly close: Effect.Effect<void>
}

/** Sessions and their requests end with the scope. */
export const make = (
  offer: McpServer.Offer,
  options?: Partial<Options>
): Effect.Effect<HttpEndpoint, never, Scope.Scope> =>
  // on demand, because only programs that serve need the HTTP of platform
  Effect.flatMap(
    Effect.promise(() => import("./streamableHttp.ts")),
    ({ make }) => make(offer, { ...defaults, ...options })
  )
