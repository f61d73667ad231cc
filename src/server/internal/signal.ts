/**
 * Waiting for something to be true, and telling those who wait to look again. Nothing is lost: a condition is looked at
 * when the wait begins and at each `raise`, never in between.
 */
import * as Effect from "effect/Effect"

/** @internal */
export interface Signal {
  readonly raise: () => void
  readonly until: (condition: () => boolean) => Effect.Effect<void>
}

interface Waiter {
  readonly condition: () => boolean
  readonly resume: () => void
}

/** @internal */
export const make = (): Signal => {
  const waiters = new Set<Waiter>()
  return {
    raise: () => {
      for (const waiter of Array.from(waiters)) {
        if (!waiter.condition()) continue
        waiters.delete(waiter)
        waiter.resume()
      }
    },
    until: (condition) =>
      Effect.async<void>((resume) => {
        if (condition()) return resume(Effect.void)
        const waiter: Waiter = { condition, resume: () => resume(Effect.void) }
        waiters.add(waiter)
        return Effect.sync(() => waiters.delete(waiter))
      })
  }
}
