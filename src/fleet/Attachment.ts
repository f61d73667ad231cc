/**
 * The calling side of a connection at its home: the life line, and the calls that wait for their results.
 *
 * A call is sent again as long as its home is the same, which joins it to the one execution. When a home is lost, the
 * calls that it has not begun fail with the outcome `not-sent`, and the others with `unknown`.
 */
import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import type * as InputHandlers from "../client/InputHandlers.ts"
import type * as McpClient from "../client/McpClient.ts"
import { progressOf } from "../client/messages.ts"
import * as ServerRequests from "../client/serverRequests.ts"
import { resync } from "../client/sessionEra.ts"
import * as McpError from "../McpError.ts"
import * as Outcome from "../outcome.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as Scoped from "../scoped.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as FleetServer from "./FleetServer.ts"

export interface Options {
  /** The longest time to open a connection. */
  readonly openTimeout: Duration.DurationInput
  /** After how long without a sign of life a home counts as lost. */
  readonly silence: Duration.DurationInput
  /** How long an open waits for a home, for example while a shard moves to another node. */
  readonly patience: Duration.DurationInput
  /** How long the calls in flight are waited for at a home that moves. */
  readonly drain: Duration.DurationInput
}

export const defaults: Options = {
  openTimeout: Duration.seconds(60),
  silence: Duration.seconds(5),
  patience: Duration.seconds(15),
  drain: Duration.seconds(8)
}

export interface Peer {
  readonly server: string
  /** A name that no other attachment has. */
  readonly caller: string
  readonly home: ReturnType<Effect.Effect.Success<typeof FleetServer.FleetServer.client>>
  readonly handlers: InputHandlers.Handlers
  /** Removes secrets from a text of the server. */
  readonly text: (text: string) => string
}

/** What `make` takes from its fiber and scope. */
interface Runtime {
  readonly clock: Clock.Clock
  readonly run: (effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>
}

type Result = Exit.Exit<JsonRpc.JsonObject, McpError.CallError>

interface Call {
  readonly operation: FleetServer.Operation
  readonly settle: (result: Result) => void
  readonly onProgress: ((progress: McpClient.Progress) => void) | undefined
  /** How much progress has arrived. */
  progress: number
}

/** `opening`: the home is asked to open the connection, for the first time or again after it was asleep. */
type Phase = "opening" | "open" | "asleep" | "ended"

/** The pause before a call or an attachment is sent again. */
const pause = Duration.millis(50)

/** How often the silence of the home is looked at, in milliseconds. */
const look = 500

/** The longest wait for progress that the home sent before the result. */
const lateProgress = Duration.seconds(1)

/** The longest wait for the end of the attachment. */
const closeWithin = Duration.seconds(1)

export class Attachment {
  readonly #peer: Peer
  readonly #options: Options
  readonly #runtime: Runtime
  readonly #calls = new Map<number, Call>()
  readonly #watches = new Map<number, McpClient.WatchFilter>()
  readonly #answering = new Map<number, Fiber.RuntimeFiber<void>>()
  readonly #onNotification = new Set<(notification: McpClient.Notification) => void>()
  readonly #onEnded = new Set<(error: McpError.ConnectError) => void>()
  readonly #onPaused = new Set<(until: number) => void>()
  #phase: Phase = "asleep"
  #opened: FleetServer.Opened | undefined
  #ready = Deferred.unsafeMake<void, McpError.ConnectError>(FiberId.none)
  #end: McpError.ConnectError | undefined
  #heardAt: number
  /** How many events have been read. */
  #read = 0
  #level: McpClient.LogLevel | undefined
  #lastCall = 0
  #lastWatch = 0
  /** The calls that have ended since the home was last told. */
  readonly #settled: Array<number> = []
  /** Done when no call is in flight, once the attachment closes. */
  #drained: Deferred.Deferred<void> | undefined

  constructor(peer: Peer, options: Options, runtime: Runtime) {
    this.#peer = peer
    this.#options = options
    this.#runtime = runtime
    this.#heardAt = runtime.clock.unsafeCurrentTimeMillis()
    runtime.run(this.#watchSilence)
  }

  get isAsleep(): boolean {
    return this.#phase === "asleep"
  }

  /** Opens the connection, unless it is open. All calls that need it wait for one attempt. */
  readonly open: Effect.Effect<FleetServer.Opened, McpError.ConnectError> = Effect.suspend(() => {
    if (this.#phase === "asleep") {
      this.#phase = "opening"
      this.#heardAt = this.#now()
      this.#ready = Deferred.unsafeMake(FiberId.none)
      this.#runtime.run(this.#listen)
      this.#runtime.run(Effect.delay(Effect.sync(this.#openTimedOut(this.#ready)), this.#options.openTimeout))
    }
    return Effect.flatMap(
      Deferred.await(this.#ready),
      () =>
        this.#opened === undefined ? Effect.fail(this.#lost("not-sent", "it has ended")) : Effect.succeed(this.#opened)
    )
  })

  readonly onNotification: McpClient.Channel["onNotification"] = (listener) =>
    Scoped.addListener(this.#onNotification, listener)

  readonly onPaused: McpClient.Channel["onPaused"] = (listener) => Scoped.addListener(this.#onPaused, listener)

  readonly onEnded: McpClient.Channel["onEnded"] = (listener) => {
    if (this.#end === undefined) return Scoped.addListener(this.#onEnded, listener)
    listener(this.#end)
    return () => undefined
  }

  /** One operation at the home. Interruption cancels it there. */
  call(
    operation: FleetServer.Operation,
    onProgress?: (progress: McpClient.Progress) => void
  ): Effect.Effect<JsonRpc.JsonObject, McpError.CallError> {
    return Effect.async((resume) => {
      if (this.#phase === "ended") return resume(this.#lost("not-sent", "it has ended"))
      const number = ++this.#lastCall
      this.#calls.set(number, { operation, onProgress, settle: resume, progress: 0 })
      const fiber = this.#runtime.run(this.#attempts(number))
      return Effect.sync(() => {
        this.#forget(number)
        // not awaited, because a home that is frozen does not answer an interruption
        fiber.unsafeInterruptAsFork(FiberId.none)
      })
    })
  }

  /** Watches until the scope closes, also in the connections after this one was asleep. */
  watch(filter: McpClient.WatchFilter): Effect.Effect<void, McpError.CallError, Scope.Scope> {
    return Effect.suspend(() => {
      const watching = ++this.#lastWatch
      return Effect.zipRight(
        Effect.acquireRelease(
          Effect.sync(() => this.#watches.set(watching, filter)),
          () =>
            Effect.sync(() => {
              this.#watches.delete(watching)
              if (this.#phase === "open") this.#runtime.run(Effect.ignore(this.call({ _tag: "Unwatch", watching })))
            })
        ),
        Effect.asVoid(this.call({ _tag: "Watch", watching, filter }))
      )
    })
  }

  readonly setLogLevel: McpClient.Channel["setLogLevel"] = (level) =>
    Effect.map(this.call({ _tag: "SetLogLevel", level }), () => {
      this.#level = level
    })

  /** Waits for the calls in flight, fails the rest, and tells the home. */
  readonly close: Effect.Effect<void> = Effect.gen(this, function*() {
    const { caller, home, server } = this.#peer
    const wasOpen = this.#phase === "open" || this.#phase === "opening"
    const closed = (operation: string) => new McpError.Closed({ server, operation, outcome: "unknown" })
    if (this.#calls.size > 0) {
      this.#drained = yield* Deferred.make<void>()
      yield* BoundedWait.within(Duration.decode(this.#options.drain))(Deferred.await(this.#drained))
    }
    this.#finish(closed("the connection"))
    this.#settleAll(() => closed("the request"))
    if (wasOpen) yield* BoundedWait.within(closeWithin)(Effect.exit(home.Detach({ caller })))
  })

  readonly #now = (): number => this.#runtime.clock.unsafeCurrentTimeMillis()

  #lost(outcome: McpError.Outcome, detail: string): McpError.ConnectionLost {
    return new McpError.ConnectionLost({ server: this.#peer.server, reason: "moved", detail, outcome })
  }

  // The life line

  readonly #listen: Effect.Effect<void> = Effect.gen(this, function*() {
    const { caller, handlers, home } = this.#peer
    const capabilities = ServerRequests.capabilities(handlers)
    while (this.#phase === "opening" || this.#phase === "open") {
      const settled = this.#settled.splice(0)
      const answer = yield* Effect.exit(home.Listen({ caller, capabilities, read: this.#read, settled }))
      if (answer._tag === "Failure") {
        this.#settled.push(...settled)
        yield* Effect.sleep(pause)
        continue
      }
      this.#heardAt = this.#now()
      const { events, read: before } = answer.value
      // an answer to an earlier request can arrive after this one
      for (const event of events.slice(Math.max(0, this.#read - before))) {
        this.#read++
        this.#heard(event)
      }
    }
  })

  #heard(event: FleetServer.Event): void {
    if (this.#phase === "ended") return
    switch (event._tag) {
      case "Opened":
        return this.#isOpened(event)
      case "Ended":
        return this.#finish(event.error)
      case "Moving": {
        const accepted = new Set(event.accepted)
        this.#finish(this.#lost("unknown", "the home of the connection moves to another node"))
        for (const number of Array.from(this.#calls.keys())) {
          if (!accepted.has(number)) this.#settle(number, Exit.fail(this.#lost("not-sent", "its home moves")))
        }
        return
      }
      case "Asleep": {
        this.#phase = "asleep"
        return
      }
      case "Notification":
        return this.#announce({ method: event.method, params: event.params })
      case "Progress": {
        const call = this.#calls.get(event.call)
        const progress = progressOf(event.progress, this.#peer.text)
        if (call === undefined) return
        call.progress++
        if (progress !== undefined) call.onProgress?.(progress)
        return
      }
      case "Question": {
        const fiber = this.#runtime.run(this.#answer(event.id, event.method, event.params))
        this.#answering.set(event.id, fiber)
        fiber.addObserver(() => this.#answering.delete(event.id))
        return
      }
      case "Withdrawn":
        return this.#answering.get(event.id)?.unsafeInterruptAsFork(FiberId.none)
      case "Paused":
        for (const listener of this.#onPaused) listener(event.until)
    }
  }

  #isOpened(opened: FleetServer.Opened): void {
    const before = this.#opened
    const isSame = before?.incarnation === opened.incarnation
    const isWaking = this.#phase === "opening" && before !== undefined
    if (before !== undefined && !isSame && (!isWaking || before.era !== opened.era)) {
      return this.#finish(this.#lost("unknown", "its home has opened another connection"))
    }
    this.#opened = opened
    this.#phase = "open"
    if (isWaking && !isSame) this.#restore()
    if (isWaking) this.#announce(resync)
    Deferred.unsafeDone(this.#ready, Exit.void)
  }

  /** Sets the log level and the watches again, in a connection that replaces one that was asleep. */
  #restore(): void {
    const level = this.#level
    if (level !== undefined) this.#runtime.run(Effect.ignore(this.call({ _tag: "SetLogLevel", level })))
    for (const [watching, filter] of this.#watches) {
      this.#runtime.run(Effect.ignore(this.call({ _tag: "Watch", watching, filter })))
    }
  }

  #answer(id: number, method: string, params: JsonRpc.JsonObject): Effect.Effect<void> {
    const { caller, handlers, home, server } = this.#peer
    return ServerRequests.answer({ server, handlers }, method, params).pipe(
      Effect.matchEffect({
        onSuccess: (result) => home.Answer({ caller, id, result }),
        onFailure: ({ code, reason }) => home.Answer({ caller, id, refused: { code, reason } })
      }),
      Effect.ignore
    )
  }

  #announce(notification: McpClient.Notification): void {
    for (const listener of this.#onNotification) listener(notification)
  }

  readonly #openTimedOut = (ready: Deferred.Deferred<void, McpError.ConnectError>) => (): void => {
    if (this.#phase !== "opening" || ready !== this.#ready) return
    const { server } = this.#peer
    const limit = Duration.decode(this.#options.openTimeout)
    this.#finish(new McpError.ConnectTimeout({ server, phase: "open", limit }))
  }

  /** Counts the home as lost when it gives no sign of life. A check that is late itself proves nothing. */
  readonly #watchSilence: Effect.Effect<void> = Effect.gen(this, function*() {
    let last = this.#now()
    while (this.#phase !== "ended") {
      yield* Effect.sleep(look)
      const now = this.#now()
      if (now - last > 3 * look) this.#heardAt = now
      last = now
      const limit = this.#phase === "open" ? this.#options.silence : this.#options.patience
      if (this.#phase === "asleep" || now - this.#heardAt < Duration.toMillis(limit)) continue
      const silent = Duration.format(Duration.millis(now - this.#heardAt))
      this.#finish(this.#lost("unknown", `no sign of life from its home for ${silent}`))
      this.#settleAll(() => this.#lost("unknown", `no sign of life from its home for ${silent}`))
    }
  })

  #finish(error: McpError.ConnectError): void {
    if (this.#phase === "ended") return
    this.#phase = "ended"
    this.#end = error
    Deferred.unsafeDone(this.#ready, Exit.fail(Outcome.notSent(error)))
    // the listeners come first, so that a caller whose call is lost finds the connection out of use
    for (const listener of this.#onEnded) listener(error)
    this.#onEnded.clear()
    const drained = Effect.sync(() => this.#settleAll(() => this.#lost("unknown", "no result from its home")))
    this.#runtime.run(Effect.delay(drained, this.#options.drain))
  }

  // Calls

  #settle(number: number, result: Result): void {
    const call = this.#calls.get(number)
    this.#forget(number)
    call?.settle(result)
  }

  #forget(number: number): void {
    if (this.#calls.delete(number)) this.#settled.push(number)
    if (this.#calls.size === 0 && this.#drained !== undefined) Deferred.unsafeDone(this.#drained, Effect.void)
  }

  #settleAll(error: () => McpError.CallError): void {
    for (const number of Array.from(this.#calls.keys())) this.#settle(number, Exit.fail(error()))
  }

  /** Sends a call until it has its result. */
  #attempts(number: number): Effect.Effect<void> {
    return Effect.gen(this, function*() {
      while (this.#calls.has(number)) {
        const result = yield* this.#attempt(number)
        if (result !== undefined) return this.#settle(number, result)
        yield* Effect.sleep(pause)
      }
    })
  }

  /** Sends a call once; `undefined` if it has to be sent again. */
  #attempt(number: number): Effect.Effect<Result | undefined> {
    const { caller, home } = this.#peer
    const call = this.#calls.get(number)
    if (call === undefined) return Effect.succeed(undefined)
    const sent = (incarnation: string) => home.Call({ caller, incarnation, call: number, operation: call.operation })
    const opened = this.#opened
    const isOpen = opened !== undefined && this.#phase !== "asleep" && this.#phase !== "opening"
    const answered = isOpen ? sent(opened.incarnation) : Effect.flatMap(this.open, (opened) => sent(opened.incarnation))
    return Effect.matchCauseEffect(answered, {
      onSuccess: ({ progress, result }) => Effect.as(this.#caughtUp(call, progress), Exit.succeed(result)),
      onFailure: (cause) => {
        if (cause._tag !== "Fail") {
          // interrupted at a home that closes, or a defect of the serialization
          return Effect.succeed(Exit.fail(this.#lost("unknown", "its home has ended the call")))
        }
        const { error } = cause
        switch (error._tag) {
          case "AlreadyProcessingMessage":
          case "MailboxFull":
          case "PersistenceError":
            return Effect.succeed(undefined)
          case "Refused": {
            if (!error.neverBegun) return Effect.succeed(Exit.fail(this.#lost("unknown", "its home was lost")))
            // the news that the connection has ended or sleeps may be on the way
            if (this.#phase !== "ended") return Effect.succeed(undefined)
            return Effect.succeed(Exit.fail(this.#lost("not-sent", "its home was lost")))
          }
          // of the connection at the home, which opens another one
          case "Closed":
            return Effect.succeed(Exit.fail(this.#lost(error.outcome, "its home has closed the connection")))
          default:
            return Effect.succeed(Exit.fail(error))
        }
      }
    })
  }

  /** Waits for progress that the home sent before the result, which takes another way. */
  #caughtUp(call: Call, progress: number): Effect.Effect<void> {
    if (call.onProgress === undefined || call.progress >= progress) return Effect.void
    const arrived = Effect.repeat(Effect.sync(() => call.progress), {
      until: (arrived) => arrived >= progress,
      schedule: Schedule.spaced("5 millis")
    })
    return Effect.asVoid(Effect.timeoutOption(arrived, lateProgress))
  }
}

/** Attaches to a home until the scope closes, and opens the connection. */
export const make = (
  peer: Peer,
  options: Options
): Effect.Effect<Attachment, McpError.ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    const own = yield* Effect.acquireRelease(
      Scope.make(),
      (own) => BoundedWait.within(closeWithin)(Scope.close(own, Exit.void))
    )
    const run = yield* Scope.extend(FiberSet.makeRuntime<never, void>(), own)
    const attachment = new Attachment(peer, options, { clock: yield* Effect.clock, run })
    yield* Effect.addFinalizer(() => attachment.close)
    yield* attachment.open
    return attachment
  })
