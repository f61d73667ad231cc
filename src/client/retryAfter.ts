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

const remaining = ({ error, until }: Pause, now: number, paused: boolean | undefined): McpError.HttpError => {
  const retryAfter = now < until ? Duration.millis(until - now) : undefined
  return new McpError.HttpError({ ...error, retryAfter, paused })
}

/** The error of a request that is not sent because of the pause. */
export const refusal = (pause: Pause, now: number): McpError.HttpError => remaining(pause, now, true)

export type Admission =
  | { readonly _tag: "Open" }
  /** Sent alone. `probed` takes its outcome, on which the next requests depend. */
  | { readonly _tag: "Probe"; readonly pause: Pause }
  | { readonly _tag: "Wait"; readonly pause: Pause }
  | { readonly _tag: "Refused"; readonly error: McpError.HttpError }

const open: Admission = { _tag: "Open" }

/** The time to the next probe while one has no answer: a server refuses at once, so a silent probe is likely accepted. */
const betweenProbes = 5_000

/**
 * The gate in front of the requests of one connection. Requests wait for a pause of up to `longestOfCalls`. During a
 * longer one they are refused at once; afterwards one probe passes every `betweenProbes`, until one has been answered.
 */
export class Gate {
  #pause: Pause | undefined = undefined
  #needsProbe = false
  #probeSince: number | undefined = undefined

  admit(now: number): Admission {
    if (this.#pause === undefined) return open
    if (now < this.#pause.until) {
      return this.#needsProbe
        ? { _tag: "Refused", error: refusal(this.#pause, now) }
        : { _tag: "Wait", pause: this.#pause }
    }
    if (!this.#needsProbe) return open
    if (this.#probeSince !== undefined && now - this.#probeSince < betweenProbes) {
      return { _tag: "Refused", error: refusal(this.#pause, now) }
    }
    this.#probeSince = now
    return { _tag: "Probe", pause: this.#pause }
  }

  isClosed(now: number): boolean {
    return this.#pause !== undefined && now < this.#pause.until
  }

  /** Begins the pause that an answer asks for; of two pauses the one that ends later holds. */
  refused(error: McpError.HttpError, now: number): Pause | undefined {
    const pause = of(error, now, longestOfCalls)
    if (pause === undefined || error.retryAfter === undefined) return undefined
    if (this.#pause === undefined || pause.until >= this.#pause.until) {
      this.#needsProbe = Duration.toMillis(error.retryAfter) > longestOfCalls
      this.#pause = pause
      this.#probeSince = undefined
    }
    return this.#pause
  }

  /** The error for the request that began the pause, if it must not wait. */
  answer(error: McpError.HttpError, now: number): McpError.HttpError | undefined {
    return this.#needsProbe && this.#pause !== undefined
      ? remaining({ ...this.#pause, error }, now, undefined)
      : undefined
  }

  /** Ends a probe. An answer opens the gate, unless the server has asked for another pause meanwhile. */
  probed(pause: Pause, answered: boolean): void {
    if (this.#pause !== pause) return
    this.#probeSince = undefined
    if (answered) {
      this.#pause = undefined
      this.#needsProbe = false
    }
  }
}
