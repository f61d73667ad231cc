/**
 * The limits of one call, over everything it does: queueing, connecting, its attempts and the delays between them.
 *
 * A deadline is two times and no timer. Waits inside bound themselves with `boundWait`, and a request takes what is left
 * to the timer of its connection, which also stops while the server asks a person.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as McpError from "../McpError.ts"
import type { Restore } from "./onExitSync.ts"

export interface Options {
  readonly server: string
  /** The method, for the error. */
  readonly operation: string
  /** Milliseconds without an answer or progress; `Infinity` for no limit. */
  readonly idle: number
  /** Milliseconds in all; `Infinity` for no limit. */
  readonly total: number
  readonly now: () => number
  /** Makes a wait interruptible, where the call is one uninterruptible region. */
  readonly restore: Restore
}

/** The limits of one call; made when it begins. */
export class Deadline {
  readonly options: Options
  readonly #began: number
  #idleSince: number

  constructor(options: Options) {
    this.options = options
    this.#began = this.#idleSince = options.now()
  }

  /** Milliseconds that are left of the total limit; negative once it is over. */
  left(): number {
    return this.#began + this.options.total - this.options.now()
  }

  /** What is left for a request that begins now; `undefined` while no time has passed, so that its own limits apply. */
  ofRequest(): Record<"idleTimeout" | "firstIdleTimeout" | "totalTimeout", Duration.Duration> | undefined {
    const { idle, now } = this.options
    if (now() <= this.#began) return undefined
    const left = Math.max(0, this.left())
    const millis = (limit: number) => Duration.millis(Math.max(0, Math.min(limit, left)))
    const firstIdle = this.#idleSince + idle - now()
    return { idleTimeout: millis(idle), firstIdleTimeout: millis(firstIdle), totalTimeout: millis(left) }
  }

  /** Starts the idle limit afresh, because another attempt begins. */
  restartIdle(): void {
    this.#idleSince = this.options.now()
  }

  /** The limit that ends first, and the milliseconds until then. */
  next(): { readonly wait: number; readonly kind: "idle" | "total" } {
    const { idle, now } = this.options
    const idleLeft = this.#idleSince + idle - now()
    return this.left() <= idleLeft ? { wait: this.left(), kind: "total" } : { wait: idleLeft, kind: "idle" }
  }
}

/** What a call waited for when its deadline ended, with the error of the last attempt to connect. */
export type WaitedFor = Pick<McpError.RequestTimeout, "waitedFor" | "lastError">

/**
 * Bounds a wait that a request follows: fails at the deadline unless `self` has called `arrived`, because from then on the
 * request's own timer bounds it. Costs a timer, so callers skip it where there is nothing to wait for.
 */
export const boundWait = <A, E, R>(
  deadline: Deadline,
  waitedFor: () => WaitedFor,
  self: (arrived: () => void) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | McpError.RequestTimeout, R> =>
  Effect.suspend(() => {
    let hasArrived = false
    const { operation, restore, server, ...limits } = deadline.options
    const { kind, wait } = deadline.next()
    const limit = Duration.millis(limits[kind])
    const expired = () =>
      new McpError.RequestTimeout({ server, kind, operation, limit, outcome: "not-sent", ...waitedFor() })
    return restore(Effect.raceFirst(
      self(() => void (hasArrived = true)),
      // interruptible, because the race must be able to end the timer wherever it is run
      Effect.interruptible(
        Effect.flatMap(Effect.sleep(Duration.millis(Math.max(0, wait))), () => hasArrived ? Effect.never : expired())
      )
    ))
  })
