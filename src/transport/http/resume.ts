/** Opening an event stream again after it has ended: when, from where, and for how long. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schedule from "effect/Schedule"
import type * as McpError from "../../McpError.ts"
import type * as Transport from "../Transport.ts"
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

/** A stream that lived shorter and carried no message counts as a failure. */
const shortLived = Duration.seconds(5)

const usual = ({ retryDelay, retryFloor }: Options) => Duration.max(retryDelay, retryFloor)

/**
 * The delays after failures in a row: doubling, never shorter than what the server asked for (the input), over when the
 * stream is to be given up.
 */
export const backoff = (options: Options): Schedule.Schedule<Duration.Duration, Duration.Duration> =>
  Schedule.exponential(usual(options)).pipe(
    Schedule.modifyDelay((_, delay) => Duration.min(delay, Duration.max(usual(options), longest))),
    Schedule.intersect(Schedule.recurs(options.retryFailures - 1)),
    Schedule.zipRight(Schedule.identity<Duration.Duration>()),
    Schedule.modifyDelay((asked, delay) => Duration.max(delay, asked))
  )

/** The delay after a stream that ended as it should. */
export const polite = (options: Options, asked: Duration.Duration): Duration.Duration =>
  Duration.greaterThan(asked, Duration.zero) ? Duration.max(asked, options.retryFloor) : usual(options)

/** Opens the stream after the event with this id and reads it to its end. */
export type Follow = (
  lastEventId: string | undefined,
  onMessage: () => void
) => Effect.Effect<Sse.Cut, McpError.ConnectError>

/** A stream that was open. */
interface Seen {
  readonly from: string | undefined
  readonly cut: Sse.Cut
  readonly messages: number
  readonly lived: Duration.Duration
  readonly asked: Duration.Duration
}

interface Rule {
  /** What is known from before. */
  readonly start: { readonly lastEventId: string | undefined; readonly retry: number | undefined }
  /** True if the stream was open before, so that an error of the server may pass. */
  readonly wasOpen: boolean
  readonly isHealthy: (seen: Seen) => boolean
  /** The delay after a healthy stream where the server has never asked for one. */
  readonly pause: Duration.Duration
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

/** Opens a stream again and again; succeeds with the reason when it is given up. */
const reopen = (options: Options, rule: Rule, follow: Follow): Effect.Effect<string> =>
  Effect.gen(function*() {
    const delays = yield* Schedule.driver(backoff(options))
    let { lastEventId, retry } = rule.start
    let { wasOpen } = rule
    let pause = retry === undefined ? Duration.zero : polite(options, Duration.millis(retry))
    while (Duration.lessThanOrEqualTo(Duration.millis(retry ?? 0), options.retryCeiling)) {
      if (!Duration.equals(pause, Duration.zero)) yield* Effect.sleep(pause)
      let messages = 0
      const began = yield* Clock.currentTimeMillis
      const ended = yield* Effect.either(follow(lastEventId, () => {
        messages++
      }))
      const lived = Duration.millis((yield* Clock.currentTimeMillis) - began)
      let isHealthy = false
      let least = Duration.zero
      if (Either.isLeft(ended)) {
        const error = ended.left
        if (!isTransient(error, wasOpen)) return error.message
        if ("retryAfter" in error && error.retryAfter !== undefined) least = error.retryAfter
      } else {
        const cut = ended.right
        if (cut.end !== "ended" && cut.end !== "cut") return `its body is ${cut.end}`
        wasOpen = true
        retry = cut.retry ?? retry
        isHealthy = rule.isHealthy({ from: lastEventId, cut, messages, lived, asked: Duration.millis(retry ?? 0) })
        lastEventId = cut.lastEventId ?? lastEventId
      }
      const asked = Duration.max(least, Duration.millis(retry ?? 0))
      if (Duration.greaterThan(asked, options.retryCeiling)) break
      if (isHealthy) {
        yield* delays.reset
        pause = retry === undefined ? rule.pause : polite(options, asked)
      } else {
        const next = yield* Effect.either(delays.next(asked))
        if (Either.isLeft(next)) return `${options.retryFailures} failures in a row`
        pause = Duration.zero
      }
    }
    return "the server asks to wait for more than an hour"
  })

/** Keeps the stream of notifications open. It is optional, so giving it up is told once and harms nothing. */
export const listen = (
  options: Options,
  follow: Follow,
  diagnostic: (diagnostic: Transport.Diagnostic) => void
): Effect.Effect<void> =>
  Effect.map(
    reopen(options, {
      start: { lastEventId: undefined, retry: undefined },
      wasOpen: false,
      isHealthy: ({ asked, lived, messages }) =>
        messages > 0 || Duration.greaterThanOrEqualTo(lived, shortLived) ||
        Duration.between(asked, { minimum: options.retryFloor, maximum: options.retryCeiling }),
      pause: usual(options)
    }, follow),
    (why) => diagnostic({ kind: "stream", detail: `the server's stream of notifications was given up: ${why}` })
  )

/** Follows the rest of an answer whose stream was cut; succeeds with the reason when that is given up. */
export const resume = (
  options: Options,
  follow: Follow,
  start: { readonly lastEventId: string; readonly retry: number | undefined }
): Effect.Effect<string> =>
  Effect.map(
    reopen(options, {
      start,
      wasOpen: true,
      isHealthy: ({ cut, from }) => cut.lastEventId !== undefined && cut.lastEventId !== from,
      pause: Duration.zero
    }, follow),
    (why) => `it could not be resumed: ${why}`
  )
