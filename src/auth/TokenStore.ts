/** The store of logins: a secret text for each, and a lock for changing it. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"

/**
 * `locked`: another process keeps the lock. `unavailable`: there is no keyring and no folder, or it cannot be opened.
 * `refused`: another user could have made the file or folder.
 */
export class TokenStoreError extends Data.TaggedError("TokenStoreError")<{
  readonly reason: "unavailable" | "locked" | "refused"
  readonly detail: string
}> {
  override get message(): string {
    return `logins cannot be kept: ${this.detail}`
  }
}

export class TokenStore extends Context.Tag("effect-mcp-runtime/auth/TokenStore")<TokenStore, {
  /**
   * The place, in words for a person: a folder, this process. An effect, because a keyring asks a person to unlock it when
   * it is first used.
   */
  readonly where: Effect.Effect<string>
  readonly get: (key: string) => Effect.Effect<Option.Option<Redacted.Redacted>, TokenStoreError>
  readonly set: (key: string, secret: Redacted.Redacted) => Effect.Effect<void, TokenStoreError>
  readonly remove: (key: string) => Effect.Effect<void, TokenStoreError>
  /**
   * Runs one effect at a time for each key, over all processes that share the store. Read again inside, because another
   * process may have written. The lock ends with the effect and with the process.
   */
  readonly locked: (
    key: string
  ) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | TokenStoreError, R>
}>() {}

/** For this process only. */
export const makeMemory: Effect.Effect<TokenStore["Type"]> = Effect.sync(() => {
  const secrets = new Map<string, Redacted.Redacted>()
  const turns = new Map<string, Effect.Semaphore>()
  const turnOf = (key: string): Effect.Semaphore => {
    const turn = turns.get(key) ?? Effect.unsafeMakeSemaphore(1)
    turns.set(key, turn)
    return turn
  }
  return {
    where: Effect.succeed("this process"),
    get: (key) => Effect.sync(() => Option.fromNullable(secrets.get(key))),
    set: (key, secret) => Effect.sync(() => void secrets.set(key, secret)),
    remove: (key) => Effect.sync(() => void secrets.delete(key)),
    locked: (key) => (effect) => turnOf(key).withPermits(1)(effect)
  }
})

export const layerMemory: Layer.Layer<TokenStore> = Layer.effect(TokenStore, makeMemory)
