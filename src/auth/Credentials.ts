/**
 * What remote servers are shown of us: the headers of their configuration, or a login that is kept, renewed and asked a
 * person for.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Connector from "../client/Connector.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as Nonce from "../safety/Nonce.ts"
import * as Redaction from "../safety/Redaction.ts"
import * as Scoped from "../scoped.ts"
import * as RemoteHeaders from "../transport/RemoteHeaders.ts"
import * as Grant from "./Grant.ts"
import * as GuardedFetch from "./guardedFetch.ts"
import * as Interaction from "./Interaction.ts"
import type * as Authority from "./internal/authority.ts"
import type * as Authorizer from "./internal/authorizer.ts"
import * as TokenStore from "./TokenStore.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** How tokens are come by, by the name of the server (default: as its configuration says, or by a person). */
  readonly grants: Readonly<Record<string, Grant.Grant>>
  /**
   * When a person is asked: only when the application says so (`authorize`), or also for a call that waits. Never for
   * what happens by itself: a connect, a list, a reconnect.
   */
  readonly login: "asked" | "calls"
  /** What authorization servers show the person as our name. */
  readonly clientName: string
  /** Where we describe ourselves (https), for authorization servers that take that instead of a registration. */
  readonly clientMetadataUrl: string | undefined
  /** Hosts at private addresses that servers may send us to: `auth.internal.example`, `*.corp.example`. */
  readonly privateHosts: ReadonlyArray<string>
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = {
  grants: {},
  login: "asked",
  clientName: "effect-mcp-runtime",
  clientMetadataUrl: undefined,
  privateHosts: []
}

/**
 * @since 0.1.0
 * @category models
 */
export type Status =
  /** It is shown what its configuration says, and nobody logs in. */
  | { readonly _tag: "Configured" }
  | { readonly _tag: "LoggedOut" }
  | {
    readonly _tag: "LoggedIn"
    readonly issuer: string
    readonly scope: string | undefined
    /** Milliseconds since 1970. */
    readonly expiresAt: number | undefined
    readonly renewable: boolean
  }

/**
 * @since 0.1.0
 * @category tags
 */
export class Credentials extends Context.Tag("effect-mcp-runtime/auth/Credentials")<Credentials, {
  /** Where logins are kept, in words for a person. */
  readonly where: Effect.Effect<string>
  readonly resolve: RemoteHeaders.RemoteHeaders["Type"]["resolve"]
  /** Has a person log in, or a program get a token, whatever there is already. The configuration is a resolved one. */
  readonly authorize: (config: RemoteHeaders.RemoteServer) => Effect.Effect<void, McpError.AuthorizationFailed>
  readonly logout: (config: RemoteHeaders.RemoteServer) => Effect.Effect<void, McpError.AuthorizationFailed>
  readonly status: (config: RemoteHeaders.RemoteServer) => Effect.Effect<Status, McpError.AuthorizationFailed>
}>() {}

/** Whoever has said what to show wants nothing else shown. */
const isConfigured = (config: RemoteHeaders.RemoteServer): boolean =>
  config.oauth === false || config.bearerTokenEnvVar !== undefined ||
  Array.from(config.headers?.keys() ?? []).some((name) => name.toLowerCase() === "authorization")

/** What the person, or whoever administers the machine, has said; a workspace or a plugin says what its authors like. */
const isOwnWord = ({ provenance }: RemoteHeaders.RemoteServer): boolean =>
  provenance === undefined || (provenance.origin !== "workspace" && provenance.origin !== "plugin")

/** Loaded for whoever has a server that one can log in to: others would pay for it with each start. */
const authorizing = Effect.promise(() => import("./internal/authorizer.ts"))

/** How long what is being written down is waited for at the end. */
const grace = Duration.seconds(2)

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (options?: Partial<Options>) =>
  Effect.gen(function*() {
    const { clientMetadataUrl, clientName, grants, login, privateHosts } = { ...defaults, ...options }
    for (const [server, grant] of Object.entries(grants)) {
      // checked at run time too, because an application in JavaScript has no types
      if (grant._tag === "AuthorizationCode" || (grant.issuer ?? "") !== "") continue
      return yield* new McpError.ConfigurationError({
        server,
        path: `auth.grants.${server}.issuer`,
        detail:
          "it is missing: without an issuer, the MCP server would choose which authorization server gets the secret"
      })
    }
    const store = yield* TokenStore.TokenStore
    const interaction = yield* Interaction.Interaction
    const nonce = yield* Nonce.Nonce
    const redaction = yield* Redaction.Redaction
    const { publish } = yield* McpEvent.McpEvents
    // What is under way when this ends has a little time to be kept, and then its requests are cut, which ends it.
    const fibers = yield* FiberSet.make<void>()
    const closed = { loopback: false, privateHosts }
    const fetch = yield* GuardedFetch.make({ rules: closed })
    const fetchHere = yield* GuardedFetch.make({ rules: { ...closed, loopback: true } })
    const fork = yield* FiberSet.runtime(fibers)<never>()
    const own = new Map(Object.entries(grants))
    const authorizers = new Map<string, Authorizer.Authorizer>()
    const connections = new Map<Authorizer.Authorizer, number>()
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        for (const fiber of fibers) fiber.unsafeInterruptAsFork(FiberId.none)
        return Effect.ensuring(
          BoundedWait.within(grace)(FiberSet.awaitEmpty(fibers)),
          Effect.sync(() => {
            for (const { rest } of authorizers.values()) rest()
          })
        )
      })
    )

    const authorizerOf = (
      config: RemoteHeaders.RemoteServer
    ): Effect.Effect<Authorizer.Authorizer | undefined> => {
      if (isConfigured(config) || config.oauth === false) return Effect.succeed(undefined)
      const isOwn = isOwnWord(config)
      const configured = config.oauth
      // what the application holds is for the servers that it, or whoever it works for, has named like this
      const grant = (isOwn ? own.get(config.name) : undefined) ?? Grant.fromConfig(configured)
      return grant === undefined
        ? Effect.succeed(undefined)
        : Effect.zipWith(
          authorizing,
          Connector.Identity,
          (library, identity) => known(library, config, isOwn, { configured, grant }, identity)
        )
    }

    /** One for all who ask with the same words. */
    const known = (
      library: typeof Authorizer,
      config: RemoteHeaders.RemoteServer,
      isOwn: boolean,
      settings: Authority.Settings,
      identity: string | undefined
    ): Authorizer.Authorizer => {
      const url = new URL(config.url)
      const id = JSON.stringify([config.name, isOwn, library.key(url, settings.configured, identity)])
      const there = authorizers.get(id)
      if (there !== undefined) {
        there.configure(settings)
        return there
      }
      const made = library.make({
        server: config.name,
        url,
        settings,
        identity,
        isOwn,
        onCalls: login === "calls",
        clientName,
        clientMetadataUrl,
        store,
        interaction,
        nonce,
        fetch: isOwn && loopback.test(url.hostname) ? fetchHere : fetch,
        know: redaction.unsafeKnow,
        fork,
        publish
      })
      authorizers.set(id, made)
      return made
    }

    /** For a connection, and with the last one it lets go of what it holds. */
    const connected = (authorizer: Authorizer.Authorizer) =>
      Scoped.acquire(() => connections.set(authorizer, (connections.get(authorizer) ?? 0) + 1), () => {
        const left = (connections.get(authorizer) ?? 1) - 1
        if (left > 0) {
          connections.set(authorizer, left)
        } else {
          connections.delete(authorizer)
          authorizer.rest()
        }
      })

    const nobody = (config: RemoteHeaders.RemoteServer) =>
      new McpError.AuthorizationFailed({
        server: config.name,
        reason: "not-interactive",
        detail: "its configuration says what it is shown, so there is nothing to log in to"
      })

    return Credentials.of({
      where: store.where,
      resolve: (config) =>
        Effect.gen(function*() {
          const headers = yield* RemoteHeaders.fromConfig(config)
          const source = RemoteHeaders.constant(headers)
          const authorizer = headers.has("authorization") ? undefined : yield* authorizerOf(config)
          if (authorizer === undefined) return source
          yield* connected(authorizer)
          return { ...source, login: authorizer }
        }),
      authorize: (config) => Effect.flatMap(authorizerOf(config), (authorizer) => authorizer?.login ?? nobody(config)),
      logout: (config) => Effect.flatMap(authorizerOf(config), (authorizer) => authorizer?.logout ?? Effect.void),
      status: (config) =>
        Effect.flatMap(authorizerOf(config), (authorizer): Effect.Effect<Status, McpError.AuthorizationFailed> => {
          if (authorizer === undefined) return Effect.succeed({ _tag: "Configured" })
          return Effect.map(authorizer.current, (current) =>
            current?.tokens === undefined ? { _tag: "LoggedOut" } : {
              _tag: "LoggedIn",
              issuer: current.issuer,
              scope: current.tokens.scope ?? current.asked,
              expiresAt: current.tokens.expiresAt,
              renewable: current.tokens.refresh !== undefined
            })
        })
    })
  })

/**
 * Servers get the headers of their configuration, and there is no login.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<Credentials> = Layer.sync(Credentials, () => {
  const noLogin = ({ name: server }: RemoteHeaders.RemoteServer) =>
    Effect.fail(
      new McpError.AuthorizationFailed({ server, reason: "not-interactive", detail: "this application has no logins" })
    )
  return {
    where: Effect.succeed("nowhere"),
    resolve: (config) => Effect.map(RemoteHeaders.fromConfig(config), RemoteHeaders.constant),
    authorize: noLogin,
    logout: noLogin,
    status: () => Effect.succeed({ _tag: "Configured" })
  }
})

/**
 * It is also what every connection to a remote server asks for its headers.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options?: Partial<Options>
): Layer.Layer<
  Credentials,
  McpError.ConfigurationError,
  TokenStore.TokenStore | Interaction.Interaction | McpEvent.McpEvents
> =>
  Layer.scopedContext(Effect.map(make(options), (credentials) =>
    Context.make(Credentials, credentials).pipe(
      Context.add(RemoteHeaders.RemoteHeaders, { resolve: credentials.resolve })
    )))
