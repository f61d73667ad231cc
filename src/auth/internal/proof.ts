/**
 * The key that tokens are bound to (DPoP, RFC 9449), made once for a login and kept with it.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as OAuthSdk from "./oauthSdk.ts"

const algorithm = "ES256"

/** @internal */
export const supports = (algorithms: ReadonlyArray<string> | undefined): boolean =>
  algorithms?.includes(algorithm) === true

const Coordinate = Schema.String.pipe(Schema.pattern(/^[\w-]{43}$/))

const Jwk = Schema.parseJson(Schema.Struct({
  kty: Schema.Literal("EC"),
  crv: Schema.Literal("P-256"),
  x: Coordinate,
  y: Coordinate,
  d: Coordinate
}))

const curve = { name: "ECDSA", namedCurve: "P-256" }

/** @internal */
export interface Proof {
  readonly session: OAuthSdk.DpopSession
  readonly key: Redacted.Redacted
}

/** @internal */
export const fresh = (oauth: OAuthSdk.OAuth): Effect.Effect<Proof> =>
  Effect.gen(function*() {
    const keyPair = yield* Effect.promise(() => oauth.generateDpopKeyPair({ alg: algorithm, extractable: true }))
    const jwk = yield* Effect.promise(() => crypto.subtle.exportKey("jwk", keyPair.privateKey))
    const { d = "", x = "", y = "" } = jwk
    const text = yield* Effect.orDie(Schema.encode(Jwk)({ kty: "EC", crv: "P-256", x, y, d }))
    const session = yield* Effect.promise(() => oauth.DpopSession.create({ keyPair }))
    return { session, key: Redacted.make(text) }
  })

/**
 * Nothing, if what was kept is no such key: then there is no login either.
 *
 * @internal
 */
export const kept = (oauth: OAuthSdk.OAuth, key: Redacted.Redacted): Effect.Effect<Option.Option<Proof>> =>
  Effect.gen(function*() {
    const jwk = yield* Schema.decode(Jwk)(Redacted.value(key))
    const { d: _, ...publicJwk } = jwk
    const { crv, kty, x, y } = publicJwk
    // the one spelling that a thumbprint is of (RFC 7638)
    const canonical = new TextEncoder().encode(`{"crv":"${crv}","kty":"${kty}","x":"${x}","y":"${y}"}`)
    return yield* Effect.tryPromise(async () => {
      const privateKey = await crypto.subtle.importKey("jwk", jwk, curve, false, ["sign"])
      const publicKey = await crypto.subtle.importKey("jwk", publicJwk, curve, true, ["verify"])
      const thumbprint = Buffer.from(await crypto.subtle.digest("SHA-256", canonical)).toString("base64url")
      const session = await oauth.DpopSession.create({
        keyPair: { privateKey, publicKey, publicJwk, thumbprint, alg: algorithm }
      })
      return { session, key }
    })
  }).pipe(Effect.option)
