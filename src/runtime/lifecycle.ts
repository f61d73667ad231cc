/**
 * The life of one server as a pure machine: no clock and no effects. `Link` interprets its commands.
 *
 * The timer and the answers to callers are not part of the single transitions. They follow from the state that a
 * transition leads to: `timerOf` has the wake-up of a state, `mayWait` the states in which callers wait.
 */
import * as Duration from "effect/Duration"
import * as RetryAfter from "../client/retryAfter.ts"
import type * as McpError from "../McpError.ts"
import type * as ReconnectPolicy from "../resilience/ReconnectPolicy.ts"
import type * as Transport from "../transport/Transport.ts"
import { ServerStatus } from "./ServerStatus.ts"

/** Why a server is switched off. */
export type Down = "configuration" | "disabled" | "disconnected"

/** Why a server must not be used. Only a reload undoes it. */
export type Blocked = "denied" | "untrusted"

export type State =
  | { readonly _tag: "Disabled" }
  | { readonly _tag: "Idle" }
  /** Waits for a connect slot, or connects. */
  | { readonly _tag: "Opening" }
  | {
    readonly _tag: "Ready"
    readonly since: number
    readonly era: Transport.Era
    /** The end of a pause that the server has asked for. */
    readonly pausedUntil: number | undefined
  }
  /** The schedule is asked for the time of the next attempt. */
  | { readonly _tag: "Planning"; readonly error: McpError.ConnectError }
  | {
    readonly _tag: "Waiting"
    readonly until: number
    readonly lane: Lane
    /** The attempt comes soon enough for callers to wait for it. */
    readonly patient: boolean
    readonly error: McpError.ConnectError
    /** The server has asked for no attempt before. */
    readonly notBefore: number
  }
  | { readonly _tag: "NeedsLogin"; readonly error: McpError.ConnectError }
  | {
    readonly _tag: "Failed"
    readonly error: McpError.ConnectError
    readonly notBefore: number
    /** `notBefore` is the end of a storm. */
    readonly isStorm: boolean
  }
  | {
    readonly _tag: "Releasing"
    readonly then: "Disabled" | "Idle" | "Opening" | "Closed"
    /** The server was switched off, which is published once its processes are gone, even if it is on again by then. */
    readonly unpublished: Down | Blocked | undefined
  }
  /** Replaced by another link: ends the calls in flight and takes no new ones. */
  | { readonly _tag: "Retired" }
  | { readonly _tag: "Closed" }

/** The lane of the schedule: the attempts after one loss, or the rare attempts that follow them. */
export type Lane = "fast" | "slow"

export interface Machine {
  readonly state: State
  /** The number of the current attempt, connection or plan. Answers with another number are dropped. */
  readonly gen: number
  readonly blocked: Blocked | undefined
  readonly down: Down | undefined
  /** Connects before anything asks for it. */
  readonly eager: boolean
  readonly wasConnected: boolean
  /** The attempts count for the storm rule. */
  readonly failing: boolean
  /** The attempts planned since the series began. */
  readonly attempt: number
  /** The times of the attempts that count for the storm rule. */
  readonly attempts: ReadonlyArray<number>
  /** How many tools the server is known to have. */
  readonly tools: number | undefined
}

export type Event =
  /** A caller needs a connection. */
  | { readonly _tag: "Wanted" }
  | { readonly _tag: "Connect" }
  | { readonly _tag: "Reconnect" }
  | { readonly _tag: "Disable"; readonly why: "disabled" | "disconnected" }
  | { readonly _tag: "Enable" }
  | { readonly _tag: "Retire" }
  | { readonly _tag: "Close" }
  | { readonly _tag: "Opened"; readonly gen: number; readonly era: Transport.Era }
  | {
    readonly _tag: "OpenFailed" | "Lost"
    readonly gen: number
    readonly error: McpError.ConnectError
    readonly next: McpError.Next
  }
  /** The connection is idle for too long, or drained. */
  | { readonly _tag: "Quiet"; readonly gen: number }
  | { readonly _tag: "Paused"; readonly gen: number; readonly until: number }
  /** Without `at` the schedule has ended. */
  | {
    readonly _tag: "Planned"
    readonly gen: number
    readonly at: number | undefined
    readonly lane: Lane
    readonly notBefore: number
  }
  | { readonly _tag: "Timer"; readonly gen: number }
  | { readonly _tag: "Released"; readonly gen: number }

/** Why a caller gets no connection. */
export type Refusal =
  | { readonly _tag: "Closed" }
  | { readonly _tag: "Off"; readonly why: Down | Blocked }
  | { readonly _tag: "Failed"; readonly error: McpError.ConnectError; readonly notBefore: number }
  | { readonly _tag: "Storm"; readonly until: number }

export type Command =
  | { readonly _tag: "Open"; readonly gen: number }
  /** With `beside` the release runs beside the backoff and has no answer. Else `Released` follows the last release. */
  | { readonly _tag: "Release"; readonly gen: number; readonly beside: boolean }
  /** Answered by `Quiet` once no call is in flight. */
  | { readonly _tag: "Drain"; readonly gen: number }
  /** The first attempt begins a new run of the schedule. */
  | {
    readonly _tag: "Plan"
    readonly gen: number
    readonly attempt: number
    readonly error: McpError.ConnectError
    readonly wasConnected: boolean
  }
  /** Replaces the timer. */
  | { readonly _tag: "SetTimer"; readonly gen: number; readonly at: number }
  | { readonly _tag: "ClearTimer" }
  | { readonly _tag: "Admit" }
  | { readonly _tag: "Reject"; readonly refusal: Refusal }
  /** For the callers that wait for one attempt only. */
  | { readonly _tag: "RejectFirst"; readonly refusal: Refusal }

export type Policy = Pick<ReconnectPolicy.Reconnect, "stableAfter" | "storm">

export type Step = readonly [machine: Machine, commands: ReadonlyArray<Command>]

/** The longest wait for an attempt that callers share, in milliseconds. */
const patience = 15_000

const off = ({ blocked, down }: Machine): Down | Blocked | undefined => blocked ?? down

const stay = (machine: Machine): Step => [machine, []]

const open = (machine: Machine): Step => {
  const gen = machine.gen + 1
  return [{ ...machine, gen, state: { _tag: "Opening" } }, [{ _tag: "Open", gen }]]
}

/** What follows is no repetition of what has failed. */
const calm = (machine: Machine): Machine => ({ ...machine, attempt: 0, failing: false })

/** As if there had been no attempt. */
const forget = (machine: Machine): Machine => ({ ...calm(machine), attempts: [] })

const on = (machine: Machine): Step => machine.eager ? open(machine) : stay({ ...machine, state: { _tag: "Idle" } })

export const start = (options: Pick<Machine, "blocked" | "down" | "eager">): Step => {
  const machine: Machine = {
    ...options,
    state: { _tag: "Disabled" },
    gen: 0,
    wasConnected: false,
    failing: false,
    attempt: 0,
    attempts: [],
    tools: undefined
  }
  return off(machine) === undefined ? on(machine) : stay(machine)
}

/** Ends what there is, and goes on once that is released. */
const release = (
  machine: Machine,
  then: (State & { _tag: "Releasing" })["then"],
  unpublished?: Down | Blocked
): Step => {
  const { gen, state } = machine
  if (state._tag === "Releasing") {
    return stay({ ...machine, state: { ...state, then, unpublished: unpublished ?? state.unpublished } })
  }
  return [
    { ...machine, state: { _tag: "Releasing", then, unpublished } },
    [{ _tag: "Release", gen, beside: false }]
  ]
}

/** The attempts that still count, and the milliseconds until the storm rule allows another one. */
const storm = ({ attempts, failing }: Machine, policy: Policy, now: number) => {
  const within = Duration.toMillis(policy.storm.within)
  const recent = attempts.filter((at) => at > now - within)
  const first = recent.at(-policy.storm.reconnects)
  const wait = failing && recent.length >= policy.storm.reconnects
    ? (policy.storm.reconnects === 0 ? now : first ?? now) + within - now
    : 0
  return { recent, wait }
}

/** An attempt, if the storm rule allows it. */
const attempt = (machine: Machine, error: McpError.ConnectError, policy: Policy, now: number): Step => {
  const { state } = machine
  const { recent, wait } = storm(machine, policy, now)
  if (wait === 0) return open({ ...machine, attempts: machine.failing ? [...recent, now] : recent })
  if (state._tag === "Waiting" && state.lane === "slow") {
    return stay({ ...machine, state: { ...state, until: now + wait } })
  }
  return stay({ ...machine, attempt: 0, state: { _tag: "Failed", error, notBefore: now + wait, isStorm: true } })
}

/** The release of a lost or failed connection, and what its error leads to. */
const fail = (before: Machine, { _tag, error, next }: Event & { _tag: "OpenFailed" | "Lost" }): Step => {
  const gen = before.gen + 1
  const released: Command = { _tag: "Release", gen: before.gen, beside: true }
  const machine = { ...before, gen, attempt: 0 }
  switch (next) {
    case "login":
      return [{ ...machine, state: { _tag: "NeedsLogin", error } }, [released]]
    case "final":
      return [{ ...machine, state: { _tag: "Failed", error, notBefore: 0, isStorm: false } }, [released]]
    case "retry": {
      const attempt = before.attempt + 1
      const plan: Command = { _tag: "Plan", gen, attempt, error, wasConnected: before.wasConnected }
      const first: Command = { _tag: "RejectFirst", refusal: { _tag: "Failed", error, notBefore: 0 } }
      return [
        { ...machine, attempt, failing: true, state: { _tag: "Planning", error } },
        _tag === "OpenFailed" ? [released, plan, first] : [released, plan]
      ]
    }
  }
}

const react = (machine: Machine, event: Event, policy: Policy, now: number): Step => {
  const { state } = machine
  if (state._tag === "Closed" || (state._tag === "Releasing" && state.then === "Closed" && event._tag !== "Released")) {
    return stay(machine)
  }
  switch (event._tag) {
    case "Wanted": {
      if (state._tag === "Idle") return open(machine)
      if (state._tag === "Releasing" && state.then === "Idle") return release(machine, "Opening")
      if (state._tag === "Failed" && now >= state.notBefore) return attempt(machine, state.error, policy, now)
      const isSlow = state._tag === "Waiting" && state.lane === "slow"
      return isSlow && now >= state.notBefore && storm(machine, policy, now).wait === 0
        ? attempt(machine, state.error, policy, now)
        : stay(machine)
    }
    case "Connect":
    case "Reconnect": {
      const allowed = machine.down === "disconnected" ? { ...machine, down: undefined } : machine
      if (off(allowed) !== undefined || state._tag === "Retired") return stay(allowed)
      if (state._tag === "Releasing") return release(forget(allowed), "Opening")
      if (state._tag !== "Ready" && state._tag !== "Opening") return open(forget(allowed))
      return event._tag === "Reconnect" ? release(forget(allowed), "Opening") : stay(allowed)
    }
    case "Disable": {
      if (state._tag === "Retired") return release(machine, "Closed")
      const down = machine.down === undefined || event.why === "disabled" ? event.why : machine.down
      const next = forget({ ...machine, down })
      return state._tag === "Idle" || state._tag === "Disabled"
        ? stay({ ...next, state: { _tag: "Disabled" } })
        : release(next, "Disabled", off(next))
    }
    case "Enable": {
      if (machine.down === undefined) return stay(machine)
      const next = { ...machine, down: undefined }
      if (off(next) !== undefined) return stay(next)
      return state._tag === "Releasing" ? release(next, next.eager ? "Opening" : "Idle") : on(next)
    }
    case "Retire": {
      if (state._tag === "Retired") return stay(machine)
      if (state._tag !== "Ready") return release(machine, "Closed")
      return [{ ...machine, state: { _tag: "Retired" } }, [{ _tag: "Drain", gen: machine.gen }]]
    }
    case "Close":
      return release(machine, "Closed")
    case "Opened": {
      if (state._tag !== "Opening") return stay(machine)
      const { era } = event
      return stay({ ...machine, wasConnected: true, state: { _tag: "Ready", since: now, era, pausedUntil: undefined } })
    }
    case "OpenFailed":
      return state._tag === "Opening" ? fail(machine, event) : stay(machine)
    case "Lost": {
      if (state._tag === "Retired") return release(machine, "Closed")
      if (state._tag !== "Ready") return stay(machine)
      const isStable = now - state.since >= Duration.toMillis(policy.stableAfter)
      return fail(isStable ? { ...machine, attempt: 0 } : machine, event)
    }
    case "Quiet": {
      if (state._tag === "Retired") return release(machine, "Closed")
      return state._tag === "Ready" ? release(calm(machine), "Idle") : stay(machine)
    }
    case "Paused":
      return state._tag === "Ready" && event.until > now
        ? stay({ ...machine, state: { ...state, pausedUntil: event.until } })
        : stay(machine)
    case "Planned": {
      if (state._tag !== "Planning") return stay(machine)
      const { error } = state
      const { at, lane, notBefore } = event
      if (at === undefined) {
        return stay({ ...machine, attempt: 0, state: { _tag: "Failed", error, notBefore, isStorm: false } })
      }
      // callers wait for a pause of `Retry-After` as long as calls do
      const patient = lane === "fast" && at - now <= (at === notBefore ? RetryAfter.longestOfCalls : patience)
      return stay({ ...machine, state: { _tag: "Waiting", until: at, lane, patient, error, notBefore } })
    }
    case "Timer": {
      if (state._tag === "Waiting") return attempt(machine, state.error, policy, now)
      return state._tag === "Ready" ? stay({ ...machine, state: { ...state, pausedUntil: undefined } }) : stay(machine)
    }
    case "Released": {
      if (state._tag !== "Releasing") return stay(machine)
      return state.then === "Opening" ? open(machine) : stay({ ...machine, state: { _tag: state.then } })
    }
  }
}

/** When the state ends by itself. */
export const timerOf = (state: State): number | undefined =>
  state._tag === "Waiting" ? state.until : state._tag === "Ready" ? state.pausedUntil : undefined

/** Callers wait for what this state leads to. In every other state they have their answer. */
export const mayWait = (state: State): boolean =>
  state._tag === "Opening" || state._tag === "Planning" || (state._tag === "Waiting" && state.patient) ||
  (state._tag === "Releasing" && state.then === "Opening")

const refusalOf = (machine: Machine): Refusal => {
  const { state } = machine
  switch (state._tag) {
    case "Waiting":
      return { _tag: "Failed", error: state.error, notBefore: state.notBefore }
    case "NeedsLogin":
      return { _tag: "Failed", error: state.error, notBefore: 0 }
    case "Failed":
      return state.isStorm
        ? { _tag: "Storm", until: state.notBefore }
        : { _tag: "Failed", error: state.error, notBefore: state.notBefore }
    default: {
      const why = off(machine)
      const isClosed = why === undefined || state._tag === "Closed" ||
        (state._tag === "Releasing" && state.then === "Closed")
      return isClosed ? { _tag: "Closed" } : { _tag: "Off", why }
    }
  }
}

const isRequest = ({ _tag }: Event): boolean => _tag === "Wanted" || _tag === "Connect" || _tag === "Reconnect"

/** What an event leads to. An answer to an earlier attempt, connection or plan leads to nothing. */
export const transition = (before: Machine, event: Event, policy: Policy, now: number): Step => {
  if ("gen" in event && event.gen !== before.gen) return stay(before)
  const [after, commands] = react(before, event, policy, now)
  const all = [...commands]
  const at = timerOf(after.state)
  if (at === undefined && timerOf(before.state) !== undefined) all.push({ _tag: "ClearTimer" })
  if (at !== undefined && timerOf(before.state) !== at) all.push({ _tag: "SetTimer", gen: after.gen, at })
  if ((mayWait(before.state) || isRequest(event)) && !mayWait(after.state)) {
    all.push(after.state._tag === "Ready" ? { _tag: "Admit" } : { _tag: "Reject", refusal: refusalOf(after) })
  }
  return [after, all]
}

export const offStatus = (why: Down | Blocked): ServerStatus =>
  why === "denied" || why === "untrusted" ? ServerStatus.Blocked({ why }) : ServerStatus.Disabled({ why })

/** What users see. A state that is on its way to another one shows as the status before. */
export const statusOf = (machine: Machine, previous: ServerStatus): ServerStatus => {
  const { attempt, state, tools } = machine
  switch (state._tag) {
    case "Disabled":
      return offStatus(off(machine) ?? "disabled")
    case "Idle":
      return ServerStatus.Idle({ tools })
    case "Opening":
      return attempt === 0 ? ServerStatus.Connecting() : previous
    case "Ready":
      return ServerStatus.Connected({ since: state.since, era: state.era, tools, pausedUntil: state.pausedUntil })
    case "Waiting":
      return ServerStatus.Reconnecting({ attempt, until: state.until, error: state.error })
    case "NeedsLogin":
      return ServerStatus.NeedsAuth({ error: state.error })
    case "Failed": {
      const { error } = state
      return ServerStatus.Failed({ error, stderrTail: "stderrTail" in error ? error.stderrTail : undefined })
    }
    case "Closed":
      return ServerStatus.Closed()
    case "Planning":
    case "Releasing":
    case "Retired":
      return previous
  }
}
