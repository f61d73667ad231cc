import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/**
 * Runs, and tells in the same step how it ended. For the inside of an `uninterruptibleMask`, where it is certain to be
 * told: one operation, where `Effect.onExit` needs a mask of its own.
 *
 * @internal
 */
export const observed = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  observe: (exit: Exit.Exit<A, E>) => void
): Effect.Effect<A, E, R> => {
  const told = (exit: Exit.Exit<A, E>): Exit.Exit<A, E> => {
    observe(exit)
    return exit
  }
  return Effect.matchCauseEffect(self, {
    onFailure: (cause: Cause.Cause<E>) => told(Exit.failCause(cause)),
    onSuccess: (value) => told(Exit.succeed(value))
  })
}
