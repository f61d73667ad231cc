/** The errors of logins. */
import type * as Effect from "effect/Effect"
import * as McpError from "../McpError.ts"

/** A step of a login. */
export type Step<A, R = never> = Effect.Effect<A, McpError.AuthorizationFailed, R>

export type Reason = McpError.AuthorizationFailed["reason"]

/** The codes of OAuth. Other texts in their place are not reported, because they may be an echo of what was sent. */
const codes: ReadonlySet<string> = new Set(
  ("access_denied account_selection_required consent_required interaction_required invalid_client " +
    "invalid_client_metadata invalid_dpop_proof invalid_grant invalid_redirect_uri invalid_request invalid_scope " +
    "invalid_software_statement invalid_target invalid_token login_required server_error slow_down " +
    "temporarily_unavailable unapproved_software_statement unauthorized_client unmet_authentication_requirements " +
    "unsupported_grant_type unsupported_response_type unsupported_token_type use_dpop_nonce").split(" ")
)

export const failed = ({ server }: { readonly server: string }, reason: Reason, detail: string, code = "") =>
  new McpError.AuthorizationFailed({ server, reason, detail, ...(codes.has(code) ? { code } : {}) })

/** Whether the authorization server no longer knows the client. */
export const isUnknownClient = ({ code }: McpError.AuthorizationFailed): boolean =>
  code === "invalid_client" || code === "unauthorized_client"
