/**
 * Another token, without a person: a login that is renewed, or what a program holds.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type * as McpError from "../../McpError.ts"
import type * as Grant from "../Grant.ts"
import type * as TokenStore from "../TokenStore.ts"
import * as Authority from "./authority.ts"
import * as Exchange from "./exchange.ts"
import type * as KeptLogin from "./keptLogin.ts"
import type * as LoginRecord from "./loginRecord.ts"
import * as Registration from "./registration.ts"

/** @internal */
export interface Options {
  readonly kept: KeptLogin.KeptLogin
  readonly authority: Authority.Authority
  /** Told of each token that replaces another. */
  readonly renewed: () => void
}

type Renewed = Effect.Effect<boolean, McpError.AuthorizationFailed | TokenStore.TokenStoreError>

/** @internal */
export interface Renewal {
  /** Another token than this one; false, if only a person can help. */
  readonly renew: (than: string | undefined) => Effect.Effect<boolean, McpError.AuthorizationFailed>
  /** Another token, whatever there is. */
  readonly obtain: (grant: Exclude<Grant.Grant, { _tag: "AuthorizationCode" }>) => Effect.Effect<
    void,
    McpError.AuthorizationFailed
  >
}

/**
 * Whether it says that we are nobody to the authorization server any more.
 *
 * @internal
 */
export const isUnknownClient = (code: string | undefined): boolean =>
  code === "invalid_client" || code === "unauthorized_client"

/** @internal */
export const make = ({ authority, kept, renewed }: Options): Renewal => {
  const obtain = (grant: Exclude<Grant.Grant, { _tag: "AuthorizationCode" }>): Renewed =>
    Effect.gen(function*() {
      const prepared = yield* authority.prepare
      const { before, exchange } = prepared
      const scope = authority.scope(prepared, before?.asked)
      const tokens = yield* Exchange.held(exchange, grant, scope)
      const id = "clientId" in grant ? grant.clientId ?? "" : ""
      yield* kept.replace(Authority.recordOf(prepared, { how: "given", id }, tokens, scope))
      authority.satisfied()
      renewed()
      return true
    })

  const forget = (login: LoginRecord.Login) => {
    const { key: _, tokens: __, ...rest } = login
    return Effect.as(kept.replace(rest), false)
  }

  const refresh = (login: LoginRecord.Login, tokens: LoginRecord.Tokens, token: Redacted.Redacted): Renewed =>
    Effect.gen(function*() {
      const prepared = yield* authority.prepare
      if (prepared.found.issuer !== login.issuer) return yield* forget(login)
      // What is sent may use the token up, so its answer is kept even if nobody waits for it any more. It does not take
      // long, because whatever is fetched has a limit.
      const client = Registration.stillGiven(prepared.settings.configured, login.client)
      const next = yield* Effect.uninterruptible(Effect.either(Effect.tap(
        Exchange.refresh(prepared.exchange, client, tokens, token),
        (given) => kept.replace(Authority.recordOf(prepared, login.client, given, login.asked))
      )))
      if (Either.isRight(next)) {
        renewed()
        return true
      }
      const { code, reason } = next.left
      // what could not be asked now is not gone
      if (reason !== "refused") return yield* next.left
      if (code === "invalid_grant") return yield* forget(login)
      if (isUnknownClient(code)) yield* kept.remove
      return false
    })

  return {
    renew: (than) =>
      kept.locked(Effect.gen(function*() {
        const login = kept.get()
        const tokens = login?.tokens
        const isBroken = tokens?.type === "DPoP" && (yield* authority.proofOf(login!)) === undefined
        if (tokens !== undefined && !isBroken && Redacted.value(tokens.access) !== than) return true
        const { grant } = authority.settings()
        if (grant._tag !== "AuthorizationCode") return yield* obtain(grant)
        if (login === undefined || tokens === undefined) return false
        if (isBroken) return yield* forget(login)
        return tokens.refresh === undefined ? false : yield* refresh(login, tokens, tokens.refresh)
      })),
    obtain: (grant) => Effect.asVoid(kept.locked(obtain(grant)))
  }
}
