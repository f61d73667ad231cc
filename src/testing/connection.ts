/** One connection to a peer in memory. */
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type * as Limits from "../config/Limits.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import * as Lines from "../transport/stdio/lines.ts"
import type * as Transport from "../transport/Transport.ts"
import * as Faults from "./Faults.ts"
import type * as MemoryTransport from "./MemoryTransport.ts"

/** A queue with a synchronous producer and one consumer fiber. */
class Line<A> {
  readonly items: Array<A> = []
  readonly #filled = Effect.unsafeMakeLatch(false)

  push(item: A): void {
    this.items.push(item)
    this.#filled.unsafeOpen()
  }

  /** Waits for the first item, which stays in the queue. */
  readonly first: Effect.Effect<A> = Effect.suspend(() => {
    const [item] = this.items
    if (item !== undefined) return Effect.succeed(item)
    this.#filled.unsafeClose()
    return Effect.zipRight(this.#filled.await, this.first)
  })
}

interface Sent {
  readonly at: number
  readonly id: JsonRpc.Id | undefined
  /** `undefined` if the request was abandoned. */
  readonly text: string | undefined
}

interface Arriving {
  readonly at: number
  readonly kind: "delivered" | "ended"
  readonly detail: string
  readonly deliver: (sink: Transport.Sink) => void
}

/** The parts of the peer and the client that a connection uses. */
interface Surroundings {
  readonly config: ServerConfig.ServerConfig
  readonly limits: Limits.Limits
  readonly clock: Clock.Clock
  readonly faults: Faults.Faults
  readonly journal: MemoryTransport.Journal
  readonly options: MemoryTransport.PeerOptions
  readonly peerScope: Scope.CloseableScope
  readonly teardown: Teardown.Teardown["Type"] | undefined
}

/** One connection: a queue and a fiber for each direction. */
export class Connection implements Transport.Transport {
  readonly kind = "memory"
  readonly streamPerRequest: boolean
  readonly io: MemoryTransport.Io

  readonly #at: Surroundings
  readonly #server: string
  readonly #number: number
  readonly #up = new Line<Sent>()
  readonly #down = new Line<Arriving>()
  readonly #started = Effect.unsafeMakeLatch(false)
  /** Requests that the peer has not read. */
  readonly #unsent = new Set<JsonRpc.Id>()
  /** The peer's fibers: the one that reads, and the handlers. */
  readonly #fibers = new Set<Fiber.RuntimeFiber<void>>()
  #stderr = ""
  #sink: Transport.Sink | undefined = undefined
  #reader: Lines.LineReader | undefined = undefined
  #peerEnded = false
  #ended: Transport.Ended | undefined = undefined

  constructor(at: Surroundings) {
    this.#at = at
    this.#server = at.config.name
    this.#number = at.journal.view.connections().opened + 1
    this.#note("opened", this.#server)
    this.streamPerRequest = at.options.streamPerRequest ?? false
    this.io = {
      connection: this.#number,
      config: at.config,
      send: (message) => Effect.sync(() => this.toClient(message)),
      fail: (id, error) =>
        Effect.sync(() => {
          if (!this.#isSilent(`failed ${id}`)) {
            this.#arrive(`failed ${id}`, (sink) => sink.failed(id, error(this.#server)))
          }
        }),
      stderr: (text) =>
        Effect.sync(() => {
          this.#stderr = (this.#stderr + text).slice(-at.limits.stderrBytes)
        }),
      stir: Effect.sync(() => at.journal.stir()),
      end: (end = Faults.exited()) => Effect.sync(() => this.end(end))
    }
  }

  /** The client reads arriving messages like the output of a process. */
  start(sink: Transport.Sink): void {
    const { maxMessageBytes } = this.#at.limits
    this.#reader = Lines.makeReader({ server: this.#server, maxMessageBytes, sink, onEndless: () => undefined })
    this.#sink = sink
    this.#started.unsafeOpen()
  }

  send(message: JsonRpc.Message): McpError.CallError | undefined {
    const { faults, limits, options } = this.#at
    const server = this.#server
    if (this.#ended !== undefined) return this.#ended.error("not-sent")
    const text = JSON.stringify(message)
    if (Buffer.byteLength(text) > limits.maxMessageBytes) {
      return new McpError.MessageTooLarge({ server, limit: limits.maxMessageBytes, direction: "sent" })
    }
    const queued = this.#up.items.length
    const limit = options.queueLimit ?? 1024
    if (queued >= limit) return new McpError.Overloaded({ server, queue: "write", queued, limit })
    const id = JsonRpc.isRequest(message) ? message.id : undefined
    if (id !== undefined) this.#unsent.add(id)
    this.#up.push({ at: this.#now() + faults.delayOf({ ...message }, "to-peer"), id, text })
    return undefined
  }

  abandon(id: JsonRpc.Id): void {
    if (this.streamPerRequest) this.#up.push({ at: this.#now(), id, text: undefined })
  }

  negotiated(): void {
    this.#at.journal.stir()
  }

  stderrTail(): string | undefined {
    return this.#stderr === "" ? undefined : this.#stderr
  }

  /** Runs both directions until the scope closes. */
  run(receiver: MemoryTransport.Receiver): Effect.Effect<void, never, Scope.Scope> {
    const each = (body: Effect.Effect<void>) =>
      Effect.forkScoped(Effect.whileLoop({ while: () => true, body: () => body, step: () => undefined }))
    return Effect.map(Effect.zipLeft(each(this.#read(receiver)), each(this.#deliver)), (reader) => {
      this.#fibers.add(reader)
    })
  }

  /** Sends a value as JSON, subject to the faults. */
  toClient(message: unknown): void {
    const { faults } = this.#at
    const text = JSON.stringify(message) ?? "undefined"
    if (this.#isSilent(text)) return
    const isAnswer = JsonRpc.isObject(message) && "id" in message && !("method" in message)
    const fate = faults.fate(this.#number, "to-client")
    if (fate.drop === "before") return this.end(Faults.reset, fate.discard)
    const late = fate.delay + (JsonRpc.isObject(message) ? faults.delayOf(message, "to-client") : 0)
    if (fate.garbage) this.#arriveText("a line of noise", late)
    if (isAnswer && fate.lose) this.#note("lost", text)
    else {
      const copies = isAnswer ? 1 + faults.active.copies + (fate.duplicate ? 1 : 0) : 1
      for (let copy = 0; copy < copies; copy++) this.#arriveText(text, late)
    }
    if (isAnswer && fate.stray) this.#arriveText(`{"jsonrpc":"2.0","id":"stray","result":{}}`, late)
    if (fate.drop === "after") this.end(Faults.reset, fate.discard)
  }

  lineToClient(text: string): void {
    if (!this.#isSilent(text)) this.#arriveText(text)
  }

  /** Ends the peer's side. The client is notified after the messages in flight. */
  end(end: Faults.End, discard = false): void {
    if (this.#peerEnded) return
    this.#peerEnded = true
    for (const fiber of this.#fibers) fiber.unsafeInterruptAsFork(FiberId.none)
    if (discard) {
      for (const { detail } of this.#down.items.splice(0)) this.#note("lost", detail)
    }
    const tail = this.stderrTail()
    const error: Transport.Ended["error"] = (outcome) => end(this.#server, outcome, tail)
    this.#arrive(error("unknown")._tag, (sink) => this.#tellEnded(sink, error), 0, "ended")
  }

  /** Closes the client's side. Sent messages still reach the peer, but their responses are dropped. */
  get release(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { faults, peerScope, teardown } = this.#at
      const from = this.#now()
      const exited = this.#peerEnded
      if (!exited && !faults.active.hanging) {
        for (const { id, text } of this.#up.items.splice(0)) {
          if (text !== undefined && id !== undefined) this.#unsent.delete(id)
          this.#receive(id, text)
        }
      }
      this.#peerEnded = true
      this.#tellEnded(
        this.#ended === undefined ? this.#sink : undefined,
        (outcome) => new McpError.Closed({ server: this.#server, operation: "the request", outcome })
      )
      return Scope.close(peerScope, Exit.void).pipe(
        BoundedWait.within(Duration.decode(teardown?.options.termGrace ?? Teardown.defaults.termGrace)),
        Effect.map((done) => {
          this.#note("closed", "")
          const took = Duration.millis(this.#now() - from)
          const how = Option.isNone(done) ? "abandoned" : exited ? "exited-before" : "closed"
          teardown?.record({ server: this.#server, transport: "memory", how, took, killed: [] })
        })
      )
    })
  }

  /** Handles the next message to the peer. */
  #read(receiver: MemoryTransport.Receiver): Effect.Effect<void> {
    return Effect.gen(this, function*() {
      const sent = yield* this.#up.first
      yield* this.#whileHanging
      if (sent.text !== undefined && sent.id !== undefined) this.#unsent.delete(sent.id)
      const fate = this.#at.faults.fate(this.#number, "to-peer")
      yield* this.#sleepUntil(sent.at + fate.delay)
      yield* this.#whileHanging
      this.#up.items.shift()
      if (fate.drop === "before") return this.end(Faults.reset, fate.discard)
      yield* this.#handle(receiver, sent)
      if (fate.drop === "after") this.end(Faults.reset, fate.discard)
    })
  }

  /** A peer that does not read for `stallTimeout` is lost, like a process behind a full pipe. */
  get #whileHanging(): Effect.Effect<void> {
    const { faults, limits } = this.#at
    const wait = faults.reading.await.pipe(
      Effect.timeoutOption(limits.stallTimeout),
      Effect.map((read) => {
        if (Option.isNone(read)) this.end(Faults.lost("stalled", "the peer does not read"))
      })
    )
    return Effect.whileLoop({ while: () => faults.active.hanging, body: () => wait, step: () => undefined })
  }

  /** Runs a handler in the scope of the peer. A defect is a crash of the process. */
  #handle(receiver: MemoryTransport.Receiver, { id, text }: Sent): Effect.Effect<void> {
    const message = this.#receive(id, text)
    const handler = message !== undefined
      ? receiver.message(message)
      : id !== undefined && receiver.abandoned !== undefined
      ? receiver.abandoned(id)
      : Effect.void
    const crash = (cause: Cause.Cause<never>) =>
      Cause.isInterruptedOnly(cause) ? Effect.void : Effect.sync(() => {
        this.#stderr = Cause.pretty(cause)
        this.end(Faults.exited(1))
      })
    return Effect.map(Effect.forkIn(Effect.catchAllCause(handler, crash), this.#at.peerScope), (fiber) => {
      this.#fibers.add(fiber)
      fiber.addObserver(() => {
        this.#fibers.delete(fiber)
        this.#at.journal.stir()
      })
    })
  }

  #receive(id: JsonRpc.Id | undefined, text: string | undefined): JsonRpc.Incoming | undefined {
    if (text !== undefined) return this.#at.journal.receive(this.#now(), this.#number, text)
    this.#note("received", `abandoned ${id}`)
    return undefined
  }

  /** Delivers the next message to the client, unless it was discarded during its delay. */
  get #deliver(): Effect.Effect<void> {
    return Effect.gen(this, function*() {
      yield* this.#started.await
      const arriving = yield* this.#down.first
      if (arriving.at > this.#now()) return yield* this.#sleepUntil(arriving.at)
      this.#down.items.shift()
      if (this.#sink === undefined || this.#ended !== undefined) return
      this.#note(arriving.kind, arriving.detail)
      arriving.deliver(this.#sink)
    })
  }

  #sleepUntil(at: number): Effect.Effect<void> {
    const wait = at - this.#now()
    return wait > 0 ? Effect.sleep(wait) : Effect.void
  }

  #isSilent(text: string): boolean {
    if (this.#peerEnded) return true
    const { halfClosed } = this.#at.faults.active
    if (halfClosed) this.#note("lost", text)
    return halfClosed
  }

  #arriveText(text: string, late = 0): void {
    this.#arrive(text, () => this.#reader?.push(Buffer.from(`${text}\n`)), late)
  }

  #arrive(detail: string, deliver: Arriving["deliver"], late = 0, kind: "delivered" | "ended" = "delivered"): void {
    this.#down.push({ at: this.#now() + late, kind, detail, deliver })
  }

  #tellEnded(sink: Transport.Sink | undefined, error: Transport.Ended["error"]): void {
    this.#ended = { error, unsent: (id) => this.#unsent.has(id) }
    sink?.ended(this.#ended)
  }

  #now(): number {
    return this.#at.clock.unsafeCurrentTimeMillis()
  }

  #note(kind: MemoryTransport.Entry["kind"], detail: string): void {
    this.#at.journal.note(this.#now(), this.#number, kind, detail)
  }
}
