/**
 * The credentials for remote servers: headers from the configuration, or tokens from a login by a person or by the
 * program, which are stored and renewed.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Connector from "../client/Connector.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as Nonce from "../safety/Nonce.ts"
import * as Redaction from "../safety/Redaction.ts"
import * as Proxy from "../transport/http/proxy.ts"
import * as RemoteHeaders from "../transport/RemoteHeaders.ts"
import * as Grant from "./Grant.ts"
import * as Interaction from "./Interaction.ts"
import type * as Login from "./login.ts"
import type { Step } from "./oauthError.ts"
import * as TokenStore from "./TokenStore.ts"

export type { Grant } from "./Grant.ts"

export interface Options {
  /** How to obtain tokens, by server name (default: as configured, or a login by a person). */
  readonly grants: Readonly<Record<string, Grant.Grant>>
  /**
   * When a person is asked to log in. `asked`: only by `servers.login`; `calls`: also by a waiting call. A connect,
   * list or reconnect never asks.
   */
  readonly login: "asked" | "calls"
  /** The name of this client that authorization servers show. */
  readonly clientName: string
  /** The URL (https) of a document that describes this client, for authorization servers that take one for a registration. */
  readonly clientMetadataUrl: string | undefined
  /** Hosts with private addresses that servers may name: `auth.internal.example`, `*.corp.example`. */
  readonly privateHosts: ReadonlyArray<string>
}

const defaults: Options = {
  grants: {},
  login: "asked",
  clientName: "effect-mcp-runtime",
  clientMetadataUrl: undefined,
  privateHosts: []
}

export type Status =
  /** The configuration has the credentials, and there is no login. */
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

/** The end of a login, which is deleted here in any case. */
export interface Logout {
  /** True if the authorization server revoked the tokens; `false` also if there were none, or if it cannot revoke. */
  readonly revoked: boolean
  /** Why the revocation failed: the tokens may be valid until they expire. */
  readonly error: McpError.AuthorizationFailed | undefined
}

/** The configurations are resolved ones. */
export class Credentials extends Context.Tag("effect-mcp-runtime/auth/Credentials")<Credentials, {
  /** The place of the logins, for a person. */
  readonly where: Effect.Effect<string>
  readonly resolve: RemoteHeaders.RemoteHeaders["Type"]["resolve"]
  /** Has a person log in, or the program obtain a token, although there is one. */
  readonly authorize: (config: RemoteHeaders.RemoteServer) => Step<void>
  /**
   * For a call whose connect was refused: true if there are tokens that were not refused, because another process has logged
   * in, or a person does now (`login: "calls"`).
   */
  readonly onCall: (config: RemoteHeaders.RemoteServer) => Step<boolean>
  /** Deletes the login, then has the authorization server revoke its tokens, within 10 seconds. */
  readonly logout: (config: RemoteHeaders.RemoteServer) => Step<Logout>
  readonly status: (config: RemoteHeaders.RemoteServer) => Step<Status>
}>() {}

/** Whether the configuration says which credentials are sent. */
const isConfigured = ({ bearerTokenEnvVar, headers }: RemoteHeaders.RemoteServer): boolean =>
  bearerTokenEnvVar !== undefined ||
  Array.from(headers?.keys() ?? []).some((name) => name.toLowerCase() === "authorization")

/** Whether the user, or the administrator of the machine, wrote the configuration. */
const isOwn = ({ provenance }: RemoteHeaders.RemoteServer): boolean =>
  provenance?.origin !== "workspace" && provenance?.origin !== "plugin"

// on demand, because most runtimes have no server that wants a login
const loading = Effect.promise(() => import("./login.ts"))
const loadingFetch = Effect.promise(() => import("./guardedFetch.ts"))

/** The time in which logins that are under way at the end may be stored. */
const grace = Duration.seconds(2)

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

const noTokens: Logout = { revoked: false, error: undefined }

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
    const grantOf = new Map(Object.entries(grants))
    const store = yield* TokenStore.TokenStore
    const interaction = yield* Interaction.Interaction
    const nonce = yield* Nonce.Nonce
    const redaction = yield* Redaction.Redaction
    const { publish } = yield* McpEvent.McpEvents
    const fibers = yield* FiberSet.make<unknown, unknown>()
    // closes after the finalizer below, which gives the fibers time to store what they have
    const fetching = yield* Effect.acquireRelease(Scope.make(), (scope, exit) => Scope.close(scope, exit))
    // its fetches can be interrupted, even if the first caller cannot
    const route = yield* Proxy.make
    const fetchFor = yield* Effect.cachedFunction(
      ({ loopback, proxy }: { loopback: boolean; proxy: string | undefined }) => {
        const settings = { rules: { loopback, privateHosts }, proxyOf: (url: URL) => route(url, proxy) }
        return Effect.flatMap(
          loadingFetch,
          ({ make }) => Scope.extend(Effect.interruptible(make(settings)), fetching)
        ).pipe(
          Effect.uninterruptible
        )
      }
    )
    const fork = yield* FiberSet.runtime(fibers)<never>()
    const know = redaction.unsafeKnow
    const onCalls = login === "calls"
    const shared = { clientName, clientMetadataUrl, onCalls, store, interaction, nonce, know, fork, publish }
    const logins = new Map<string, Login.Login>()
    yield* Effect.addFinalizer(() =>
      Effect.ensuring(
        BoundedWait.within(grace)(Effect.suspend(() => Fiber.interruptAll(fibers))),
        Effect.sync(() => {
          for (const { unload } of logins.values()) unload()
        })
      )
    )

    /** One login for all that use the same credentials; `undefined` if the configuration has them. */
    const loginOf = (config: RemoteHeaders.RemoteServer): Effect.Effect<Login.Login | undefined> => {
      const { name: server, oauth: configured, proxy } = config
      const own = isOwn(config)
      // the grants of the application are for servers that the user has named
      const grant = (own ? grantOf.get(server) : undefined) ?? Grant.fromConfig(configured)
      if (isConfigured(config) || configured === false || grant === undefined) return Effect.succeed(undefined)
      const settings = { configured, grant }
      const url = new URL(config.url)
      const fetching = fetchFor(Data.struct({ loopback: own && loopback.test(url.hostname), proxy }))
      return Effect.map(Effect.all([loading, Connector.Identity, fetching]), ([library, identity, fetch]) => {
        const key = JSON.stringify([server, own, proxy, library.storeKey(url, configured, identity)])
        const known = logins.get(key)
        known?.configure(settings)
        const made = known ?? library.make({ ...shared, server, url, isOwn: own, settings, identity, fetch })
        logins.set(key, made)
        return made
      })
    }

    return Credentials.of({
      where: store.where,
      resolve: (config) =>
        Effect.gen(function*() {
          const headers = yield* RemoteHeaders.fromConfig(config)
          const source = RemoteHeaders.constant(headers)
          const login = headers.has("authorization") ? undefined : yield* loginOf(config)
          if (login === undefined) return source
          yield* login.connected
          return { ...source, login }
        }),
      authorize: (config) =>
        Effect.flatMap(
          loginOf(config),
          (login) => login?.login ?? noLogin(config, "its configuration has the credentials")
        ),
      onCall: (config) => Effect.flatMap(loginOf(config), (login) => login?.onCall ?? Effect.succeed(false)),
      logout: (config) => Effect.flatMap(loginOf(config), (login) => login?.logout ?? Effect.succeed(noTokens)),
      status: (config) =>
        Effect.gen(function*() {
          const login = yield* loginOf(config)
          if (login === undefined) return { _tag: "Configured" }
          const stored = yield* login.stored
          if (stored?.tokens === undefined) return { _tag: "LoggedOut" }
          const { asked, issuer, tokens: { expiresAt, refresh, scope } } = stored
          return { _tag: "LoggedIn", issuer, scope: scope ?? asked, expiresAt, renewable: refresh !== undefined }
        })
    })
  })

const noLogin = ({ name: server }: RemoteHeaders.RemoteServer, detail: string) =>
  Effect.fail(new McpError.AuthorizationFailed({ server, reason: "not-interactive", detail }))

/** Servers get the headers of their configuration, and there are no logins. */
export const layerNone: Layer.Layer<Credentials> = Layer.sync(Credentials, () => {
  const none = (config: RemoteHeaders.RemoteServer) => noLogin(config, "this application has no logins")
  return {
    where: Effect.succeed("nowhere"),
    resolve: (config) => Effect.map(RemoteHeaders.fromConfig(config), RemoteHeaders.constant),
    authorize: none,
    onCall: () => Effect.succeed(false),
    logout: none,
    status: () => Effect.succeed({ _tag: "Configured" })
  }
})

/** Also the headers of every connection to a remote server. */
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
