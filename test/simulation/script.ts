/**
 * What a seed stands for: the servers, the options, and the steps of one history, as data. Nothing else decides what
 * happens, so a script that is run again, or run without some of its steps, tells the same story each time.
 */
import { PCGRandom } from "effect/Utils"

export type Protocol = "session" | "stateless" | "both"

export interface ServerPlan {
  readonly name: string
  /** The peer that it reaches. */
  readonly host: string
  readonly transport: "stdio" | "http"
  readonly lazy: boolean
  readonly enabled: boolean
  readonly blocked: "denied" | "untrusted" | undefined
  readonly trusted: boolean
  readonly idleTimeout: number | undefined
  readonly concurrency: number | undefined
  readonly disabledTools: ReadonlyArray<string>
  readonly startupTimeout: number
  readonly requestTimeout: number
  readonly toolTimeout: number
  readonly listTimeout: number
  readonly stallTimeout: number
  /** A part of the command or the headers that makes it another server. */
  readonly variant: number
}

export interface HostPlan {
  readonly host: string
  readonly era: Protocol
  readonly streamPerRequest: boolean
  readonly pageSize: number | undefined
  readonly ignoresCancellation: boolean
  readonly ttlMs: number | undefined
}

export type Refusal = "network" | "spawn" | "unauthorized" | "limited" | "lost"

export type Fault =
  | { readonly _tag: "drop"; readonly how: "lost" | "killed" | "exited"; readonly discard: boolean }
  | { readonly _tag: "hang" }
  | { readonly _tag: "unhang" }
  | { readonly _tag: "halfClose" }
  | { readonly _tag: "garbage" }
  | { readonly _tag: "stray" }
  | { readonly _tag: "delay"; readonly millis: number }
  | { readonly _tag: "duplicate"; readonly copies: number }
  | { readonly _tag: "refuse"; readonly how: Refusal; readonly times: number }
  | { readonly _tag: "slow"; readonly millis: number }
  | { readonly _tag: "chaos"; readonly seed: number; readonly wild: number }
  | { readonly _tag: "heal" }
  | { readonly _tag: "update"; readonly tools: number }
  | { readonly _tag: "storm"; readonly times: number }
  | { readonly _tag: "updated" }
  | { readonly _tag: "endSubscriptions" }

export interface CallPlan {
  readonly server: number
  readonly tool: string
  readonly by: "identity" | "name" | "listed" | "stream"
  /** How long the tool takes, where it can choose. */
  readonly works: number
  readonly idle: number | undefined
  readonly total: number | undefined
  readonly idempotent: boolean | undefined
}

export type Question =
  | "tools"
  | "refreshAll"
  | "refresh"
  | "tool"
  | "read"
  | "resources"
  | "prompts"
  | "prompt"
  | "servers"
  | "session"
  | "sandbox"

export type Control =
  | "connect"
  | "reconnect"
  | "disconnect"
  | "enable"
  | "disable"
  | "isolate"
  | "resetBreaker"

export type Change =
  | "remove"
  | "add"
  | "essence"
  | "timeout"
  | "filters"
  | "concurrency"
  | "trusted"
  | "toggle"
  | "lazy"
  | "block"

export type Action =
  | { readonly _tag: "call"; readonly call: CallPlan }
  | { readonly _tag: "ask"; readonly what: Question; readonly server: number }
  | { readonly _tag: "subscribe"; readonly server: number }
  | { readonly _tag: "interrupt"; readonly which: number }
  | { readonly _tag: "control"; readonly what: Control; readonly server: number }
  | { readonly _tag: "disconnectAll" }
  | {
    readonly _tag: "reload"
    readonly changes: ReadonlyArray<{ readonly server: number; readonly change: Change; readonly by: number }>
  }
  | { readonly _tag: "fault"; readonly host: number; readonly fault: Fault }
  | { readonly _tag: "advance"; readonly millis: number }

export interface Step {
  readonly action: Action
  /** How far the fibers run before the next step; `undefined`: as far as they can. */
  readonly turns: number | undefined
}

export interface Script {
  readonly seed: number
  readonly servers: ReadonlyArray<ServerPlan>
  readonly hosts: ReadonlyArray<HostPlan>
  readonly connector: "client" | "sdk"
  readonly preset: "standard" | "capped" | "steps" | "health"
  readonly stableAfter: number
  readonly storm: { readonly reconnects: number; readonly within: number }
  readonly openFor: number
  readonly failures: number
  readonly health: { readonly interval: number; readonly strikes: number } | undefined
  readonly batchSize: number
  readonly share: boolean
  readonly drain: number
  readonly queue: number
  readonly steps: ReadonlyArray<Step>
  /** Whether it ends in the middle, or after a time in which nothing goes wrong any more. */
  readonly ending: "abrupt" | "quiet"
}

/** Draws from one generator. */
export class Dice {
  readonly #random: PCGRandom

  constructor(seed: number) {
    this.#random = new PCGRandom(seed)
  }

  chance(rate: number): boolean {
    return this.#random.number() < rate
  }

  /** From 0, without the limit. */
  below(limit: number): number {
    return Math.floor(this.#random.number() * limit)
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  of<A>(all: readonly [A, ...Array<A>]): A {
    return all[this.below(all.length)] ?? all[0]
  }

  weighted<A>(all: readonly [readonly [number, A], ...Array<readonly [number, A]>]): A {
    let left = this.#random.number() * all.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, one] of all) {
      left -= weight
      if (left < 0) return one
    }
    return all[0][1]
  }

  maybe<A>(rate: number, some: () => A): A | undefined {
    return this.chance(rate) ? some() : undefined
  }
}

export const tools: readonly [string, ...Array<string>] = [
  "echo",
  "slow",
  "progress",
  "read",
  "never",
  "fail",
  "wrong",
  "a.b",
  "a_b",
  `long-${"x".repeat(70)}`
]

/** Names that look the same once they are written as models want them. */
const names = ["alpha", "b.c", "b_c", "delta", "epsilon", "zeta"]

const seconds = 1_000
const minutes = 60 * seconds

const serverPlan = (dice: Dice, name: string, host: string): ServerPlan => ({
  name,
  host,
  transport: dice.of(["stdio", "http"]),
  lazy: dice.chance(0.3),
  enabled: !dice.chance(0.05),
  blocked: undefined,
  trusted: dice.chance(0.4),
  idleTimeout: dice.maybe(0.35, () => dice.of([2 * seconds, 20 * seconds, 5 * minutes])),
  concurrency: dice.maybe(0.4, () => dice.between(1, 3)),
  disabledTools: dice.maybe(0.2, () => [dice.of(["s*", "never", "*.b", "progress"])]) ?? [],
  startupTimeout: dice.of([2 * seconds, 10 * seconds, 60 * seconds]),
  requestTimeout: dice.of([5 * seconds, 30 * seconds, 5 * minutes]),
  toolTimeout: dice.of([10 * seconds, 60 * seconds, 10 * minutes]),
  listTimeout: dice.of([3 * seconds, 30 * seconds]),
  stallTimeout: dice.of([1 * seconds, 30 * seconds]),
  variant: 0
})

const hostPlan = (dice: Dice, host: string): HostPlan => ({
  host,
  era: dice.of(["session", "session", "stateless", "both"]),
  streamPerRequest: dice.chance(0.3),
  pageSize: dice.maybe(0.3, () => dice.between(1, 4)),
  ignoresCancellation: dice.chance(0.2),
  ttlMs: dice.maybe(0.2, () => dice.of([0, 10 * seconds, 15 * minutes]))
})

const time = (dice: Dice): number =>
  dice.weighted<() => number>([
    [5, () => dice.between(1, 100)],
    [5, () => dice.between(100, 2 * seconds)],
    [4, () => dice.between(2 * seconds, 30 * seconds)],
    [1.5, () => dice.between(30 * seconds, 6 * minutes)],
    [0.2, () => dice.between(6 * minutes, 60 * minutes)]
  ])()

const fault = (dice: Dice): Fault =>
  dice.weighted<() => Fault>([
    [6, () => ({ _tag: "drop", how: dice.of(["lost", "killed", "exited"]), discard: dice.chance(0.4) })],
    [2, () => ({ _tag: "hang" })],
    [1, () => ({ _tag: "unhang" })],
    [1, () => ({ _tag: "halfClose" })],
    [1, () => ({ _tag: "garbage" })],
    [1, () => ({ _tag: "stray" })],
    [1.5, () => ({ _tag: "delay", millis: dice.of([1, 50, 700, 6 * seconds]) })],
    [0.5, () => ({ _tag: "duplicate", copies: dice.between(1, 2) })],
    [4, () => ({
      _tag: "refuse",
      how: dice.weighted<Refusal>([[4, "network"], [1, "spawn"], [1.5, "unauthorized"], [1, "limited"], [2, "lost"]]),
      times: dice.of([1, 2, 4, 7, 1_000])
    })],
    [1.5, () => ({ _tag: "slow", millis: dice.of([10, 1 * seconds, 5 * seconds, 3 * minutes]) })],
    [3, () => ({ _tag: "chaos", seed: dice.below(2 ** 31), wild: dice.between(1, 3) })],
    [5, () => ({ _tag: "heal" })],
    [3, () => ({ _tag: "update", tools: dice.between(2, tools.length) })],
    [1, () => ({ _tag: "storm", times: dice.between(2, 12) })],
    [1, () => ({ _tag: "updated" })],
    [0.5, () => ({ _tag: "endSubscriptions" })]
  ])()

const call = (dice: Dice): CallPlan => ({
  server: dice.below(12),
  tool: dice.weighted<string>([
    [4, "echo"],
    [4, "slow"],
    [3, "read"],
    [2, "progress"],
    [1, "never"],
    [1, "fail"],
    [1, "wrong"],
    [2, dice.of(tools)]
  ]),
  by: dice.weighted<CallPlan["by"]>([[4, "identity"], [3, "name"], [1, "listed"], [1, "stream"]]),
  works: dice.of([0, 5, 200, 3 * seconds, 40 * seconds]),
  idle: dice.maybe(0.3, () => dice.of([50, 2 * seconds, 20 * seconds])),
  total: dice.maybe(0.4, () => dice.of([20, 1 * seconds, 10 * seconds, 2 * minutes])),
  idempotent: dice.maybe(0.2, () => dice.chance(0.5))
})

const question = (dice: Dice): Question =>
  dice.of([
    "tools",
    "tools",
    "refreshAll",
    "refresh",
    "tool",
    "read",
    "read",
    "resources",
    "prompts",
    "prompt",
    "servers",
    "session",
    "sandbox"
  ])

const control = (dice: Dice): Control =>
  dice.weighted<Control>([
    [4, "connect"],
    [4, "reconnect"],
    [3, "disconnect"],
    [3, "enable"],
    [2, "disable"],
    [1, "isolate"],
    [2, "resetBreaker"]
  ])

const change = (dice: Dice): Change =>
  dice.of([
    "remove",
    "add",
    "essence",
    "essence",
    "timeout",
    "filters",
    "concurrency",
    "trusted",
    "toggle",
    "lazy",
    "block"
  ])

const action = (dice: Dice): Action =>
  dice.weighted<() => Action>([
    [30, () => ({ _tag: "call", call: call(dice) })],
    [8, () => ({ _tag: "ask", what: question(dice), server: dice.below(12) })],
    [2, () => ({ _tag: "subscribe", server: dice.below(12) })],
    [7, () => ({ _tag: "interrupt", which: dice.below(1_000) })],
    [8, () => ({ _tag: "control", what: control(dice), server: dice.below(12) })],
    [0.4, () => ({ _tag: "disconnectAll" })],
    [5, () => ({
      _tag: "reload",
      changes: Array.from(
        { length: dice.of([0, 1, 1, 2, 3]) },
        () => ({ server: dice.below(12), change: change(dice), by: dice.below(1_000) })
      )
    })],
    [22, () => ({ _tag: "fault", host: dice.below(12), fault: fault(dice) })],
    [25, () => ({ _tag: "advance", millis: time(dice) })]
  ])()

/** How large a history is: a few servers and steps show most of what many do, in a fraction of the time. */
export interface Size {
  readonly servers: readonly [number, ...Array<number>]
  readonly steps: readonly [least: number, most: number]
}

export const small: Size = { servers: [1, 1, 1, 2, 2, 3], steps: [3, 16] }

export const large: Size = { servers: [1, 1, 2, 2, 3, 4, 6], steps: [10, 60] }

/** The history of a seed. */
export const make = (seed: number, size: Size): Script => {
  const dice = new Dice(seed)
  const share = dice.chance(0.1)
  const count = dice.of(size.servers)
  const chosen = names.slice(0, count)
  const own = chosen.map((name) => serverPlan(dice, name, name))
  const [first] = own
  const servers = own.map((plan) =>
    share && first !== undefined && dice.chance(0.6) ? { ...first, name: plan.name } : plan
  )
  const connector = dice.chance(0.15) ? "sdk" : "client"
  return {
    seed,
    servers,
    hosts: names.map((host) => {
      const plan = hostPlan(dice, host)
      // the older SDK cannot reach it
      return connector === "sdk" && plan.era === "stateless" ? { ...plan, era: "both" } : plan
    }),
    connector,
    preset: dice.weighted([[5, "standard"], [1, "capped"], [1, "steps"], [1, "health"]]),
    stableAfter: dice.of([5 * seconds, 30 * seconds]),
    storm: { reconnects: dice.of([3, 5]), within: 30 * seconds },
    openFor: dice.of([10 * seconds, 5 * minutes]),
    failures: dice.between(1, 3),
    health: dice.maybe(0.5, () => ({ interval: dice.of([30 * seconds, 2 * minutes]), strikes: dice.between(1, 3) })),
    batchSize: dice.between(1, 3),
    share,
    drain: dice.of([0, 500, 2 * seconds, 30 * seconds]),
    queue: dice.of([0, 2, 64]),
    steps: Array.from({ length: dice.between(...size.steps) }, () => ({
      action: action(dice),
      turns: dice.maybe(0.45, () => dice.below(8))
    })),
    ending: dice.chance(0.35) ? "abrupt" : "quiet"
  }
}
