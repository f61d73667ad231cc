/**
 * The login of one server: kept, renewed, widened, and made by a person.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as ServerConfig from "../../config/ServerConfig.ts"
import * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../UntrustedText.ts"
import type * as RemoteHeaders from "../../transport/RemoteHeaders.ts"
import type * as Grant from "../Grant.ts"
import type * as Interaction from "../Interaction.ts"
import type * as TokenStore from "../TokenStore.ts"
import * as UrlGuard from "../UrlGuard.ts"
import * as Discovery from "./discovery.ts"
import * as Exchange from "./exchange.ts"
import * as LoginRecord from "./loginRecord.ts"
import * as OAuthSdk from "./oauthSdk.ts"
import * as Proof from "./proof.ts"
import * as Registration from "./registration.ts"
import * as Scopes from "./scopes.ts"
import * as Tokens from "./tokens.ts"

/**
 * What the configuration says, as it is now.
 *
 * @internal
 */
export interface Settings {
  readonly configured: Exclude<ServerConfig.HttpServer["oauth"], false | undefined> | undefined
  readonly grant: Grant.Grant
}

/** @internal */
export interface Options {
  readonly server: string
  readonly url: URL
  readonly settings: Settings
  readonly parents: boolean
  /** Whether a call may ask a person while it waits. */
  readonly onCalls: boolean
  readonly clientName: string
  readonly clientMetadataUrl: string | undefined
  readonly store: TokenStore.TokenStore["Type"]
  readonly interaction: Interaction.Interaction["Type"]
  readonly nonce: Effect.Effect<string>
  readonly fetch: OAuthSdk.Fetch
  /** Told of each secret before it is used. */
  readonly know: (secret: Redacted.Redacted) => void
  readonly renewed: () => void
}

/** @internal */
export interface Authorizer extends RemoteHeaders.Login {
  /** Variables may hold something else than at the last connect. */
  readonly configure: (settings: Settings) => void
  /** Asks the person, or gets another token, whatever there is already. */
  readonly login: Effect.Effect<void, McpError.AuthorizationFailed>
  readonly logout: Effect.Effect<void, McpError.AuthorizationFailed>
  readonly current: Effect.Effect<LoginRecord.Login | undefined, McpError.AuthorizationFailed>
}

interface Asked {
  readonly resourceMetadata: string | undefined
  readonly scope: string | undefined
  readonly bound: boolean
}

const nothing: Asked = { resourceMetadata: undefined, scope: undefined, bound: false }

const noHeaders: ReadonlyMap<string, Redacted.Redacted> = new Map()

/** How often one request is sent again for another number, and how often for another token. */
const maxAttempts = 4

/** @internal */
export const key = (url: URL, configured: Settings["configured"]): string =>
  `${UrlGuard.identity(url)} as ${configured?.clientId ?? configured?.clientMetadataUrl ?? "anybody"}`

/** @internal */
export const make = (options: Options): Authorizer => {
  const { interaction, server, store, url } = options
  let { configured, grant } = options.settings
  const where = key(url, configured)
  const turn = Effect.unsafeMakeSemaphore(1)
  // apart from it, because a person takes minutes
  const people = Effect.unsafeMakeSemaphore(1)
  let login: LoginRecord.Login | undefined
  let loaded = false
  let proof: Proof.Proof | undefined
  let discovered: Discovery.Discovered | undefined
  let asked = nothing

  const failed = (reason: McpError.AuthorizationFailed["reason"], detail: string) =>
    new McpError.AuthorizationFailed({ server, reason, detail })

  const storing = <A>(effect: Effect.Effect<A, TokenStore.TokenStoreError | McpError.AuthorizationFailed>) =>
    Effect.catchTag(effect, "TokenStoreError", (error) => failed("store", error.detail))

  const adopt = (kept: LoginRecord.Login | undefined): void => {
    if (kept?.key !== undefined && proof !== undefined && Redacted.value(kept.key) !== Redacted.value(proof.key)) {
      proof = undefined
    }
    login = kept
    loaded = true
    for (const secret of [kept?.tokens?.access, kept?.tokens?.refresh, kept?.client.secret]) {
      if (secret !== undefined) options.know(secret)
    }
  }

  const read = Effect.map(store.get(where), (kept) => adopt(Option.getOrUndefined(Option.flatMap(kept, LoginRecord.decode))))

  const keep = (next: LoginRecord.Login) =>
    Effect.suspend(() => {
      adopt(next)
      return store.set(where, LoginRecord.encode(next))
    })

  const known = Effect.suspend(() => loaded ? Effect.void : storing(read))

  const discover = (oauth: OAuthSdk.OAuth) =>
    discovered !== undefined
      ? Effect.succeed(discovered)
      : Effect.tap(
        Discovery.discover({
          server,
          url,
          oauth,
          fetch: options.fetch,
          resourceMetadata: asked.resourceMetadata,
          issuer: configured?.issuer,
          metadataUrl: configured?.authServerMetadataUrl,
          resource: configured?.resource,
          parents: options.parents,
          legacy: configured?.legacy === true
        }),
        (found) => {
          discovered = found
        }
      )

  const proofFor = (oauth: OAuthSdk.OAuth, { metadata }: Discovery.Discovered) =>
    Effect.gen(function*() {
      if (configured?.dpop === false || !Proof.supports(metadata.dpop_signing_alg_values_supported)) return undefined
      if (proof !== undefined) return proof
      const old = login?.key === undefined ? Option.none() : yield* Proof.kept(oauth, login.key)
      proof = Option.isSome(old) ? old.value : yield* Proof.fresh(oauth)
      return proof
    })

  const prepare = Effect.gen(function*() {
    const oauth = yield* OAuthSdk.load
    const found = yield* discover(oauth)
    const bound = yield* proofFor(oauth, found)
    const now = yield* Clock.currentTimeMillis
    const exchange: Exchange.Options = {
      server,
      oauth,
      fetch: options.fetch,
      discovered: found,
      now,
      proof: bound?.session
    }
    return { oauth, found, bound, now, exchange }
  })

  const scopeFor = (found: Discovery.Discovered, before: string | undefined): string | undefined =>
    Scopes.select({
      asked: before,
      configured: configured?.scopes,
      challenge: asked.scope,
      resource: found.scopes,
      issuer: found.metadata.scopes_supported,
      offline: grant._tag === "AuthorizationCode"
    })

  const recordOf = (
    found: Discovery.Discovered,
    client: LoginRecord.Client,
    tokens: LoginRecord.Tokens,
    scope: string | undefined,
    bound: Proof.Proof | undefined
  ): LoginRecord.Login => ({
    version: 1,
    issuer: found.issuer,
    client,
    tokens,
    ...(scope === undefined ? {} : { asked: scope }),
    ...(bound === undefined || tokens.type !== "DPoP" ? {} : { key: bound.key })
  })

  /** What was given by one authorization server is nothing to another. */
  const ofIssuer = (found: Discovery.Discovered): LoginRecord.Login | undefined =>
    login?.issuer === found.issuer ? login : undefined

  const obtain = (held: Exclude<Grant.Grant, { _tag: "AuthorizationCode" }>) =>
    Effect.gen(function*() {
      const { bound, exchange, found } = yield* prepare
      const scope = scopeFor(found, ofIssuer(found)?.asked)
      const tokens = yield* Exchange.held(exchange, held, scope)
      const id = "clientId" in held ? held.clientId ?? "" : ""
      yield* keep(recordOf(found, { how: "given", id }, tokens, scope, bound))
      return true
    })

  const forget = (kept: LoginRecord.Login) => {
    const { tokens: _, ...rest } = kept
    return keep(rest)
  }

  const refresh = (kept: LoginRecord.Login, tokens: LoginRecord.Tokens, refreshToken: Redacted.Redacted) =>
    Effect.gen(function*() {
      const { bound, exchange, found } = yield* prepare
      if (found.issuer !== kept.issuer) {
        yield* forget(kept)
        return false
      }
      const next = yield* Effect.either(Exchange.refresh(exchange, kept.client, tokens, refreshToken))
      if (Either.isRight(next)) {
        yield* keep(recordOf(found, kept.client, next.right, kept.asked, bound))
        return true
      }
      // what could not be asked now is not gone
      if (next.left.reason !== "refused") return yield* next.left
      if (next.left.code === "invalid_grant") yield* forget(kept)
      else yield* gone
      return false
    })

  const gone = Effect.suspend(() => {
    adopt(undefined)
    return store.remove(where)
  })

  /** Another token than this one, without a person; false, if only a person can help. */
  const renew = (than: string | undefined): Effect.Effect<boolean, McpError.AuthorizationFailed> =>
    turn.withPermits(1)(storing(store.locked(where)(Effect.gen(function*() {
      yield* read
      const tokens = login?.tokens
      if (tokens !== undefined && Redacted.value(tokens.access) !== than) return true
      if (grant._tag !== "AuthorizationCode") return yield* obtain(grant)
      if (login === undefined || tokens?.refresh === undefined) return false
      const done = yield* refresh(login, tokens, tokens.refresh)
      if (done) options.renewed()
      return done
    }))))

  const person = Effect.scoped(Effect.gen(function*() {
    yield* known
    const { bound, exchange, found, now, oauth } = yield* prepare
    const { authorization_endpoint, code_challenge_methods_supported } = found.metadata
    if (authorization_endpoint === undefined) return yield* failed("metadata", "it has no page to log in on")
    if (code_challenge_methods_supported?.includes("S256") !== true) {
      return yield* failed("metadata", "it does not say that it can tell our login from another's (PKCE with S256)")
    }
    const before = ofIssuer(found)
    if (
      login !== undefined && before === undefined && configured?.clientSecret !== undefined &&
      configured.issuer === undefined
    ) {
      return yield* failed(
        "metadata",
        "the server names another authorization server than before; say in oauth.issuer which one is to get the secret"
      )
    }
    const page = yield* interaction.open({
      server,
      redirectUri: configured?.redirectUri,
      callbackPort: configured?.callbackPort
    })
    const scope = scopeFor(found, before?.tokens === undefined ? undefined : before.asked)
    const client = yield* Registration.clientFor(
      {
        server,
        oauth,
        fetch: options.fetch,
        configured,
        clientName: options.clientName,
        clientMetadataUrl: options.clientMetadataUrl,
        now
      },
      found,
      before?.client,
      page.redirectUri,
      scope
    )
    const state = yield* options.nonce
    const { authorizationUrl, codeVerifier } = yield* OAuthSdk.attempt(
      oauth,
      server,
      { reason: "metadata", detail: "it cannot be asked for a code" },
      () =>
        oauth.startAuthorization(found.issuer, {
          metadata: OAuthSdk.metadata(found.metadata),
          clientInformation: Registration.information(client),
          redirectUrl: page.redirectUri,
          state,
          resource: found.resource,
          ...(scope === undefined ? {} : { scope })
        })
    )
    const shown = yield* Effect.mapError(
      UrlGuard.openable(authorizationUrl.href),
      () => failed("blocked", "its page is at an address that is not shown in a browser")
    )
    const answer = yield* page.ask(shown, state)
    // before anything else of the answer is believed
    yield* OAuthSdk.attempt(
      oauth,
      server,
      { reason: "answer", detail: "the answer came from another authorization server" },
      () =>
        Promise.resolve(oauth.validateAuthorizationResponseIssuer({
          iss: answer.iss,
          expectedIssuer: found.issuer,
          issParameterSupported: found.metadata.authorization_response_iss_parameter_supported === true
        }))
    )
    if (answer.error !== undefined) {
      return yield* new McpError.AuthorizationFailed({
        server,
        reason: "refused",
        code: UntrustedText.excerpt(answer.error, 64),
        detail: "the authorization server, or whoever was asked, said no"
      })
    }
    if (answer.code === undefined) return yield* failed("answer", "the answer has no code")
    const tokens = yield* Exchange.code(exchange, client, {
      code: answer.code,
      iss: answer.iss,
      verifier: codeVerifier,
      redirectUri: page.redirectUri
    })
    const record = recordOf(found, client, tokens, scope, bound)
    yield* storing(store.locked(where)(keep(record)))
  }))

  let shown: { readonly of: LoginRecord.Tokens; readonly headers: ReadonlyMap<string, Redacted.Redacted> } | undefined
  const bearer = (tokens: LoginRecord.Tokens): ReadonlyMap<string, Redacted.Redacted> => {
    if (shown?.of !== tokens) {
      const header = Redacted.make(`Bearer ${Redacted.value(tokens.access)}`)
      shown = { of: tokens, headers: new Map([["authorization", header]]) }
    }
    return shown.headers
  }

  const headers: RemoteHeaders.Login["headers"] = (request) =>
    Effect.gen(function*() {
      yield* known
      const stale = login?.tokens
      if (stale === undefined) return noHeaders
      if (Tokens.isStale(stale, yield* Clock.currentTimeMillis)) yield* renew(Redacted.value(stale.access))
      const tokens = login?.tokens
      if (tokens === undefined) return noHeaders
      if (tokens.type === "Bearer") return bearer(tokens)
      const access = Redacted.value(tokens.access)
      const bound = yield* boundTo
      if (bound === undefined) return noHeaders
      const signed = yield* Effect.promise(() =>
        bound.session.buildProof({ htm: request.method, htu: request.url, accessToken: access })
      )
      return new Map([["authorization", Redacted.make(`DPoP ${access}`)], ["dpop", Redacted.make(signed)]])
    })

  const boundTo = Effect.gen(function*() {
    if (proof === undefined && login?.key !== undefined) {
      proof = Option.getOrUndefined(yield* Proof.kept(yield* OAuthSdk.load, login.key))
    }
    return proof
  })

  const tokenIn = (sent: ReadonlyMap<string, Redacted.Redacted>): string | undefined => {
    const header = sent.get("authorization")
    return header === undefined ? undefined : Redacted.value(header).replace(/^\S+ /, "")
  }

  /** A person, for a call that waits; or else it is remembered what was asked for until somebody logs in. */
  const ask = ({ foreground, waiting }: RemoteHeaders.Refusal): Effect.Effect<boolean, McpError.AuthorizationFailed> =>
    options.onCalls && foreground && grant._tag === "AuthorizationCode"
      ? Effect.acquireUseRelease(
        Effect.sync(() => waiting(true)),
        () => Effect.as(alone, true),
        () => Effect.sync(() => waiting(false))
      )
      : Effect.succeed(false)

  const again = Effect.suspend(() => {
    const held = grant
    return held._tag === "AuthorizationCode"
      ? alone
      : Effect.asVoid(turn.withPermits(1)(storing(store.locked(where)(obtain(held)))))
  })

  const alone = people.withPermits(1)(person)

  const refused: RemoteHeaders.Login["refused"] = (refusal) =>
    Effect.suspend(() => {
      const { attempt, challenge, sent, status } = refusal
      if (attempt >= maxAttempts) return Effect.succeed(false)
      const token = tokenIn(sent)
      if (challenge.error === "use_dpop_nonce" && proof !== undefined) return Effect.succeed(true)
      if (status === 403 && challenge.error !== "insufficient_scope" && challenge.scope === undefined) {
        return Effect.succeed(false)
      }
      asked = {
        resourceMetadata: challenge.resourceMetadata ?? asked.resourceMetadata,
        scope: challenge.scope,
        bound: challenge.schemes.includes("dpop")
      }
      // whoever refuses a token may have gone over to another authorization server
      if (token !== undefined) discovered = undefined
      if (status === 403) {
        const isAsked = login?.asked !== undefined && Scopes.covers(login.asked, challenge.scope)
        // somebody else has got more meanwhile
        if (login?.tokens !== undefined && Redacted.value(login.tokens.access) !== token) return Effect.succeed(true)
        if (isAsked) return Effect.succeed(false)
        return grant._tag === "AuthorizationCode" ? ask(refusal) : renew(token)
      }
      return Effect.flatMap(renew(token), (done) => done ? Effect.succeed(true) : ask(refusal))
    })

  return {
    headers,
    refused,
    nonce: (nonce) => proof?.session.rememberNonce(url, nonce),
    now: (time) => {
      if (!loaded) return undefined
      const tokens = login?.tokens
      if (tokens === undefined) return noHeaders
      return tokens.type === "Bearer" && !Tokens.isStale(tokens, time) ? bearer(tokens) : undefined
    },
    configure: (settings) => {
      configured = settings.configured
      grant = settings.grant
    },
    login: again,
    logout: turn.withPermits(1)(storing(store.locked(where)(gone))),
    current: Effect.map(storing(read), () => login)
  }
}
