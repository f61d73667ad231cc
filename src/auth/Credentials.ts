/**
 * What remote servers are shown of us: the headers of their configuration, or a login that is kept, renewed and asked a
 * person for.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as McpError from "../McpError.ts"
import * as Nonce from "../safety/Nonce.ts"
import * as Redaction from "../safety/Redaction.ts"
import * as RemoteHeaders from "../transport/RemoteHeaders.ts"
import * as Grant from "./Grant.ts"
import * as Interaction from "./Interaction.ts"
import * as Authorizer from "./internal/authorizer.ts"
import * as GuardedFetch from "./internal/guardedFetch.ts"
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

/** What the person, or whoever administers the machine, has said; a workspace says what its authors like. */
const isOwnWord = ({ provenance }: RemoteHeaders.RemoteServer): boolean =>
  provenance === undefined || provenance.scope === "user" || provenance.scope === "managed" ||
  provenance.scope === "session"

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (options?: Partial<Options>) =>
  Effect.gen(function*() {
    const { clientMetadataUrl, clientName, grants, login, privateHosts } = { ...defaults, ...options }
    const store = yield* TokenStore.TokenStore
    const interaction = yield* Interaction.Interaction
    const nonce = yield* Nonce.Nonce
    const redaction = yield* Redaction.Redaction
    const closed = { loopback: false, privateHosts }
    const fetch = yield* GuardedFetch.make({ rules: closed })
    const fetchHere = yield* GuardedFetch.make({ rules: { ...closed, loopback: true } })
    const held = new Set<() => void>()
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const release of held) release()
      })
    )
    const own = new Map(Object.entries(grants))
    const authorizers = new Map<string, Authorizer.Authorizer>()

    const authorizerOf = (config: RemoteHeaders.RemoteServer): Authorizer.Authorizer | undefined => {
      if (isConfigured(config) || config.oauth === false) return undefined
      const grant = own.get(config.name) ?? Grant.fromConfig(config.oauth)
      if (grant === undefined) return undefined
      const url = new URL(config.url)
      const configured = config.oauth
      const id = JSON.stringify([config.name, Authorizer.key(url, configured)])
      const settings: Authorizer.Settings = { configured, grant }
      const there = authorizers.get(id)
      if (there !== undefined) {
        there.configure(settings)
        return there
      }
      const isOwn = isOwnWord(config)
      const known = new Set<string>()
      const made = Authorizer.make({
        server: config.name,
        url,
        settings,
        parents: isOwn,
        onCalls: login === "calls",
        clientName,
        clientMetadataUrl,
        store,
        interaction,
        nonce,
        fetch: isOwn && loopback.test(url.hostname) ? fetchHere : fetch,
        know: (secret) => {
          const text = Redacted.value(secret)
          if (known.has(text)) return
          known.add(text)
          held.add(redaction.unsafeKnow(secret))
        },
        renewed: () => undefined
      })
      authorizers.set(id, made)
      return made
    }

    const nobody = (config: RemoteHeaders.RemoteServer) =>
      new McpError.AuthorizationFailed({
        server: config.name,
        reason: "nobody",
        detail: "its configuration says what it is shown, so there is nothing to log in to"
      })

    return Credentials.of({
      where: store.where,
      resolve: (config) =>
        Effect.map(RemoteHeaders.fromConfig(config), (headers): RemoteHeaders.Source => {
          const authorizer = headers.has("authorization") ? undefined : authorizerOf(config)
          const source = RemoteHeaders.constant(headers)
          return authorizer === undefined ? source : { ...source, login: authorizer }
        }),
      authorize: (config) =>
        Effect.suspend(() => authorizerOf(config)?.login ?? nobody(config)),
      logout: (config) => Effect.suspend(() => authorizerOf(config)?.logout ?? Effect.void),
      status: (config) =>
        Effect.suspend((): Effect.Effect<Status, McpError.AuthorizationFailed> => {
          const authorizer = authorizerOf(config)
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
 * It is also what every connection to a remote server asks for its headers.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options?: Partial<Options>
): Layer.Layer<Credentials, never, TokenStore.TokenStore | Interaction.Interaction> =>
  Layer.scopedContext(Effect.map(make(options), (credentials) =>
    Context.make(Credentials, credentials).pipe(
      Context.add(RemoteHeaders.RemoteHeaders, { resolve: credentials.resolve })
    )))
