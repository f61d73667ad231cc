/** The pauses that a server asks for with `Retry-After`: one answer holds for all requests over its connection. */
import * as Duration from "effect/Duration"
import * as McpError from "../McpError.ts"

/** No request is sent before `until`, in milliseconds of the clock. */
export interface Pause {
  readonly until: number
  readonly error: McpError.HttpError
}

/**
 * The longest pause that calls wait for, in milliseconds. After a longer one was asked for, one call probes the server
 * at this time, because one wrong header must not disable its tools for hours.
 */
export const longestOfCalls = 60_000

/** The longest time to the next attempt to connect that a server can ask for, in milliseconds. */
export const longestOfConnects = 600_000

/** The pause that an error asks for, or `undefined`. */
export const of = (error: McpError.CallError, now: number, longest: number): Pause | undefined =>
  error._tag === "HttpError" && error.retryAfter !== undefined ?
    { until: now + Math.min(Duration.toMillis(error.retryAfter), longest), error }
    : undefined

/** The error of a request that is not sent because of the pause. */
export const refusal = ({ error, until }: Pause, now: number): McpError.HttpError => {
  const retryAfter = now < until ? Duration.millis(until - now) : undefined
  return new McpError.HttpError({ ...error, retryAfter, paused: true })
}

/** What becomes of a request during a pause: it waits, is sent alone as a probe, or is refused. */
export interface Admission {
  readonly as: "waiting" | "probe" | "refused"
  readonly pause: Pause
}

/** The time to the next probe while one has no answer: a server refuses at once, so a silent probe is likely accepted. */
const betweenProbes = 5_000

/**
 * The gate in front of the requests of one connection. Requests wait for a pause of up to `longestOfCalls`. During a
 * longer one they are refused at once; afterwards one probe passes every `betweenProbes`, until one has been answered.
 */
export class Gate {
  #pause: Pause | undefined = undefined
  #needsProbe = false
  #probeSince = -Infinity

  /** `undefined` without a pause. */
  admit(now: number): Admission | undefined {
    const pause = this.#pause
    if (pause === undefined) return undefined
    if (now < pause.until) return { as: this.#needsProbe ? "refused" : "waiting", pause }
    if (!this.#needsProbe) return undefined
    if (now - this.#probeSince < betweenProbes) return { as: "refused", pause }
    this.#probeSince = now
    return { as: "probe", pause }
  }

  isClosed(now: number): boolean {
    return this.#pause !== undefined && now < this.#pause.until
  }

  /**
   * Begins the pause that an answer asks for, if it does; of two pauses the one that ends later holds. With the error of
   * the request that began it, if it must not wait.
   */
  refused(error: McpError.HttpError, now: number): { until: number; refusal?: McpError.HttpError } | undefined {
    const pause = of(error, now, longestOfCalls)
    if (pause === undefined) return undefined
    if (this.#pause === undefined || pause.until >= this.#pause.until) {
      this.#needsProbe = error.retryAfter !== undefined && Duration.toMillis(error.retryAfter) > longestOfCalls
      this.#pause = pause
      this.#probeSince = -Infinity
    }
    const { until } = this.#pause
    const retryAfter = now < until ? Duration.millis(until - now) : undefined
    return this.#needsProbe ? { until, refusal: new McpError.HttpError({ ...error, retryAfter }) } : { until }
  }

  /** Ends a probe. An answer opens the gate, unless the server has asked for another pause meanwhile. */
  probed(pause: Pause, isAnswered: boolean): void {
    if (this.#pause !== pause) return
    this.#probeSince = -Infinity
    if (isAnswered) this.#pause = undefined
  }
}
