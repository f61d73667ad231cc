/**
 * The life of one server as a pure machine: no clock and no effects. `Link` interprets its commands.
 *
 * The timer and the answers to callers are not part of the single transitions. They follow from the state that a
 * transition leads to: `timerOf` has the wake-up of a state, `mayWait` the states in which callers wait.
 */
import type * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as RetryAfter from "../client/retryAfter.ts"
import type * as ErrorRow from "../errorRow.ts"
import * as McpError from "../McpError.ts"
import * as Outcome from "../outcome.ts"
import type * as ReconnectPolicy from "../resilience/ReconnectPolicy.ts"
import type * as Transport from "../transport/Transport.ts"
import { ServerStatus } from "./ServerStatus.ts"

/** Why a server is switched off. */
export type Down = "configuration" | "disabled" | "disconnected"

/** Why a server must not be used. Only a reload undoes it. */
export type Blocked = "denied" | "untrusted"

type ConnectError = McpError.ConnectError

/** Why a caller gets no connection. */
export type UseError = ConnectError | McpError.ServerUnavailable

/** The attempts after a loss, or the rare attempts that follow them. */
export type Lane = "fast" | "slow"

export type State = Data.TaggedEnum<{
  Disabled: {}
  Idle: {}
  /** Waits for a connect slot, or connects. */
  Opening: {}
  /** `pausedUntil` is the end of a pause that the server has asked for. */
  Ready: { readonly since: number; readonly era: Transport.Era; readonly pausedUntil: number | undefined }
  /** The schedule is asked for the time of the next attempt. */
  Planning: { readonly error: ConnectError }
  /** Callers share the wait if it is short (`patient`). The server allows no attempt before `notBefore`. */
  Waiting: Retry & { readonly until: number; readonly lane: Lane; readonly patient: boolean }
  NeedsLogin: { readonly error: ConnectError }
  /** `notBefore` is the end of a storm, or a time that the server has asked for. */
  Failed: Retry & { readonly isStorm: boolean }
  /** A switch-off is `unpublished` until the processes are gone, even if the server is switched on before. */
  Releasing: { readonly next: After; readonly unpublished: Down | Blocked | undefined }
  /** Replaced by another link: finishes the calls in flight and takes no new ones. */
  Retired: {}
  Closed: {}
}>

interface Retry {
  readonly error: ConnectError
  readonly notBefore: number
}

type After = "Disabled" | "Idle" | "Opening" | "Closed"

export interface Machine {
  readonly server: string
  readonly state: State
  /** The number of the current attempt, connection or plan. Answers with another number are dropped. */
  readonly gen: number
  readonly blocked: Blocked | undefined
  readonly down: Down | undefined
  /** Connects before a caller needs it. */
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

interface Failure {
  readonly gen: number
  readonly error: ConnectError
  readonly next: ErrorRow.Next
}

export type Event = Data.TaggedEnum<{
  /** A caller needs a connection. */
  Wanted: {}
  Connect: {}
  Reconnect: {}
  Disable: { readonly why: "disabled" | "disconnected" }
  Enable: {}
  Retire: {}
  Close: {}
  Opened: { readonly gen: number; readonly era: Transport.Era }
  OpenFailed: Failure
  Lost: Failure
  /** The connection was idle for its limit, or is drained. */
  Quiet: { readonly gen: number }
  Paused: { readonly gen: number; readonly until: number }
  /** Without `at` the schedule has ended. */
  Planned: { readonly gen: number; readonly at: number | undefined; readonly lane: Lane; readonly notBefore: number }
  Timer: { readonly gen: number }
  Released: { readonly gen: number }
}>

export type Command = Data.TaggedEnum<{
  Open: { readonly gen: number }
  /** `beside` the backoff, without an answer. Otherwise `Released` follows once all releases have ended. */
  Release: { readonly gen: number; readonly beside: boolean }
  /** `Quiet` follows once no call is in flight. */
  Drain: { readonly gen: number }
  /** `Planned` follows. The first attempt begins a new run of the schedule. */
  Plan: { readonly gen: number; readonly attempt: number; readonly error: ConnectError; readonly wasConnected: boolean }
  /** Replaces the timer. */
  SetTimer: { readonly gen: number; readonly at: number }
  ClearTimer: {}
  Admit: {}
  Reject: { readonly error: UseError }
  /** For the callers that wait for one attempt only. */
  RejectFirst: { readonly error: UseError }
}>

export type Policy = Pick<ReconnectPolicy.Reconnect, "stableAfter" | "storm">

export type Step = readonly [machine: Machine, commands: ReadonlyArray<Command>]

/** The longest wait for an attempt that callers share, in milliseconds. */
const patience = 15_000

const offOf = ({ blocked, down }: Machine): Down | Blocked | undefined => blocked ?? down

const to = (
  machine: Machine,
  state: State,
  ...commands: ReadonlyArray<Command>
): Step => [{ ...machine, state }, commands]

const open = (machine: Machine): Step => {
  const gen = machine.gen + 1
  return to({ ...machine, gen }, { _tag: "Opening" }, { _tag: "Open", gen })
}

/** The next attempt starts a new series. */
const calm = (machine: Machine): Machine => ({ ...machine, attempt: 0, failing: false })

/** As if there had been no attempt. */
const forget = (machine: Machine): Machine => ({ ...calm(machine), attempts: [] })

const on = (machine: Machine): Step => machine.eager ? open(machine) : to(machine, { _tag: "Idle" })

export const start = (options: Pick<Machine, "server" | "blocked" | "down" | "eager">): Step => {
  const past = { wasConnected: false, failing: false, attempt: 0, attempts: [] }
  const machine: Machine = { ...options, ...past, gen: 0, tools: undefined, state: { _tag: "Disabled" } }
  return offOf(machine) === undefined ? on(machine) : [machine, []]
}

/** Ends what there is, and goes on once that is released. */
const release = (machine: Machine, next: After, unpublished?: Down | Blocked): Step => {
  const { gen, state } = machine
  return state._tag === "Releasing"
    ? to(machine, { ...state, next, unpublished: unpublished ?? state.unpublished })
    : to(machine, { _tag: "Releasing", next, unpublished }, { _tag: "Release", gen, beside: false })
}

/** The attempts that still count, and the milliseconds until the storm rule allows another one. */
const storm = ({ attempts, failing }: Machine, policy: Policy, now: number) => {
  const { reconnects: limit, within } = policy.storm
  const recent = attempts.filter((at) => at > now - Duration.toMillis(within))
  if (!failing || recent.length < limit) return { recent, wait: 0 }
  const first = limit === 0 ? now : recent.at(-limit) ?? now
  return { recent, wait: first + Duration.toMillis(within) - now }
}

/** An attempt, if the storm rule allows it. */
const attempt = (machine: Machine, state: State & Retry, policy: Policy, now: number): Step => {
  const { recent, wait } = storm(machine, policy, now)
  if (wait === 0) return open({ ...machine, attempts: machine.failing ? [...recent, now] : recent })
  return state._tag === "Waiting" && state.lane === "slow"
    ? to(machine, { ...state, until: now + wait })
    : giveUp(machine, { error: state.error, notBefore: now + wait }, true)
}

/** The series is over: only a request leads to another attempt. */
const giveUp = (machine: Machine, { error, notBefore }: Retry, isStorm = false): Step =>
  to({ ...machine, attempt: 0 }, { _tag: "Failed", error, notBefore, isStorm })

/** The connection is opened at another place, which is no failure. */
const isMove = (error: ConnectError): boolean => error._tag === "ConnectionLost" && error.reason === "moved"

/** How long a connection lasts, in milliseconds, before its move begins a new series of attempts. */
const stableBeforeMove = 1_000

/** What the error of a failed attempt, or of a lost connection, leads to. */
const fail = (machine: Machine, { error, next }: Failure): Step => {
  if (next === "login") return to({ ...machine, attempt: 0 }, { _tag: "NeedsLogin", error })
  if (next === "final") return giveUp(machine, { error, notBefore: 0 })
  const attempt = machine.attempt + 1
  const { gen, wasConnected } = machine
  const failing = machine.failing || !isMove(error)
  return to(
    { ...machine, attempt, failing },
    { _tag: "Planning", error },
    { _tag: "Plan", gen, attempt, error, wasConnected },
    { _tag: "RejectFirst", error: Outcome.notSent(error) }
  )
}

/** The same with a new number, and the release of what has failed. */
const failed = (before: Machine, failure: Failure): Step => {
  const [machine, commands] = fail({ ...before, gen: before.gen + 1 }, failure)
  return [machine, [{ _tag: "Release", gen: before.gen, beside: true }, ...commands]]
}

const react = (machine: Machine, event: Event, policy: Policy, now: number): Step => {
  const { state } = machine
  const stay: Step = [machine, []]
  if (isEnding(state) && event._tag !== "Released") return stay
  switch (event._tag) {
    case "Wanted": {
      if (state._tag === "Idle") return open(machine)
      if (state._tag === "Releasing" && state.next === "Idle") return release(machine, "Opening")
      const isSlow = state._tag === "Waiting" && state.lane === "slow" && storm(machine, policy, now).wait === 0
      return (isSlow || state._tag === "Failed") && now >= state.notBefore
        ? attempt(machine, state, policy, now)
        : stay
    }
    case "Connect":
    case "Reconnect": {
      const allowed = machine.down === "disconnected" ? { ...machine, down: undefined } : machine
      if (offOf(allowed) !== undefined || state._tag === "Retired") return [allowed, []]
      if (event._tag === "Connect" && (state._tag === "Ready" || state._tag === "Opening")) return [allowed, []]
      const isBusy = state._tag === "Ready" || state._tag === "Opening" || state._tag === "Releasing"
      return isBusy ? release(forget(allowed), "Opening") : open(forget(allowed))
    }
    case "Disable": {
      if (state._tag === "Retired") return release(machine, "Closed")
      const down = machine.down === undefined || event.why === "disabled" ? event.why : machine.down
      const next = forget({ ...machine, down })
      return state._tag === "Idle" || state._tag === "Disabled"
        ? to(next, { _tag: "Disabled" })
        : release(next, "Disabled", offOf(next))
    }
    case "Enable": {
      if (machine.down === undefined) return stay
      const next = { ...machine, down: undefined }
      if (offOf(next) !== undefined) return [next, []]
      return state._tag === "Releasing" ? release(next, next.eager ? "Opening" : "Idle") : on(next)
    }
    case "Retire": {
      if (state._tag === "Retired") return stay
      return state._tag === "Ready"
        ? to(machine, { _tag: "Retired" }, { _tag: "Drain", gen: machine.gen })
        : release(machine, "Closed")
    }
    case "Close":
      return release(machine, "Closed")
    case "Opened": {
      if (state._tag !== "Opening") return stay
      const { era } = event
      return to({ ...machine, wasConnected: true }, { _tag: "Ready", since: now, era, pausedUntil: undefined })
    }
    case "OpenFailed":
      return state._tag === "Opening" ? failed(machine, event) : stay
    case "Lost": {
      if (state._tag === "Retired") return release(machine, "Closed")
      if (state._tag !== "Ready") return stay
      const stableAfter = isMove(event.error) ? stableBeforeMove : Duration.toMillis(policy.stableAfter)
      const isStable = now - state.since >= stableAfter
      return failed(isStable ? { ...machine, attempt: 0 } : machine, event)
    }
    case "Quiet": {
      if (state._tag === "Retired") return release(machine, "Closed")
      return state._tag === "Ready" ? release(calm(machine), "Idle") : stay
    }
    case "Paused":
      return state._tag === "Ready" && event.until > now ? to(machine, { ...state, pausedUntil: event.until }) : stay
    case "Planned": {
      if (state._tag !== "Planning") return stay
      const { error } = state
      const { at, lane, notBefore } = event
      if (at === undefined) return giveUp(machine, { error, notBefore })
      // callers wait for a pause of `Retry-After` as long as calls do
      const patient = lane === "fast" && at - now <= (at === notBefore ? RetryAfter.longestOfCalls : patience)
      return to(machine, { _tag: "Waiting", until: at, lane, patient, error, notBefore })
    }
    case "Timer": {
      if (state._tag === "Waiting") return attempt(machine, state, policy, now)
      return state._tag === "Ready" ? to(machine, { ...state, pausedUntil: undefined }) : stay
    }
    case "Released": {
      if (state._tag !== "Releasing") return stay
      return state.next === "Opening" ? open(machine) : to(machine, { _tag: state.next })
    }
  }
}

/** The link is closed, or will be once its connection is released. */
export const isEnding = (state: State): boolean =>
  state._tag === "Closed" || (state._tag === "Releasing" && state.next === "Closed")

/** When the state ends by itself. */
export const timerOf = (state: State): number | undefined =>
  state._tag === "Waiting" ? state.until : state._tag === "Ready" ? state.pausedUntil : undefined

/** Callers wait for what this state leads to. In every other state they have their answer. */
const mayWait = (state: State): boolean =>
  state._tag === "Opening" || state._tag === "Planning" || (state._tag === "Waiting" && state.patient) ||
  (state._tag === "Releasing" && state.next === "Opening")

/** Why a caller gets no connection in this state. */
const refusal = (machine: Machine, { storm }: Policy, now: number): UseError => {
  const { server, state } = machine
  if (state._tag === "Failed" && state.isStorm) {
    const detail = `it was tried ${storm.reconnects} times within ${Duration.format(storm.within)}, and did not stay`
    const retryAfter = Duration.millis(state.notBefore - now)
    return new McpError.ServerUnavailable({ server, why: "storm", detail, retryAfter })
  }
  if ("error" in state) {
    const { error } = state
    const until = "notBefore" in state ? state.notBefore : 0
    return error._tag === "HttpError" && until > now
      ? RetryAfter.refusal({ until, error }, now)
      : Outcome.notSent(error)
  }
  const off = isEnding(state) ? undefined : offOf(machine)
  if (off === undefined) return new McpError.Closed({ server, operation: "using the server", outcome: "not-sent" })
  return new McpError.ServerUnavailable({ server, why: off === "configuration" ? "disabled" : off })
}

const isRequest = ({ _tag }: Event): boolean => _tag === "Wanted" || _tag === "Connect" || _tag === "Reconnect"

/** What an event leads to. An answer to an earlier attempt, connection or plan leads to nothing. */
export const transition = (before: Machine, event: Event, policy: Policy, now: number): Step => {
  if ("gen" in event && event.gen !== before.gen) return [before, []]
  const [after, commands] = react(before, event, policy, now)
  const all = [...commands]
  const at = timerOf(after.state)
  if (at === undefined && timerOf(before.state) !== undefined) all.push({ _tag: "ClearTimer" })
  if (at !== undefined && timerOf(before.state) !== at) all.push({ _tag: "SetTimer", gen: after.gen, at })
  if ((mayWait(before.state) || isRequest(event)) && !mayWait(after.state)) {
    all.push(after.state._tag === "Ready" ? { _tag: "Admit" } : { _tag: "Reject", error: refusal(after, policy, now) })
  }
  return [after, all]
}

const offStatus = (why: Down | Blocked): ServerStatus =>
  why === "denied" || why === "untrusted" ? ServerStatus.Blocked({ why }) : ServerStatus.Disabled({ why })

/** What users see. A state that is on its way to another one shows as the status before. */
export const statusOf = (machine: Machine, previous: ServerStatus): ServerStatus => {
  const { attempt, state, tools } = machine
  switch (state._tag) {
    case "Disabled":
      return offStatus(offOf(machine) ?? "disabled")
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

/** The statuses that a transition publishes. */
export const statusesOf = (before: Machine, after: Machine, previous: ServerStatus): ReadonlyArray<ServerStatus> => {
  const off = before.state._tag === "Releasing" ? before.state.unpublished : undefined
  const isOn = after.state._tag === "Opening" || after.state._tag === "Idle"
  const status = statusOf(after, previous)
  return off !== undefined && isOn ? [offStatus(off), status] : [status]
}
