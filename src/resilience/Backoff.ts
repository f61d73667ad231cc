/**
 * Steps through a `Schedule` without sleeping, so that the next delay can be shown, bounded and cut short.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"

export interface Backoff<Out, In> {
  /** The next delay and the output of the schedule; `None` once the schedule has ended. */
  readonly next: (input: In) => Effect.Effect<Option.Option<readonly [delay: Duration.Duration, out: Out]>>
}

/** A new run of the schedule from its first delay. */
export const make = <Out, In>(schedule: Schedule.Schedule<Out, In>): Effect.Effect<Backoff<Out, In>> =>
  Effect.suspend(() => {
    let planned = 0
    const recorded = Schedule.modifyDelayEffect(schedule, (_, delay) =>
      Effect.sync(() => {
        // whole milliseconds, because jitter yields fractions and clocks do not
        planned = Math.round(Duration.toMillis(delay))
        return Duration.zero
      }))
    return Effect.map(Schedule.driver(recorded), (driver) => ({
      next: (input) => Effect.option(Effect.map(driver.next(input), (out) => [Duration.millis(planned), out] as const))
    }))
  })
