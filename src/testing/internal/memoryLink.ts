/**
 * One connection in memory: a queue and a fiber for each direction.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type * as Limits from "../../config/Limits.ts"
import type * as ServerConfig from "../../config/ServerConfig.ts"
import * as McpError from "../../McpError.ts"
import * as BoundedWait from "../../resilience/BoundedWait.ts"
import * as Teardown from "../../resilience/Teardown.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as Transport from "../../transport/Transport.ts"
import type * as MemoryTransport from "../MemoryTransport.ts"
import * as memoryFaults from "./memoryFaults.ts"
import type * as memoryLog from "./memoryLog.ts"
import { Queue } from "./memoryQueue.ts"
import * as memoryText from "./memoryText.ts"

interface Options {
  readonly config: ServerConfig.ServerConfig
  readonly limits: Limits.Limits
  readonly clock: Clock.Clock
  readonly faults: memoryFaults.Faults
  readonly log: memoryLog.Log
  readonly options: MemoryTransport.PeerOptions
  readonly peerScope: Scope.CloseableScope
  readonly teardown: Teardown.Teardown["Type"] | undefined
}

interface Sent {
  readonly at: number
  readonly id: JsonRpc.Id | undefined
  /** `undefined`: the request was abandoned. */
  readonly text: string | undefined
}

interface Arriving {
  readonly at: number
  readonly what: string
  readonly deliver: (sink: Transport.Sink) => void
}

/** @internal */
export class Link implements Transport.Transport {
  readonly kind = "memory"
  readonly streamPerRequest: boolean
  readonly io: MemoryTransport.Io

  readonly #options: Options
  readonly #server: string
  readonly #connection: number
  readonly #up = new Queue<Sent>()
  readonly #down = new Queue<Arriving>()
  /** The requests that have not left yet. */
  readonly #unsent = new Set<JsonRpc.Id>()
  readonly #handlers = new Set<Fiber.RuntimeFiber<void>>()
  #stderr = ""
  #sink: Transport.Sink | undefined = undefined
  /** The peer's side is gone. */
  #over = false
  #ended: Transport.Ended | undefined = undefined
  #closed = false

  constructor(options: Options) {
    this.#options = options
    this.#server = options.config.name
    this.#connection = options.log.opened(options.clock, this.#server)
    this.streamPerRequest = options.options.streamPerRequest ?? false
    this.io = {
      connection: this.#connection,
      config: options.config,
      send: (message) => Effect.sync(() => this.toClient(message)),
      line: (text) => Effect.sync(() => this.lineToClient(text)),
      fail: (id, error) =>
        Effect.sync(() => this.#arrive((sink) => sink.failed(id, error(this.#server)), `failed ${String(id)}`)),
      stderr: (text) =>
        Effect.sync(() => {
          this.#stderr = (this.#stderr + text).slice(-options.limits.stderrBytes)
        }),
      stir: Effect.sync(options.log.stir),
      end: (end = exitedWithZero) => Effect.sync(() => this.end(end, false))
    }
  }

  start(sink: Transport.Sink): void {
    this.#sink = sink
    this.#down.stir()
  }

  send(message: JsonRpc.Message): McpError.CallError | undefined {
    const { faults, limits, options } = this.#options
    const operation = "method" in message ? message.method : "an answer"
    if (this.#closed) return new McpError.Closed({ server: this.#server, operation, outcome: "not-sent" })
    if (this.#ended !== undefined) return this.#ended.error("not-sent")
    const text = JSON.stringify(message)
    if (memoryText.exceeds(text, limits.maxMessageBytes)) {
      return new McpError.MessageTooLarge({ server: this.#server, limit: limits.maxMessageBytes, direction: "sent" })
    }
    const queued = this.#up.size
    const limit = options.queueLimit ?? 1024
    if (queued >= limit) return new McpError.Overloaded({ server: this.#server, queue: "write", queued, limit })
    const id = JsonRpc.isRequest(message) ? message.id : undefined
    if (id !== undefined) this.#unsent.add(id)
    this.#leave({ at: this.#now() + faults.delayOf({ ...message }, "to-peer"), id, text })
    return undefined
  }

  abandon(id: JsonRpc.Id): void {
    if (this.streamPerRequest) this.#leave({ at: this.#now(), id, text: undefined })
  }

  negotiated(): void {
    this.#options.log.stir()
  }

  stderrTail(): string | undefined {
    return this.#stderr === "" ? undefined : this.#stderr
  }

  /** Takes what the client sends to the peer. */
  uplink(receiver: MemoryTransport.Receiver): Effect.Effect<void> {
    const step = Effect.gen(this, function*() {
      const sent = this.#up.look()
      if (this.#over) return
      if (sent === undefined) return yield* this.#up.stirred
      if (this.#options.faults.hanging) return yield* this.#whileHanging()
      if (sent.text !== undefined && sent.id !== undefined) this.#unsent.delete(sent.id)
      const fate = this.#options.faults.fate(this.#connection, "to-peer")
      const wait = sent.at + fate.delay - this.#now()
      if (wait > 0) yield* Effect.sleep(wait)
      while (this.#options.faults.hanging && !this.#over) yield* this.#whileHanging()
      if (this.#over) return
      this.#up.shift()
      if (fate.drop === "before") return this.end(memoryFaults.reset, fate.discard)
      yield* this.#hand(receiver, sent)
      if (fate.drop === "after") this.end(memoryFaults.reset, fate.discard)
    })
    return Effect.whileLoop({ while: () => !this.#over, body: () => step, step: () => undefined })
  }

  /** Delivers what the peer sends. */
  get downlink(): Effect.Effect<void> {
    const step = Effect.gen(this, function*() {
      const arriving = this.#down.look()
      const sink = this.#sink
      if (sink === undefined || arriving === undefined) return yield* this.#down.stirred
      const wait = arriving.at - this.#now()
      if (wait > 0) return yield* Effect.sleep(wait)
      this.#down.shift()
      arriving.deliver(sink)
    })
    return Effect.whileLoop({ while: () => this.#ended === undefined, body: () => step, step: () => undefined })
  }

  /** Sends a value as JSON, and lets the faults have their way with it. */
  toClient(message: unknown): void {
    const { faults, log, clock } = this.#options
    const text = JSON.stringify(message) ?? "undefined"
    if (this.#mute(text)) return
    const isAnswer = JsonRpc.isObject(message) && "id" in message && !("method" in message)
    const fate = faults.fate(this.#connection, "to-client")
    if (fate.drop === "before") return this.end(memoryFaults.reset, fate.discard)
    const late = fate.delay + (JsonRpc.isObject(message) ? faults.delayOf(message, "to-client") : 0)
    if (fate.garbage) this.#arriveText("a line of noise", late)
    if (isAnswer && fate.lose) log.add(clock, this.#connection, "lost", text)
    else {
      const copies = isAnswer ? 1 + faults.copies + (fate.duplicate ? 1 : 0) : 1
      for (let copy = 0; copy < copies; copy++) this.#arriveText(text, late)
    }
    if (isAnswer && fate.stray) this.#arriveText(`{"jsonrpc":"2.0","id":"stray","result":{}}`, late)
    if (fate.drop === "after") this.end(memoryFaults.reset, fate.discard)
  }

  lineToClient(text: string): void {
    if (!this.#mute(text)) this.#arriveText(text, 0)
  }

  /** Ends the peer's side; the client hears of it after what is still under way to it. */
  end(end: MemoryTransport.End, discard: boolean): void {
    if (this.#over || this.#closed) return
    this.#over = true
    this.#up.stir()
    for (const handler of this.#handlers) handler.unsafeInterruptAsFork(FiberId.none)
    if (discard) {
      for (const { what } of this.#down.drain()) this.#note("lost", what)
    }
    const tail = this.stderrTail()
    this.#push(0, "the end", (sink) => {
      const ended: Transport.Ended = {
        error: (outcome) => end(this.#server, outcome, tail),
        unsent: (id) => this.#unsent.has(id)
      }
      this.#ended = ended
      this.#note("ended", ended.error("unknown")._tag)
      sink.ended(ended)
    })
  }

  get release(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { clock, faults, peerScope, teardown } = this.#options
      const from = clock.unsafeCurrentTimeMillis()
      const exited = this.#over
      if (!exited && !faults.hanging) this.#flush()
      this.#closed = true
      this.#over = true
      if (this.#ended === undefined) {
        this.#ended = {
          error: (outcome) => new McpError.Closed({ server: this.#server, operation: "the request", outcome }),
          unsent: (id) => this.#unsent.has(id)
        }
        this.#sink?.ended(this.#ended)
      }
      return Scope.close(peerScope, Exit.void).pipe(
        BoundedWait.within(Duration.decode(teardown?.options.termGrace ?? Teardown.defaults.termGrace)),
        Effect.map((done) => {
          this.#note("closed", "")
          const took = Duration.millis(clock.unsafeCurrentTimeMillis() - from)
          const how = Option.isNone(done) ? "abandoned" : exited ? "exited-before" : "closed"
          teardown?.record({ server: this.#server, transport: "memory", how, took, killed: [] })
        })
      )
    })
  }

  #now(): number {
    return this.#options.clock.unsafeCurrentTimeMillis()
  }

  #note(kind: MemoryTransport.Entry["kind"], detail: string): void {
    this.#options.log.add(this.#options.clock, this.#connection, kind, detail)
  }

  #leave(sent: Sent): void {
    this.#up.push(sent)
  }

  #mute(text: string): boolean {
    if (this.#over) return true
    if (this.#options.faults.halfClosed) this.#note("lost", text)
    return this.#options.faults.halfClosed
  }

  #arrive(deliver: (sink: Transport.Sink) => void, detail: string, late = 0): void {
    if (this.#mute(detail)) return
    this.#push(late, detail, (sink) => {
      this.#note("delivered", detail)
      deliver(sink)
    })
  }

  #arriveText(text: string, late: number): void {
    this.#arrive((sink) => memoryText.deliver(this.#server, this.#options.limits, text, sink), text, late)
  }

  #push(late: number, what: string, deliver: (sink: Transport.Sink) => void): void {
    this.#down.push({ at: this.#now() + late, what, deliver })
  }

  /** A peer that does not read for too long counts as lost, like a process behind a full pipe. */
  #whileHanging(): Effect.Effect<void> {
    const { faults, limits } = this.#options
    return faults.reading.await.pipe(
      Effect.timeoutOption(limits.stallTimeout),
      Effect.map((read) => {
        if (Option.isNone(read)) this.end(stalled, false)
      })
    )
  }

  #hand(receiver: MemoryTransport.Receiver, sent: Sent): Effect.Effect<void> {
    const message = this.#receive(sent)
    const handle = message !== undefined
      ? receiver.message(message)
      : sent.id !== undefined && receiver.abandoned !== undefined
      ? receiver.abandoned(sent.id)
      : Effect.void
    // a peer whose script dies is a process that crashes
    const handler = Effect.catchAllCause(
      handle,
      (cause) =>
        Cause.isInterruptedOnly(cause) ? Effect.void : Effect.sync(() => {
          this.#stderr = Cause.pretty(cause)
          this.end(crashed, false)
        })
    )
    return Effect.map(Effect.forkIn(handler, this.#options.peerScope), (fiber) => {
      this.#handlers.add(fiber)
      fiber.addObserver(() => {
        this.#handlers.delete(fiber)
        this.#options.log.stir()
      })
    })
  }

  #receive(sent: Sent): JsonRpc.Incoming | undefined {
    if (sent.text === undefined) {
      this.#note("received", `abandoned ${String(sent.id)}`)
      return undefined
    }
    // the cast: the text is a message that was written just now
    const message = JSON.parse(sent.text) as JsonRpc.Incoming
    this.#options.log.receive(this.#options.clock, this.#connection, sent.text, message)
    return message
  }

  /** What was sent before the close still reaches the peer, which has no more time to answer. */
  #flush(): void {
    for (const sent of this.#up.drain()) {
      if (sent.text !== undefined && sent.id !== undefined) this.#unsent.delete(sent.id)
      this.#receive(sent)
    }
  }
}

const exitedWith = (code: number): MemoryTransport.End => (server, outcome, stderrTail) =>
  new McpError.ProcessExited({ server, code, signal: null, outcome, phase: "ready", stderrTail })

const exitedWithZero = exitedWith(0)
const crashed = exitedWith(1)

const stalled: MemoryTransport.End = (server, outcome, stderrTail) =>
  new McpError.ConnectionLost({ server, reason: "stalled", detail: "the peer does not read", outcome, stderrTail })
