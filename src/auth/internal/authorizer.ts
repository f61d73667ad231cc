/**
 * The login of one server, as its requests want it: kept, renewed, widened, and made by a person.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Connector from "../../client/Connector.ts"
import * as McpError from "../../McpError.ts"
import type * as McpEvent from "../../McpEvent.ts"
import type * as RemoteHeaders from "../../transport/RemoteHeaders.ts"
import * as UrlGuard from "../UrlGuard.ts"
import * as Authority from "./authority.ts"
import * as Flight from "./flight.ts"
import * as KeptLogin from "./keptLogin.ts"
import type * as LoginRecord from "./loginRecord.ts"
import * as PersonLogin from "./personLogin.ts"
import * as Renewal from "./renewal.ts"
import * as Scopes from "./scopes.ts"
import * as Tokens from "./tokens.ts"

/** @internal */
export interface Options
  extends
    Omit<KeptLogin.Options, "where">,
    Omit<Authority.Options, "login">,
    Omit<PersonLogin.Options, "authority" | "kept">
{
  readonly settings: Authority.Settings
  /** The user whose login it is; `undefined` for the login of the application. */
  readonly identity: string | undefined
  /** Whether a call may ask a person while it waits. */
  readonly onCalls: boolean
  readonly fork: Flight.Fork
  readonly publish: (event: McpEvent.McpEvent) => void
}

/** @internal */
export interface Authorizer extends RemoteHeaders.Login {
  /** Variables may hold something else than at the last connect. */
  readonly configure: (settings: Authority.Settings) => void
  /** Asks the person, or gets another token, whatever there is already. */
  readonly login: Effect.Effect<void, McpError.AuthorizationFailed>
  readonly logout: Effect.Effect<void, McpError.AuthorizationFailed>
  readonly current: Effect.Effect<LoginRecord.Login | undefined, McpError.AuthorizationFailed>
  /** Lets go of what is in memory: there is no connection. */
  readonly rest: () => void
}

type Headers = ReadonlyMap<string, Redacted.Redacted>

const noHeaders: Headers = new Map()

/** How often one request is sent again, with whatever others have come by. */
const maxAttempts = 4

/** How often it gets or asks for something else itself: once each, for a token that is over and for one that has too few rights. */
const maxOwn = 2

/**
 * Where a login is kept. What a configuration may say of the authorization server that nothing checks is a part of it: such
 * a login is not another's.
 *
 * @internal
 */
export const key = (
  url: URL,
  configured: Authority.Settings["configured"],
  identity: string | undefined
): string => {
  const account = configured?.clientId ?? configured?.clientMetadataUrl ?? "anybody"
  const by = configured?.authServerMetadataUrl === undefined ? "" : ` by ${configured.authServerMetadataUrl}`
  const place = `${UrlGuard.identity(url)} as ${account}${by}${configured?.legacy === true ? " (legacy)" : ""}`
  // no place of the application begins with a bracket
  return identity === undefined ? place : JSON.stringify([place, identity])
}

/** @internal */
export const make = (options: Options): Authorizer => {
  const { fork, identity, onCalls, publish, server, settings, url } = options
  const kept = KeptLogin.make({ ...options, where: key(url, settings.configured, identity) })
  const authority = Authority.make({ ...options, login: kept.get }, settings)
  const renewal = Renewal.make({
    kept,
    authority,
    renewed: () => publish({ _tag: "TokenRenewed", server })
  })
  let renewals: {
    readonly than: string | undefined
    readonly flight: Flight.Flight<boolean, McpError.AuthorizationFailed>
  } = { than: undefined, flight: Flight.make(fork) }
  const people = Flight.make<void, McpError.AuthorizationFailed>(fork)
  // one that was given up may still have its page open, at an address that the next one wants
  const page = Effect.unsafeMakeSemaphore(1)

  const person = page.withPermits(1)(Effect.suspend(() => {
    publish({ _tag: "LoginBegan", server })
    return Effect.onExit(
      PersonLogin.make({ ...options, kept, authority }),
      (exit) => Effect.sync(() => publish({ _tag: "LoginEnded", server, outcome: outcomeOf(exit) }))
    )
  })).pipe(Effect.provideService(Connector.Identity, identity))

  const isOther = (token: string | undefined): boolean => {
    const access = kept.get()?.tokens?.access
    return access !== undefined && Redacted.value(access) !== token
  }

  /** Another token than this one, without a person; false, if only a person can help. */
  const renew = (than: string | undefined) =>
    Effect.suspend(() => {
      if (renewals.than !== than) renewals = { than, flight: Flight.make(fork) }
      return renewals.flight.join(renewal.renew(than))
    })

  let shown: { readonly of: LoginRecord.Tokens; readonly headers: Headers } | undefined
  const bearer = (tokens: LoginRecord.Tokens): Headers => {
    if (shown?.of !== tokens) {
      const header = Redacted.make(`Bearer ${Redacted.value(tokens.access)}`)
      shown = { of: tokens, headers: new Map([["authorization", header]]) }
    }
    return shown.headers
  }

  const fresh = Effect.gen(function*() {
    const tokens = kept.get()?.tokens
    const now = yield* Clock.currentTimeMillis
    if (tokens === undefined || !Tokens.isStale(tokens, now)) return
    const renewed = renew(Redacted.value(tokens.access))
    // a token that can still be used is, if there is no other now
    yield* Tokens.isOver(tokens, now) ? renewed : Effect.ignore(renewed)
  })

  const headers: RemoteHeaders.Login["headers"] = (request) =>
    Effect.gen(function*() {
      yield* kept.known
      yield* fresh
      const login = kept.get()
      if (login?.tokens === undefined) return noHeaders
      const { access, type } = login.tokens
      if (type === "Bearer") return bearer(login.tokens)
      const bound = yield* authority.proofOf(login)
      if (bound === undefined) return noHeaders
      const accessToken = Redacted.value(access)
      const signed = yield* Effect.promise(() =>
        bound.session.buildProof({ htm: request.method, htu: request.url, accessToken })
      )
      return new Map([["authorization", Redacted.make(`DPoP ${accessToken}`)], ["dpop", Redacted.make(signed)]])
    })

  /** A person, for a call that waits; or else it is remembered what was asked for until somebody logs in. */
  const ask = ({ foreground, waiting }: RemoteHeaders.Refusal): Effect.Effect<boolean, McpError.AuthorizationFailed> =>
    onCalls && foreground && authority.settings().grant._tag === "AuthorizationCode"
      ? Effect.acquireUseRelease(
        Effect.sync(() => waiting(true)),
        () => Effect.as(people.join(person), true),
        () => Effect.sync(() => waiting(false))
      )
      : Effect.succeed(false)

  const refused: RemoteHeaders.Login["refused"] = (refusal) =>
    Effect.suspend(() => {
      const { attempt, challenge, sent, status } = refusal
      if (attempt >= maxAttempts) return Effect.succeed(false)
      const isBound = sent.has("dpop")
      if (challenge.error === "use_dpop_nonce" && isBound) return Effect.succeed(true)
      if (status === 403 && challenge.error !== "insufficient_scope" && challenge.scope === undefined) {
        return Effect.succeed(false)
      }
      const token = tokenIn(sent)
      authority.heard(challenge)
      if (token !== undefined) authority.doubt()
      // somebody else has got another meanwhile
      if (token !== undefined && isOther(token)) return Effect.succeed(true)
      // the number that a proof has to name costs one more
      if (attempt >= maxOwn + (isBound ? 1 : 0)) return Effect.succeed(false)
      if (status === 401) return Effect.flatMap(renew(token), (done) => done ? Effect.succeed(true) : ask(refusal))
      const login = kept.get()
      if (login?.asked !== undefined && Scopes.covers(login.asked, challenge.scope)) return Effect.succeed(false)
      return authority.settings().grant._tag === "AuthorizationCode" ? ask(refusal) : renew(token)
    })

  return {
    headers,
    refused,
    nonce: (nonce) => authority.proof()?.session.rememberNonce(url, nonce),
    now: (time) => {
      if (!kept.isLoaded()) return undefined
      const tokens = kept.get()?.tokens
      if (tokens === undefined) return noHeaders
      return tokens.type === "Bearer" && !Tokens.isStale(tokens, time) ? bearer(tokens) : undefined
    },
    configure: authority.configure,
    login: Effect.suspend(() => {
      const { grant } = authority.settings()
      return grant._tag === "AuthorizationCode" ? people.join(person) : renewal.obtain(grant)
    }),
    logout: Effect.suspend(() => {
      people.stop(new McpError.AuthorizationFailed({ server, reason: "cancelled", detail: "somebody logs out" }))
      return kept.locked(kept.remove)
    }),
    current: kept.stored,
    rest: () => {
      shown = undefined
      renewals = { than: undefined, flight: Flight.make(fork) }
      kept.rest()
    }
  }
}

const tokenIn = (sent: Headers): string | undefined => {
  const header = sent.get("authorization")
  return header === undefined ? undefined : Redacted.value(header).replace(/^\S+ /, "")
}

const outcomeOf = (
  exit: Exit.Exit<void, McpError.AuthorizationFailed>
): Extract<McpEvent.McpEvent, { readonly _tag: "LoginEnded" }>["outcome"] => {
  if (Exit.isSuccess(exit)) return "Success"
  const failure = Cause.failureOption(exit.cause)
  if (failure._tag === "Some") return failure.value.reason
  return Cause.isInterrupted(exit.cause) ? "Interrupted" : "Defect"
}
