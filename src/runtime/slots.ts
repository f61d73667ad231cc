/**
 * How many servers connect at a time. A place is for starting, not for waiting: who takes long gives it to the next, so
 * that a few servers that never answer do not keep the others waiting.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"

/** How long a connect may take before it no longer counts: what starts a process is over by then, and the rest is waiting. */
const patience = Duration.millis(500)

/** @internal */
export interface Slots {
  readonly within: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** @internal */
export const make = (size: number): Effect.Effect<Slots> =>
  Effect.map(Effect.makeSemaphore(Math.max(1, size)), (semaphore) => ({
    within: (self) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(restore(semaphore.take(1)), () => {
          let held = true
          const release = Effect.suspend(() => {
            if (!held) return Effect.void
            held = false
            return Effect.asVoid(semaphore.release(1))
          })
          return Effect.acquireUseRelease(
            Scope.make(),
            (scope) =>
              Effect.zipRight(
                Effect.forkIn(Effect.interruptible(Effect.zipRight(Effect.sleep(patience), release)), scope),
                restore(self)
              ),
            (scope, exit) => Effect.zipRight(release, Scope.close(scope, exit))
          )
        })
      )
  }))
