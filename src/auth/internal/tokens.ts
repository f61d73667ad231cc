/**
 * What an authorization server gives, held to what can be used.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as McpError from "../../McpError.ts"
import type * as LoginRecord from "./loginRecord.ts"
import type * as OAuthSdk from "./oauthSdk.ts"
import * as Scopes from "./scopes.ts"

const token = /^[\u0021-\u007e]{1,16384}$/

/** Nothing is for ever, whatever it says. */
const longest = 10 * 365 * 24 * 3600

/** A token is renewed so long before its end, for requests take time; one that is short-lived, after half of its life. */
const longestMargin = 30_000

/** @internal */
export const normalised = (
  server: string,
  given: OAuthSdk.OAuthTokens,
  now: number,
  before: LoginRecord.Tokens | undefined
): Either.Either<LoginRecord.Tokens, McpError.AuthorizationFailed> => {
  const { access_token, expires_in, refresh_token, scope, token_type } = given
  const type = token_type.toLowerCase() === "bearer"
    ? "Bearer"
    : token_type.toLowerCase() === "dpop"
    ? "DPoP"
    : undefined
  if (type === undefined || !token.test(access_token) || (refresh_token !== undefined && !token.test(refresh_token))) {
    return Either.left(
      new McpError.AuthorizationFailed({ server, reason: "answer", detail: "it gave a token that cannot be used" })
    )
  }
  const refresh = refresh_token === undefined ? before?.refresh : Redacted.make(refresh_token)
  const granted = Scopes.union(scope?.slice(0, 4096)) ?? before?.scope
  return Either.right({
    access: Redacted.make(access_token),
    type,
    ...(refresh === undefined ? {} : { refresh }),
    ...(expires_in !== undefined && expires_in > 0
      ? { givenAt: now, expiresAt: now + Math.min(expires_in, longest) * 1000 }
      : {}),
    ...(granted === undefined ? {} : { scope: granted })
  })
}

/** @internal */
export const isStale = ({ expiresAt, givenAt }: LoginRecord.Tokens, now: number): boolean => {
  if (expiresAt === undefined) return false
  const margin = givenAt === undefined ? longestMargin : Math.min(longestMargin, (expiresAt - givenAt) / 2)
  return expiresAt - margin <= now
}

/** @internal */
export const isOver = ({ expiresAt }: LoginRecord.Tokens, now: number): boolean =>
  expiresAt !== undefined && expiresAt <= now
