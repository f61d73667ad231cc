/**
 * A schedule, step by step: the next delay is known before it is slept, so that it can be shown and cut short.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as ScheduleIntervals from "effect/ScheduleIntervals"

/** @internal */
export interface Delays<In> {
  /** How long to wait before the next attempt; `undefined` when the schedule has ended. */
  readonly next: (input: In) => Effect.Effect<Duration.Duration | undefined>
  readonly reset: () => void
}

/** @internal */
export const make = <In>(schedule: Schedule.Schedule<unknown, In>): Delays<In> => {
  // the state of a schedule is known to itself only
  let state: unknown = schedule.initial
  return {
    next: (input) =>
      Effect.flatMap(
        Clock.currentTimeMillis,
        (now) =>
          Effect.map(schedule.step(now, input, state), ([after, , decision]) => {
            state = after
            return ScheduleDecision.isDone(decision)
              ? undefined
              // whole milliseconds, because jitter gives fractions that not every clock can count
              : Duration.millis(Math.max(0, Math.round(ScheduleIntervals.start(decision.intervals) - now)))
          })
      ),
    reset: () => {
      state = schedule.initial
    }
  }
}
