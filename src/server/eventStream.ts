/**
 * One event stream to a caller over HTTP. Events are kept until they are read and for some time after that, so that a caller
 * whose connection broke can resume.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Exchange from "./exchange.ts"
import * as Messages from "./messages.ts"

export interface Options {
  /** The stream id within its session. Without a name the stream cannot be resumed, and read events are dropped. */
  readonly name?: string
  /** Starts the stream with a priming event, which has an id and no data. */
  readonly primes?: boolean
  readonly maxMessageBytes: number
  readonly keepAlive: Duration.DurationInput
  /** Runs when a reader disconnects before the end. `isAbandoned` is true until another reader connects. */
  readonly left?: (isAbandoned: () => boolean) => Effect.Effect<void>
}

export interface Event {
  readonly number: number
  readonly json: string
  /** The code of an error. */
  readonly code: number | undefined
}

/** The limits of the kept events. The last event is always kept. */
const maxEvents = 512
const maxBytes = 4 * 1024 * 1024

/** Milliseconds after which a caller should reconnect. */
const retry = 1_000

/** The first chunk, without which Node does not send the headers. */
const opening = ": open\n\n"
const heartbeat = ": keep-alive\n\n"

export class EventStream implements Exchange.Output {
  readonly #options: Options
  /** Open while there are unread events, at the end, and when another reader connects. */
  readonly #readable = Effect.unsafeMakeLatch()
  readonly #writable = Effect.unsafeMakeLatch(true)
  #events: Array<Event> = []
  #bytes = 0
  /** The numbers of the last event and of the last read event. */
  #last = 0
  #read = 0
  /** The number of the latest reader, the only one that is served. */
  #readers = 0
  isAttached = false
  isEnded = false

  constructor(options: Options) {
    this.#options = options
  }

  readonly send = (message: JsonRpc.Message): Effect.Effect<void> =>
    Effect.suspend(() => {
      // checked again after the wait, because another sender may have filled the buffer
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

  /** Waits for an event or the end, up to the limit. */
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

  /** The unread events, or those after this number. Ends the stream of the previous reader. */
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

  /** Opens or closes the latches of the reader and the senders. */
  #signal(): void {
    if (this.isEnded || this.#read < this.#last) this.#readable.unsafeOpen()
    else this.#readable.unsafeClose()
    if (this.#hasRoom()) this.#writable.unsafeOpen()
    else this.#writable.unsafeClose()
  }

  /** Drops the oldest events over the limits. While a reader is attached, unread events are kept. */
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

/** The stream name and the event number in an event id. */
export const parseId = (id: string): { readonly name: string; readonly number: number } | undefined => {
  const [, name, number] = /^([0-9a-z]{1,64})\/(\d{1,9})$/.exec(id) ?? []
  return name === undefined ? undefined : { name, number: Number(number) }
}
