/**
 * A clock that stands still until it is told to go on. Unlike `TestClock` it waits for no real time, so that a thousand
 * histories take seconds.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

export interface ManualClock {
  readonly clock: Clock.Clock
  readonly now: () => number
  /** How many fibers sleep. */
  readonly sleeping: () => number
  /** Goes on to each wake-up in turn, and lets all fibers run as far as they can. */
  readonly advance: (millis: number) => Effect.Effect<void>
}

/** Lets all fibers run as far as they can. */
export const settle = Effect.repeatN(Effect.yieldNow(), 12)

export interface Options {
  /** Lets all fibers run, where they wait for more than each other. */
  readonly settled?: Effect.Effect<void>
  /** Sleeps whole milliseconds, as timers do, for what computes with fractions of them. */
  readonly whole?: boolean
}

export const make = ({ settled = settle, whole = false }: Options = {}): ManualClock => {
  let now = 0
  const sleepers = new Set<Sleeper>()
  const nanos = () => BigInt(now) * 1_000_000n

  const clock: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: () => now,
    unsafeCurrentTimeNanos: nanos,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanos: Effect.sync(nanos),
    sleep: (duration) =>
      Effect.async<void>((resume) => {
        const millis = Duration.toMillis(duration)
        const sleeper = { at: now + (whole ? Math.ceil(millis) : millis), wake: () => resume(Effect.void) }
        sleepers.add(sleeper)
        return Effect.sync(() => sleepers.delete(sleeper))
      })
  }

  const next = (until: number): Sleeper | undefined => {
    let first: Sleeper | undefined = undefined
    for (const sleeper of sleepers) {
      if (sleeper.at <= until && (first === undefined || sleeper.at < first.at)) first = sleeper
    }
    return first
  }

  return {
    clock,
    now: () => now,
    sleeping: () => sleepers.size,
    advance: (millis) =>
      Effect.gen(function*() {
        const until = now + millis
        yield* settled
        for (let sleeper = next(until); sleeper !== undefined; sleeper = next(until)) {
          now = Math.max(now, sleeper.at)
          sleepers.delete(sleeper)
          sleeper.wake()
          yield* settled
        }
        now = until
        yield* settled
      })
  }
}
