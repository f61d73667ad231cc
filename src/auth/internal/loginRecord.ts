/**
 * A login as it is kept: one secret text.
 *
 * @internal
 */
import * as Either from "effect/Either"
import type * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

const Client = Schema.Struct({
  /** As the configuration says, as a document that describes it says, or as the authorization server has registered it. */
  how: Schema.Literal("given", "document", "registered"),
  id: Schema.String,
  secret: Schema.optional(Schema.Redacted(Schema.String)),
  secretExpiresAt: Schema.optional(Schema.Number),
  redirectUri: Schema.optional(Schema.String),
  /** How it says who it is to the endpoint for tokens. */
  method: Schema.optional(Schema.String),
  /** All that it may ask for, where it was said. */
  scope: Schema.optional(Schema.String)
})

const Tokens = Schema.Struct({
  access: Schema.Redacted(Schema.String),
  type: Schema.Literal("Bearer", "DPoP"),
  refresh: Schema.optional(Schema.Redacted(Schema.String)),
  /** From when to when it may be used, in milliseconds since 1970. */
  givenAt: Schema.optional(Schema.Number),
  expiresAt: Schema.optional(Schema.Number),
  scope: Schema.optional(Schema.String)
})

const Login = Schema.Struct({
  version: Schema.Literal(1),
  issuer: Schema.String,
  client: Client,
  tokens: Schema.optional(Tokens),
  /** All the rights that were asked for in it. */
  asked: Schema.optional(Schema.String),
  /** The private key that its tokens are bound to (JWK). */
  key: Schema.optional(Schema.Redacted(Schema.String))
})

/** @internal */
export type Client = typeof Client.Type

/** @internal */
export type Tokens = typeof Tokens.Type

/** @internal */
export type Login = typeof Login.Type

const Json = Schema.parseJson(Login)

/** @internal */
export const encode = (login: Login): Redacted.Redacted => Redacted.make(Schema.encodeSync(Json)(login))

/**
 * Nothing, if it is none of ours: then there is no login.
 *
 * @internal
 */
export const decode = (secret: Redacted.Redacted): Option.Option<Login> =>
  Either.getRight(Schema.decodeUnknownEither(Json)(Redacted.value(secret)))
