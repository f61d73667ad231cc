/** The login of one server: what the store keeps of it, and the copy in memory, while other processes change the store, too. */
import type { OAuthTokens } from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as McpError from "../McpError.ts"
import type * as TokenStore from "./TokenStore.ts"

const Client = Schema.Struct({
  /** From the configuration, by a document that describes the client, or by a registration. */
  how: Schema.Literal("given", "document", "registered"),
  id: Schema.String,
  secret: Schema.optional(Schema.Redacted(Schema.String)),
  secretExpiresAt: Schema.optional(Schema.Number),
  redirectUri: Schema.optional(Schema.String),
  /** The method of authentication at the token endpoint. */
  method: Schema.optional(Schema.String),
  /** The scope of a registration. */
  scope: Schema.optional(Schema.String)
})

const Tokens = Schema.Struct({
  access: Schema.Redacted(Schema.String),
  type: Schema.Literal("Bearer", "DPoP"),
  refresh: Schema.optional(Schema.Redacted(Schema.String)),
  /** Milliseconds since 1970. */
  givenAt: Schema.optional(Schema.Number),
  expiresAt: Schema.optional(Schema.Number),
  scope: Schema.optional(Schema.String)
})

const Login = Schema.Struct({
  version: Schema.Literal(1),
  issuer: Schema.String,
  client: Client,
  tokens: Schema.optional(Tokens),
  /** The scope of all requests of this login. */
  asked: Schema.optional(Schema.String),
  /** The private key that its tokens are bound to (JWK). */
  key: Schema.optional(Schema.Redacted(Schema.String))
})

export type Client = typeof Client.Type
export type Tokens = typeof Tokens.Type
export type Login = typeof Login.Type

const Json = Schema.parseJson(Login)

export const encode = (login: Login): Redacted.Redacted => Redacted.make(Schema.encodeSync(Json)(login))

/** `None` for any other text, which counts as no login. */
export const decode = (secret: Redacted.Redacted): Option.Option<Login> =>
  Schema.decodeUnknownOption(Json)(Redacted.value(secret))

// Scopes

/** The characters of RFC 6749, without those that a terminal acts on. */
const scopeToken = /^[\u0021\u0023-\u005b\u005d-\u007e]+$/

const scopeTokens = (scopes: ReadonlyArray<string | undefined>): ReadonlySet<string> =>
  new Set(scopes.flatMap((scope) => scope?.split(" ") ?? []).filter((token) => scopeToken.test(token)))

/** Each valid token once, in the order of their first occurrence. */
export const scopeUnion = (...scopes: ReadonlyArray<string | undefined>): string | undefined =>
  Array.from(scopeTokens(scopes)).join(" ") || undefined

export const covers = (scope: string | undefined, other: string | undefined): boolean => {
  const tokens = scopeTokens([scope])
  return Array.from(scopeTokens([other])).every((token) => tokens.has(token))
}

// Tokens

const headerValue = /^[\u0021-\u007e]{1,16384}$/

const tokenTypes = new Map<string, Tokens["type"]>([["bearer", "Bearer"], ["dpop", "DPoP"]])

const longestLife = 10 * 365 * 24 * 3600

/** A token is renewed this long before its end because requests take time; a short-lived one after half of its life. */
const longestMargin = 30_000

/** The tokens of an answer; `undefined` if they cannot be used. `before`: the tokens that they replace. */
export const tokensFrom = (given: OAuthTokens, now: number, before: Tokens | undefined): Tokens | undefined => {
  const { access_token, expires_in, refresh_token, scope, token_type } = given
  const type = tokenTypes.get(token_type.toLowerCase())
  const tokens = refresh_token === undefined ? [access_token] : [access_token, refresh_token]
  if (type === undefined || !tokens.every((token) => headerValue.test(token))) return undefined
  const refresh = refresh_token === undefined ? before?.refresh : Redacted.make(refresh_token)
  const ends = expires_in !== undefined && expires_in > 0
  return {
    access: Redacted.make(access_token),
    type,
    refresh,
    givenAt: ends ? now : undefined,
    expiresAt: ends ? now + Math.min(expires_in, longestLife) * 1000 : undefined,
    scope: scopeUnion(scope?.slice(0, 4096)) ?? before?.scope
  }
}

/** Whether the tokens should be renewed. */
export const isStale = ({ expiresAt, givenAt }: Tokens, now: number): boolean => {
  if (expiresAt === undefined) return false
  const margin = givenAt === undefined ? longestMargin : Math.min(longestMargin, (expiresAt - givenAt) / 2)
  return expiresAt - margin <= now
}

// The copy in memory

export interface Options {
  readonly server: string
  /** The name of the login in the store. */
  readonly key: string
  readonly store: TokenStore.TokenStore["Type"]
  /** Hides a secret before it is used; the result ends that. */
  readonly know: (secret: Redacted.Redacted) => () => void
}

type Failure = TokenStore.TokenStoreError | McpError.AuthorizationFailed

export type StoredLogin = ReturnType<typeof make>

export const make = ({ key, know, server, store }: Options) => {
  const turn = Effect.unsafeMakeSemaphore(1)
  let login: Login | undefined
  let loaded = false
  /** The text in the store, which tells whether another process has changed it. */
  let text: string | undefined
  let isUnsaved = false
  // the secrets of the login before stay hidden, because they may still occur in what was sent with them
  let secrets: ReadonlyMap<string, () => void> = new Map()
  let former: typeof secrets = new Map()

  const hide = (next: Login | undefined): void => {
    const { access, refresh } = next?.tokens ?? {}
    const texts = [access, refresh, next?.client.secret].flatMap((secret) => secret ? [Redacted.value(secret)] : [])
    if (texts.length === secrets.size && texts.every((secret) => secrets.has(secret))) return
    const known = new Map(
      texts.map((secret) => [secret, secrets.get(secret) ?? former.get(secret) ?? know(Redacted.make(secret))] as const)
    )
    for (const [secret, release] of former) if (!known.has(secret) && !secrets.has(secret)) release()
    former = secrets
    secrets = known
  }

  const adopt = (next: Login | undefined): void => {
    hide(next)
    login = next
    loaded = true
  }

  const write = (next: Login) =>
    Effect.suspend(() => {
      const secret = encode(next)
      return Effect.map(store.set(key, secret), () => {
        text = Redacted.value(secret)
        isUnsaved = false
      })
    })

  const decoded = (secret: Option.Option<Redacted.Redacted>) => Option.getOrUndefined(Option.flatMap(secret, decode))

  const read = Effect.flatMap(Effect.suspend(() => store.get(key)), (secret) => {
    const stored = Option.getOrUndefined(Option.map(secret, Redacted.value))
    // a login that could not be saved is newer than the stored one, unless another process has stored one since
    if (isUnsaved && login !== undefined && stored === text) return Effect.ignore(write(login))
    return Effect.sync(() => {
      text = stored
      isUnsaved = false
      adopt(decoded(secret))
    })
  })

  const reported = <A>(effect: Effect.Effect<A, Failure>) =>
    Effect.catchTag(
      effect,
      "TokenStoreError",
      ({ detail }) => new McpError.AuthorizationFailed({ server, reason: "store", detail })
    )

  return {
    /** The login in memory. */
    get: () => login,
    isLoaded: () => loaded,
    /** Reads the store the first time. In its turn, because a login that was read before a removal would undo it. */
    load: Effect.suspend(() =>
      loaded ? Effect.void : turn.withPermits(1)(Effect.suspend(() => loaded ? Effect.void : reported(read)))
    ),
    /** The login in the store, which changes nothing in memory. */
    stored: Effect.suspend(() => isUnsaved ? Effect.sync(() => login) : Effect.map(reported(store.get(key)), decoded)),
    /** Runs alone over all processes, with the stored login in memory. The functions below are only used inside. */
    locked: <A>(effect: Effect.Effect<A, Failure>) =>
      turn.withPermits(1)(reported(store.locked(key)(Effect.zipRight(read, effect)))),
    /** Writes to the store first, then to memory. */
    put: (next: Login) => Effect.map(write(next), () => adopt(next)),
    /** Writes to memory, and to the store now or later, because the login that it replaces is no longer valid. */
    replace: (next: Login) =>
      Effect.suspend(() => {
        adopt(next)
        isUnsaved = true
        return Effect.ignore(write(next))
      }),
    remove: Effect.suspend(() => {
      adopt(undefined)
      isUnsaved = false
      return Effect.map(store.remove(key), () => {
        text = undefined
      })
    }),
    /** Removes the login from memory until the next use. One that could not be saved stays. */
    unload: (): void => {
      // a secret of both maps is known once
      for (const release of new Set([...secrets.values(), ...former.values()])) release()
      secrets = new Map()
      former = new Map()
      if (isUnsaved) return hide(login)
      login = undefined
      loaded = false
    }
  }
}
