/**
 * One event stream to a caller over HTTP. Messages wait here until they are read, and for a while after that, because the
 * connection may have broken before they arrived.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Exchange from "./exchange.ts"
import * as Messages from "./messages.ts"

export interface Options {
  /** Without a name the stream cannot be resumed, and nothing is kept that was read. */
  readonly name?: string
  /** Begins the stream with an event that carries only its id, for versions that know such events. */
  readonly primes?: boolean
  readonly maxMessageBytes: number
  readonly keepAlive: Duration.DurationInput
  /** Runs when a reader leaves before the end. `isAbandoned` tells, then and later, whether no other reader has come. */
  readonly left?: (isAbandoned: () => boolean) => Effect.Effect<void>
}

export interface Event {
  readonly number: number
  readonly json: string
  /** The code of an error. */
  readonly code: number | undefined
}

/** The events kept for a reader that is away or behind; the last event is always kept. */
const maxEvents = 512
const maxBytes = 4 * 1024 * 1024

/** Milliseconds after which a caller reconnects. */
const retry = 1_000

/** Without a first chunk no part of the response is sent. */
const opening = ": open\n\n"
const heartbeat = ": keep-alive\n\n"

export class EventStream implements Exchange.Output {
  readonly #options: Options
  /** Open while there is an event that was not read, at the end, and when another reader has come. */
  readonly #readable = Effect.unsafeMakeLatch()
  readonly #writable = Effect.unsafeMakeLatch(true)
  #events: Array<Event> = []
  #bytes = 0
  /** The numbers of the last event, and of the last one that was read. */
  #last = 0
  #read = 0
  /** Only the latest reader is served. */
  #readers = 0
  isAttached = false
  isEnded = false

  constructor(options: Options) {
    this.#options = options
  }

  readonly send = (message: JsonRpc.Message): Effect.Effect<void> =>
    Effect.suspend(() => {
      // another sender may have taken the room
      if (!this.#hasRoom()) return Effect.zipRight(this.#writable.await, this.send(message))
      this.offer(message)
      return Effect.void
    })

  readonly offer = (message: JsonRpc.Message): void => {
    if (this.isEnded || !this.#hasRoom()) return
    const json = Messages.write(message, this.#options.maxMessageBytes)
    if (json === undefined) return
    this.#events.push({ number: ++this.#last, json, code: "error" in message ? message.error.code : undefined })
    this.#bytes += json.length
    this.#prune()
    this.#signal()
  }

  readonly end = (): void => {
    this.isEnded = true
    this.#signal()
  }

  /** Waits up to the limit for an event or the end. */
  ready(limit: Duration.DurationInput): Effect.Effect<void> {
    if (this.isEnded) return Effect.void
    return this.#readable.await.pipe(Effect.timeoutOption(limit), Effect.onInterrupt(() => this.#left()), Effect.asVoid)
  }

  /** True if the stream has ended with at most one event. */
  get isShort(): boolean {
    return this.isEnded && this.#last <= 1
  }

  get first(): Event | undefined {
    return this.#events[0]
  }

  /** The events after those that were read, or after the one with this number. A previous reader gets no more. */
  stream(after?: number): Stream.Stream<Uint8Array> {
    return Stream.unwrap(Effect.sync(() => {
      const reader = ++this.#readers
      const isLatest = (): boolean => reader === this.#readers
      this.isAttached = true
      if (after !== undefined) this.#read = Math.min(after, this.#last)
      // ends the wait of the previous reader
      this.#readable.unsafeOpen()
      this.#signal()
      const first = this.#options.primes === true && after === undefined
        ? `id: ${this.#options.name}/0\nretry: ${retry}\ndata: \n\n`
        : opening
      return Stream.concat(Stream.succeed(first), Stream.repeatEffectOption(this.#pull(isLatest))).pipe(
        Stream.map((text) => Buffer.from(text)),
        Stream.ensuring(Effect.suspend(() => {
          if (!isLatest()) return Effect.void
          this.isAttached = false
          this.#signal()
          return this.isEnded && this.#read === this.#last ? Effect.void : this.#left()
        }))
      )
    }))
  }

  #left(): Effect.Effect<void> {
    const { left } = this.#options
    const reader = this.#readers
    return left === undefined ? Effect.void : left(() => !this.isEnded && reader === this.#readers)
  }

  #pull(isLatest: () => boolean): Effect.Effect<string, Option.Option<never>> {
    const wait = Effect.suspend(() => isLatest() ? this.#readable.await : Effect.void)
    return Effect.flatMap(Effect.timeoutOption(wait, this.#options.keepAlive), (signal) => {
      if (!isLatest()) return Effect.fail(Option.none())
      const text = this.#take()
      if (text !== "") return Effect.succeed(text)
      if (this.isEnded) return Effect.fail(Option.none())
      return Option.isNone(signal) ? Effect.succeed(heartbeat) : this.#pull(isLatest)
    })
  }

  #take(): string {
    const { name } = this.#options
    const unread = this.#events.filter(({ number }) => number > this.#read)
    this.#read = this.#last
    if (name === undefined) {
      this.#events = []
      this.#bytes = 0
    }
    this.#signal()
    return unread.map(({ json, number }) => `${name === undefined ? "" : `id: ${name}/${number}\n`}data: ${json}\n\n`)
      .join("")
  }

  #hasRoom(): boolean {
    if (!this.isAttached || this.isEnded) return true
    const unread = this.#last - this.#read
    return unread < maxEvents && (unread === 0 || this.#bytes < maxBytes)
  }

  /** Wakes the reader and the senders, if there is something for them. */
  #signal(): void {
    if (this.isEnded || this.#read < this.#last) this.#readable.unsafeOpen()
    else this.#readable.unsafeClose()
    if (this.#hasRoom()) this.#writable.unsafeOpen()
    else this.#writable.unsafeClose()
  }

  /** Drops the oldest events: those that were read, and without a reader any. */
  #prune(): void {
    let from = 0
    while (this.#events.length - from > 1 && (this.#events.length - from > maxEvents || this.#bytes > maxBytes)) {
      if (this.isAttached && this.#events[from]!.number > this.#read) break
      this.#bytes -= this.#events[from]!.json.length
      from++
    }
    this.#events.splice(0, from)
  }
}

/** The name of the stream and the number of the event in an event id. */
export const parseId = (id: string): { readonly name: string; readonly number: number } | undefined => {
  const [, name, number] = /^([0-9a-z]{1,64})\/(\d{1,9})$/.exec(id) ?? []
  return name === undefined ? undefined : { name, number: Number(number) }
}
