/**
 * What is held for as long as a scope is open, where letting go of it takes no time and needs nobody. `acquireRelease`
 * gives each release the state of the fiber that acquired back, which takes most of a millisecond in a new process, and a
 * runtime holds dozens of things.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"

/** @internal */
export const letGo = (end: () => void): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(Effect.scope, (scope) => Scope.addFinalizer(scope, Effect.sync(end)))

/**
 * What begins is held at once: nobody is interrupted between the two.
 *
 * @internal
 */
export const make = <A>(begin: () => A, end: (held: A) => void): Effect.Effect<A, never, Scope.Scope> =>
  Effect.uninterruptible(
    Effect.flatMap(Effect.sync(begin), (held) => Effect.as(letGo(() => end(held)), held))
  )

/**
 * Listens from now on: what begins gives what ends it.
 *
 * @internal
 */
export const listen = (begin: () => () => void): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(make(begin, (stop) => stop()))
