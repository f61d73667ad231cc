/**
 * Rejects calls to a server that keeps failing, and admits one probe after a while. Connection errors and timeouts are
 * failures. Any response, also an error, is a success. Interruption, and refusals by the runtime, are neither.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as McpError from "../McpError.ts"
import * as Circuit from "./circuitTransition.ts"
import { onExitSync, uninterruptibleMask } from "./onExitSync.ts"

export interface Options {
  /** Consecutive failures that open the circuit. */
  readonly failures: number
  /** How long an open circuit rejects all calls. */
  readonly openFor: Duration.DurationInput
}

export const defaults: Options = { failures: 3, openFor: Duration.minutes(5) }

/** `Isolated` is an open circuit that only `reset` closes. */
export type State =
  | { readonly _tag: "Closed"; readonly failures: number }
  | { readonly _tag: "Open"; readonly retryAfter: Duration.Duration }
  | { readonly _tag: "HalfOpen"; readonly probing: boolean }
  | { readonly _tag: "Isolated" }

/** The breaker of one server. */
export interface Breaker {
  /** Runs the effect if the circuit admits it. Errors that are no `McpError` count neither as failure nor as success. */
  readonly protect: <A, E, R>(
    self: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | McpError.CircuitOpen, R>
  readonly state: Effect.Effect<State>
  /** The server has reconnected: an open circuit admits a probe now instead of after `openFor`. */
  readonly halfOpen: () => void
  /** Rejects all calls until `reset`. */
  readonly isolate: Effect.Effect<void>
  readonly isIsolated: () => boolean
  readonly reset: Effect.Effect<void>
}

export class CircuitBreaker extends Context.Tag("effect-mcp-runtime/resilience/CircuitBreaker")<CircuitBreaker, {
  /** A new breaker for one server. `onChange` is called synchronously with each new kind of state. */
  readonly make: (server: string, onChange: (state: State["_tag"]) => void) => Breaker
}>() {}

const outcomeOf = (exit: Exit.Exit<unknown, unknown>): Circuit.Outcome => {
  if (Exit.isSuccess(exit)) return "success"
  // several, if the effect failed in parallel or in a finalizer too
  const errors = Array.from(Cause.failures(exit.cause)).filter(McpError.isMcpError)
  if (errors.some(({ countsForBreaker }) => countsForBreaker)) return "failure"
  return errors.some(({ outcome }) => outcome === "executed") ? "success" : "neither"
}

const shown = (state: Circuit.State, now: number): State => {
  const { _tag } = state
  if (_tag === "Closed") return { _tag, failures: state.failures }
  if (_tag === "Open") return { _tag, retryAfter: Duration.millis(Math.max(0, state.until - now)) }
  return _tag === "HalfOpen" ? { _tag, probing: state.probing } : { _tag }
}

export const make = (options?: Partial<Options>): Effect.Effect<CircuitBreaker["Type"]> =>
  Effect.map(Effect.clock, (clock) => {
    const { failures, openFor } = { ...defaults, ...options }
    const rules = { failures: Math.max(1, failures), openFor: Duration.toMillis(openFor) }
    return {
      make: (server, onChange) => {
        let state = Circuit.initial
        const become = (next: Circuit.State): void => {
          const isNew = next._tag !== state._tag
          state = next
          if (isNew) onChange(next._tag)
        }
        const now = () => clock.unsafeCurrentTimeMillis()
        return {
          protect: <A, E, R>(self: Effect.Effect<A, E, R>) =>
            uninterruptibleMask((restore): Effect.Effect<A, E | McpError.CircuitOpen, R> => {
              const admission = Circuit.admit(rules, state, now())
              become(admission.state)
              if (admission._tag === "Rejected") {
                const retryAfter = Duration.millis(admission.retryAfter)
                const isolated = state._tag === "Isolated" ? { isolated: true } : {}
                return Effect.fail(new McpError.CircuitOpen({ server, retryAfter, ...isolated }))
              }
              return onExitSync(
                restore(self),
                (exit) => become(Circuit.settle(rules, state, admission.epoch, outcomeOf(exit), now()))
              )
            }),
          state: Effect.sync(() => shown(state, now())),
          halfOpen: () => become(Circuit.halfOpen(state)),
          isolate: Effect.sync(() => become(Circuit.isolate(state))),
          isIsolated: () => state._tag === "Isolated",
          reset: Effect.sync(() => become(Circuit.reset(state)))
        }
      }
    }
  })

export const layer = (options?: Partial<Options>): Layer.Layer<CircuitBreaker> =>
  Layer.effect(CircuitBreaker, make(options))

/** Failures open no circuit; `isolate` still does. */
export const layerNone: Layer.Layer<CircuitBreaker> = layer({ failures: Infinity })
