/**
 * Waiting with a limit that also holds where nothing may be interrupted: in finalizers.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"

/**
 * Waits for something, but not longer than this, in a finalizer too: `None` if the time was over first.
 *
 * In a finalizer only a wait in a fiber of its own can be cut short, and such a fiber has a weakness: if its parent is
 * interrupted in the meantime, it gets the interruption although the parent is to be left alone. The wait is then begun
 * again for the time that is left. Where interruption is allowed, it ends the wait as always.
 *
 * @since 0.1.0
 * @category combinators
 */
export const within =
  (limit: Duration.Duration) => <A, E, R>(wait: Effect.Effect<A, E, R>): Effect.Effect<Option.Option<A>, E, R> =>
    Effect.flatMap(Clock.currentTimeMillis, (began) => {
      const attempt = (left: number): Effect.Effect<Option.Option<A>, E, R> =>
        wait.pipe(
          Effect.interruptible,
          Effect.timeoutOption(Duration.millis(left)),
          Effect.catchAllCause((cause) => Cause.isInterruptedOnly(cause) ? again : Effect.failCause(cause))
        )
      const again = Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const left = Duration.toMillis(limit) - (now - began)
        return left > 0 ? attempt(left) : Effect.succeedNone
      })
      return attempt(Duration.toMillis(limit))
    })
