import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Deadline from "../../src/resilience/Deadline.ts"

/** Runs with a deadline that begins now by the clock of the fiber. */
export const within = <A, E, R>(
  options: Omit<Deadline.Options, "now" | "restore">,
  f: (deadline: Deadline.Deadline) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.clockWith((clock) =>
    f(new Deadline.Deadline({ ...options, now: () => clock.unsafeCurrentTimeMillis(), restore: identity }))
  )
