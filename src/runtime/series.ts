/**
 * The attempts at one server: how many there were, when the next one is, whether there is one, and the one under way.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as RetryAfter from "../client/retryAfter.ts"
import type * as McpError from "../McpError.ts"
import * as Backoff from "../resilience/Backoff.ts"
import type * as ReconnectPolicy from "../resilience/ReconnectPolicy.ts"

/** @internal */
export interface Series {
  /** How many attempts were planned since the series began. */
  readonly attempt: () => number
  /** Whether the attempts have become rare, so that nobody should wait for one. */
  readonly isSlow: () => boolean
  /**
   * Plans another attempt: the delay of the schedule, or the time that the server asks for if that is longer; zero for a
   * connection that moved; `undefined` if the schedule has ended.
   */
  readonly next: (error: McpError.ConnectError) => Effect.Effect<Duration.Duration | undefined>
  /** Milliseconds until an attempt may begin, because there were too many of late; 0 counts this one. */
  readonly admit: (now: number) => number
  /** The same, without an attempt. */
  readonly wait: (now: number) => number
  readonly connected: () => void
  /** The series is over, well or not; the next begins with its first delay. */
  readonly over: () => void
  /** As if there had been no attempt yet. */
  readonly forget: () => void
  /** What follows is no repetition of what has failed. */
  readonly calm: () => void
}

/** The input of the schedule: why the last attempt failed, and whether any attempt has ever succeeded. */
interface Attempted {
  readonly error: McpError.ConnectError
  readonly wasConnected: boolean
}

/** The fast lane, then the slow lane for a server that was once connected; its output says which lane it is. */
const lanes = ({ schedule, slowLane }: ReconnectPolicy.Reconnect) =>
  Schedule.andThenEither(
    Schedule.mapInput(schedule, ({ error }: Attempted) => error),
    (slowLane ?? Schedule.stop).pipe(
      Schedule.mapInput(({ error }: Attempted) => error),
      Schedule.whileInput(({ wasConnected }) => wasConnected)
    )
  )

/** The attempts within a sliding time; with a limit of 0 none is ever allowed. */
const window = (limit: number, within: number) => {
  let attempts: ReadonlyArray<number> = []
  return {
    /** Milliseconds until another attempt is allowed; 0 if one is allowed now. */
    wait: (now: number): number => {
      attempts = attempts.filter((at) => at > now - within)
      if (attempts.length < limit) return 0
      return (attempts[attempts.length - limit] ?? now) + within - now
    },
    count: (now: number): void => {
      attempts = [...attempts, now]
    },
    reset: (): void => {
      attempts = []
    }
  }
}

/** @internal */
export const make = (reconnect: ReconnectPolicy.Reconnect): Series => {
  const newBackoff = Backoff.make(lanes(reconnect))
  const storm = window(reconnect.storm.reconnects, Duration.toMillis(reconnect.storm.within))
  let backoff = newBackoff
  let attempt = 0
  let slow = false
  let wasConnected = false
  let failing = false

  const over = (): void => {
    attempt = 0
    slow = false
    // a new driver, because a step that is under way would overwrite the state of one that was reset
    backoff = newBackoff
  }

  return {
    attempt: () => attempt,
    isSlow: () => slow,
    next: (error) =>
      Effect.gen(function*() {
        failing = true
        // the first attempt after a move needs no delay; further ones follow the schedule, so that moves cannot spin
        if (error._tag === "ConnectionLost" && error.reason === "moved" && attempt === 0) {
          attempt++
          return Duration.zero
        }
        const current = yield* backoff
        backoff = Effect.succeed(current)
        const planned = yield* current.next({ error, wasConnected })
        if (Option.isNone(planned)) return undefined
        const [delay, lane] = planned.value
        slow = Either.isRight(lane)
        attempt++
        return Duration.max(delay, Duration.millis(RetryAfter.of(error, 0, RetryAfter.longestOfConnects)?.until ?? 0))
      }),
    admit: (now) => {
      if (!failing) return 0
      const wait = storm.wait(now)
      if (wait === 0) storm.count(now)
      return wait
    },
    wait: storm.wait,
    connected: () => {
      wasConnected = true
    },
    over,
    forget: () => {
      over()
      storm.reset()
      failing = false
    },
    calm: () => {
      over()
      failing = false
    }
  }
}

/** @internal */
export interface Attempts {
  /** Runs one attempt to its end; `undefined` if `check` stopped it or did not admit it. */
  readonly run: <A, E, R>(attempt: Effect.Effect<A, E, R>) => Effect.Effect<Exit.Exit<A, E> | undefined, never, R>
  /** Call it in each step that can make the current attempt unwanted. */
  readonly check: () => void
}

/**
 * One attempt at a time, in a separate fiber. The step that admits an attempt also registers its fiber, so `check` can
 * interrupt it in the very step that makes it unwanted, and no attempt begins after that.
 *
 * @internal
 */
export const attempts = (isUnwanted: () => boolean): Attempts => {
  let current: { readonly interrupt: () => void; isStopped: boolean } | undefined = undefined
  return {
    run: <A, E, R>(attempt: Effect.Effect<A, E, R>) =>
      Effect.acquireUseRelease(
        Effect.withFiberRuntime<A, E, R>((fiber) => {
          current = { interrupt: () => fiber.unsafeInterruptAsFork(FiberId.none), isStopped: isUnwanted() }
          return current.isStopped ? Effect.interrupt : attempt
        }).pipe(Effect.interruptible, Effect.fork),
        (fiber) => Effect.map(Fiber.await(fiber), (exit) => current?.isStopped === true ? undefined : exit),
        (fiber) => {
          current = undefined
          return Fiber.interrupt(fiber)
        }
      ),
    check: () => {
      if (current === undefined || !isUnwanted()) return
      current.isStopped = true
      current.interrupt()
    }
  }
}
