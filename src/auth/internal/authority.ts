/**
 * What is known of the authorization server of one server, and what is asked of it next.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as ServerConfig from "../../config/ServerConfig.ts"
import * as McpError from "../../McpError.ts"
import type * as RemoteHeaders from "../../transport/RemoteHeaders.ts"
import type * as Grant from "../Grant.ts"
import * as Discovery from "./discovery.ts"
import type * as Exchange from "./exchange.ts"
import type * as LoginRecord from "./loginRecord.ts"
import * as OAuthSdk from "./oauthSdk.ts"
import * as Proof from "./proof.ts"
import * as Scopes from "./scopes.ts"

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
  /** Whether a person wrote the configuration, and not whoever wrote what is in a workspace. */
  readonly isOwn: boolean
  readonly fetch: OAuthSdk.Fetch
  /** The login that there is. */
  readonly login: () => LoginRecord.Login | undefined
}

/**
 * All that a request for a token is made of.
 *
 * @internal
 */
export interface Prepared {
  readonly settings: Settings
  readonly oauth: OAuthSdk.OAuth
  readonly found: Discovery.Discovered
  readonly bound: Proof.Proof | undefined
  readonly now: number
  readonly exchange: Exchange.Options
  /** The login, if it is of this authorization server: what one gave is nothing to another. */
  readonly before: LoginRecord.Login | undefined
}

/** @internal */
export interface Authority {
  readonly configure: (settings: Settings) => void
  readonly settings: () => Settings
  /** What the server has asked for is remembered until there is a login with it. */
  readonly heard: (challenge: RemoteHeaders.Refusal["challenge"]) => void
  readonly satisfied: () => void
  /** Looks again next time: whoever refuses a token may have gone over to another authorization server. */
  readonly doubt: () => void
  readonly prepare: Effect.Effect<Prepared, McpError.AuthorizationFailed>
  readonly scope: (prepared: Prepared, before: string | undefined) => string | undefined
  /** The key that the tokens of a login are bound to, if it is one. */
  readonly proofOf: (login: LoginRecord.Login) => Effect.Effect<Proof.Proof | undefined>
  /** The same, as far as it is known already. */
  readonly proof: () => Proof.Proof | undefined
}

/** The issuer that receives our secret or assertion; `undefined` (any issuer) is allowed only without a secret. */
const issuerOf = ({ configured, grant }: Settings): string | undefined =>
  grant._tag === "AuthorizationCode" ? configured?.issuer : grant.issuer

/** True for a secret or an assertion, because another authorization server could use it to act as this client. */
const holdsSecret = ({ configured, grant }: Settings): boolean =>
  grant._tag !== "AuthorizationCode" || configured?.clientSecret !== undefined

const same = (one: Settings, other: Settings): boolean =>
  issuerOf(one) === issuerOf(other) &&
  one.configured?.authServerMetadataUrl === other.configured?.authServerMetadataUrl &&
  one.configured?.resource === other.configured?.resource && one.configured?.legacy === other.configured?.legacy

/** @internal */
export const make = ({ fetch, isOwn, login, server, url }: Options, initial: Settings): Authority => {
  let settings = initial
  let discovered: Discovery.Discovered | undefined
  let proof: Proof.Proof | undefined
  let resourceMetadata: string | undefined
  let asked: string | undefined

  const discover = (oauth: OAuthSdk.OAuth, used: Settings) =>
    discovered !== undefined
      ? Effect.succeed(discovered)
      : Effect.map(
        Discovery.discover({
          server,
          url,
          oauth,
          fetch,
          resourceMetadata,
          issuer: issuerOf(used),
          metadataUrl: used.configured?.authServerMetadataUrl,
          resource: used.configured?.resource,
          isOwn,
          legacy: used.configured?.legacy === true
        }),
        (found) => {
          if (same(used, settings)) discovered = found
          return found
        }
      )

  const proofOf: Authority["proofOf"] = ({ key }) =>
    Effect.gen(function*() {
      if (key === undefined) return undefined
      if (proof !== undefined && Redacted.value(proof.key) === Redacted.value(key)) return proof
      const kept = Option.getOrUndefined(yield* Proof.kept(yield* OAuthSdk.load, key))
      if (kept !== undefined) proof = kept
      return kept
    })

  const proofFor = (
    oauth: OAuthSdk.OAuth,
    { configured }: Settings,
    { metadata }: Discovery.Discovered,
    before: LoginRecord.Login | undefined
  ) =>
    Effect.gen(function*() {
      if (configured?.dpop === false || !Proof.supports(metadata.dpop_signing_alg_values_supported)) return undefined
      return (before === undefined ? undefined : yield* proofOf(before)) ?? (yield* Proof.fresh(oauth))
    })

  return {
    configure: (next) => {
      if (!same(next, settings)) discovered = undefined
      settings = next
    },
    settings: () => settings,
    heard: (challenge) => {
      resourceMetadata = challenge.resourceMetadata ?? resourceMetadata
      asked = challenge.scope ?? asked
    },
    satisfied: () => {
      asked = undefined
    },
    doubt: () => {
      discovered = undefined
    },
    prepare: Effect.gen(function*() {
      const now = settings
      // a second check, for values that were built without the checks of `ServerConfig` and `Credentials`
      if (holdsSecret(now) && (issuerOf(now) ?? "") === "") {
        const detail = "the secret has no issuer, so it was not sent: set oauth.issuer, or issuer of the Grant"
        return yield* new McpError.AuthorizationFailed({ server, reason: "metadata", detail })
      }
      const oauth = yield* OAuthSdk.load
      const found = yield* discover(oauth, now)
      const there = login()
      const before = there?.issuer === found.issuer ? there : undefined
      const bound = yield* proofFor(oauth, now, found, before)
      const time = yield* Clock.currentTimeMillis
      const exchange = { server, oauth, fetch, discovered: found, now: time, proof: bound?.session }
      return { settings: now, oauth, found, bound, now: time, exchange, before }
    }),
    scope: ({ found, settings: { configured, grant } }, before) =>
      Scopes.select({
        asked: before,
        configured: configured?.scopes,
        challenge: asked,
        resource: found.scopes,
        issuer: found.metadata.scopes_supported,
        offline: grant._tag === "AuthorizationCode"
      }),
    proofOf,
    proof: () => proof
  }
}

/**
 * What is kept of what was given. A secret of the configuration stays there, where it may be changed.
 *
 * @internal
 */
export const recordOf = (
  { bound, found }: Prepared,
  client: LoginRecord.Client,
  tokens: LoginRecord.Tokens,
  scope: string | undefined
): LoginRecord.Login => ({
  version: 1,
  issuer: found.issuer,
  client: client.how === "given" ? { how: client.how, id: client.id } : client,
  tokens,
  ...(scope === undefined ? {} : { asked: scope }),
  ...(bound === undefined || tokens.type !== "DPoP" ? {} : { key: bound.key })
})
