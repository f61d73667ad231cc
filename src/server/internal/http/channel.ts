/**
 * One stream of events to a caller over HTTP: what is sent waits here until it is read, and for a while after that, because
 * the connection may have broken before it arrived.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import * as Outlet from "../outlet.ts"
import * as Signal from "../signal.ts"

/** @internal */
export interface Options {
  /** Without a name nothing is kept that was read, and it cannot be read again. */
  readonly name: string | undefined
  /** Whether it begins with an event that names it, for callers that understand that. */
  readonly primes: boolean
  readonly maxMessageBytes: number
  readonly keepAlive: Duration.Duration
}

/** A message as it is written, and the code of the error that it is, if it is one. */
export interface Written {
  readonly json: string
  readonly code: number | undefined
}

interface Event extends Written {
  readonly number: number
}

/** How much is kept for a reader that is not there, or behind. The last event always is. */
const mostEvents = 512
const mostBytes = 4 * 1024 * 1024
/** Milliseconds after which a caller comes back. */
const retry = 1_000

const comment = ": still here\n\n"
/** Without a first word nothing of the answer is sent, not even that there is one. */
const opening = ": here\n\n"

/** @internal */
export class Channel implements Outlet.Outlet {
  readonly #options: Options
  readonly #signal = Signal.make()
  #events: Array<Event> = []
  #bytes = 0
  #next = 1
  /** Up to which event whoever reads has come. */
  #read = 0
  /** Grows with each reader; only the last one is given anything. */
  #reader = 0
  #isAttached = false
  #isEnded = false

  constructor(options: Options) {
    this.#options = options
  }

  get name(): string | undefined {
    return this.#options.name
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  get isAttached(): boolean {
    return this.#isAttached
  }

  /** Another for each who has read. */
  get reader(): number {
    return this.#reader
  }

  /** Whether all there will ever be was read. */
  get isDone(): boolean {
    return this.#isEnded && this.#read >= this.#next - 1
  }

  readonly send = (message: JsonRpc.Message): Effect.Effect<void> =>
    Effect.suspend(() => {
      // others may have waited too, and have taken the room
      if (!this.#hasRoom()) return Effect.zipRight(this.#signal.until(() => this.#hasRoom()), this.send(message))
      this.#push(message)
      return Effect.void
    })

  readonly hint = (message: JsonRpc.Message): void => {
    if (this.#hasRoom()) this.#push(message)
  }

  /** There will be no more. */
  end(): void {
    this.#isEnded = true
    this.#signal.raise()
  }

  /** Waits for something to read, but not for long. */
  ready(limit: Duration.Duration): Effect.Effect<void> {
    return Effect.asVoid(
      Effect.timeoutOption(this.#signal.until(() => this.#isEnded || this.#events.length > 0), limit)
    )
  }

  /** The one thing that was sent, if that was all. */
  only(): Written | undefined {
    return this.#isEnded && this.#next === 2 ? this.#events[0] : undefined
  }

  /**
   * As a stream of events, from where the last reader was, or those after the one with this number. Whoever has read until
   * now reads no more. `left` runs when this one goes before the end, and nobody else has come for the rest.
   */
  stream(left: Effect.Effect<void> = Effect.void, after?: number): Stream.Stream<Uint8Array> {
    return Stream.unwrap(Effect.sync(() => {
      const reader = ++this.#reader
      this.#isAttached = true
      if (after !== undefined) this.#read = Math.min(after, this.#next - 1)
      this.#signal.raise()
      const isMine = () => reader === this.#reader
      const priming = this.#options.primes && after === undefined
        ? Stream.succeed(`id: ${this.#options.name}/0\nretry: ${retry}\ndata: \n\n`)
        : Stream.succeed(opening)
      const rest = Stream.repeatEffectOption(this.#pull(isMine))
      return Stream.concat(priming, rest).pipe(
        Stream.map((text) => Buffer.from(text)),
        Stream.ensuring(Effect.suspend(() => {
          if (!isMine()) return Effect.void
          this.#isAttached = false
          this.#signal.raise()
          return this.isDone ? Effect.void : left
        }))
      )
    }))
  }

  #pull(isMine: () => boolean): Effect.Effect<string, Option.Option<never>> {
    const wait = this.#signal.until(() => !isMine() || this.#isEnded || this.#read < this.#next - 1)
    return Effect.flatMap(Effect.timeoutOption(wait, this.#options.keepAlive), (came) => {
      if (!isMine()) return Effect.fail(Option.none())
      const text = this.#unread()
      if (text !== "") return Effect.succeed(text)
      if (this.#isEnded) return Effect.fail(Option.none())
      return Option.isNone(came) ? Effect.succeed(comment) : this.#pull(isMine)
    })
  }

  #unread(): string {
    let text = ""
    const { name } = this.#options
    for (const { json, number } of this.#events) {
      if (number > this.#read) {
        text += name === undefined
          ? `data: ${json}\n\n`
          : `id: ${name}/${number}\ndata: ${json}\n\n`
      }
    }
    this.#read = this.#next - 1
    if (name === undefined) {
      this.#events = []
      this.#bytes = 0
    }
    this.#signal.raise()
    return text
  }

  #hasRoom(): boolean {
    if (!this.#isAttached || this.#isEnded) return true
    const unread = this.#next - 1 - this.#read
    return unread < mostEvents && (unread === 0 || this.#bytes < mostBytes)
  }

  #push(message: JsonRpc.Message): void {
    const json = Outlet.encode(message, this.#options.maxMessageBytes)
    if (json === undefined || this.#isEnded) return
    this.#events.push({ number: this.#next++, json, code: "error" in message ? message.error.code : undefined })
    this.#bytes += json.length
    this.#prune()
    this.#signal.raise()
  }

  /** What was read goes first, and then, if nobody is there, what is oldest. */
  #prune(): void {
    let from = 0
    const { length } = this.#events
    while (length - from > 1 && (length - from > mostEvents || this.#bytes > mostBytes)) {
      if (this.#isAttached && this.#events[from]!.number > this.#read) break
      this.#bytes -= this.#events[from]!.json.length
      from++
    }
    if (from > 0) this.#events.splice(0, from)
  }
}

/** The stream and the number that an event's id names. */
export const parseId = (id: string): { readonly name: string; readonly number: number } | undefined => {
  const match = /^([0-9a-z]{1,64})\/(\d{1,9})$/.exec(id)
  return match === null ? undefined : { name: match[1]!, number: Number(match[2]) }
}
