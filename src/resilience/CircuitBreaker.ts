/**
 * Stops asking a server that keeps failing, and asks again with one call after a while.
 *
 * What counts is what an error says of the way to the server: an answer, whatever it is, is a success; interruption and
 * what was decided on our side are neither.
 *
 * @since 0.1.0
 */
import type * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { observed } from "../internal/observed.ts"
import * as McpError from "../McpError.ts"
import * as Transition from "./internal/circuitTransition.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Consecutive failures that open the circuit. */
  readonly failures: number
  /** How long an open circuit lets nothing through. */
  readonly openFor: Duration.DurationInput
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { failures: 3, openFor: Duration.minutes(5) }

/**
 * `Isolated` is an open circuit that only `reset` closes.
 *
 * @since 0.1.0
 * @category models
 */
export type State =
  | { readonly _tag: "Closed"; readonly failures: number }
  | { readonly _tag: "Open"; readonly retryAfter: Duration.Duration }
  | { readonly _tag: "HalfOpen"; readonly probing: boolean }
  | { readonly _tag: "Isolated" }

/**
 * The leave to make one call, to be given back with how it ended.
 *
 * @since 0.1.0
 * @category models
 */
export type Pass = number

/**
 * The breaker of one server.
 *
 * @since 0.1.0
 * @category models
 */
export interface Breaker {
  readonly protect: <A, E extends McpError.McpError, R>(
    self: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | McpError.CircuitOpen, R>
  /** What `protect` begins with, as a step of its own: for those who are certain to `settle`. */
  readonly admit: () => Pass | McpError.CircuitOpen
  readonly settle: (pass: Pass, exit: Exit.Exit<unknown, McpError.McpError>) => void
  readonly state: Effect.Effect<State>
  /** Lets nothing through until `reset`. */
  readonly isolate: Effect.Effect<void>
  readonly reset: Effect.Effect<void>
  /** Forgets what was counted, but leaves an isolated server isolated. */
  readonly forget: Effect.Effect<void>
  /** The server has been heard of otherwise: an open circuit lets a probe through now, and not later. */
  readonly relax: () => void
  /** Called synchronously with each new kind of state; returns how to stop. */
  readonly onChange: (listener: (state: State["_tag"]) => void) => () => void
}

/**
 * @since 0.1.0
 * @category tags
 */
export class CircuitBreaker extends Context.Tag("effect-mcp-runtime/resilience/CircuitBreaker")<CircuitBreaker, {
  /** The breaker of a server, the same for all who ask. */
  readonly for: (server: string) => Breaker
}>() {}

/** What an exit says of the way to the server. */
const outcomeOf = (exit: Exit.Exit<unknown, McpError.McpError>): Transition.Outcome => {
  if (Exit.isSuccess(exit)) return "success"
  if (exit.cause._tag !== "Fail") return "neither"
  const error = exit.cause.error
  return error.countsForBreaker ? "failure" : error.outcome === "executed" ? "success" : "neither"
}

const makeBreaker = (server: string, rules: Transition.Rules, clock: Clock.Clock): Breaker => {
  let state = Transition.initial
  const listeners = new Set<(state: State["_tag"]) => void>()
  const become = (next: Transition.State): void => {
    const changed = next._tag !== state._tag
    state = next
    if (changed) { for (const listener of listeners) listener(next._tag) }
  }
  const admit: Breaker["admit"] = () => {
    const admission = Transition.admit(rules, state, clock.unsafeCurrentTimeMillis())
    become(admission.state)
    return admission._tag === "Admitted"
      ? admission.epoch
      : new McpError.CircuitOpen({
        server,
        retryAfter: Duration.millis(admission.retryAfter),
        ...(state._tag === "Isolated" ? { isolated: true } : {})
      })
  }
  const settle: Breaker["settle"] = (pass, exit) =>
    become(Transition.record(rules, state, pass, outcomeOf(exit), clock.unsafeCurrentTimeMillis()))
  return {
    protect: <A, E extends McpError.McpError, R>(self: Effect.Effect<A, E, R>) =>
      Effect.uninterruptibleMask((restore): Effect.Effect<A, E | McpError.CircuitOpen, R> => {
        const pass = admit()
        return typeof pass === "number" ? observed(restore(self), (exit) => settle(pass, exit)) : Effect.fail(pass)
      }),
    admit,
    settle,
    state: Effect.sync(() => shown(state, clock.unsafeCurrentTimeMillis())),
    isolate: Effect.sync(() => become(Transition.isolate(state))),
    reset: Effect.sync(() => become(Transition.reset(state))),
    forget: Effect.sync(() => become(state._tag === "Isolated" ? state : Transition.reset(state))),
    relax: () => become(Transition.relax(state)),
    onChange: (listener) => {
      const own = (tag: State["_tag"]) => listener(tag)
      listeners.add(own)
      return () => {
        listeners.delete(own)
      }
    }
  }
}

const shown = (state: Transition.State, now: number): State => {
  switch (state._tag) {
    case "Closed":
      return { _tag: "Closed", failures: state.failures }
    case "Open":
      return { _tag: "Open", retryAfter: Duration.millis(Math.max(0, state.until - now)) }
    case "HalfOpen":
      return { _tag: "HalfOpen", probing: state.probing }
    case "Isolated":
      return { _tag: "Isolated" }
  }
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (options?: Partial<Options>): Effect.Effect<CircuitBreaker["Type"]> =>
  Effect.map(Effect.clock, (clock) => {
    const { failures, openFor } = { ...defaults, ...options }
    const rules = { failures: Math.max(1, failures), openFor: Duration.toMillis(openFor) }
    const breakers = new Map<string, Breaker>()
    return {
      for: (server) => {
        const known = breakers.get(server)
        if (known !== undefined) return known
        const breaker = makeBreaker(server, rules, clock)
        breakers.set(server, breaker)
        return breaker
      }
    }
  })

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<CircuitBreaker> =>
  Layer.effect(CircuitBreaker, make(options))

/**
 * The rules are an operator's.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<Partial<Options>>
): Layer.Layer<CircuitBreaker, ConfigError.ConfigError> =>
  Layer.effect(CircuitBreaker, Effect.flatMap(Config.unwrap(options), make))

/**
 * Every circuit stays closed, unless it is isolated.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<CircuitBreaker> = layer({ failures: Infinity })
