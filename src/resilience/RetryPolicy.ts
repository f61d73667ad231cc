/**
 * Decides which failed calls are sent again, and after which delay.
 *
 * A call is sent again if the server cannot have executed it, or if a second execution is harmless: the caller says
 * `idempotent`, or a trusted server annotates the tool so. A call that an expired session refused is sent once more,
 * unless the tool is annotated as destructive and not idempotent. Pauses that a server asks for (429, 503) are waited for
 * by the connection.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as McpError from "../McpError.ts"
import type * as Tool from "../tools/Tool.ts"
import * as Backoff from "./Backoff.ts"
import type * as Deadline from "./Deadline.ts"

export interface Options {
  /** How often a call is sent again. */
  readonly retries: number
  /** The delays between attempts, as long as there are `retries` left. */
  readonly schedule: Schedule.Schedule<unknown, McpError.RuntimeError>
}

/** Two retries, after 250 ms and 1 s. */
export const defaults: Options = { retries: 2, schedule: Schedule.exponential(Duration.millis(250), 4) }

/** The settings, read when a runtime is built. */
export class RetryPolicy extends Context.Reference<RetryPolicy>()("effect-mcp-runtime/resilience/RetryPolicy", {
  defaultValue: () => defaults
}) {}

/** The delays of one call. */
export const schedule = (options: Options): Schedule.Schedule<unknown, McpError.RuntimeError> =>
  Schedule.intersect(options.schedule, Schedule.recurs(options.retries))

/** What a second execution of a call does, as far as the caller or the annotations of the tool say. */
export type Repetition = "harmless" | "harmful" | "unspecified"

/** Annotations that allow a second execution count for trusted servers only; those that forbid it count for all. */
export const repetition = (
  trusted: boolean | undefined,
  tool: Tool.Tool | undefined,
  idempotent: boolean | undefined
): Repetition => {
  if (idempotent !== undefined) return idempotent ? "harmless" : "harmful"
  // a tool that its server does not list may have any annotations
  if (tool === undefined) return "harmful"
  const { destructiveHint, idempotentHint, readOnlyHint } = tool.annotations
  if (idempotentHint === true || readOnlyHint === true) return trusted === true ? "harmless" : "unspecified"
  return destructiveHint === true ? "harmful" : "unspecified"
}

export interface Failed {
  readonly error: McpError.RuntimeError
  /** How many attempts there were, this one included. */
  readonly attempts: number
  /** How many of them may have reached the server, this one included. */
  readonly sent: number
  /** Whether there was a connection; if not, connecting was already retried by `ReconnectPolicy`. */
  readonly connected: boolean
  readonly repetition: Repetition
}

/** Retryable errors that say that the server, or the runtime, takes no requests at present. */
const isRefusal = (error: McpError.RuntimeError): boolean =>
  error._tag === "CircuitOpen" || error._tag === "Overloaded" || error._tag === "ServerUnavailable" ||
  (error._tag === "HttpError" && (error.reason === "rate-limited" || error.reason === "unavailable"))

/** The decision table: the call is not sent again, sent again now, or after the delay of the schedule. */
export const decide = ({ attempts, connected, error, repetition, sent }: Failed): "no" | "now" | "delayed" => {
  if (!connected || isRefusal(error)) return "no"
  // the total limit of the call leaves no time for another attempt
  if (error._tag === "RequestTimeout" && error.kind === "total") return "no"
  switch (error.outcome) {
    case "not-sent":
      if (!error.isRetryable) return "no"
      // the next attempt waits for the next connection anyway
      return attempts === 1 && error._tag === "ConnectionLost" ? "now" : "delayed"
    case "unknown":
      // the specification lets this refusal mean "not executed"; one such answer is believed
      if (error._tag === "SessionExpired") return sent === 1 && repetition !== "harmful" ? "now" : "no"
      // a connection that moved does not count for the breaker, but lost its answer like any other
      return (error.countsForBreaker || error._tag === "ConnectionLost") && repetition === "harmless" ? "delayed" : "no"
    case "executed":
      return "no"
  }
}

/** The attempts of one call. */
export interface Attempts {
  attempts: number
  /** Set by the last attempt if it had a connection. */
  isConnected: boolean
}

export interface Retrying {
  readonly call: Attempts
  readonly deadline: Deadline.Deadline
  readonly options: Options
  /** Evaluated only where the decision depends on it. */
  readonly repetition: (error: McpError.RuntimeError) => Effect.Effect<Repetition>
}

/**
 * Repeats the attempt of one call while that is safe and the deadline leaves time. Fails with the last error of an attempt
 * that may have reached the server, because a later attempt that was not sent does not make it unsent.
 */
export const retryWhenSafe =
  ({ call, deadline, options, repetition }: Retrying) =>
  <A, R>(attempt: Effect.Effect<A, McpError.RuntimeError, R>): Effect.Effect<A, McpError.RuntimeError, R> => {
    let sent = 0
    let inDoubt: McpError.RuntimeError | undefined = undefined
    let backoff: Backoff.Backoff<unknown, McpError.RuntimeError> | undefined = undefined

    const again = (error: McpError.RuntimeError): Effect.Effect<A, McpError.RuntimeError, R> =>
      Effect.gen(function*() {
        if (error.outcome !== "not-sent") {
          inDoubt = error
          sent++
        }
        const failed = inDoubt ?? error
        const facts = { error, attempts: call.attempts, sent, connected: call.isConnected }
        if (decide({ ...facts, repetition: "harmless" }) === "no") return yield* failed
        const decision = decide({ ...facts, repetition: yield* deadline.restore(repetition(error)) })
        if (decision === "no") return yield* failed
        backoff ??= yield* Backoff.make(schedule(options))
        const planned = yield* backoff.next(error)
        if (Option.isNone(planned)) return yield* failed
        const delay = decision === "now" ? Duration.zero : planned.value[0]
        if (Duration.toMillis(delay) >= deadline.left()) return yield* failed
        yield* deadline.restore(Effect.sleep(delay))
        deadline.touch()
        return yield* run
      })
    const run = Effect.suspend(() => {
      call.attempts++
      call.isConnected = false
      return Effect.catchAll(attempt, again)
    })
    return run
  }

/** Methods that read, or whose second execution changes nothing. `tools/call` is not among them. */
const idempotentMethods: ReadonlySet<string> = new Set([
  "completion/complete",
  "initialize",
  "logging/setLevel",
  "ping",
  "prompts/get",
  "prompts/list",
  "resources/list",
  "resources/read",
  "resources/subscribe",
  "resources/templates/list",
  "resources/unsubscribe",
  "server/discover",
  "subscriptions/listen",
  "tasks/cancel",
  "tasks/get",
  "tasks/list",
  "tasks/result",
  "tools/list"
])

/** True for methods that a server can execute twice without harm. */
export const isIdempotent = (method: string): boolean => idempotentMethods.has(method)
