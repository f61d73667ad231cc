/** The login of one server as its requests use it: stored, renewed, widened, made by a person or the program, revoked. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Redacted from "effect/Redacted"
import * as Connector from "../client/Connector.ts"
import type * as McpError from "../McpError.ts"
import type * as McpEvent from "../McpEvent.ts"
import * as Scoped from "../scoped.ts"
import type * as RemoteHeaders from "../transport/RemoteHeaders.ts"
import type * as Discovery from "./discovery.ts"
import type * as OAuth from "./oauth.ts"
import { failed, isUnknownClient, type Step } from "./oauthError.ts"
import * as StoredLogin from "./storedLogin.ts"
import type * as TokenStore from "./TokenStore.ts"
import * as UrlGuard from "./UrlGuard.ts"

/** Starts a fiber that outlives the caller. */
export type Fork = <A, E>(effect: Effect.Effect<A, E>) => Fiber.RuntimeFiber<A, E>

export interface Options extends Omit<Discovery.Target, "resourceMetadata">, OAuth.Person {
  readonly store: TokenStore.TokenStore["Type"]
  /** The user whose login it is; `undefined` for the login of the application. */
  readonly identity: string | undefined
  /** Whether a call may ask a person while it waits. */
  readonly onCalls: boolean
  readonly know: StoredLogin.Options["know"]
  readonly fork: Fork
  readonly publish: (event: McpEvent.McpEvent) => void
}

export type Login = ReturnType<typeof make>

type Headers = RemoteHeaders.Headers

// on demand, because they load the SDK, which only requests for tokens need
const loading = Effect.promise(() => import("./oauth.ts"))
const loadingDiscovery = Effect.promise(() => import("./discovery.ts"))

const noHeaders: Headers = new Map()

/** The attempts of one request, with whatever tokens the others obtain. */
const maxAttempts = 4

/** The times that one request obtains tokens itself: for a token that is no longer valid, and for one with too few rights. */
const maxOwn = 2

const revocationLimit = "10 seconds"

/**
 * The name of a login in the store. Settings of the authorization server that nothing verifies are a part of it, because such a
 * login must not be used without them.
 */
export const storeKey = (
  url: URL,
  configured: Discovery.Settings["configured"],
  identity: string | undefined
): string => {
  const account = configured?.clientId ?? configured?.clientMetadataUrl ?? "any client"
  const by = configured?.authServerMetadataUrl === undefined ? "" : ` by ${configured.authServerMetadataUrl}`
  const key = `${UrlGuard.identity(url)} as ${account}${by}${configured?.legacy === true ? " (legacy)" : ""}`
  // no key of the application begins with a bracket
  return identity === undefined ? key : JSON.stringify([key, identity])
}

/** One run at a time, shared by all who wait for it; interrupted when none of them waits any more. */
export const shared = <A, E>(fork: Fork, stopped: () => E) => {
  let current: { readonly fiber: Fiber.RuntimeFiber<A, E>; waiting: number } | undefined
  const end = (run: typeof current): void => {
    if (current === run) current = undefined
    run?.fiber.unsafeInterruptAsFork(FiberId.none)
  }
  return {
    join: (start: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const run = current?.fiber.unsafePoll() === null ? current : { fiber: fork(start), waiting: 0 }
          run.waiting++
          return current = run
        }),
        ({ fiber }) =>
          Effect.flatMap(Fiber.await(fiber), (exit) => Exit.isInterrupted(exit) ? Effect.fail(stopped()) : exit),
        (run) =>
          Effect.sync(() => {
            if (--run.waiting === 0) end(run)
          })
      ),
    /** The waiting callers fail with `stopped`. */
    stop: () => end(current)
  }
}

const tokenIn = (sent: Headers): string | undefined => {
  const header = sent.get("authorization")
  return header === undefined ? undefined : Redacted.value(header).replace(/^\S+ /, "")
}

const outcomeOf = Exit.match({
  onSuccess: () => "Success" as const,
  onFailure: (cause: Cause.Cause<McpError.AuthorizationFailed>) =>
    cause._tag === "Fail" ? cause.error.reason : Cause.isInterrupted(cause) ? "Interrupted" as const : "Defect" as const
})

export const make = (options: Options) => {
  const { fetch, fork, identity, isOwn, onCalls, publish, server, url } = options
  const stored = StoredLogin.make({ ...options, key: storeKey(url, options.settings.configured, identity) })
  let settings = options.settings
  /** What was discovered last, with the settings that it depends on. */
  let found: { readonly by: string; readonly discovered: Discovery.Discovered } | undefined
  let proof: OAuth.Proof | undefined
  /** The access token of the last refusal (401), or none. */
  let refusedToken: string | undefined
  /** The last challenge of the server, until there are tokens for it. */
  let challenge: { readonly resourceMetadata?: string | undefined; readonly scope?: string | undefined } = {}

  const sharedRun = <A>() =>
    shared<A, McpError.AuthorizationFailed>(fork, () => failed(options, "cancelled", "the login was ended"))

  // What requests for tokens need

  const proofOf = (key: Redacted.Redacted | undefined) => {
    if (key === undefined) return Effect.succeed(undefined)
    if (proof !== undefined && Redacted.value(proof.key) === Redacted.value(key)) return Effect.succeed(proof)
    return Effect.map(Effect.flatMap(loading, (oauth) => oauth.proofOf(key)), (made) => {
      proof = made ?? proof
      return made
    })
  }

  const prepare = Effect.gen(function*() {
    const used = settings
    const { configured, grant } = used
    const [oauth, { discover, expectedIssuer }] = yield* Effect.all([loading, loadingDiscovery])
    const issuer = expectedIssuer(used) ?? ""
    const holdsSecret = grant._tag !== "AuthorizationCode" || configured?.clientSecret !== undefined
    if (holdsSecret && issuer === "") {
      // a second check, for values that were built without the checks of `ServerConfig` and `Credentials`
      const detail = "the secret has no issuer, so it was not sent: set oauth.issuer, or issuer of the Grant"
      return yield* failed(options, "metadata", detail)
    }
    const target = { server, url, isOwn, fetch, settings: used, resourceMetadata: challenge.resourceMetadata }
    const by = [issuer, configured?.authServerMetadataUrl, configured?.resource, configured?.legacy].join("\n")
    const discovered = found?.by === by ? found.discovered : yield* discover(target)
    found = { by, discovered }
    const login = stored.get()
    // what one authorization server gave is never sent to another
    const before = login?.issuer === discovered.issuer ? login : undefined
    const isBound = configured?.dpop !== false &&
      oauth.supportsProof(discovered.metadata.dpop_signing_alg_values_supported)
    const bound = isBound ? (yield* proofOf(before?.key)) ?? (yield* proofOf(yield* oauth.freshKey)) : undefined
    const scope = oauth.scopeFor(target, discovered, before?.tokens && before.asked, challenge.scope)
    const now = yield* Clock.currentTimeMillis
    return { oauth, request: { ...target, found: discovered, before, scope, proof: bound, now } }
  })

  // A person

  const person = Effect.gen(function*() {
    yield* stored.load
    const { oauth, request } = yield* prepare
    const login = yield* Effect.tapError(
      oauth.byPerson(request, options),
      // the client is registered anew next time
      (error) => isUnknownClient(error) ? stored.locked(stored.remove) : Effect.void
    )
    yield* stored.locked(stored.put(login))
    challenge = { resourceMetadata: challenge.resourceMetadata }
  })

  // one at a time, because the page of a login that was given up may still be open at the address that the next one uses
  const page = Effect.unsafeMakeSemaphore(1)
  const people = sharedRun<void>()
  const askPerson = people.join(
    page.withPermits(1)(Effect.suspend(() => {
      publish({ _tag: "LoginBegan", server })
      return Effect.onExit(
        Effect.scoped(person),
        (exit) => Effect.sync(() => publish({ _tag: "LoginEnded", server, outcome: outcomeOf(exit) }))
      )
    })).pipe(Effect.provideService(Connector.Identity, identity))
  )

  // The program, and renewal

  const wasRenewed = Effect.sync(() => {
    publish({ _tag: "TokenRenewed", server })
    return true
  })

  const byProgram = (grant: OAuth.ProgramGrant) =>
    Effect.gen(function*() {
      const { oauth, request } = yield* prepare
      yield* stored.replace(yield* oauth.byProgram(request, grant))
      challenge = { resourceMetadata: challenge.resourceMetadata }
      return yield* wasRenewed
    })

  const withoutTokens = ({ key: _, tokens: __, ...rest }: StoredLogin.Login) => Effect.as(stored.replace(rest), false)

  const refresh = (login: StoredLogin.Login, tokens: StoredLogin.Tokens, token: Redacted.Redacted) =>
    Effect.gen(function*() {
      const { oauth, request } = yield* prepare
      if (request.found.issuer !== login.issuer) return yield* withoutTokens(login)
      // the request may use the token up, so its answer is stored even if nothing waits for it; each fetch has a limit
      const renewed = Effect.uninterruptible(
        Effect.flatMap(oauth.refresh(request, login, tokens, token), stored.replace)
      )
      // a server that cannot be asked now has not refused the login
      return yield* Effect.catchIf(
        Effect.zipRight(renewed, wasRenewed),
        ({ reason }) => reason === "refused",
        (error) => {
          if (error.code === "invalid_grant") return withoutTokens(login)
          return Effect.as(isUnknownClient(error) ? stored.remove : Effect.void, false)
        }
      )
    })

  /** Obtains another token than this one without a person; `false` if only a person can help. */
  const renewal = (than: string | undefined) =>
    stored.locked(Effect.gen(function*() {
      const login = stored.get()
      const tokens = login?.tokens
      const isBroken = login !== undefined && tokens?.type === "DPoP" && (yield* proofOf(login.key)) === undefined
      if (tokens !== undefined && !isBroken && Redacted.value(tokens.access) !== than) return true
      const { grant } = settings
      if (grant._tag !== "AuthorizationCode") return yield* byProgram(grant)
      if (login === undefined || tokens === undefined) return false
      if (isBroken) return yield* withoutTokens(login)
      return tokens.refresh === undefined ? false : yield* refresh(login, tokens, tokens.refresh)
    }))

  let renewals = { than: undefined as string | undefined, run: sharedRun<boolean>() }
  const renew = (than: string | undefined) =>
    Effect.suspend(() => {
      if (renewals.than !== than) renewals = { than, run: sharedRun() }
      return renewals.run.join(renewal(than))
    })

  // The headers of requests

  let shown: { readonly of: StoredLogin.Tokens; readonly headers: Headers } | undefined
  /** The same map for the same tokens, so that transports build their headers once. */
  const bearer = (tokens: StoredLogin.Tokens): Headers => {
    if (shown?.of !== tokens) {
      const header = Redacted.make(`Bearer ${Redacted.value(tokens.access)}`)
      shown = { of: tokens, headers: new Map([["authorization", header]]) }
    }
    return shown.headers
  }

  const headers: RemoteHeaders.Login["headers"] = (request) =>
    Effect.gen(function*() {
      yield* stored.load
      const tokens = stored.get()?.tokens
      const time = yield* Clock.currentTimeMillis
      if (tokens !== undefined && StoredLogin.isStale(tokens, time)) {
        const renewed = renew(Redacted.value(tokens.access))
        // a token is used until its end where there is no other
        yield* (tokens.expiresAt ?? Infinity) <= time ? renewed : Effect.ignore(renewed)
      }
      const login = stored.get()
      if (login?.tokens === undefined) return noHeaders
      const { access, type } = login.tokens
      if (type === "Bearer") return bearer(login.tokens)
      const bound = yield* proofOf(login.key)
      if (bound === undefined) return noHeaders
      const accessToken = Redacted.value(access)
      const signed = yield* Effect.promise(() =>
        bound.session.buildProof({ htm: request.method, htu: request.url, accessToken })
      )
      return new Map([["authorization", Redacted.make(`DPoP ${accessToken}`)], ["dpop", Redacted.make(signed)]])
    })

  /** Asks a person for a call that waits; `false` if none may be asked, and the challenge is kept for their login. */
  const ask = ({ foreground, waiting }: RemoteHeaders.Refusal): Step<boolean> =>
    onCalls && foreground && settings.grant._tag === "AuthorizationCode"
      ? Effect.acquireUseRelease(
        Effect.sync(() => waiting(true)),
        () => Effect.as(askPerson, true),
        () => Effect.sync(() => waiting(false))
      )
      : Effect.succeed(false)

  const refused: RemoteHeaders.Login["refused"] = (refusal) =>
    Effect.suspend(() => {
      const { attempt, challenge: heard, sent, status } = refusal
      if (attempt >= maxAttempts) return Effect.succeed(false)
      const isBound = sent.has("dpop")
      if (heard.error === "use_dpop_nonce" && isBound) return Effect.succeed(true)
      if (status === 403 && heard.error !== "insufficient_scope" && heard.scope === undefined) {
        return Effect.succeed(false)
      }
      challenge = {
        resourceMetadata: heard.resourceMetadata ?? challenge.resourceMetadata,
        scope: heard.scope ?? challenge.scope
      }
      const token = tokenIn(sent)
      if (status === 401) refusedToken = token
      if (token !== undefined) {
        // a server that refuses a token may have changed its authorization server
        found = undefined
        const access = stored.get()?.tokens?.access
        if (access !== undefined && Redacted.value(access) !== token) return Effect.succeed(true)
      }
      // the nonce that a proof has to name costs one more
      if (attempt >= maxOwn + (isBound ? 1 : 0)) return Effect.succeed(false)
      if (status === 401) return Effect.flatMap(renew(token), (done) => done ? Effect.succeed(true) : ask(refusal))
      const login = stored.get()
      if (login?.asked !== undefined && StoredLogin.covers(login.asked, heard.scope)) return Effect.succeed(false)
      return settings.grant._tag === "AuthorizationCode" ? ask(refusal) : renew(token)
    })

  // The end

  /** Deletes the login, and then has the authorization server revoke its tokens. */
  const logout = Effect.gen(function*() {
    people.stop()
    const login = yield* stored.locked(Effect.tap(Effect.sync(stored.get), stored.remove))
    if (login?.tokens === undefined) return { revoked: false, error: undefined }
    const late = () => failed(options, "timeout", `the tokens were not revoked within ${revocationLimit}`)
    return yield* Effect.flatMap(prepare, ({ oauth, request }) => oauth.revoke(request, login)).pipe(
      Effect.timeoutFail({ duration: revocationLimit, onTimeout: late }),
      Effect.match({
        onFailure: (error) => ({ revoked: false, error }),
        onSuccess: (revoked) => ({ revoked, error: undefined })
      })
    )
  })

  const unload = (): void => {
    shown = undefined
    renewals = { than: undefined, run: sharedRun() }
    stored.unload()
  }

  let connections = 0
  const now: RemoteHeaders.Login["now"] = (time) => {
    if (!stored.isLoaded()) return undefined
    const tokens = stored.get()?.tokens
    if (tokens === undefined) return noHeaders
    return tokens.type === "Bearer" && !StoredLogin.isStale(tokens, time) ? bearer(tokens) : undefined
  }

  return {
    now,
    headers,
    refused,
    nonce: (nonce: string) => proof?.session.rememberNonce(url, nonce),
    /** Takes the configuration of the last connect, whose variables may have other values. */
    configure: (next: Discovery.Settings): void => {
      settings = next
    },
    /** Asks the person, or obtains another token, although there is one. */
    login: Effect.suspend((): Step<void> => {
      const { grant } = settings
      return grant._tag === "AuthorizationCode" ? askPerson : Effect.asVoid(stored.locked(byProgram(grant)))
    }),
    /** True if the stored tokens are others than those that were refused, or a person has logged in for the call. */
    onCall: Effect.suspend((): Step<boolean> => {
      if (settings.grant._tag !== "AuthorizationCode") return Effect.succeed(false)
      return Effect.flatMap(stored.stored, (login) => {
        const access = login?.tokens?.access
        if (access !== undefined && Redacted.value(access) !== refusedToken) return Effect.succeed(true)
        return onCalls ? Effect.as(askPerson, true) : Effect.succeed(false)
      })
    }),
    logout,
    stored: stored.stored,
    /** Holds the login for a connection. The last one removes it from memory. */
    connected: Scoped.acquire(() => connections++, () => {
      connections--
      if (connections === 0) unload()
    }),
    unload
  }
}
