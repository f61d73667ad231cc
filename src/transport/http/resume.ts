/** Opening an event stream again after it has ended: when, from where, and for how long. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schedule from "effect/Schedule"
import type * as McpError from "../../McpError.ts"
import type * as Sse from "./sse.ts"

export interface Options {
  /** The least delay before a stream is opened again, whatever the server's `retry:` says. */
  readonly retryFloor: Duration.DurationInput
  /** The delay where the server asks for none; it doubles with each failure in a row. */
  readonly retryDelay: Duration.DurationInput
  /** A `retry:` above it gives the stream up, because coming sooner than asked is not allowed. */
  readonly retryCeiling: Duration.DurationInput
  /** So many failures in a row give the stream up. */
  readonly retryFailures: number
}

export const defaults: Options = {
  retryFloor: "250 millis",
  retryDelay: "1 second",
  retryCeiling: "1 hour",
  retryFailures: 5
}

/** Doubled delays stop growing here. */
const longest = Duration.seconds(30)

/** A stream of notifications that lived shorter and carried no message has failed. */
const shortLived = Duration.toMillis("5 seconds")

const usual = ({ retryDelay, retryFloor }: Options) => Duration.max(retryDelay, retryFloor)

/** The delays after failures in a row, the first of doubling ones; never shorter than what the server asked for. */
export const backoff = (options: Options): Schedule.Schedule<Duration.Duration, Duration.Duration> =>
  Schedule.exponential(usual(options)).pipe(
    Schedule.modifyDelay((_, delay) => Duration.min(delay, Duration.max(usual(options), longest))),
    Schedule.intersect(Schedule.recurs(options.retryFailures - 1)),
    Schedule.zipRight(Schedule.identity<Duration.Duration>()),
    Schedule.modifyDelay((asked, delay) => Duration.max(delay, asked))
  )

/** Opens the stream after the event with this id, and reads it to its end. */
export type Follow = (
  lastEventId: string | undefined,
  onMessage: () => void
) => Effect.Effect<Sse.Cut, McpError.ConnectError>

const isTransient = (error: McpError.ConnectError, wasOpen: boolean): boolean =>
  error._tag === "NetworkError" ? error.reason !== "tls" : error._tag === "HttpError" &&
    (error.reason === "rate-limited" || error.reason === "unavailable" || (wasOpen && (error.status ?? 0) >= 500))

/**
 * Opens a stream again and again; succeeds with the reason when it is given up. With `from` it is the rest of an answer,
 * which goes on after that event for as long as each stream brings a new one; without, the stream of notifications.
 */
export const reopen = (
  options: Options,
  follow: Follow,
  from?: { readonly lastEventId: string; readonly retry: number | undefined }
): Effect.Effect<string> =>
  Effect.gen(function*() {
    const failures = yield* Schedule.driver(backoff(options))
    let lastEventId = from?.lastEventId
    let asked = from?.retry === undefined ? undefined : Duration.millis(from.retry)
    let wasOpen = from !== undefined

    /** The delay after a stream that ended as it should. */
    const polite = (): Duration.Duration => {
      if (asked === undefined && from !== undefined) return Duration.zero
      return asked === undefined || Duration.equals(asked, Duration.zero)
        ? usual(options)
        : Duration.max(asked, options.retryFloor)
    }
    const isHealthy = (cut: Sse.Cut, messages: number, lived: number): boolean =>
      from !== undefined
        ? cut.lastEventId !== undefined && cut.lastEventId !== lastEventId
        : messages > 0 || lived >= shortLived ||
          (asked !== undefined && Duration.greaterThanOrEqualTo(asked, options.retryFloor))

    let pause = from === undefined ? Duration.zero : polite()
    while (Duration.lessThanOrEqualTo(asked ?? Duration.zero, options.retryCeiling)) {
      if (!Duration.equals(pause, Duration.zero)) yield* Effect.sleep(pause)
      const began = yield* Clock.currentTimeMillis
      let messages = 0
      const ended = yield* Effect.either(follow(lastEventId, () => {
        messages++
      }))
      let least = Duration.zero
      let healthy = false
      if (Either.isLeft(ended)) {
        const error = ended.left
        if (!isTransient(error, wasOpen)) return error.message
        if ("retryAfter" in error && error.retryAfter !== undefined) least = error.retryAfter
      } else {
        const cut = ended.right
        if (cut.end !== "ended" && cut.end !== "cut") return `its body is ${cut.end}`
        wasOpen = true
        if (cut.retry !== undefined) asked = Duration.millis(cut.retry)
        healthy = isHealthy(cut, messages, (yield* Clock.currentTimeMillis) - began)
        lastEventId = cut.lastEventId ?? lastEventId
      }
      least = Duration.max(least, asked ?? Duration.zero)
      if (Duration.greaterThan(least, options.retryCeiling)) break
      pause = healthy ? polite() : Duration.zero
      if (healthy) yield* failures.reset
      else if (Either.isLeft(yield* Effect.either(failures.next(least)))) {
        return `${options.retryFailures} failures in a row`
      }
    }
    return "the server asks to wait for too long"
  })
