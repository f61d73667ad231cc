/**
 * Resources of a scope that begin and end synchronously. `acquireRelease` costs 0.15 ms more in a new process, and a runtime
 * has dozens of them.
 */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"

/** Runs `end` when the scope closes. */
export const onClose = (end: () => void): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(Effect.scope, (scope) => Scope.addFinalizer(scope, Effect.sync(end)))

/** Begins now, and ends when the scope closes. No interruption falls between the two. */
export const acquire = <A>(begin: () => A, end: (resource: A) => void): Effect.Effect<A, never, Scope.Scope> =>
  Effect.uninterruptible(
    Effect.flatMap(Effect.sync(begin), (resource) => Effect.as(onClose(() => end(resource)), resource))
  )

/** Begins to listen now; `begin` returns the function that ends it. */
export const listen = (begin: () => () => void): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(acquire(begin, (stop) => stop()))

/** Adds a listener, twice if it is added twice; returns the function that removes it. */
export const addListener = <Event extends ReadonlyArray<unknown>>(
  listeners: Set<(...event: Event) => void>,
  listener: (...event: Event) => void
): () => void => {
  const added = (...event: Event): void => listener(...event)
  listeners.add(added)
  return () => {
    listeners.delete(added)
  }
}

/** A value that is made at its first use, and then shared. */
export interface Once<A> {
  /** Users wait for one attempt. An interrupted one does not count, and after a failure the next user tries. */
  readonly open: <E, R>(make: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Waits for an attempt that is under way. */
  readonly settled: Effect.Effect<A | undefined>
  readonly current: () => A | undefined
}

export const once = <A extends object>(): Once<A> => {
  const lock = Effect.unsafeMakeSemaphore(1)
  let current: A | undefined
  /** Without the lock once the value is there, because every later request passes here. */
  const known = <E, R>(otherwise: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => current !== undefined ? Effect.succeed(current) : otherwise)
  return {
    open: (make) => known(lock.withPermits(1)(known(Effect.map(make, (made) => current = made)))),
    settled: Effect.suspend(() =>
      current !== undefined ? Effect.succeed(current) : lock.withPermits(1)(Effect.sync(() => current))
    ),
    current: () => current
  }
}
