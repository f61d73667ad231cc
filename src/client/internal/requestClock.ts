/**
 * The two limits of one request, and how they stand still while a person is asked on behalf of it.
 *
 * @internal
 */

/** @internal */
export interface Limits {
  /** Milliseconds, or `Infinity`. */
  readonly idle: number
  readonly total: number
  /** What is left of the idle limit when the request begins (default: all of it). */
  readonly firstIdle?: number | undefined
}

/** @internal */
export interface RequestClock {
  readonly limits: Limits
  idleAt: number
  totalAt: number
  /** Since when a person is asked. */
  waiting: number | undefined
}

/** @internal */
export const make = (limits: Limits, now: number): RequestClock => ({
  limits,
  idleAt: now + (limits.firstIdle ?? limits.idle),
  totalAt: now + limits.total,
  waiting: undefined
})

/**
 * Something has happened.
 *
 * @internal
 */
export const touch = (clock: RequestClock, now: number): void => {
  clock.idleAt = now + clock.limits.idle
}

/** @internal */
export const at = ({ idleAt, totalAt, waiting }: RequestClock): number =>
  waiting === undefined ? Math.min(idleAt, totalAt) : Infinity

/** @internal */
export const over = ({ totalAt }: RequestClock, now: number): "idle" | "total" => totalAt <= now ? "total" : "idle"

/** @internal */
export const wait = (clock: RequestClock, open: boolean, now: number): void => {
  if (open) {
    clock.waiting ??= now
  } else if (clock.waiting !== undefined) {
    clock.totalAt += now - clock.waiting
    clock.waiting = undefined
    touch(clock, now)
  }
}
