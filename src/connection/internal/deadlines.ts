/**
 * One sleeping fiber for all the deadlines of a connection: a request costs no timer of its own.
 *
 * @internal
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"

/** @internal */
export interface Deadlines {
  /** Makes sure that `check` runs at this time or soon after. Synchronous, and free unless it is the earliest. */
  readonly by: (time: number) => void
}

/**
 * `check` deals with what is due and returns the next time to look, or `Infinity`.
 *
 * @internal
 */
export const make = (check: (now: number) => number): Effect.Effect<Deadlines, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    let armed = Infinity
    let earlier = Deferred.unsafeMake<void>(FiberId.none)

    const turn = Effect.suspend(() => {
      const now = clock.unsafeCurrentTimeMillis()
      armed = check(now)
      earlier = Deferred.unsafeMake<void>(FiberId.none)
      const woken = Deferred.await(earlier)
      return armed === Infinity ? woken : Effect.raceFirst(Effect.sleep(Math.max(1, armed - now)), woken)
    })
    yield* Effect.forkScoped(Effect.forever(turn))

    return {
      by: (time) => {
        if (time >= armed) return
        armed = time
        Deferred.unsafeDone(earlier, Effect.void)
      }
    }
  })
