/**
 * Requests for tokens, one for each way to come by them.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as McpError from "../../McpError.ts"
import type * as Grant from "../Grant.ts"
import type * as Discovery from "./discovery.ts"
import type * as LoginRecord from "./loginRecord.ts"
import * as OAuthSdk from "./oauthSdk.ts"
import * as Registration from "./registration.ts"
import * as Tokens from "./tokens.ts"

/** @internal */
export interface Options {
  readonly server: string
  readonly oauth: OAuthSdk.OAuth
  readonly fetch: OAuthSdk.Fetch
  readonly discovered: Discovery.Discovered
  readonly now: number
  readonly proof: OAuthSdk.DpopSession | undefined
}

type Given = Effect.Effect<LoginRecord.Tokens, McpError.AuthorizationFailed>

const gaveNothing = { reason: "answer", detail: "it gave no token" } as const

const asked = (
  { fetch, now, oauth, server }: Options,
  before: LoginRecord.Tokens | undefined,
  run: (fetch: OAuthSdk.Fetch) => Promise<OAuthSdk.OAuthTokens>
): Given =>
  Effect.flatMap(
    OAuthSdk.attempt(oauth, server, gaveNothing, (signal) => run(OAuthSdk.until(fetch, signal))),
    (given) =>
      Either.match(Tokens.normalised(server, given, now, before), {
        onLeft: Effect.fail,
        onRight: Effect.succeed
      })
  )

const common = ({ discovered, proof }: Options, client: LoginRecord.Client) => ({
  metadata: OAuthSdk.metadata(discovered.metadata),
  clientInformation: Registration.information(client),
  resource: discovered.resource,
  ...(proof === undefined ? {} : { dpop: proof })
})

/** @internal */
export const code = (
  options: Options,
  client: LoginRecord.Client,
  came: {
    readonly code: string
    readonly iss: string | undefined
    readonly verifier: string
    readonly redirectUri: string
  }
): Given =>
  asked(options, undefined, (fetchFn) =>
    options.oauth.exchangeAuthorization(options.discovered.issuer, {
      ...common(options, client),
      fetchFn,
      authorizationCode: came.code,
      codeVerifier: came.verifier,
      redirectUri: came.redirectUri,
      ...(came.iss === undefined ? {} : { iss: came.iss })
    }))

/** @internal */
export const refresh = (
  options: Options,
  client: LoginRecord.Client,
  tokens: LoginRecord.Tokens,
  refreshToken: Redacted.Redacted
): Given =>
  asked(options, tokens, (fetchFn) =>
    options.oauth.refreshAuthorization(options.discovered.issuer, {
      ...common(options, client),
      fetchFn,
      refreshToken: Redacted.value(refreshToken)
    }))

type Held = Exclude<Grant.Grant, { _tag: "AuthorizationCode" }>

/**
 * Without a person.
 *
 * @internal
 */
export const held = (options: Options, grant: Held, scope: string | undefined): Given =>
  Effect.flatMap(prepared(options, grant, scope), ({ authenticate, client, parameters }) => {
    const { metadata, ...rest } = common(options, client)
    if (scope !== undefined) parameters.set("scope", scope)
    return asked(options, undefined, (fetchFn) =>
      options.oauth.fetchToken(
        {
          redirectUrl: undefined,
          clientMetadata: { redirect_uris: [] },
          clientInformation: () => rest.clientInformation,
          prepareTokenRequest: () => parameters,
          ...(authenticate === undefined ? {} : { addClientAuthentication: authenticate }),
          dpop: () => options.proof,
          // what follows is for people
          tokens: () => undefined,
          saveTokens: () => undefined,
          redirectToAuthorization: () => undefined,
          saveCodeVerifier: () => undefined,
          codeVerifier: () => ""
        },
        options.discovered.issuer,
        { metadata, resource: new URL(rest.resource), fetchFn }
      ))
  })

interface Prepared {
  readonly client: LoginRecord.Client
  readonly parameters: URLSearchParams
  readonly authenticate?: OAuthSdk.AddClientAuthentication
}

const clientOf = (id: string, secret: Redacted.Redacted | undefined): LoginRecord.Client => ({
  how: "given",
  id,
  ...(secret === undefined ? {} : { secret })
})

/** Of somebody else's, who may not know that we wait. */
const given = (server: string, assertion: Grant.Assertion): Grant.Assertion =>
  Effect.timeoutFail(assertion, {
    duration: "30 seconds",
    onTimeout: () => new McpError.AuthorizationFailed({ server, reason: "timeout", detail: "there is no assertion" })
  })

const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

const prepared = (
  { discovered, fetch, oauth, server }: Options,
  grant: Held,
  scope: string | undefined
): Effect.Effect<Prepared, McpError.AuthorizationFailed> => {
  switch (grant._tag) {
    case "ClientCredentials": {
      const parameters = new URLSearchParams({ grant_type: "client_credentials" })
      return "secret" in grant
        ? Effect.succeed({ client: clientOf(grant.clientId, grant.secret), parameters })
        : Effect.succeed({
          client: clientOf(grant.clientId, undefined),
          parameters,
          authenticate: oauth.createPrivateKeyJwtAuth({
            issuer: grant.clientId,
            subject: grant.clientId,
            privateKey: Redacted.value(grant.privateKey),
            alg: grant.algorithm
          })
        })
    }
    case "JwtBearer":
      return Effect.map(given(server, grant.assertion), (assertion) => ({
        client: clientOf(grant.clientId ?? "", grant.clientSecret),
        parameters: new URLSearchParams({ grant_type: jwtBearer, assertion: Redacted.value(assertion) }),
        // a workload that is nobody else says nothing but its assertion
        ...(grant.clientId === undefined ? { authenticate: () => undefined } : {})
      }))
    case "EnterpriseManaged":
      return Effect.flatMap(given(server, grant.idToken), (idToken) =>
        Effect.map(
          OAuthSdk.attempt(
            oauth,
            server,
            { reason: "refused", detail: "the identity provider does not answer for this person" },
            (signal) =>
              oauth.requestJwtAuthorizationGrant({
                tokenEndpoint: grant.provider.tokenEndpoint,
                audience: discovered.issuer,
                resource: discovered.resource,
                idToken: Redacted.value(idToken),
                clientId: grant.provider.clientId,
                fetchFn: OAuthSdk.until(fetch, signal),
                ...(grant.provider.clientSecret === undefined
                  ? {}
                  : { clientSecret: Redacted.value(grant.provider.clientSecret) }),
                ...(scope === undefined ? {} : { scope })
              })
          ),
          ({ jwtAuthGrant }) => ({
            client: clientOf(grant.clientId, grant.clientSecret),
            parameters: new URLSearchParams({ grant_type: jwtBearer, assertion: jwtAuthGrant })
          })
        ))
  }
}
