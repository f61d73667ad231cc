import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/**
 * Calls `f` synchronously with how the effect ends. Use it inside `Effect.uninterruptibleMask`, where `f` is certain to be
 * called: it is one operation, and `Effect.onExit` has a mask of its own.
 */
export const onExitSync = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  f: (exit: Exit.Exit<A, E>) => void
): Effect.Effect<A, E, R> => {
  const ended = (exit: Exit.Exit<A, E>): Exit.Exit<A, E> => {
    f(exit)
    return exit
  }
  return Effect.matchCauseEffect(self, {
    onFailure: (cause) => ended(Exit.failCause(cause)),
    onSuccess: (value) => ended(Exit.succeed(value))
  })
}
