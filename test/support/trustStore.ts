import { Effect, Option } from "effect"
import type * as TrustStore from "../../src/config/TrustStore.ts"

/** A store over texts that a test can read and damage. */
export const storeOf = (texts: Map<string, string>): TrustStore.TrustStore["Type"] => {
  const lock = Effect.unsafeMakeSemaphore(1)
  return {
    get: (key) => Effect.sync(() => Option.fromNullable(texts.get(key))),
    mayHave: Effect.succeed(() => true),
    set: (key, text) => Effect.sync(() => void texts.set(key, text)),
    remove: (key) => Effect.sync(() => void texts.delete(key)),
    setAside: (key) => Effect.sync(() => void texts.set(`aside-${key}`, texts.get(key)!)),
    locked: () => lock.withPermits(1),
    nameOf: (key) => `the text ${key}`
  }
}
