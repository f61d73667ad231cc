/**
 * The OAuth of the SDK, loaded when somebody first logs in, and what its failures mean.
 *
 * @internal
 */
import type * as Sdk from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import * as McpError from "../../McpError.ts"
import type { Fetch as GuardedFetch } from "../guardedFetch.ts"
import { GuardedFetchError } from "../guardedFetch.ts"
import type * as Discovery from "./discovery.ts"

/** @internal */
export type OAuth = Pick<
  typeof Sdk,
  | "DpopSession"
  | "OAuthError"
  | "buildDiscoveryUrls"
  | "createPrivateKeyJwtAuth"
  | "exchangeAuthorization"
  | "fetchToken"
  | "generateDpopKeyPair"
  | "refreshAuthorization"
  | "registerClient"
  | "requestJwtAuthorizationGrant"
  | "resolveClientMetadata"
  | "startAuthorization"
  | "validateAuthorizationResponseIssuer"
>

/** @internal */
export type Metadata = Sdk.AuthorizationServerMetadata

/** @internal */
export type ClientInformation = Sdk.OAuthClientInformationMixed

/** @internal */
export type { AddClientAuthentication, DpopKeyPair, DpopSession, OAuthTokens } from "@modelcontextprotocol/client"

/** @internal */
export type Fetch = GuardedFetch

/**
 * What was discovered, in the words of the SDK.
 *
 * @internal
 */
export const metadata = (server: Discovery.Server): Metadata => ({
  issuer: server.issuer,
  // a server without one can still give tokens to programs, and is not asked for a page then
  authorization_endpoint: server.authorization_endpoint ?? "",
  token_endpoint: server.token_endpoint,
  registration_endpoint: server.registration_endpoint,
  response_types_supported: [...server.response_types_supported],
  token_endpoint_auth_methods_supported: mutable(server.token_endpoint_auth_methods_supported),
  code_challenge_methods_supported: mutable(server.code_challenge_methods_supported),
  authorization_response_iss_parameter_supported: server.authorization_response_iss_parameter_supported
})

const mutable = (texts: ReadonlyArray<string> | undefined): Array<string> | undefined =>
  texts === undefined ? undefined : [...texts]

/** @internal */
export const load: Effect.Effect<OAuth> = Effect.promise(() => import("./oauthLibrary.ts"))

/** What an authorization server says when it is its own fault, and may be over soon. */
const temporary: ReadonlySet<string> = new Set(["server_error", "temporarily_unavailable", "too_many_requests"])

/**
 * Runs one of its functions. It tells what has happened in sentences that quote what came over the network, so only the
 * code of OAuth is taken from them.
 *
 * @internal
 */
export const attempt = <A>(
  oauth: OAuth,
  server: string,
  otherwise: { readonly reason: McpError.AuthorizationFailed["reason"]; readonly detail: string },
  run: (signal: AbortSignal) => Promise<A>
): Effect.Effect<A, McpError.AuthorizationFailed> =>
  Effect.tryPromise({ try: run, catch: (error) => failure(oauth, server, otherwise, error) })

/** Where somebody else may be asked later, whatever is said about why. */
const isLater = (status: number): boolean => status >= 500 || status === 408 || status === 429

/**
 * For its functions, which take no signal, and look at what an answer says before they look at its status.
 *
 * @internal
 */
export const until = (fetch: Fetch, signal: AbortSignal): Fetch => (url, init) =>
  fetch(url, { ...init, signal }).then((response) => {
    if (isLater(response.status)) throw new GuardedFetchError("unreachable", "the authorization server is out of order")
    return response
  })

/** Other codes are not told: they may be what was sent, and that is secret. */
const codes: ReadonlySet<string> = new Set([
  "access_denied",
  "account_selection_required",
  "consent_required",
  "interaction_required",
  "invalid_client",
  "invalid_client_metadata",
  "invalid_dpop_proof",
  "invalid_grant",
  "invalid_redirect_uri",
  "invalid_request",
  "invalid_scope",
  "invalid_software_statement",
  "invalid_target",
  "invalid_token",
  "login_required",
  "server_error",
  "slow_down",
  "temporarily_unavailable",
  "unapproved_software_statement",
  "unauthorized_client",
  "unmet_authentication_requirements",
  "unsupported_grant_type",
  "unsupported_response_type",
  "unsupported_token_type",
  "use_dpop_nonce"
])

/**
 * An error code of OAuth that may be told.
 *
 * @internal
 */
export const codeOf = (said: string): { readonly code?: string } => codes.has(said) ? { code: said } : {}

const failure = (
  oauth: OAuth,
  server: string,
  otherwise: { readonly reason: McpError.AuthorizationFailed["reason"]; readonly detail: string },
  error: unknown
): McpError.AuthorizationFailed => {
  if (oauth.OAuthError.isInstance(error)) {
    const code = codeOf(error.code)
    return temporary.has(error.code)
      ? new McpError.AuthorizationFailed({
        server,
        reason: "unreachable",
        ...code,
        detail: "the authorization server cannot answer now"
      })
      : new McpError.AuthorizationFailed({ server, reason: "refused", ...code, detail: otherwise.detail })
  }
  return ofFetch(server, error) ?? new McpError.AuthorizationFailed({ server, ...otherwise })
}

/** @internal */
export const isRedirect = (error: unknown): boolean => error instanceof GuardedFetchError && error.reason === "redirect"

/**
 * What a failure to reach an address means; nothing, if it is another failure.
 *
 * @internal
 */
export const ofFetch = (server: string, error: unknown): McpError.AuthorizationFailed | undefined => {
  if (!(error instanceof GuardedFetchError)) return undefined
  const of = (reason: McpError.AuthorizationFailed["reason"], detail: string) =>
    new McpError.AuthorizationFailed({ server, reason, detail })
  switch (error.reason) {
    case "blocked":
    case "redirect":
      return of("blocked", "an address of the authorization server is one that is not gone to")
    case "too-large":
      return of("metadata", "the authorization server says too much")
    default:
      return of("unreachable", "the authorization server cannot be reached")
  }
}
