import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { identity } from "effect/Function"
import * as RuntimeFlags from "effect/RuntimeFlags"

/** Makes a part of an uninterruptible region as interruptible as the region's surroundings. */
export type Restore = <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** `Effect.uninterruptibleMask` without the steps that change nothing in a region that is uninterruptible already. */
export const uninterruptibleMask: typeof Effect.uninterruptibleMask = (f) =>
  Effect.withFiberRuntime((_, { runtimeFlags }) =>
    RuntimeFlags.interruption(runtimeFlags) ? Effect.uninterruptibleMask(f) : f(identity)
  )

/**
 * Calls `f` synchronously with how the effect ends. Use it inside `uninterruptibleMask`, where `f` is certain to be called:
 * it is one operation, and `Effect.onExit` has a mask of its own.
 */
export const onExitSync = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  f: (exit: Exit.Exit<A, E>) => void
): Effect.Effect<A, E, R> =>
  Effect.matchCauseEffect(self, {
    onFailure: (cause) => {
      const exit = Exit.failCause(cause)
      f(exit)
      return exit
    },
    onSuccess: (value) => {
      const exit = Exit.succeed(value)
      f(exit)
      return exit
    }
  })
