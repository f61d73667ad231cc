/** How a token is come by: by a person who logs in, or by what a program holds. */
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"

/** Something that is asked for whenever a token is: it may have changed. */
export type Assertion = Effect.Effect<Redacted.Redacted, McpError.AuthorizationFailed>

/**
 * - `AuthorizationCode`: a person logs in (OAuth 2.1 with PKCE).
 * - `ClientCredentials`: the program itself, by a secret (`client_secret_basic`) or a key (`private_key_jwt`).
 * - `JwtBearer`: a token of the platform that the program runs on stands for it (RFC 7523, workload identity).
 * - `EnterpriseManaged`: the identity provider of a company answers for a person that is logged in there (SEP-990).
 *
 * `issuer` is the authorization server that receives the secret or assertion. Before anything is sent, it must equal,
 * character by character, the issuer that the MCP server and the metadata name.
 */
export type Grant =
  | { readonly _tag: "AuthorizationCode" }
  | {
    readonly _tag: "ClientCredentials"
    readonly issuer: string
    readonly clientId: string
  }
    & ({ readonly secret: Redacted.Redacted } | {
      /** PKCS #8, PEM. */
      readonly privateKey: Redacted.Redacted
      readonly algorithm: string
    })
  | {
    readonly _tag: "JwtBearer"
    readonly issuer: string
    readonly clientId?: string | undefined
    readonly clientSecret?: Redacted.Redacted | undefined
    readonly assertion: Assertion
  }
  | {
    readonly _tag: "EnterpriseManaged"
    readonly issuer: string
    readonly clientId: string
    readonly clientSecret?: Redacted.Redacted | undefined
    readonly idToken: Assertion
    /** The identity provider, and who we are there. */
    readonly provider: {
      readonly tokenEndpoint: string
      readonly clientId: string
      readonly clientSecret?: Redacted.Redacted | undefined
    }
  }

/** A person. */
export const authorizationCode: Grant = { _tag: "AuthorizationCode" }

/** What a configuration says; nothing, if it says that there is to be no login. */
export const fromConfig = (oauth: ServerConfig.HttpServer["oauth"]): Grant | undefined => {
  if (oauth === false) return undefined
  if (oauth?.grantType !== "client_credentials") return authorizationCode
  const { clientId, clientSecret, issuer = "" } = oauth
  return clientId === undefined || clientSecret === undefined
    ? authorizationCode
    : { _tag: "ClientCredentials", issuer, clientId, secret: clientSecret }
}
