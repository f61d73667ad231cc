/**
 * Where logins are kept: one secret text for each, and a turn for whoever wants to change it.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"

/**
 * The place could not be used. `locked`: somebody else did not give their turn up; `unavailable`: there is no such place,
 * or it is shut; `refused`: what is there could have been put there by somebody else.
 *
 * @since 0.1.0
 * @category errors
 */
export class TokenStoreError extends Data.TaggedError("TokenStoreError")<{
  readonly reason: "unavailable" | "locked" | "refused"
  readonly detail: string
}> {
  override get message(): string {
    return `logins cannot be kept: ${this.detail}`
  }
}

/**
 * @since 0.1.0
 * @category tags
 */
export class TokenStore extends Context.Tag("effect-mcp-runtime/auth/TokenStore")<TokenStore, {
  /**
   * Where it is, in words for a person: the keyring of the system, a folder, this process. An effect, because a keyring is
   * not tried, and nobody is asked to open it, before somebody needs to know.
   */
  readonly where: Effect.Effect<string>
  readonly get: (key: string) => Effect.Effect<Option.Option<Redacted.Redacted>, TokenStoreError>
  readonly set: (key: string, secret: Redacted.Redacted) => Effect.Effect<void, TokenStoreError>
  readonly remove: (key: string) => Effect.Effect<void, TokenStoreError>
  /**
   * One at a time for each key, over all processes that share the store; whoever waits reads again when it is their turn.
   * The turn ends with the effect, however that ends, and with the process.
   */
  readonly locked: (
    key: string
  ) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | TokenStoreError, R>
}>() {}

/**
 * For this process only.
 *
 * @since 0.1.0
 * @category constructors
 */
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

/**
 * @since 0.1.0
 * @category layers
 */
export const layerMemory: Layer.Layer<TokenStore> = Layer.effect(TokenStore, makeMemory)
