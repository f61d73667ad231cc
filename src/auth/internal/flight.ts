/**
 * One run for all who want the same at once. It belongs to nobody of them, and ends when nobody waits for it any more.
 *
 * @internal
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"

/** @internal */
export interface Flight<A, E> {
  /** Waits for the run that there is, or begins one. */
  readonly join: (start: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Ends the run that there is; whoever waits for it fails with this. */
  readonly stop: (error: E) => void
}

/**
 * Begins a fiber that outlives whoever asked for it.
 *
 * @internal
 */
export type Fork = (effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>

interface Run<A, E> {
  readonly done: Deferred.Deferred<A, E>
  fiber: Fiber.RuntimeFiber<void> | undefined
  waiting: number
}

/** @internal */
export const make = <A, E>(fork: Fork): Flight<A, E> => {
  let current: Run<A, E> | undefined

  const forget = (run: Run<A, E>): void => {
    if (current === run) current = undefined
  }

  const begin = (start: Effect.Effect<A, E>): Run<A, E> => {
    const run: Run<A, E> = { done: Deferred.unsafeMake(FiberId.none), fiber: undefined, waiting: 0 }
    current = run
    run.fiber = fork(
      Effect.onExit(start, (exit) => {
        forget(run)
        return Deferred.done(run.done, exit)
      }).pipe(Effect.exit, Effect.asVoid)
    )
    return run
  }

  const end = (run: Run<A, E>): void => {
    forget(run)
    run.fiber?.unsafeInterruptAsFork(FiberId.none)
  }

  return {
    join: (start) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const run = current ?? begin(start)
          run.waiting += 1
          return run
        }),
        ({ done }) => Deferred.await(done),
        (run) =>
          Effect.sync(() => {
            run.waiting -= 1
            if (run.waiting === 0) end(run)
          })
      ),
    stop: (error) => {
      const run = current
      if (run === undefined) return
      Deferred.unsafeDone(run.done, Effect.fail(error))
      end(run)
    }
  }
}
