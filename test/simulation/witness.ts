/** Sees everything that happens in one history, and says what must not have happened. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as McpEvent from "../../src/McpEvent.ts"
import * as CircuitBreaker from "../../src/resilience/CircuitBreaker.ts"
import * as ServerStatus from "../../src/runtime/ServerStatus.ts"
import type * as Script from "./script.ts"

type Status = ServerStatus.ServerStatus

interface Plan {
  readonly attempt: number
  readonly until: number
}

/** Delays of each preset, attempt by attempt, in milliseconds; then those of the slow lane. */
const presets: { readonly [P in Script.Script["preset"]]: ReadonlyArray<number> } = {
  standard: [500, 1_000, 2_000, 4_000],
  capped: [1_000, 2_000, 4_000],
  steps: [2_000, 5_000, 15_000],
  health: [100, 200, 400, 800, 1_600]
}

const slowest = 5 * 60_000

/** The least and the most that the policy allows between two attempts. */
const bounds = (preset: Script.Script["preset"], attempt: number): readonly [low: number, high: number] | undefined => {
  const delays = presets[preset]
  const delay = delays[attempt - 1]
  const jitter = preset === "standard" ? 0.2 : 0
  // whole milliseconds are half of one away at most
  if (delay !== undefined) return [delay * (1 - jitter) - 0.5, delay * (1 + jitter) + 0.5]
  if (preset !== "standard") return undefined
  const slow = Math.min(15_000 * 2 ** (attempt - delays.length - 1), slowest)
  return [slow * 0.8 - 0.5, slow * 1.2 + 0.5]
}

const stamp = (status: Status): string => {
  switch (status._tag) {
    case "Disabled":
      return `Disabled(${status.why})`
    case "Blocked":
      return `Blocked(${status.why})`
    case "Connected":
      return `Connected(${status.tools ?? "?"})`
    case "Reconnecting":
      return `Reconnecting(${status.attempt}, ${status.error._tag})`
    case "NeedsAuth":
    case "Failed":
      return `${status._tag}(${status.error._tag})`
    default:
      return status._tag
  }
}

const isFinal = (status: Status): boolean =>
  status._tag === "NeedsAuth" || status._tag === "Failed" && status.error._tag === "SpawnFailed"

export class Witness {
  readonly violations: Array<string> = []
  readonly trace: Array<string> = []
  readonly script: Script.Script
  readonly now: () => number
  readonly told = new Map<string, Status>()
  readonly begun = new Map<string, McpEvent.McpEvent & { readonly _tag: "CallBegan" }>()
  readonly attempts = new Map<string, number>()
  #ended = new Set<string>()
  #plans = new Map<string, Plan>()
  /** The attempts that count for the storm rule. */
  #automatic = new Map<string, Array<number>>()
  #named = new Map<string, string>()
  #versions = new Map<string, number>()

  constructor(script: Script.Script, now: () => number) {
    this.script = script
    this.now = now
  }

  note(text: string): void {
    this.trace.push(`${(this.now() / 1000).toFixed(3).padStart(10)}  ${text}`)
  }

  violate(text: string): void {
    this.note(`!!! ${text}`)
    if (!this.violations.includes(text)) this.violations.push(text)
  }

  /** Whether two connections are being made for a server, so that nobody can tell whose attempt it is. */
  isReplacing: (server: string) => boolean = () => false

  /** Whether a connection may be there still that another has taken the place of. */
  isDraining: (server: string) => boolean = () => false

  /** A person has asked for an attempt, or has changed what is attempted: what was planned holds no more. */
  intervened(server: string): void {
    this.#plans.delete(server)
    this.#automatic.delete(server)
  }

  changed({ previous, server, status }: ServerStatus.Change): void {
    this.note(`${server} is ${stamp(status)}`)
    const last = this.told.get(server)
    if (last?._tag !== previous?._tag) {
      this.violate(
        `${server} became ${stamp(status)} after ${previous?._tag ?? "nothing"}, but was told to be ${
          last?._tag ?? "nothing"
        }`
      )
    }
    if (previous !== undefined && !ServerStatus.mayFollow(previous, status)) {
      this.violate(`${server} became ${stamp(status)} after ${stamp(previous)}`)
    }
    if (status._tag === "Idle" && previous?._tag === "Connected" && !this.isDraining(server) && !this.script.share) {
      for (const call of this.begun.values()) {
        if (call.server === server) this.violate(`${server} became Idle while ${call.callId} ran`)
      }
    }
    if (status._tag === "Closed") this.told.delete(server)
    else this.told.set(server, status)
    if (status._tag === "Reconnecting") {
      // the storm rule moves an attempt that is already planned
      if (this.#plans.get(server)?.attempt !== status.attempt) this.#planned(server, status)
      this.#plans.set(server, { attempt: status.attempt, until: status.until })
    } else this.#plans.delete(server)
    // a server that was idle has not failed, and one that was given up for good is tried only because somebody asks
    if (status._tag === "Idle" || isFinal(status)) this.#automatic.delete(server)
  }

  heard(event: McpEvent.McpEvent): void {
    switch (event._tag) {
      case "CallBegan": {
        if (this.begun.has(event.callId) || this.#ended.has(event.callId)) {
          this.violate(`${event.callId} began twice`)
        }
        this.begun.set(event.callId, event)
        return
      }
      case "CallEnded": {
        if (!this.begun.delete(event.callId)) this.violate(`${event.callId} ended without a beginning`)
        this.#ended.add(event.callId)
        this.attempts.set(event.callId, event.attempts)
        return
      }
      case "CallProgress":
      case "CallRunning":
        if (!this.begun.has(event.callId)) this.violate(`${event.callId} was told of when it did not run`)
        return
      case "Connecting":
        return this.#attempted(event.server)
      case "BreakerChanged":
        return this.note(`${event.server}'s breaker is ${event.state}`)
      case "ConnectFailed":
        return this.note(`${event.server} was not connected: ${event.error._tag}`)
      case "TeardownBegan":
      case "TeardownComplete":
        return this.note(event._tag)
      default:
        return
    }
  }

  #planned(
    server: string,
    { attempt, error, until }: ServerStatus.ServerStatus & { readonly _tag: "Reconnecting" }
  ): void {
    const millis = until - this.now()
    const range = bounds(this.script.preset, attempt)
    if (range === undefined) return this.violate(`${server} was to be attempted for the ${attempt}th time`)
    const asked = error._tag === "HttpError" && error.reason === "rate-limited" ? 7_000 : 0
    // a server may begin to share a link that has waited for a while
    const [low, high] = [this.script.share ? 0 : Math.max(range[0], asked), Math.max(range[1], asked)]
    if (!(millis >= low && millis <= high)) {
      this.violate(`${server} was to be attempted for the ${attempt}th time after ${millis} ms`)
    }
  }

  #attempted(server: string): void {
    this.note(`${server} is being connected`)
    // one who serves several names speaks in the name of the first
    if (this.script.share || this.isReplacing(server)) return
    const status = this.told.get(server)
    if (status?._tag === "Disabled" || status?._tag === "Blocked") {
      this.violate(`${server} was attempted while it was ${stamp(status)}`)
    }
    const plan = this.#plans.get(server)
    const isSlow = plan !== undefined && plan.attempt > presets[this.script.preset].length
    if (plan !== undefined && !isSlow && this.now() < plan.until) {
      this.violate(`${server} was attempted ${plan.until - this.now()} ms too early`)
    }
    const { reconnects, within } = this.script.storm
    const recent = (this.#automatic.get(server) ?? []).filter((at) => at > this.now() - within)
    recent.push(this.now())
    this.#automatic.set(server, recent)
    // the first of them is no reconnect
    if (recent.length > reconnects + 1) this.violate(`${server} was attempted ${recent.length} times within the window`)
  }

  /** The names of tools as they are now. */
  named(name: string, server: string, tool: string): void {
    const identity = JSON.stringify([server, tool])
    const known = this.#named.get(name)
    if (known !== undefined && known !== identity) this.violate(`${name} was ${known} and is ${identity}`)
    this.#named.set(name, identity)
    if (name.length > 64) this.violate(`${name} is too long`)
  }

  /** What is known of a server's tools, as the server counts its lists. */
  knows(identity: string, version: number, current: number): void {
    const known = this.#versions.get(identity) ?? 0
    if (version < known) this.violate(`${identity} was known as v${known}, and then as v${version}`)
    if (version > current) this.violate(`${identity} is known as v${version}, which it is not yet`)
    this.#versions.set(identity, version)
  }

  /** Breakers that are watched: what they let through, and how much of it at a time. */
  get breakers(): Layer.Layer<CircuitBreaker.CircuitBreaker> {
    const { failures, openFor } = this.script
    return Layer.effect(
      CircuitBreaker.CircuitBreaker,
      Effect.map(CircuitBreaker.make({ failures, openFor }), (breakers) => {
        return { make: (server, onChange) => this.#watched(server, breakers, onChange) }
      })
    )
  }

  #watched(
    server: string,
    breakers: CircuitBreaker.CircuitBreaker["Type"],
    onChange: (state: CircuitBreaker.State["_tag"]) => void
  ): CircuitBreaker.Breaker {
    let tag: CircuitBreaker.State["_tag"] = "Closed"
    let probes = 0
    let epoch = 0
    const breaker = breakers.make(server, (state) => {
      tag = state
      probes = 0
      epoch++
      onChange(state)
    })
    /** What was let through; gives what to do when it has ended. */
    const passed = (): () => void => {
      if (tag === "Closed") return () => undefined
      if (tag !== "HalfOpen") this.violate(`${server}'s breaker is ${tag} and let something through`)
      if (++probes > 1) this.violate(`${server}'s breaker let ${probes} probes through at a time`)
      const mine = epoch
      return () => {
        if (epoch === mine) probes--
      }
    }
    return {
      ...breaker,
      protect: <A, E, R>(self: Effect.Effect<A, E, R>) =>
        breaker.protect(Effect.suspend(() => Effect.ensuring(self, Effect.sync(passed()))))
    }
  }
}
