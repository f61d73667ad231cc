/**
 * The watch over one connection: one fiber that sleeps until a probe is due.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Session from "../../client/Session.ts"
import * as McpError from "../../McpError.ts"
import type * as HealthCheck from "../HealthCheck.ts"

/** @internal */
export interface Rules {
  /** Milliseconds. */
  readonly interval: number
  readonly timeout: Duration.Duration
  readonly strikes: number
}

/** Whether an error is a word of the server, or of whoever speaks for it; the others say that there is no way to it. */
const isAnswer = (error: McpError.CallError): boolean => {
  switch (error._tag) {
    case "Closed":
    case "ConnectionLost":
    case "ConnectTimeout":
    case "NetworkError":
    case "Overloaded":
    case "ProcessExited":
    case "RequestTimeout":
    case "StreamInterrupted":
    case "TlsError":
      return false
    case "HttpStatus":
      // a gateway that cannot reach its server says so with these
      return !error.countsForBreaker
    default:
      return true
  }
}

/** What a server that does not answer a ping may answer all the same, if it declares it. */
const lists = [["tools", "tools/list"], ["resources", "resources/list"], ["prompts", "prompts/list"]] as const

/** @internal */
export const watch = (
  rules: Rules,
  server: string,
  session: Session.Session,
  use: HealthCheck.Use
): Effect.Effect<McpError.ConnectError> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const { interval, timeout } = rules
    // connections that began together, or were used together, are not asked together
    const late = (yield* Random.next) * interval / 2
    const { capabilities } = session.connection
    const list = lists.find(([capability]) => capabilities[capability] !== undefined)?.[1]

    const answers = <A>(question: Effect.Effect<A, McpError.CallError>): Effect.Effect<boolean> =>
      Effect.timeoutTo(Effect.match(question, { onFailure: isAnswer, onSuccess: () => true }), {
        duration: timeout,
        onSuccess: (answered) => answered,
        onTimeout: () => false
      })
    const probe = answers(session.health)
    const listing = list === undefined
      ? Effect.succeed(false)
      : answers(session.connection.request(list, undefined, { idleTimeout: timeout, totalTimeout: timeout }))

    let ignoresProbes = false
    const isAlive = Effect.suspend(() =>
      ignoresProbes ? listing : Effect.flatMap(probe, (answered) => {
        if (answered) return Effect.succeed(true)
        return Effect.map(listing, (listed) => {
          ignoresProbes = listed
          return listed
        })
      })
    )

    let lastProbe = clock.unsafeCurrentTimeMillis() + late
    let silences = 0
    let silentSince = 0
    while (silences < rules.strikes) {
      const now = clock.unsafeCurrentTimeMillis()
      const due = Math.max(lastProbe + interval, use.lastUsed() + interval + late)
      if (due > now) {
        // whole, because what is left of a fraction may be too little to move a clock on
        yield* Effect.sleep(Duration.millis(Math.ceil(due - now)))
        continue
      }
      if (use.inFlight() > 0) {
        // whoever waits for an answer notices by its own limits if there is none
        yield* Effect.sleep(Duration.millis(interval))
        continue
      }
      lastProbe = now
      if (use.lastUsed() >= silentSince) silences = 0
      const ok = yield* isAlive
      use.onProbe({ at: clock.unsafeCurrentTimeMillis(), ok })
      if (ok) silences = 0
      // a server that has something to do, or has just done it, may have had no time for the probe
      else if (use.inFlight() === 0 && use.lastUsed() < now) {
        silences++
        silentSince = now
      }
    }
    return new McpError.ConnectionLost({
      server,
      reason: "stalled",
      detail: `${silences} health probes in a row were not answered`,
      outcome: "unknown",
      stderrTail: yield* session.connection.stderrTail
    })
  })
