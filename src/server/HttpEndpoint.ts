/**
 * Serves callers over Streamable HTTP, of either era, as an `HttpApp` that any server of @effect/platform can mount.
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as McpServer from "./McpServer.ts"

/** What is there beside the protocol, such as a page that says how it is. */
export interface Page {
  readonly path: string
  /** Whether it is for those only who show themselves. */
  readonly guarded: boolean
  readonly render: Effect.Effect<HttpServerResponse.HttpServerResponse>
}

export interface Options extends McpServer.Limits {
  readonly path: string
  /** The names by which it may be called (default: those of this machine for itself), with or without a port. */
  readonly hosts: ReadonlyArray<string>
  /** The pages of browsers that may call it, beside those of this machine. */
  readonly origins: ReadonlyArray<string>
  /** Who may call it, each with a token of its own; nobody has to show itself where there is none. */
  readonly tokens: Readonly<Record<string, Redacted.Redacted>>
  readonly maxSessions: number
  /** A session of which nothing was heard for so long has ended. */
  readonly sessionTimeout: Duration.DurationInput
  /** How long the answers for a caller whose connection broke are kept, and its requests go on. */
  readonly resumeTimeout: Duration.DurationInput
  /** How often something is said on a stream on which there is nothing to say. */
  readonly keepAlive: Duration.DurationInput
  readonly pages: ReadonlyArray<Page>
}

export const defaults: Options = {
  ...McpServer.defaults,
  path: "/mcp",
  hosts: ["localhost", "127.0.0.1", "[::1]"],
  origins: [],
  tokens: {},
  maxSessions: 256,
  sessionTimeout: Duration.minutes(30),
  resumeTimeout: Duration.minutes(2),
  keepAlive: Duration.seconds(20),
  pages: []
}

export interface HttpEndpoint {
  readonly app: HttpApp.Default
  /** How many sessions there are. */
  readonly sessions: () => number
  /** Tells everybody that it ends: streams are closed, new requests are refused. */
  readonly close: Effect.Effect<void>
}

/** Sessions and what they have asked for end with the scope. */
export const make = (
  offer: McpServer.Offer,
  options?: Partial<Options>
): Effect.Effect<HttpEndpoint, never, Scope.Scope> =>
  // the HTTP of platform is for those who serve
  Effect.flatMap(
    Effect.promise(() => import("./internal/http/endpoint.ts")),
    ({ make }) => make(offer, { ...defaults, ...options })
  )
