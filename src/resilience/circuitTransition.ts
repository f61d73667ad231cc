/**
 * The circuit breaker as a pure table: state, event and time in, state out.
 */

/**
 * `epoch` grows with every change of state and every counted failure, and each call carries the epoch of its admission.
 * A closed circuit ignores calls admitted before it closed (`since`), and counts no failure of a call that was admitted
 * before another failure counted: one crash is one failure, however many calls it ends.
 */
export type State =
  | { readonly _tag: "Closed"; readonly epoch: number; readonly since: number; readonly failures: number }
  | { readonly _tag: "Open"; readonly epoch: number; readonly until: number }
  | { readonly _tag: "HalfOpen"; readonly epoch: number; readonly until: number; readonly probing: boolean }
  | { readonly _tag: "Isolated"; readonly epoch: number }

export interface Rules {
  /** Consecutive failures that open the circuit. */
  readonly failures: number
  /** Milliseconds until an open circuit admits a probe. */
  readonly openFor: number
}

export type Outcome = "success" | "failure" | "neither"

type Admission =
  | { readonly _tag: "Admitted"; readonly epoch: number; readonly state: State }
  | { readonly _tag: "Rejected"; readonly retryAfter: number; readonly state: State }

export const initial: State = { _tag: "Closed", epoch: 0, since: 0, failures: 0 }

/** The least milliseconds that a call is told to wait for the end of a probe, which is not known. */
const probeWait = 1_000

export const admit = (rules: Rules, state: State, now: number): Admission => {
  switch (state._tag) {
    case "Closed":
      return { _tag: "Admitted", epoch: state.epoch, state }
    case "Open": {
      if (now < state.until) return { _tag: "Rejected", retryAfter: state.until - now, state }
      const epoch = state.epoch + 1
      return { _tag: "Admitted", epoch, state: { _tag: "HalfOpen", epoch, until: state.until, probing: true } }
    }
    case "HalfOpen":
      return state.probing
        ? { _tag: "Rejected", retryAfter: Math.max(probeWait, state.until - now), state }
        : { _tag: "Admitted", epoch: state.epoch, state: { ...state, probing: true } }
    case "Isolated":
      return { _tag: "Rejected", retryAfter: rules.openFor, state }
  }
}

/** The end of a call that was admitted in this epoch. */
export const settle = (rules: Rules, state: State, epoch: number, outcome: Outcome, now: number): State => {
  switch (state._tag) {
    case "Closed": {
      if (outcome === "neither" || epoch < state.since) return state
      if (outcome === "success") return state.failures === 0 ? state : { ...state, failures: 0 }
      if (epoch < state.epoch) return state
      const failures = state.failures + 1
      return failures < rules.failures ? { ...state, epoch: epoch + 1, failures } : open(rules, state, now)
    }
    case "HalfOpen":
      if (!state.probing || epoch !== state.epoch) return state
      if (outcome === "neither") return { ...state, probing: false }
      return outcome === "failure" ? open(rules, state, now) : reset(state)
    default:
      return state
  }
}

const open = (rules: Rules, state: State, now: number): State => ({
  _tag: "Open",
  epoch: state.epoch + 1,
  until: now + rules.openFor
})

export const reset = (state: State): State => {
  const epoch = state.epoch + 1
  return { _tag: "Closed", epoch, since: epoch, failures: 0 }
}

/** An isolated circuit admits no call until `reset`. */
export const isolate = (state: State): State => ({ _tag: "Isolated", epoch: state.epoch + 1 })

/** An open circuit admits a probe now. */
export const halfOpen = (state: State): State =>
  state._tag === "Open" ? { _tag: "HalfOpen", epoch: state.epoch + 1, until: state.until, probing: false } : state
