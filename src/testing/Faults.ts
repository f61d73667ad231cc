/** Faults of a peer in memory: set individually, or drawn from a seed. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { PCGRandom } from "effect/Utils"
import * as McpError from "../McpError.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"

/** How a connection ends: returns the error of the client for a request with this outcome. */
export interface End {
  (server: string, outcome: McpError.Outcome, stderrTail: string | undefined): McpError.ConnectError
}

/** A process that exits by itself. */
export const exited = (code = 0): End => (server, outcome, stderrTail) =>
  new McpError.ConnectionLost({ server, reason: "exited", code, signal: null, outcome, phase: "ready", stderrTail })

/** A process that is killed. */
export const killed = (signal = "SIGKILL"): End => (server, outcome, stderrTail) =>
  new McpError.ConnectionLost({ server, reason: "exited", code: null, signal, outcome, phase: "ready", stderrTail })

/** A socket or a pipe that closes. */
export const lost = (
  reason: McpError.ConnectionLost["reason"] = "socket-closed",
  detail = "the peer ended the connection"
): End =>
(server, outcome, stderrTail) => new McpError.ConnectionLost({ server, reason, detail, outcome, stderrTail })

export type Direction = "to-peer" | "to-client"

/** The delay of a message. Messages stay in order. */
export type Delay =
  | Duration.DurationInput
  | ((message: JsonRpc.Incoming, direction: Direction) => Duration.DurationInput)

/** The probability of each random fault, from 0 (default) to 1. */
export interface Rates {
  /** A connect is refused. */
  readonly refuse?: number | undefined
  /** The connection breaks at a message, before or after it arrives. */
  readonly drop?: number | undefined
  /** Messages in flight to the client are lost when the connection breaks. */
  readonly discard?: number | undefined
  /** A response never arrives. */
  readonly lose?: number | undefined
  /** A response arrives twice. */
  readonly duplicate?: number | undefined
  /** A response is followed by another one with an unknown id. */
  readonly stray?: number | undefined
  /** A message is preceded by a line that is not JSON. */
  readonly garbage?: number | undefined
  /** A message, and those behind it, are delayed by up to `maxDelay`. */
  readonly delay?: number | undefined
  /** Default: one second. */
  readonly maxDelay?: Duration.DurationInput | undefined
}

/** The end of a connection that a random fault breaks. */
export const reset = lost("reset", "a random fault broke the connection")

const generators = (seed: number): Active["generator"] => {
  const made = new Map<number, PCGRandom>()
  return (index) => {
    const generator = made.get(index) ?? new PCGRandom(seed, index)
    made.set(index, generator)
    return generator
  }
}

/** The generator when all rates are 0. */
const idle = new PCGRandom(0)

class Active {
  readonly hanging: boolean = false
  readonly halfClosed: boolean = false
  readonly delay: Delay = Duration.zero
  readonly copies: number = 0
  readonly refusal: End = reset
  readonly refusals: number = 0
  readonly connectDelay: Duration.Duration = Duration.zero
  readonly rates: Rates = {}
  /** One generator per connection and direction, so that the traffic of connections is independent. */
  readonly generator: (index: number) => PCGRandom = () => idle
}

const happens = (random: PCGRandom, rate: number | undefined): boolean => random.number() < (rate ?? 0)

/** The faults of a peer. A fault applies to open and future connections until `heal`. */
export type Controls = Faults["controls"]

/** The current faults of one peer. */
export class Faults {
  active = new Active()
  /** Closed while the peer hangs. */
  readonly reading: Effect.Latch = Effect.unsafeMakeLatch(true)

  readonly controls = {
    /** Stops reading: messages queue up, and the connection is lost after the server's `stallTimeout`. */
    hang: Effect.zipRight(this.#set({ hanging: true }), this.reading.close),
    unhang: Effect.zipRight(this.#set({ hanging: false }), this.reading.open),
    /** Continues to read and to handle messages, but sends nothing. */
    halfClose: this.#set({ halfClosed: true }),
    delay: (delay: Delay) => this.#set({ delay }),
    /** Repeats each response this many times. */
    duplicate: (copies: number) => this.#set({ copies }),
    /** Refuses the next connects (default: all). */
    refuseConnect: (refusal: End, refusals = Infinity) => this.#set({ refusal, refusals }),
    slowConnect: (duration: Duration.DurationInput) => this.#set({ connectDelay: Duration.decode(duration) }),
    /** Random faults. The same seed and program produce the same faults. */
    chaos: (seed: number, rates: Rates) => Effect.suspend(() => this.#set({ rates, generator: generators(seed) })),
    heal: Effect.zipRight(this.#set(new Active()), this.reading.open)
  }

  #set(change: Partial<Active>): Effect.Effect<void> {
    return Effect.sync(() => {
      this.active = { ...this.active, ...change }
    })
  }

  /** Counts a connect. Returns its end if it is refused. */
  admit(): End | undefined {
    const { generator, rates, refusal, refusals } = this.active
    if (refusals === 0) return happens(generator(0), rates.refuse) ? reset : undefined
    this.active = { ...this.active, refusals: refusals - 1 }
    return refusal
  }

  delayOf(message: JsonRpc.Incoming, direction: Direction): number {
    const { delay } = this.active
    return Duration.toMillis(typeof delay === "function" ? delay(message, direction) : delay)
  }

  /** Draws the random faults of one message. */
  fate(connection: number, direction: Direction) {
    const { generator, rates } = this.active
    const random = generator(2 * connection + (direction === "to-peer" ? 0 : 1))
    const late = happens(random, rates.delay)
    const drop = happens(random, rates.drop)
    return {
      delay: late ? Math.ceil(random.number() * Duration.toMillis(rates.maxDelay ?? "1 second")) : 0,
      drop: drop ? random.number() < 0.5 ? "before" : "after" : undefined,
      discard: drop && happens(random, rates.discard),
      lose: happens(random, rates.lose),
      duplicate: happens(random, rates.duplicate),
      stray: happens(random, rates.stray),
      garbage: happens(random, rates.garbage)
    }
  }
}
