/** A wait with a limit that also holds in finalizers, where interruption is not allowed. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/**
 * Waits no longer than `limit`, in a finalizer too; `None` if the limit was reached, or the wait ended by interruption.
 *
 * The wait runs interruptibly in a fiber of its own, which can inherit the interruption of a parent that is itself
 * uninterruptible. The wait then begins again with the time that is left.
 */
export const within =
  (limit: Duration.Duration) => <A, E, R>(wait: Effect.Effect<A, E, R>): Effect.Effect<Option.Option<A>, E, R> =>
    Effect.flatMap(Clock.currentTimeMillis, (began) => {
      const attempt = (left: number): Effect.Effect<Option.Option<A>, E, R> =>
        wait.pipe(
          Effect.asSome,
          // caught inside the fiber: it is of the wait, and beginning again would repeat it without a pause
          Effect.catchAllCause((cause) =>
            Cause.isInterruptedOnly(cause) ? Effect.succeedNone : Effect.failCause(cause)
          ),
          Effect.interruptible,
          Effect.timeoutOption(Duration.millis(left)),
          Effect.map(Option.flatten),
          Effect.catchAllCause((cause) => Cause.isInterruptedOnly(cause) ? again : Effect.failCause(cause))
        )
      const again = Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const left = Duration.toMillis(limit) - (now - began)
        return left > 0 ? attempt(left) : Effect.succeedNone
      })
      return attempt(Duration.toMillis(limit))
    })
