/**
 * Where decisions about trust are kept: small texts by key, of which one can be made by whoever comes first.
 *
 * @since 0.1.0
 */
import type * as PlatformError from "@effect/platform/Error"
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"

/**
 * @since 0.1.0
 * @category tags
 */
export class TrustStore extends Context.Tag("effect-mcp-runtime/config/TrustStore")<TrustStore, {
  readonly get: (key: string) => Effect.Effect<Option.Option<string>, PlatformError.PlatformError>
  readonly set: (key: string, value: string) => Effect.Effect<void, PlatformError.PlatformError>
  readonly remove: (key: string) => Effect.Effect<void, PlatformError.PlatformError>
  /** A look at which keys there are: false for those that there are certainly not. */
  readonly present: Effect.Effect<(key: string) => boolean, PlatformError.PlatformError>
  /** Writes only where there is nothing yet, and gives what is there then: the same to all who ask at the same time. */
  readonly create: (key: string, value: string) => Effect.Effect<string, PlatformError.PlatformError>
}>() {}

/**
 * Over any key-value store that no other process writes to: it cannot tell who comes first.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromKeyValueStore = (store: KeyValueStore.KeyValueStore): Effect.Effect<TrustStore["Type"]> =>
  Effect.map(Effect.makeSemaphore(1), (turn) => ({
    get: store.get,
    set: store.set,
    remove: store.remove,
    present: Effect.succeed(() => true),
    create: (key, value) =>
      turn.withPermits(1)(
        Effect.flatMap(
          store.get(key),
          Option.match({
            onNone: () => Effect.as(store.set(key, value), value),
            onSome: Effect.succeed
          })
        )
      )
  }))

/**
 * @since 0.1.0
 * @category layers
 */
export const layerKeyValueStore: Layer.Layer<TrustStore, never, KeyValueStore.KeyValueStore> = Layer.effect(
  TrustStore,
  Effect.flatMap(KeyValueStore.KeyValueStore, fromKeyValueStore)
)

/**
 * For this process only.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeMemory = (): TrustStore["Type"] => {
  const values = new Map<string, string>()
  return {
    get: (key) => Effect.sync(() => Option.fromNullable(values.get(key))),
    set: (key, value) => Effect.sync(() => void values.set(key, value)),
    remove: (key) => Effect.sync(() => void values.delete(key)),
    present: Effect.sync(() => {
      const there = new Set(values.keys())
      return (key: string) => there.has(key)
    }),
    create: (key, value) =>
      Effect.sync(() => {
        const kept = values.get(key) ?? value
        values.set(key, kept)
        return kept
      })
  }
}

/**
 * @since 0.1.0
 * @category layers
 */
export const layerMemory: Layer.Layer<TrustStore> = Layer.sync(TrustStore, makeMemory)
