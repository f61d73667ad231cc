/**
 * The limits of one call, over everything it does: queueing, connecting, its requests and the delays between them.
 *
 * A deadline is two times and no timer. Waits inside bound themselves with `boundWait`, and requests are bounded by the
 * timer of their connection.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as McpError from "../McpError.ts"
import type { Restore } from "./onExitSync.ts"

export interface Options {
  readonly server: string
  /** The method, for the error. */
  readonly operation: string
  /** The longest time without an answer or progress; `Infinity` for no limit. */
  readonly idle: Duration.DurationInput
  /** The longest time in all; `Infinity` for no limit. */
  readonly total: Duration.DurationInput
  readonly now: () => number
  /** Makes a wait interruptible, where the call is one uninterruptible region. */
  readonly restore?: Restore | undefined
}

/** What a call waited for when its deadline ended, with the error of the last attempt to connect. */
export type WaitedFor = Pick<McpError.RequestTimeout, "waitedFor" | "lastError">

type Kind = McpError.RequestTimeout["kind"]

/** Begins when it is made. */
export class Deadline {
  readonly restore: Restore
  readonly #options: Options
  readonly #idle: number
  #total: number
  #idleAt: number
  #totalAt: number
  /** When the wait for a person has begun, during which both limits stand still. */
  #pausedSince: number | undefined = undefined

  constructor(options: Options, idle: number, total: number) {
    const began = options.now()
    this.restore = options.restore ?? identity
    this.#options = options
    this.#idle = idle
    this.#total = total
    this.#idleAt = began + idle
    this.#totalAt = began + total
  }

  /** The time of the limit that ends first. */
  get at(): number {
    return this.#pausedSince === undefined ? Math.min(this.#idleAt, this.#totalAt) : Infinity
  }

  /** The longest time without an answer or progress, in milliseconds. */
  get idle(): number {
    return this.#idle
  }

  /** Milliseconds that are left of the total limit; negative once it is over. */
  left(): number {
    return this.#totalAt - (this.#pausedSince ?? this.#options.now())
  }

  /** Begins the idle limit again, because of an answer, progress, or another attempt. */
  touch(): void {
    this.#idleAt = this.#options.now() + this.#idle
  }

  /** Replaces the total limit. */
  extend(total: number): void {
    this.#totalAt += total - this.#total
    this.#total = total
  }

  /** Stops both limits while a person is waited for; `false` ends that, and begins the idle limit again in any case. */
  pause(isPaused: boolean): void {
    const now = this.#options.now()
    if (isPaused) {
      this.#pausedSince ??= now
      return
    }
    this.#totalAt += now - (this.#pausedSince ?? now)
    this.#pausedSince = undefined
    this.#idleAt = now + this.#idle
  }

  /** The error of a call that has reached a limit (default: the one that ended first, or the total limit after both). */
  expired(
    outcome: McpError.Outcome,
    { kind = this.#first(), ...waitedFor }: WaitedFor & { readonly kind?: Kind } = {}
  ): McpError.RequestTimeout {
    const { operation, server } = this.#options
    const limit = Duration.millis(kind === "total" ? this.#total : this.#idle)
    return new McpError.RequestTimeout({ server, kind, operation, limit, outcome, ...waitedFor })
  }

  #first(): Kind {
    return this.#totalAt <= Math.max(this.#options.now(), this.#idleAt) ? "total" : "idle"
  }

  /** Milliseconds until the limit that ends first; negative once it is over. */
  wait(): number {
    return this.at - this.#options.now()
  }
}

const millis = (input: Duration.DurationInput): number | undefined =>
  Option.getOrUndefined(Option.map(Duration.decodeUnknown(input), Duration.toMillis))

/** Begins a deadline, unless one of its limits is no duration. */
export const make = (options: Options): Either.Either<Deadline, McpError.InvalidArguments> => {
  const idle = millis(options.idle)
  const total = millis(options.total)
  if (idle !== undefined && total !== undefined) return Either.right(new Deadline(options, idle, total))
  const { operation, server } = options
  const path = idle === undefined ? "idleTimeout" : "totalTimeout"
  return Either.left(new McpError.InvalidArguments({ server, operation, path, detail: "not a valid duration" }))
}

/**
 * Bounds a wait before a request, which the timer of the connection bounds. Costs a timer, so callers skip it where there is
 * nothing to wait for.
 */
export const boundWait = <A, E, R>(
  deadline: Deadline,
  waitedFor: () => WaitedFor,
  wait: Effect.Effect<A, E, R>
): Effect.Effect<A, E | McpError.RequestTimeout, R> =>
  Effect.suspend(() => {
    const expire = Effect.suspend(() => deadline.expired("not-sent", waitedFor()))
    // interruptible, because the race must be able to end the timer wherever it is run
    return deadline.restore(Effect.raceFirst(wait, Effect.interruptible(Effect.delay(expire, deadline.wait()))))
  })
