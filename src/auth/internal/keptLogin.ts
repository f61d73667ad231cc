/**
 * The login of one server in memory and in the store, where other processes change it too.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as McpError from "../../McpError.ts"
import type * as TokenStore from "../TokenStore.ts"
import * as LoginRecord from "./loginRecord.ts"

/** @internal */
export interface Options {
  readonly server: string
  /** Its name in the store. */
  readonly where: string
  readonly store: TokenStore.TokenStore["Type"]
  /** Told of each secret before it is used; returns how to let go of it. */
  readonly know: (secret: Redacted.Redacted) => () => void
}

type Failures = TokenStore.TokenStoreError | McpError.AuthorizationFailed

/** @internal */
export interface KeptLogin {
  /** As it is in memory. */
  readonly get: () => LoginRecord.Login | undefined
  /** Whether the store was asked. */
  readonly isLoaded: () => boolean
  /** Asks the store, unless it was asked. */
  readonly known: Effect.Effect<void, McpError.AuthorizationFailed>
  /** As it is in the store, which changes nothing in memory. */
  readonly stored: Effect.Effect<LoginRecord.Login | undefined, McpError.AuthorizationFailed>
  /** With the store to itself, and what is in memory as it is there. What follows is only done in it. */
  readonly locked: <A>(effect: Effect.Effect<A, Failures>) => Effect.Effect<A, McpError.AuthorizationFailed>
  /** In the store first, and then in memory. */
  readonly put: (login: LoginRecord.Login) => Effect.Effect<void, TokenStore.TokenStoreError>
  /** In memory, and in the store if that can be, or else later: what replaces a login that is no more. */
  readonly replace: (login: LoginRecord.Login) => Effect.Effect<void>
  readonly remove: Effect.Effect<void, TokenStore.TokenStoreError>
  /** Nothing of it is in memory any more, until somebody asks. */
  readonly rest: () => void
}

type Secrets = Map<string, () => void>

/** @internal */
export const make = ({ know, server, store, where }: Options): KeptLogin => {
  const turn = Effect.unsafeMakeSemaphore(1)
  let login: LoginRecord.Login | undefined
  let loaded = false
  /** What is there, to tell whether somebody else has changed it. */
  let text: string | undefined
  let isUnsaved = false
  // Those of the login before are hidden too, for what was sent with them may still be told of.
  let secrets: Secrets = new Map()
  let former: Secrets = new Map()

  const remember = (next: LoginRecord.Login | undefined): void => {
    const texts = [next?.tokens?.access, next?.tokens?.refresh, next?.client.secret].flatMap((secret) =>
      secret === undefined ? [] : [Redacted.value(secret)]
    )
    if (texts.length === secrets.size && texts.every((secret) => secrets.has(secret))) return
    const known: Secrets = new Map()
    for (const secret of texts) {
      known.set(secret, secrets.get(secret) ?? former.get(secret) ?? know(Redacted.make(secret)))
    }
    for (const [secret, release] of former) if (!known.has(secret) && !secrets.has(secret)) release()
    former = secrets
    secrets = known
  }

  const adopt = (next: LoginRecord.Login | undefined): void => {
    remember(next)
    login = next
    loaded = true
  }

  const decoded = (kept: Option.Option<Redacted.Redacted>) =>
    Option.getOrUndefined(Option.flatMap(kept, LoginRecord.decode))

  const write = (next: LoginRecord.Login) =>
    Effect.suspend(() => {
      const secret = LoginRecord.encode(next)
      return Effect.map(store.set(where, secret), () => {
        text = Redacted.value(secret)
        isUnsaved = false
      })
    })

  const read = Effect.flatMap(Effect.suspend(() => store.get(where)), (kept) => {
    const there = Option.getOrUndefined(Option.map(kept, Redacted.value))
    // what could not be kept is newer than what is there, unless somebody else has put that there since
    if (isUnsaved && login !== undefined && there === text) return Effect.ignore(write(login))
    return Effect.sync(() => {
      text = there
      isUnsaved = false
      adopt(decoded(kept))
    })
  })

  const told = <A>(effect: Effect.Effect<A, Failures>) =>
    Effect.catchTag(
      effect,
      "TokenStoreError",
      ({ detail }) => new McpError.AuthorizationFailed({ server, reason: "store", detail })
    )

  return {
    get: () => login,
    isLoaded: () => loaded,
    // not while somebody changes it: what was read before that would undo it
    known: Effect.suspend(() =>
      loaded ? Effect.void : turn.withPermits(1)(Effect.suspend(() => loaded ? Effect.void : told(read)))
    ),
    stored: Effect.suspend(() => isUnsaved ? Effect.sync(() => login) : Effect.map(told(store.get(where)), decoded)),
    locked: (effect) => turn.withPermits(1)(told(store.locked(where)(Effect.zipRight(read, effect)))),
    put: (next) => Effect.map(write(next), () => adopt(next)),
    replace: (next) =>
      Effect.suspend(() => {
        adopt(next)
        isUnsaved = true
        return Effect.ignore(write(next))
      }),
    remove: Effect.suspend(() => {
      adopt(undefined)
      isUnsaved = false
      return Effect.map(store.remove(where), () => {
        text = undefined
      })
    }),
    rest: () => {
      // each once: a secret of both is known once
      for (const release of new Set([...secrets.values(), ...former.values()])) release()
      secrets = new Map()
      former = new Map()
      // what is nowhere else stays
      if (isUnsaved) return remember(login)
      login = undefined
      loaded = false
    }
  }
}
