/**
 * The attempts at one server: how many there were, when the next one is, whether there is one, and the one under way.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Pause from "../client/internal/pause.ts"
import type * as McpError from "../McpError.ts"
import type * as ReconnectPolicy from "../resilience/ReconnectPolicy.ts"
import * as Delays from "./delays.ts"
import * as Storm from "./storm.ts"

/** @internal */
export interface Series {
  /** How many attempts were planned since the series began. */
  readonly attempt: () => number
  /** Whether the attempts have become rare, so that nobody should wait for one. */
  readonly isSlow: () => boolean
  /**
   * Plans another attempt: the delay of the schedule, or the time that the server asks for if that is longer;
   * `undefined` if the schedule has ended.
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

/** @internal */
export const make = (reconnect: ReconnectPolicy.Reconnect): Series => {
  const delays = Delays.make(reconnect.schedule)
  const slowDelays = reconnect.slowLane === undefined ? undefined : Delays.make(reconnect.slowLane)
  const storm = Storm.make(reconnect.storm.reconnects, Duration.toMillis(reconnect.storm.within))
  let attempt = 0
  let slow = false
  let wasConnected = false
  let failing = false

  const over = (): void => {
    attempt = 0
    slow = false
    delays.reset()
    slowDelays?.reset()
  }

  const planned = (error: McpError.ConnectError): Effect.Effect<Duration.Duration | undefined> => {
    if (slow && slowDelays !== undefined) return slowDelays.next(error)
    return Effect.flatMap(delays.next(error), (delay) => {
      // only what has been there once is known to be worth waiting for
      if (delay !== undefined || slowDelays === undefined || !wasConnected) return Effect.succeed(delay)
      slow = true
      return slowDelays.next(error)
    })
  }

  return {
    attempt: () => attempt,
    isSlow: () => slow,
    next: (error) =>
      Effect.suspend(() => {
        failing = true
        return Effect.map(planned(error), (delay) => {
          if (delay === undefined) return undefined
          attempt++
          return Duration.max(delay, Duration.millis(Pause.of(error, 0, Pause.longestOfConnects)?.until ?? 0))
        })
      }),
    admit: (now) => {
      if (!failing) return 0
      const wait = storm.wait(now)
      if (wait === 0) storm.count(now)
      return wait
    },
    wait: (now) => storm.wait(now),
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
