/**
 * The limits of one call, over everything it does: queueing, connecting, its attempts and the delays between them.
 *
 * A deadline is two times and no timer. Waits inside bound themselves with `boundWait`, and a request takes what is left
 * to the timer of its connection, which also stops while the server asks a person.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as McpError from "../McpError.ts"

export interface Options {
  readonly server: string
  /** The method, for the error. */
  readonly operation: string
  /** Milliseconds without an answer or progress; `Infinity` for no limit. */
  readonly idle: number
  /** Milliseconds in all; `Infinity` for no limit. */
  readonly total: number
}

export interface Deadline {
  /** Milliseconds that are left of the total limit; negative once it is over. */
  readonly left: () => number
  /** What is left for a request that begins now; `undefined` while no time has passed, so that its own limits apply. */
  readonly ofRequest: () => Record<"idleTimeout" | "firstIdleTimeout" | "totalTimeout", Duration.Duration> | undefined
  /** Starts the idle limit afresh, because another attempt begins. */
  readonly restartIdle: () => void
  /** The limit that ends first, and the milliseconds until then. */
  readonly next: () => { readonly wait: number; readonly kind: "idle" | "total" }
  readonly options: Options
}

/** One deadline for everything inside, which begins now. */
export const withinDeadline = <A, E, R>(
  options: Options,
  f: (deadline: Deadline) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.clockWith((clock) => {
    const { idle, total } = options
    const now = () => clock.unsafeCurrentTimeMillis()
    const began = now()
    let idleSince = began
    const left = () => began + total - now()
    const idleLeft = () => idleSince + idle - now()
    return f({
      options,
      left,
      ofRequest: () => {
        if (now() <= began) return undefined
        const totalLeft = Math.max(0, left())
        const millis = (limit: number) => Duration.millis(Math.max(0, Math.min(limit, totalLeft)))
        return { idleTimeout: millis(idle), firstIdleTimeout: millis(idleLeft()), totalTimeout: millis(totalLeft) }
      },
      restartIdle: () => {
        idleSince = now()
      },
      next: () => left() <= idleLeft() ? { wait: left(), kind: "total" } : { wait: idleLeft(), kind: "idle" }
    })
  })

/** What a call waited for when its deadline ended, with the error of the last attempt to connect. */
export type WaitedFor = Pick<McpError.RequestTimeout, "waitedFor" | "lastError">

/**
 * Bounds a wait that a request follows: fails at the deadline unless `self` has called `arrived`, because from then on the
 * request's own timer bounds it. Costs a timer, so callers skip it where there is nothing to wait for.
 */
export const boundWait = <A, E, R>(
  { next, options: { operation, server, ...limits } }: Deadline,
  waitedFor: () => WaitedFor,
  self: (arrived: () => void) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | McpError.RequestTimeout, R> =>
  Effect.suspend(() => {
    let hasArrived = false
    const { kind, wait } = next()
    const limit = Duration.millis(limits[kind])
    const expired = () =>
      new McpError.RequestTimeout({ server, kind, operation, limit, outcome: "not-sent", ...waitedFor() })
    return Effect.raceFirst(
      self(() => {
        hasArrived = true
      }),
      // interruptible, because the race must be able to end the timer wherever it is run
      Effect.interruptible(
        Effect.flatMap(Effect.sleep(Duration.millis(Math.max(0, wait))), () => hasArrived ? Effect.never : expired())
      )
    )
  })
