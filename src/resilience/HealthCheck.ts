/**
 * Probes idle connections.
 *
 * A server that answers anything is alive. One that leaves the ping unanswered is asked for a list that it declares,
 * because some servers answer everything but a ping; if it answers that, it is probed that way from then on. Silence to
 * both is a strike, and after a few strikes in a row the connection counts as lost.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import type * as McpError from "../McpError.ts"

export interface Options {
  /** How long a connection must have been idle before it is probed, and from one probe to the next. */
  readonly interval: Duration.DurationInput
  /** The limit of one probe; a ping is also bounded by the server's `pingTimeout`. */
  readonly timeout: Duration.DurationInput
  /** Silent probes in a row after which the connection counts as lost. */
  readonly strikes: number
}

export const defaults: Options = { interval: Duration.seconds(30), timeout: Duration.seconds(5), strikes: 3 }

/** The settings, read when a runtime is built. */
export class HealthCheck extends Context.Reference<HealthCheck>()("effect-mcp-runtime/resilience/HealthCheck", {
  defaultValue: () => defaults
}) {}

export const layer = (options?: Partial<Options>): Layer.Layer<HealthCheck> =>
  Layer.succeed(HealthCheck, { ...defaults, ...options })

/** No connection is probed. */
export const layerNone: Layer.Layer<HealthCheck> = layer({ interval: Duration.infinity })

/** The connection under watch. */
export interface Watched {
  readonly ping: Effect.Effect<unknown, McpError.CallError>
  /** A list that the server declares, for servers that do not answer the ping. */
  readonly list: Effect.Effect<unknown, McpError.CallError> | undefined
  readonly inFlight: () => number
  /** When it was last used with success, in milliseconds of the clock. */
  readonly lastUsed: () => number
  readonly onProbe: (probe: { readonly at: number; readonly ok: boolean }) => void
}

/** True for errors that the server, or a gateway in front of it, answered with. With the others it was not reached. */
const isAnswer = (error: McpError.CallError): boolean => {
  switch (error._tag) {
    case "Closed":
    case "ConnectionLost":
    case "ConnectTimeout":
    case "NetworkError":
    case "Overloaded":
    case "RequestTimeout":
      return false
    case "HttpError":
      // a gateway that cannot reach its server answers with these
      return error.reason !== "status" || !error.countsForBreaker
    default:
      return true
  }
}

/** Succeeds with the number of silent probes when the connection counts as lost, and runs until then. */
export const watch = (options: Options, watched: Watched): Effect.Effect<number> =>
  Effect.gen(function*() {
    const interval = Math.max(1, Duration.toMillis(options.interval))
    if (interval === Infinity) return yield* Effect.never
    const strikes = Math.max(1, options.strikes)
    const clock = yield* Effect.clock
    // spreads the probes of connections that were opened together
    const jitter = (yield* Random.next) * interval / 2

    const answers = (probe: Effect.Effect<unknown, McpError.CallError>): Effect.Effect<boolean> =>
      Effect.match(probe, { onFailure: isAnswer, onSuccess: () => true }).pipe(
        Effect.timeoutTo({ duration: options.timeout, onSuccess: (answered) => answered, onTimeout: () => false })
      )
    const ping = answers(watched.ping)
    const list = watched.list === undefined ? Effect.succeed(false) : answers(watched.list)

    let ignoresPing = false
    const isAlive = Effect.gen(function*() {
      if (!ignoresPing && (yield* ping)) return true
      const listed = yield* list
      ignoresPing ||= listed
      return listed
    })

    let lastProbe = clock.unsafeCurrentTimeMillis() + jitter
    let silences = 0
    let silentSince = 0
    while (silences < strikes) {
      const now = clock.unsafeCurrentTimeMillis()
      const due = Math.max(lastProbe + interval, watched.lastUsed() + interval + jitter)
      // a call in flight has limits of its own that notice a silent server
      const wait = due > now ? Math.ceil(due - now) : watched.inFlight() > 0 ? interval : 0
      if (wait > 0) {
        yield* Effect.sleep(Duration.millis(wait))
        continue
      }
      lastProbe = now
      if (watched.lastUsed() >= silentSince) silences = 0
      const ok = yield* isAlive
      watched.onProbe({ at: clock.unsafeCurrentTimeMillis(), ok })
      if (ok) silences = 0
      // a server that is working on a call, or has just answered one, may have had no time for the probe
      else if (watched.inFlight() === 0 && watched.lastUsed() < now) {
        silences++
        silentSince = now
      }
    }
    return silences
  })
