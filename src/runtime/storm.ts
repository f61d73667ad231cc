/**
 * Counts attempts within a time that slides along.
 *
 * @internal
 */

/** @internal */
export interface Storm {
  /** Milliseconds until another attempt is allowed; 0 if it is now. */
  readonly wait: (now: number) => number
  readonly count: (now: number) => void
  readonly reset: () => void
}

/** @internal */
export const make = (limit: number, within: number): Storm => {
  let attempts: Array<number> = []
  const recent = (now: number) => {
    attempts = attempts.filter((at) => at > now - within)
    return attempts
  }
  return {
    wait: (now) => {
      const counted = recent(now)
      // with a limit of 0 there is nothing to wait for: nothing is ever allowed
      if (counted.length < limit) return 0
      const oldest = counted[counted.length - limit]
      return oldest === undefined ? within : oldest + within - now
    },
    count: (now) => {
      recent(now).push(now)
    },
    reset: () => {
      attempts = []
    }
  }
}
