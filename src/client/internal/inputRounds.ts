/**
 * The stateless era's way to ask the application: a result that is a list of questions, and the request once more with
 * the answers, under a new id, until the result is one.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as McpError from "../../McpError.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as Calls from "./calls.ts"
import type * as Inputs from "./inputs.ts"

/** @internal */
export interface Options {
  readonly server: string
  readonly maxRounds: number
  readonly total: Duration.Duration
  /** Sends a request and takes whatever result it has. */
  readonly once: Calls.Request
  readonly answer: (method: string, params: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject, Inputs.Refused>
}

const mayAsk: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"])

/** A server that answers with state alone asks for patience: this much of it. */
const pace = Duration.millis(250)

/**
 * What is left to do before the result of a request is one; `undefined` if nothing is.
 *
 * @internal
 */
export const unfinished = (
  options: Options,
  result: JsonRpc.JsonObject,
  asked: Calls.Asked,
  since: number
): Effect.Effect<JsonRpc.JsonObject, McpError.CallError> | undefined => {
  const resultType = result["resultType"]
  if (resultType === undefined || resultType === "complete") return undefined
  if (resultType !== "input_required" || !mayAsk.has(asked.method)) {
    return Effect.fail(violation(options.server, `the result type ${JSON.stringify(resultType).slice(0, 64)}`))
  }
  // the time of whoever answers counts against this limit and no other
  const until = since + Duration.toMillis(asked.own?.totalTimeout ?? options.total)
  return rounds(options, asked, result, 1, { until })
}

const rounds = (
  options: Options,
  asked: Calls.Asked,
  required: JsonRpc.JsonObject,
  round: number,
  limit: { readonly until: number }
): Effect.Effect<JsonRpc.JsonObject, McpError.CallError> =>
  Effect.gen(function*() {
    if (round > options.maxRounds) {
      return yield* new McpError.ProtocolViolation({
        server: options.server,
        reason: "input-rounds",
        outcome: "unknown",
        operation: asked.method,
        rounds: options.maxRounds
      })
    }
    const questions = required["inputRequests"]
    const state = required["requestState"]
    const entries = JsonRpc.isObject(questions) ? Object.entries(questions) : []
    if (entries.length === 0 && typeof state !== "string") {
      return yield* violation(options.server, "input_required without input requests or state")
    }
    if (entries.length === 0) yield* Effect.sleep(pace)
    const left = Effect.map(Clock.currentTimeMillis, (now) => Math.max(0, limit.until - now))
    const overdue = () =>
      new McpError.RequestTimeout({
        server: options.server,
        kind: "total",
        operation: asked.method,
        limit: asked.own?.totalTimeout ?? options.total,
        outcome: "unknown"
      })
    const patience = yield* left
    const answers = yield* Effect.forEach(
      entries,
      ([key, question]) => Effect.map(ask(options, asked.method, question), (given) => [key, given] as const),
      { concurrency: "unbounded" }
    ).pipe(
      // nobody is waited for longer than the call may take in all
      Effect.timeoutFail({ duration: Duration.millis(patience), onTimeout: overdue })
    )
    const totalTimeout = Duration.millis(yield* left)
    if (Duration.toMillis(totalTimeout) === 0) return yield* overdue()
    const params: JsonRpc.JsonObject = {
      ...asked.params,
      ...(answers.length === 0 ? {} : { inputResponses: Object.fromEntries(answers) }),
      ...(typeof state === "string" ? { requestState: state } : {})
    }
    const result = yield* Effect.mapError(
      options.once(asked.method, params, { ...asked.own, firstIdleTimeout: undefined, totalTimeout }),
      McpError.partlySent
    )
    return result["resultType"] === "input_required" ? yield* rounds(options, asked, result, round + 1, limit) : result
  })

const ask = (
  options: Options,
  operation: string,
  question: unknown
): Effect.Effect<JsonRpc.JsonObject, McpError.CallError> => {
  if (!JsonRpc.isObject(question) || typeof question["method"] !== "string") {
    return Effect.fail(violation(options.server, "an input request without a method"))
  }
  const params = JsonRpc.isObject(question["params"]) ? question["params"] as JsonRpc.JsonObject : {}
  return Effect.mapError(
    options.answer(question["method"], params),
    (refused) =>
      new McpError.Cancelled({
        server: options.server,
        operation,
        detail: `the application declined what the server asked: ${refused.reason}`,
        outcome: "unknown"
      })
  )
}

const violation = (server: string, what: string) =>
  new McpError.ProtocolViolation({ server, what, excerpt: "", outcome: "executed", phase: "ready" })
