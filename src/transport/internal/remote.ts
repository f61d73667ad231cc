/** @internal */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import * as Limits from "../../config/Limits.ts"
import * as ServerConfig from "../../config/ServerConfig.ts"
import * as Hold from "../../internal/hold.ts"
import type * as McpError from "../../McpError.ts"
import type * as Teardown from "../../resilience/Teardown.ts"
import * as Ending from "../ending.ts"
import * as RemoteHeaders from "../RemoteHeaders.ts"
import * as Authorized from "./authorized.ts"
import * as HttpClient from "./httpClient.ts"
import * as KnownHeaders from "./knownHeaders.ts"

/**
 * What every part of a connection over HTTP needs.
 *
 * @internal
 */
export interface Remote {
  readonly server: string
  readonly url: URL
  readonly limits: Limits.Limits
  readonly client: HttpClient.HttpClient
  readonly source: RemoteHeaders.Source
  readonly now: () => number
  /** The bridge from callbacks to fibers; they end with the scope of the connection. */
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Fiber.RuntimeFiber<A, E>
}

/**
 * What the layer of a transport provides for all of its connections.
 *
 * @internal
 */
export interface Services {
  readonly limits: Limits.Limits
  readonly headers: RemoteHeaders.RemoteHeaders["Type"]
  readonly ending: Ending.Ending
}

/** @internal */
export const services: Effect.Effect<Services, never, Teardown.Teardown> = Effect.all({
  limits: Limits.CurrentLimits,
  headers: RemoteHeaders.RemoteHeaders,
  ending: Ending.make
})

/** @internal */
export const make = (
  { headers, limits: base }: Services,
  config: ServerConfig.HttpServer | ServerConfig.SseServer
): Effect.Effect<Remote, McpError.ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    const limits = ServerConfig.limits(config, base)
    const source = yield* KnownHeaders.make(yield* headers.resolve(config))
    const url = new URL(config.url)
    const plain = HttpClient.make(config.name, url, Duration.toMillis(limits.keepAlive))
    yield* Hold.letGo(plain.destroy)
    const fork = yield* FiberSet.makeRuntime<never>()
    const clock = yield* Effect.clock
    const now = () => clock.unsafeCurrentTimeMillis()
    const run: Remote["run"] = (effect) => fork(effect)
    const { login } = source
    const client = login === undefined ? plain : Authorized.client(plain, { server: config.name, url, login, now, run })
    return { server: config.name, url, limits, client, source, now, run }
  })

/**
 * The path and query that are asked for a URL.
 *
 * @internal
 */
export const pathOf = (url: URL): string => url.pathname + url.search
