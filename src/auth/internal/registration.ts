/**
 * Who we are to an authorization server.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as McpError from "../../McpError.ts"
import type * as Authority from "./authority.ts"
import type * as Discovery from "./discovery.ts"
import type * as LoginRecord from "./loginRecord.ts"
import * as OAuthSdk from "./oauthSdk.ts"
import * as Scopes from "./scopes.ts"

/** @internal */
export interface Options {
  readonly server: string
  readonly oauth: OAuthSdk.OAuth
  readonly fetch: OAuthSdk.Fetch
  readonly configured: Authority.Settings["configured"]
  readonly clientName: string
  readonly clientMetadataUrl: string | undefined
  readonly now: number
}

const givenBy = (configured: Authority.Settings["configured"]): LoginRecord.Client | undefined => {
  if (configured?.clientId === undefined) return undefined
  const { clientId: id, clientSecret: secret, tokenEndpointAuthMethod: method } = configured
  return {
    how: "given",
    id,
    ...(secret === undefined ? {} : { secret }),
    ...(method === undefined ? {} : { method })
  }
}

/**
 * Who a login was made for, with the secret that the configuration has for them now.
 *
 * @internal
 */
export const stillGiven = (
  configured: Authority.Settings["configured"],
  kept: LoginRecord.Client
): LoginRecord.Client => {
  const given = kept.how === "given" ? givenBy(configured) : undefined
  return given?.id === kept.id ? given : kept
}

const text = /^[\u0020-\u007e]{1,4096}$/

/** @internal */
export const clientFor = (
  options: Options,
  { issuer, metadata }: Discovery.Discovered,
  kept: LoginRecord.Client | undefined,
  redirectUri: string,
  scope: string | undefined
): Effect.Effect<LoginRecord.Client, McpError.AuthorizationFailed> => {
  const { configured, now } = options
  const given = givenBy(configured)
  if (given !== undefined) return Effect.succeed(given)
  const document = configured?.clientMetadataUrl ?? options.clientMetadataUrl
  if (document !== undefined && metadata.client_id_metadata_document_supported === true) {
    return Effect.succeed({ how: "document", id: document })
  }
  const isFor = kept?.how === "registered" && kept.redirectUri === redirectUri &&
    (kept.scope === undefined || Scopes.covers(kept.scope, scope))
  if (isFor && (kept.secretExpiresAt ?? Infinity) > now) return Effect.succeed(kept)
  return metadata.registration_endpoint === undefined
    ? fault(options.server, "it knows nobody who was not registered before: set oauth.clientId")
    : register(options, issuer, metadata, redirectUri, scope)
}

const fault = (server: string, detail: string) =>
  new McpError.AuthorizationFailed({ server, reason: "registration", detail })

/** Most authorization servers want to be told how we will say who we are, and a program on a desk keeps no secrets. */
const methodFor = (supported: ReadonlyArray<string> | undefined): string => {
  if (supported === undefined) return "none"
  return ["none", "client_secret_basic", "client_secret_post"].find((method) => supported.includes(method)) ?? "none"
}

const register = (
  { clientName, fetch, oauth, server }: Options,
  issuer: string,
  metadata: Discovery.Server,
  redirectUri: string,
  scope: string | undefined
) =>
  OAuthSdk.attempt(
    oauth,
    server,
    { reason: "registration", detail: "it did not register this client" },
    (signal) =>
      oauth.registerClient(issuer, {
        metadata: OAuthSdk.metadata(metadata),
        clientMetadata: oauth.resolveClientMetadata({
          redirectUrl: redirectUri,
          clientMetadata: {
            client_name: clientName,
            redirect_uris: [redirectUri],
            response_types: ["code"],
            token_endpoint_auth_method: methodFor(metadata.token_endpoint_auth_methods_supported)
          }
        }),
        ...(scope === undefined ? {} : { scope }),
        fetchFn: OAuthSdk.until(fetch, signal)
      })
  ).pipe(
    Effect.flatMap((given): Effect.Effect<LoginRecord.Client, McpError.AuthorizationFailed> => {
      const { client_id, client_secret, client_secret_expires_at, redirect_uris } = given
      const method = given.token_endpoint_auth_method
      const isOurs = redirect_uris.length === 0 || redirect_uris.includes(redirectUri)
      if (!isOurs || !text.test(client_id) || (client_secret !== undefined && !text.test(client_secret))) {
        return fault(server, "it registered another client than this")
      }
      return Effect.succeed({
        how: "registered",
        id: client_id,
        redirectUri,
        ...(scope === undefined ? {} : { scope }),
        ...(client_secret === undefined ? {} : { secret: Redacted.make(client_secret) }),
        ...(method === undefined ? {} : { method }),
        ...(client_secret_expires_at === undefined || client_secret_expires_at === 0
          ? {}
          : { secretExpiresAt: client_secret_expires_at * 1000 })
      })
    })
  )

/** @internal */
export const information = ({ id, method, secret }: LoginRecord.Client): OAuthSdk.ClientInformation => ({
  client_id: id,
  ...(secret === undefined ? {} : { client_secret: Redacted.value(secret) }),
  // what nobody asks for here, but the type does with the method
  ...(method === undefined ? {} : { token_endpoint_auth_method: method, redirect_uris: [] })
})
