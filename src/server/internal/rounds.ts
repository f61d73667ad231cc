/**
 * The stateless era's way to ask, for handlers that wait for an answer: the request ends with a question, the handler goes
 * on waiting, and the request that brings the answer finds it by a state that nobody else can know.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import { canonicalJson } from "../../json/canonical.ts"
import * as Nonce from "../../safety/Nonce.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import * as McpServer from "../McpServer.ts"
import { type End, ended, invalidParams, objectOf } from "./exchange.ts"
import type * as Outlet from "./outlet.ts"
import * as Signal from "./signal.ts"

/** @internal */
export interface Request {
  readonly principal: string | undefined
  readonly method: string
  readonly params: JsonRpc.JsonObject
  readonly outlet: Outlet.Outlet
}

/** @internal */
export interface Rounds {
  /**
   * The end of a request, or of its round; nothing if it was cancelled. `run` is given the request as it is by now, which
   * in a later round is a later one.
   */
  readonly answer: (
    request: Request,
    run: (now: () => Request | undefined, ask: McpServer.Exchange["ask"]) => Effect.Effect<
      JsonRpc.JsonObject,
      McpServer.Refusal
    >
  ) => Effect.Effect<End>
}

interface Question {
  readonly method: string
  readonly params: JsonRpc.JsonObject | undefined
  readonly answer: Deferred.Deferred<JsonRpc.JsonObject>
}

/** A handler that waits, and whoever waits for it. */
class Parked {
  readonly questions = new Map<string, Question>()
  readonly signal = Signal.make()
  request: Request | undefined
  fiber: Fiber.RuntimeFiber<void> | undefined = undefined
  end: { readonly value: End } | undefined = undefined
  state: string | undefined = undefined
  /** Gives up when nobody comes. */
  timer: Fiber.RuntimeFiber<void> | undefined = undefined
  asked = 0
  /** What it is besides its rounds, once it has been asked for. */
  essence: string | undefined = undefined

  constructor(request: Request) {
    this.request = request
  }
}

const unknown = invalidParams("Invalid params: this requestState is not known, or has expired")

/** What a request is besides its round. */
const essenceOf = ({ method, params, principal = "" }: Request): string => {
  const { _meta, inputResponses: _answers, requestState: _state, ...rest } = params
  return canonicalJson([principal, method, rest])
}

/** How many handlers of an endpoint may wait for answers. */
const most = 1_024

/** Questions that are asked side by side go out together. */
const gathering = Duration.millis(5)

/** @internal */
export const make = (
  { inputTimeout }: Pick<McpServer.Limits, "inputTimeout">
): Effect.Effect<Rounds, never, Scope.Scope> =>
  Effect.gen(function*() {
    const nonce = yield* Nonce.Nonce
    // states of other servers of this kind, which may be behind us, begin otherwise
    const own = `${yield* nonce}.`
    const fork = yield* FiberSet.makeRuntime<never, void>()
    const parked = new Map<string, Parked>()

    const ask = (one: Parked): McpServer.Exchange["ask"] => (method, params) =>
      Effect.suspend(() => {
        const key = `${method}-${++one.asked}`
        const answer = Deferred.unsafeMake<JsonRpc.JsonObject>(FiberId.none)
        one.questions.set(key, { method, params, answer })
        one.signal.raise()
        return Effect.ensuring(
          Deferred.await(answer),
          Effect.sync(() => {
            one.questions.delete(key)
          })
        )
      })

    const drop = (one: Parked): void => {
      if (one.state !== undefined) parked.delete(one.state)
      one.state = undefined
      one.timer?.unsafeInterruptAsFork(FiberId.none)
      one.timer = undefined
    }

    const stop = (one: Parked): void => {
      drop(one)
      one.fiber?.unsafeInterruptAsFork(FiberId.none)
    }

    const park = Effect.fnUntraced(function*(one: Parked) {
      if (parked.size >= most) {
        stop(one)
        return Either.left(
          new McpServer.Refusal({ code: McpServer.codes.overloaded, message: "Too many requests wait for answers" })
        )
      }
      drop(one)
      const state = own + (yield* nonce)
      one.state = state
      if (one.request !== undefined) one.essence ??= essenceOf(one.request)
      one.request = undefined
      parked.set(state, one)
      one.timer = fork(Effect.delay(Effect.sync(() => one.state === state ? stop(one) : undefined), inputTimeout))
      const inputRequests = Object.fromEntries(
        Array.from(
          one.questions,
          ([key, { method, params }]) => [key, params === undefined ? { method } : { method, params }]
        )
      )
      return Either.right({ resultType: "input_required", inputRequests, requestState: state })
    })

    const wait = (one: Parked): Effect.Effect<End> =>
      Effect.gen(function*() {
        yield* one.signal.until(() => one.end !== undefined || one.questions.size > 0)
        if (one.end === undefined) yield* Effect.sleep(gathering)
        // what was asked may have been answered, or given up, while others were gathered
        if (one.end === undefined && one.questions.size === 0) return yield* wait(one)
        if (one.end === undefined) return yield* park(one)
        drop(one)
        return one.end.value
      }).pipe(Effect.onError(() => Effect.sync(() => stop(one))))

    const resumed = (request: Request, state: string): Effect.Effect<End> =>
      Effect.suspend(() => {
        const one = parked.get(state)
        if (one === undefined || one.essence !== essenceOf(request)) return Effect.succeed(Either.left(unknown))
        drop(one)
        one.request = request
        const responses = objectOf(request.params["inputResponses"])
        for (const [key, { answer }] of Array.from(one.questions)) {
          const given = Object.hasOwn(responses, key) ? responses[key] : undefined
          if (!JsonRpc.isObject(given)) continue
          one.questions.delete(key)
          Deferred.unsafeDone(answer, Effect.succeed(objectOf(given)))
        }
        return wait(one)
      })

    return {
      answer: (request, run) =>
        Effect.suspend(() => {
          const state = request.params["requestState"]
          if (typeof state === "string" && state.startsWith(own)) return resumed(request, state)
          const one = new Parked(request)
          one.fiber = fork(
            ended(request.method, Effect.suspend(() => run(() => one.request, ask(one)))).pipe(
              Effect.map((value) => {
                one.end = { value }
                one.request = undefined
                one.signal.raise()
              }),
              Effect.onInterrupt(() =>
                Effect.sync(() => {
                  one.end = { value: undefined }
                  one.signal.raise()
                })
              )
            )
          )
          return wait(one)
        })
    }
  })
