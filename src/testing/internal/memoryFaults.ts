/**
 * The faults of a peer in memory: those that a test sets, and those that a seed decides.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { PCGRandom } from "effect/Utils"
import * as McpError from "../../McpError.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as MemoryTransport from "../MemoryTransport.ts"

/** @internal */
export type Direction = "to-peer" | "to-client"

/**
 * What chance does to one message.
 *
 * @internal
 */
export interface Fate {
  readonly lose: boolean
  readonly duplicate: boolean
  readonly stray: boolean
  readonly garbage: boolean
  readonly delay: number
  readonly drop: "before" | "after" | undefined
  readonly discard: boolean
}

const spared: Fate = {
  lose: false,
  duplicate: false,
  stray: false,
  garbage: false,
  delay: 0,
  drop: undefined,
  discard: false
}

/** @internal */
export const reset: MemoryTransport.End = (server, outcome, stderrTail) =>
  new McpError.ConnectionLost({
    server,
    reason: "reset",
    detail: "chance has broken the connection",
    outcome,
    stderrTail
  })

interface Chaos {
  readonly rates: MemoryTransport.Rates
  readonly maxDelay: number
  readonly seed: number
  /** One generator per connection and direction, so that one connection's traffic decides nothing for another. */
  readonly streams: Map<number, PCGRandom>
}

/** @internal */
export class Faults {
  readonly reading: Effect.Latch = Effect.unsafeMakeLatch(true)
  hanging = false
  halfClosed = false
  copies = 0
  slow: Duration.Duration = Duration.zero
  #delay: MemoryTransport.Delay = Duration.zero
  #refusal: { readonly end: MemoryTransport.End; left: number } | undefined = undefined
  #chaos: Chaos | undefined = undefined

  hang(hanging: boolean): void {
    this.hanging = hanging
    if (hanging) this.reading.unsafeClose()
    else this.reading.unsafeOpen()
  }

  set delay(delay: MemoryTransport.Delay) {
    this.#delay = delay
  }

  refuse(end: MemoryTransport.End, times: number): void {
    this.#refusal = { end, left: times }
  }

  chaos(seed: number, rates: MemoryTransport.Rates): void {
    const maxDelay = Duration.toMillis(rates.maxDelay ?? Duration.seconds(1))
    this.#chaos = { rates, maxDelay, seed, streams: new Map() }
  }

  heal(): void {
    this.hang(false)
    this.halfClosed = false
    this.copies = 0
    this.slow = Duration.zero
    this.#delay = Duration.zero
    this.#refusal = undefined
    this.#chaos = undefined
  }

  /** How the next connect is refused, if it is. */
  admit(): MemoryTransport.End | undefined {
    const refusal = this.#refusal
    if (refusal !== undefined && refusal.left-- > 0) return refusal.end
    const chaos = this.#chaos
    if (chaos?.rates.refuse === undefined || !chance(stream(chaos, 0), chaos.rates.refuse)) return undefined
    return reset
  }

  delayOf(message: JsonRpc.Incoming, direction: Direction): number {
    return Duration.toMillis(typeof this.#delay === "function" ? this.#delay(message, direction) : this.#delay)
  }

  fate(connection: number, direction: Direction): Fate {
    const chaos = this.#chaos
    if (chaos === undefined) return spared
    const { rates } = chaos
    const random = stream(chaos, 2 * connection + (direction === "to-peer" ? 0 : 1))
    const late = chance(random, rates.delay)
    const drop = chance(random, rates.drop)
    return {
      delay: late ? Math.ceil(random.number() * chaos.maxDelay) : 0,
      drop: drop ? random.number() < 0.5 ? "before" : "after" : undefined,
      discard: drop && chance(random, rates.discard),
      lose: chance(random, rates.lose),
      duplicate: chance(random, rates.duplicate),
      stray: chance(random, rates.stray),
      garbage: chance(random, rates.garbage)
    }
  }
}

const chance = (random: PCGRandom, rate: number | undefined): boolean => random.number() < (rate ?? 0)

const stream = (chaos: Chaos, index: number): PCGRandom => {
  const known = chaos.streams.get(index)
  if (known !== undefined) return known
  const random = new PCGRandom(chaos.seed, index)
  chaos.streams.set(index, random)
  return random
}
