/**
 * One sleeping fiber at most for all the deadlines of a connection: a request costs no timer of its own.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as FiberHandle from "effect/FiberHandle"
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
    const run = yield* FiberHandle.makeRuntime<never, void>()
    let armed = Infinity

    const look = Effect.sync(() => {
      // whatever asks meanwhile is seen by this very look
      armed = -Infinity
      armed = check(clock.unsafeCurrentTimeMillis())
    })
    const sleep: Effect.Effect<void> = Effect.suspend(() =>
      armed === Infinity
        ? Effect.void
        : Effect.zipRight(
          Effect.sleep(Math.max(1, armed - clock.unsafeCurrentTimeMillis())),
          Effect.zipRight(look, sleep)
        )
    )

    return {
      by: (time) => {
        if (time >= armed) return
        armed = time
        run(sleep)
      }
    }
  })
