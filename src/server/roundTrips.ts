/**
 * How handlers ask the caller in the stateless era. The request ends with the questions, the handler waits in a fiber of
 * its own, and the request that brings the answers finds it by a state that cannot be guessed.
 */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import { canonicalJson } from "../json/canonical.ts"
import * as Nonce from "../safety/Nonce.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Exchange from "./exchange.ts"
import * as McpServer from "./McpServer.ts"
import * as Messages from "./messages.ts"

interface Question {
  readonly method: string
  readonly params: JsonRpc.JsonObject | undefined
  readonly answer: Deferred.Deferred<JsonRpc.JsonObject>
}

/** A handler in a fiber of its own, over all its rounds. */
class Asking {
  readonly fiber: Fiber.RuntimeFiber<JsonRpc.JsonObject, McpServer.Refusal>
  readonly questions = new Map<string, Question>()
  /** Open while there are questions. */
  readonly asked = Effect.unsafeMakeLatch()
  /** The request of the current round. */
  current: Exchange.CurrentRequest
  #count = 0

  constructor(current: Exchange.CurrentRequest, run: (asking: Asking) => Asking["fiber"]) {
    this.current = current
    this.fiber = run(this)
  }

  get stop(): Effect.Effect<void> {
    return Fiber.interruptFork(this.fiber)
  }

  readonly ask: McpServer.Exchange["ask"] = (method, params) =>
    Effect.suspend(() => {
      const key = `${method}-${++this.#count}`
      const answer = Deferred.unsafeMake<JsonRpc.JsonObject>(FiberId.none)
      this.questions.set(key, { method, params, answer })
      this.asked.unsafeOpen()
      return Effect.ensuring(Deferred.await(answer), Effect.sync(() => this.#settle(key)))
    })

  answered(responses: JsonRpc.JsonObject): void {
    for (const [key, { answer }] of Array.from(this.questions)) {
      const response = Object.hasOwn(responses, key) ? responses[key] : undefined
      if (!JsonRpc.isObject(response)) continue
      this.#settle(key)
      Deferred.unsafeDone(answer, Effect.succeed(Messages.objectOf(response)))
    }
  }

  #settle(key: string): void {
    this.questions.delete(key)
    if (this.questions.size === 0) this.asked.unsafeClose()
  }
}

/** What the requests of all rounds have in common. */
const identityOf = ({ method, params, principal = "" }: Exchange.Request): string => {
  const { _meta, inputResponses: _answers, requestState: _state, ...rest } = params
  return canonicalJson([principal, method, rest])
}

const unknownState = McpServer.invalidParams("Invalid params: this requestState is not known, or has expired")

const maxParked = 1_024
const crowded = McpServer.refusal("overloaded", "Too many requests wait for answers")

/** Questions that are asked side by side leave together. */
const gathering = "5 millis"

/** The result of the handler, or its questions. A request that answers questions goes on with their handler. */
export type RoundTrips = (
  request: Exchange.Request,
  current: Exchange.CurrentRequest,
  handler: (current: Exchange.CurrentRequest, ask: McpServer.Exchange["ask"]) => Exchange.Result
) => Exchange.Result

export const make = (inputTimeout: Duration.DurationInput): Effect.Effect<RoundTrips, never, Scope.Scope> =>
  Effect.gen(function*() {
    const nonce = yield* Nonce.Nonce
    // tells our states from those of a gateway behind this one, whose states pass through
    const prefix = `${yield* nonce}.`
    const fork = yield* FiberSet.makeRuntime<never, JsonRpc.JsonObject | void, McpServer.Refusal>()
    const parked = new Map<
      string,
      { readonly asking: Asking; readonly identity: string; readonly timer: Fiber.Fiber<unknown, unknown> }
    >()

    const park = (asking: Asking, request: Exchange.Request): Exchange.Result =>
      Effect.gen(function*() {
        if (parked.size >= maxParked) return yield* crowded
        const requestState = prefix + (yield* nonce)
        const giveUp = Effect.suspend(() => parked.delete(requestState) ? asking.stop : Effect.void)
        const timer = fork(Effect.delay(giveUp, inputTimeout))
        parked.set(requestState, { asking, identity: identityOf(request), timer })
        const inputRequests = Object.fromEntries(
          Array.from(asking.questions, ([key, { method, params }]) => [key, { method, params }])
        )
        return { resultType: "input_required", inputRequests, requestState }
      })

    const round = (asking: Asking, request: Exchange.Request): Exchange.Result => {
      const questions: Exchange.Result = asking.asked.await.pipe(
        Effect.zipRight(Effect.sleep(gathering)),
        // they may have been withdrawn meanwhile
        Effect.flatMap(() => asking.questions.size > 0 ? park(asking, request) : questions)
      )
      return Effect.onError(Effect.raceFirst(Fiber.join(asking.fiber), questions), () => asking.stop)
    }

    return (request, current, handler) =>
      Effect.suspend(() => {
        const { inputResponses, requestState } = request.params
        if (typeof requestState === "string" && requestState.startsWith(prefix)) {
          const found = parked.get(requestState)
          if (found === undefined || found.identity !== identityOf(request)) return unknownState
          parked.delete(requestState)
          found.asking.current = current
          found.asking.answered(Messages.objectOf(inputResponses))
          return Effect.zipRight(Fiber.interruptFork(found.timer), round(found.asking, request))
        }
        const run = (asking: Asking) => fork(Effect.suspend(() => handler(() => asking.current(), asking.ask)))
        return round(new Asking(current, run), request)
      })
  })
