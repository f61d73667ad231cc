/** Runs effects as promises with abort signals. Each runs in a fiber of the scope. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"

/** Rejects with the reason of the signal if the signal interrupts the effect. */
export type Run = <A>(effect: Effect.Effect<A>, signal?: AbortSignal) => Promise<A>

export const make: Effect.Effect<Run, never, Scope.Scope> = Effect.gen(function*() {
  const scope = yield* Effect.scope
  const run = Runtime.runPromiseExit(yield* Effect.runtime())

  const owned = <A>(effect: Effect.Effect<A>): Effect.Effect<A> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        Effect.forkIn(restore(effect), scope),
        (fiber) => Effect.onInterrupt(restore(Fiber.join(fiber)), () => Fiber.interrupt(fiber))
      )
    )

  return (effect, signal) =>
    run(owned(effect), signal === undefined ? {} : { signal }).then((exit) => {
      if (Exit.isSuccess(exit)) return exit.value
      throw Cause.isInterrupted(exit.cause) && signal?.aborted === true ? signal.reason : Cause.squash(exit.cause)
    })
})
