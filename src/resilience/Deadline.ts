/**
 * The limits of one call, over everything it does: queueing, connecting, its attempts and the delays between them.
 *
 * A deadline is two times and no timer. `withinDeadline` provides it, waits inside bound themselves with `boundWait`, and
 * a request takes what is left to the timer of its connection, which also stops while the server asks a person.
 */
import * as Context from "effect/Context"
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

export class Deadline extends Context.Tag("effect-mcp-runtime/resilience/Deadline")<Deadline, {
  /** Milliseconds that are left of the total limit; negative once it is over. */
  readonly left: () => number
  /** What is left for a request that begins now; `undefined` while no time has passed, so that its own limits apply. */
  readonly ofRequest: () => Record<"idleTimeout" | "firstIdleTimeout" | "totalTimeout", Duration.Duration> | undefined
  /** Starts the idle limit afresh, because another attempt begins. */
  readonly restartIdle: () => void
  /** The limit that ends first, and the milliseconds until then. */
  readonly next: () => { readonly wait: number; readonly kind: "idle" | "total" }
  readonly options: Options
}>() {}

const make = (options: Options, now: () => number): Deadline["Type"] => {
  const { idle, total } = options
  const began = now()
  let idleSince = began
  const left = () => began + total - now()
  const idleLeft = () => idleSince + idle - now()
  return {
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
  }
}

/** One deadline for everything inside, which begins now. */
export const withinDeadline =
  (options: Options) => <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Deadline>> =>
    Effect.clockWith((clock) =>
      Effect.provideService(self, Deadline, make(options, () => clock.unsafeCurrentTimeMillis()))
    )

/** What a call waited for when its deadline ended, with the error of the last attempt to connect. */
export type WaitedFor = Pick<McpError.RequestTimeout, "waitedFor" | "lastError">

/**
 * Bounds a wait that a request follows: fails at the deadline unless `self` has called `arrived`, because from then on the
 * request's own timer bounds it. Costs a timer, so callers skip it where there is nothing to wait for.
 */
export const boundWait = (waitedFor: () => WaitedFor) =>
<A, E, R>(
  self: (arrived: () => void) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | McpError.RequestTimeout, R | Deadline> =>
  Effect.flatMap(Deadline, ({ next, options: { operation, server, ...limits } }) => {
    let hasArrived = false
    const { kind, wait } = next()
    const limit = Duration.millis(limits[kind])
    const expiry = Effect.suspend(() =>
      hasArrived
        ? Effect.never
        : Effect.fail(
          new McpError.RequestTimeout({ server, kind, operation, limit, outcome: "not-sent", ...waitedFor() })
        )
    )
    return Effect.raceFirst(
      self(() => {
        hasArrived = true
      }),
      // interruptible, because the race must be able to end the timer wherever it is run
      Effect.interruptible(Effect.zipRight(Effect.sleep(Duration.millis(Math.max(0, wait))), expiry))
    )
  })
