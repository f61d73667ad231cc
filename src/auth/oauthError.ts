/** The errors of requests to authorization servers, from what the SDK and the guarded fetch throw. */
import * as Effect from "effect/Effect"
import * as McpError from "../McpError.ts"
import { type Fetch, GuardedFetchError } from "./guardedFetch.ts"

export type Sdk = typeof import("./oauthSdk.ts")

export type Reason = McpError.AuthorizationFailed["reason"]

/** The error of a step, unless the authorization server gives a code that says more. */
interface Otherwise {
  readonly server: string
  readonly reason: Reason
  readonly detail: string
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

export const withCode = (server: string, reason: Reason, detail: string, code: string): McpError.AuthorizationFailed =>
  new McpError.AuthorizationFailed({ server, reason, detail, ...(codes.has(code) ? { code } : {}) })

/** Whether the authorization server no longer knows the client. */
export const isUnknownClient = ({ code }: McpError.AuthorizationFailed): boolean =>
  code === "invalid_client" || code === "unauthorized_client"

const ofFetch = (server: string, { reason }: GuardedFetchError): McpError.AuthorizationFailed => {
  const failed = (reason: Reason, detail: string) => new McpError.AuthorizationFailed({ server, reason, detail })
  switch (reason) {
    case "blocked":
    case "redirect":
      return failed("blocked", "the authorization server names an address that is not permitted")
    case "too-large":
      return failed("metadata", "an answer of the authorization server is too large")
    case "timeout":
    case "unreachable":
      return failed("unreachable", "the authorization server does not answer")
  }
}

const failure = (sdk: Sdk, { detail, reason, server }: Otherwise, error: unknown): McpError.AuthorizationFailed => {
  if (error instanceof GuardedFetchError) return ofFetch(server, error)
  if (sdk.IssuerMismatchError.isInstance(error)) {
    const mismatch = "the authorization server says that it is another one"
    return new McpError.AuthorizationFailed({ server, reason, detail: mismatch })
  }
  if (!sdk.OAuthError.isInstance(error)) return new McpError.AuthorizationFailed({ server, reason, detail })
  return temporary.has(error.code)
    ? withCode(server, "unreachable", "the authorization server cannot answer now", error.code)
    : withCode(server, "refused", detail, error.code)
}

/** Runs functions of the SDK. Only codes are taken from their errors, because the texts quote what came over the network. */
export const attempt = <A>(
  sdk: Sdk,
  otherwise: Otherwise,
  run: (signal: AbortSignal) => Promise<A>
): Effect.Effect<A, McpError.AuthorizationFailed> =>
  Effect.tryPromise({ try: run, catch: (error) => failure(sdk, otherwise, error) })

/** Whether another attempt may succeed later, whatever the body says. */
const isLater = (status: number): boolean => status >= 500 || status === 408 || status === 429

const checkStatus = (response: Response, isExcepted = false): Response => {
  if (isExcepted || !isLater(response.status)) return response
  throw new GuardedFetchError("unreachable", "the authorization server is out of order")
}

/** A fetch for the SDK, which takes no signal, and which reads the body of an error before its status. */
export const until = (fetch: Fetch, signal: AbortSignal): Fetch => async (url, init) =>
  checkStatus(await fetch(url, { ...init, signal }))

/** A fetch for metadata. A document that is elsewhere is absent, and so is one behind a gateway that fails (502). */
export const forMetadata = (fetch: Fetch, signal: AbortSignal): Fetch => async (url) => {
  try {
    const response = await fetch(url, { headers: { accept: "application/json" }, signal })
    return checkStatus(response, response.status === 502)
  } catch (error) {
    if (error instanceof GuardedFetchError && error.reason === "redirect") return new Response(null, { status: 404 })
    throw error
  }
}
