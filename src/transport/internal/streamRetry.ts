/** @internal */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as McpError from "../../McpError.ts"
import type * as Transport from "../Transport.ts"
import type * as EventStream from "./eventStream.ts"

/**
 * How streams are opened again.
 *
 * @internal
 */
export interface Options {
  /** Never sooner, whatever the server's `retry:` says. */
  readonly floor: Duration.DurationInput
  /** The delay where the server asks for none. */
  readonly usual: Duration.DurationInput
  /** A `retry:` above it gives the stream up: coming sooner than asked is not allowed. */
  readonly ceiling: Duration.DurationInput
  /** The usual delay doubles with each failure in a row, up to this. */
  readonly longest: Duration.DurationInput
  /** A stream that lived shorter and carried nothing has failed. */
  readonly shortLived: Duration.DurationInput
  /** So many failures in a row give the stream up. */
  readonly failures: number
}

/** @internal */
export const defaults: Options = {
  floor: "250 millis",
  usual: "1 second",
  ceiling: "1 hour",
  longest: "30 seconds",
  shortLived: "5 seconds",
  failures: 5
}

/** @internal */
export type Follow = (
  lastEventId: string | undefined,
  onMessage: () => void
) => Effect.Effect<EventStream.Followed, McpError.ConnectError>

/**
 * How long to wait after so many failures in a row; `undefined`: too long to be waited for.
 *
 * @internal
 */
export const delay = (options: Options, failures: number, asked: number | undefined): number | undefined => {
  const floor = Duration.toMillis(options.floor)
  if (asked !== undefined && asked > Duration.toMillis(options.ceiling)) return undefined
  // what went as it should is asked for again when the server says
  if (failures === 0 && asked !== undefined && asked > 0) return Math.max(floor, asked)
  const usual = Math.max(floor, Duration.toMillis(options.usual))
  const backoff = Math.min(usual * 2 ** Math.max(0, failures - 1), Math.max(usual, Duration.toMillis(options.longest)))
  return Math.max(backoff, asked ?? 0)
}

const isTransient = (error: McpError.ConnectError, wasOpen: boolean): boolean => {
  switch (error._tag) {
    case "NetworkError":
    case "RateLimited":
    case "Unavailable":
      return true
    case "HttpStatus":
      return wasOpen && error.status >= 500
    default:
      return false
  }
}

const givenUp = (why: string): Transport.Diagnostic => ({
  kind: "stream",
  detail: `the server's stream of notifications was given up: ${why}`
})

/**
 * Keeps the stream of a session open, which is optional: whatever goes wrong with it is told once and harms nobody.
 *
 * @internal
 */
export const listen = (
  options: Options,
  follow: Follow,
  now: () => number,
  diagnostic: (diagnostic: Transport.Diagnostic) => void
): Effect.Effect<void> =>
  Effect.gen(function*() {
    let lastEventId: string | undefined
    let asked: number | undefined
    let failures = 0
    let wasOpen = false
    while (failures < options.failures) {
      const started = now()
      let messages = 0
      const ended = yield* Effect.either(follow(lastEventId, () => {
        messages++
      }))
      let least = 0
      if (ended._tag === "Left") {
        const error = ended.left
        if (!isTransient(error, wasOpen)) return diagnostic(givenUp(error.message))
        if ("retryAfter" in error && error.retryAfter !== undefined) least = Duration.toMillis(error.retryAfter)
        failures++
      } else {
        wasOpen = true
        if (ended.right.end !== "ended" && ended.right.end !== "cut") return diagnostic(givenUp(ended.right.end))
        lastEventId = ended.right.lastEventId ?? lastEventId
        asked = ended.right.retry ?? asked
        const polled = asked !== undefined && asked >= Duration.toMillis(options.floor)
        const short = now() - started < Duration.toMillis(options.shortLived)
        failures = short && messages === 0 && !polled ? failures + 1 : 0
      }
      const wait = delay(options, failures, Math.max(asked ?? 0, least))
      if (wait === undefined) return diagnostic(givenUp("the server asks to wait for more than an hour"))
      if (failures < options.failures) yield* Effect.sleep(wait)
    }
    diagnostic(givenUp(`${failures} failures in a row`))
  })

/**
 * Follows the rest of an answer whose stream was cut, by the id of its last event; succeeds with why that was given up,
 * and is interrupted by whoever sees the answer come.
 *
 * @internal
 */
export const resume = (
  options: Options,
  follow: Follow,
  first: { readonly lastEventId: string; readonly retry: number | undefined }
): Effect.Effect<string> =>
  Effect.gen(function*() {
    let { lastEventId, retry } = first
    let failures = 0
    while (failures < options.failures) {
      const wait = failures === 0 && retry === undefined ? 0 : delay(options, failures, retry)
      if (wait === undefined) return "the server asks to wait for more than an hour"
      if (wait > 0) yield* Effect.sleep(wait)
      const ended = yield* Effect.either(follow(lastEventId, () => undefined))
      if (ended._tag === "Left") {
        if (!isTransient(ended.left, true)) return `it could not be resumed: ${ended.left.message}`
        failures++
      } else {
        if (ended.right.end !== "ended" && ended.right.end !== "cut") return `its rest was ${ended.right.end}`
        const progress = ended.right.lastEventId !== undefined && ended.right.lastEventId !== lastEventId
        failures = progress ? 0 : failures + 1
        lastEventId = ended.right.lastEventId ?? lastEventId
        retry = ended.right.retry ?? retry
      }
    }
    return `it could not be resumed in ${failures} attempts`
  })
