/**
 * The time that one call has, over everything it does: waiting for a connection, its attempts, the pauses between them.
 *
 * A deadline is two numbers and costs a subtraction. What is waiting for a person (a login, a question of the server)
 * can stop its idle limit; nothing stops the total.
 *
 * @since 0.1.0
 */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as McpError from "../McpError.ts"

/**
 * All in milliseconds; `Infinity` for no limit.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** The time of the clock at which the call begins. */
  readonly now: number
  /** How long nothing may happen. */
  readonly idle: number
  /** How long it may take in all. */
  readonly total: number
}

/**
 * The limits of one attempt, as a session takes them.
 *
 * @since 0.1.0
 * @category models
 */
export interface Attempt {
  readonly idleTimeout: Duration.Duration
  readonly totalTimeout: Duration.Duration
}

/**
 * The deadline of one call. Every `now` is the time of the clock in milliseconds.
 *
 * @since 0.1.0
 * @category models
 */
export interface Deadline {
  readonly idle: number
  readonly total: number
  /** What is left of the total; less than nothing once it is over. */
  readonly left: (now: number) => number
  /** The limits of an attempt that begins now; `undefined` while nothing is used up, so that the call's own hold. */
  readonly attempt: (now: number) => Attempt | undefined
  /** Stops the idle limit until as many have resumed as have paused; it then starts afresh. Returns how to resume. */
  readonly pause: () => (now: number) => void
  /** Since when the idle limit runs for a wait that began then. */
  readonly idleSince: (began: number, now: number) => number
}

class Running implements Deadline {
  readonly idle: number
  readonly total: number
  readonly #began: number
  readonly #until: number
  #pauses = 0
  #resumedAt = -Infinity

  constructor({ idle, now, total }: Options) {
    this.idle = idle
    this.total = total
    this.#began = now
    this.#until = now + total
  }

  left(now: number): number {
    return this.#until - now
  }

  attempt(now: number): Attempt | undefined {
    if (now <= this.#began) return undefined
    const left = Math.max(0, this.left(now))
    return { idleTimeout: Duration.millis(Math.min(this.idle, left)), totalTimeout: Duration.millis(left) }
  }

  pause(): (now: number) => void {
    this.#pauses++
    let resumed = false
    return (now) => {
      if (resumed) return
      resumed = true
      if (--this.#pauses === 0) this.#resumedAt = now
    }
  }

  idleSince(began: number, now: number): number {
    return this.#pauses > 0 ? now : Math.max(began, this.#resumedAt)
  }
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): Deadline => new Running(options)

/**
 * The error of a call whose time was over before it could be sent.
 *
 * @since 0.1.0
 * @category constructors
 */
export const exceeded = (
  deadline: Deadline,
  server: string,
  operation: string,
  kind: "idle" | "total"
): McpError.RequestTimeout =>
  new McpError.RequestTimeout({
    server,
    kind,
    operation,
    limit: Duration.millis(deadline[kind]),
    outcome: "not-sent"
  })

/** Fails once the wait that began then has used up its limits, unless it has come to its end. */
const expiry = (
  deadline: Deadline,
  server: string,
  operation: string,
  hasArrived: () => boolean
): Effect.Effect<never, McpError.RequestTimeout> =>
  Effect.clockWith((clock: Clock.Clock) => {
    const began = clock.unsafeCurrentTimeMillis()
    const look: Effect.Effect<never, McpError.RequestTimeout> = Effect.suspend(() => {
      if (hasArrived()) return Effect.never
      const now = clock.unsafeCurrentTimeMillis()
      const left = deadline.left(now)
      if (left <= 0) return Effect.fail(exceeded(deadline, server, operation, "total"))
      const idle = deadline.idleSince(began, now) + deadline.idle - now
      if (idle <= 0) return Effect.fail(exceeded(deadline, server, operation, "idle"))
      return Effect.zipRight(Effect.sleep(Duration.millis(Math.min(idle, left))), look)
    })
    // a wait that begins where nothing may be interrupted must still be able to leave its own timer behind
    return Effect.interruptible(look)
  })

/**
 * Bounds something that waits first and then does what has limits of its own: until it says that it has arrived, it may
 * take no longer than the idle limit and what is left of the total. Only for waits that do take place: it costs a timer.
 *
 * @since 0.1.0
 * @category combinators
 */
export const untilArrived =
  (deadline: Deadline, server: string, operation: string) =>
  <A, E, R>(self: (arrived: () => void) => Effect.Effect<A, E, R>): Effect.Effect<A, E | McpError.RequestTimeout, R> =>
    Effect.suspend(() => {
      let hasArrived = false
      return Effect.raceFirst(
        self(() => {
          hasArrived = true
        }),
        expiry(deadline, server, operation, () => hasArrived)
      )
    })

/**
 * Bounds a wait that is no request, such as that for a connection, by the idle limit and what is left of the total.
 *
 * @since 0.1.0
 * @category combinators
 */
export const within =
  (deadline: Deadline, server: string, operation: string) =>
  <A, E, R>(wait: Effect.Effect<A, E, R>): Effect.Effect<A, E | McpError.RequestTimeout, R> =>
    untilArrived(deadline, server, operation)(() => wait)

/**
 * Runs something for which the server is not to blame if it takes long: the idle limit stands still meanwhile.
 *
 * @since 0.1.0
 * @category combinators
 */
export const pausedWhile = (deadline: Deadline) => <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.clockWith((clock) =>
    Effect.acquireUseRelease(
      Effect.sync(() => deadline.pause()),
      () => self,
      (resume) => Effect.sync(() => resume(clock.unsafeCurrentTimeMillis()))
    )
  )
