import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Deadline from "../../src/resilience/Deadline.ts"

/** A deadline that begins now, with valid limits. */
export const make = (options: Deadline.Options): Deadline.Deadline => Either.getOrThrow(Deadline.make(options))

/** Runs with a deadline that begins now by the clock of the fiber. */
export const within = <A, E, R>(
  options: Omit<Deadline.Options, "now" | "restore">,
  f: (deadline: Deadline.Deadline) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.clockWith((clock) => f(make({ ...options, now: () => clock.unsafeCurrentTimeMillis() })))
