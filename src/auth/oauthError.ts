/** The errors of requests to authorization servers, from what the SDK and the guarded fetch throw. */
import * as Effect from "effect/Effect"
import * as McpError from "../McpError.ts"
import { type Fetch, GuardedFetchError } from "./guardedFetch.ts"
import type * as OAuthSdk from "./oauthSdk.ts"

export type Sdk = typeof OAuthSdk

export type Reason = McpError.AuthorizationFailed["reason"]

/** The functions of the SDK, and the server whose login calls them. */
interface Caller {
  readonly server: string
  readonly sdk: Sdk
  readonly fetch: Fetch
}

/** The codes of OAuth. Other texts in their place are not reported, because they may be an echo of what was sent. */
const codes: ReadonlySet<string> = new Set(
  ("access_denied account_selection_required consent_required interaction_required invalid_client " +
    "invalid_client_metadata invalid_dpop_proof invalid_grant invalid_redirect_uri invalid_request invalid_scope " +
    "invalid_software_statement invalid_target invalid_token login_required server_error slow_down " +
    "temporarily_unavailable unapproved_software_statement unauthorized_client unmet_authentication_requirements " +
    "unsupported_grant_type unsupported_response_type unsupported_token_type use_dpop_nonce").split(" ")
)

/** Codes of an authorization server that cannot answer now. */
const temporary: ReadonlySet<string> = new Set(["server_error", "temporarily_unavailable", "too_many_requests"])

export const failed = ({ server }: Pick<Caller, "server">, reason: Reason, detail: string, code = "") =>
  new McpError.AuthorizationFailed({ server, reason, detail, ...(codes.has(code) ? { code } : {}) })

/** Whether the authorization server no longer knows the client. */
export const isUnknownClient = ({ code }: McpError.AuthorizationFailed): boolean =>
  code === "invalid_client" || code === "unauthorized_client"

const blocked = ["blocked", "the authorization server names an address that is not permitted"] as const
const unreachable = ["unreachable", "the authorization server does not answer"] as const

const fetchFailures: Readonly<Record<GuardedFetchError["reason"], readonly [reason: Reason, detail: string]>> = {
  blocked,
  redirect: blocked,
  "too-large": ["metadata", "an answer of the authorization server is too large"],
  timeout: unreachable,
  unreachable
}

/** Whether another attempt may succeed later, whatever the body says. A gateway that fails (502) has no metadata. */
const isLater = ({ status }: Response, init: RequestInit | undefined): boolean =>
  (status >= 500 && (status !== 502 || init?.method === "POST")) || status === 408 || status === 429

/**
 * Runs functions of the SDK, with a fetch that fails if another attempt may succeed, because the SDK reads the body first. Only
 * codes are taken from their errors, because the texts quote what came over the network.
 */
export const attempt = <A>(
  caller: Caller,
  reason: Reason,
  detail: string,
  run: (fetch: Fetch) => Promise<A>
): Effect.Effect<A, McpError.AuthorizationFailed> =>
  Effect.tryPromise({
    try: (signal) =>
      run(async (url, init) => {
        const response = await caller.fetch(url, { ...init, signal })
        if (isLater(response, init)) throw new GuardedFetchError("unreachable", "try again later")
        return response
      }),
    catch: (error) => {
      if (error instanceof GuardedFetchError) return failed(caller, ...fetchFailures[error.reason])
      if (caller.sdk.IssuerMismatchError.isInstance(error)) {
        return failed(caller, reason, "the authorization server says that it is another one")
      }
      if (!caller.sdk.OAuthError.isInstance(error)) return failed(caller, reason, detail)
      return temporary.has(error.code)
        ? failed(caller, "unreachable", "the authorization server cannot answer now", error.code)
        : failed(caller, "refused", detail, error.code)
    }
  })
