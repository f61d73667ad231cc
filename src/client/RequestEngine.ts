/**
 * The JSON-RPC engine of one connection: ids, pending requests, deadlines, cancellation, and the requests of the server.
 * Plain synchronous code with one Effect at its face, because every call passes it.
 */
import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberHandle from "effect/FiberHandle"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import { constVoid } from "effect/Function"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Utils from "effect/Utils"
import * as McpError from "../McpError.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import type * as Deadline from "../resilience/Deadline.ts"
import { onExitSync } from "../resilience/onExitSync.ts"
import * as Scoped from "../scoped.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Transport from "../transport/Transport.ts"
import type * as Handshake from "./handshake.ts"
import type * as McpClient from "./McpClient.ts"
import * as Messages from "./messages.ts"
import type { Refused } from "./serverRequests.ts"

export interface Options extends Pick<Handshake.Connection, "server" | "transport" | "report"> {
  /** How many requests of the server are served at once; more are refused. */
  readonly maxServerRequests: number
  /** Answers a request of the server; interrupted when the server cancels it. */
  readonly serve: (method: string, params: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject, Refused>
}

export interface RequestOptions extends Pick<McpClient.RequestOptions, "onProgress" | "headers"> {
  /** Absent for a request that its caller limits. */
  readonly deadline?: Deadline.Deadline | undefined
  /** Whether progress is requested. */
  readonly progress?: boolean | undefined
  /** Whether the server is notified when the request is given up. */
  readonly cancellable?: boolean | undefined
  /** Called with the id before anything is sent. */
  readonly onId?: ((id: JsonRpc.Id) => void) | undefined
}

interface Pending {
  readonly id: JsonRpc.Id
  readonly method: string
  options: RequestOptions
  settle: (exit: Exit.Exit<JsonRpc.JsonObject, McpError.CallError>) => void
}

type Served = Fiber.RuntimeFiber<JsonRpc.JsonObject, Refused>

/** What `make` takes from its fiber and scope. */
interface Runtime {
  readonly clock: Clock.Clock
  readonly random: Utils.PCGRandom
  readonly runTimer: (effect: Effect.Effect<void>) => void
  readonly fork: (effect: Effect.Effect<JsonRpc.JsonObject, Refused>) => Served
}

const firstId = 1 << 20
const lastId = 2 ** 31 - 1

export class RequestEngine {
  /** Whether the server may send requests; it may not in the stateless era. */
  acceptsRequests = true
  /** Whether an abandoned request is cancelled by a notification. */
  cancelsByNotification = true

  readonly #options: Options & Runtime
  readonly #pending = new Map<unknown, Pending>()
  readonly #serving = new Map<unknown, Served>()
  readonly #onNotification = new Set<(notification: McpClient.Notification) => void>()
  readonly #onEnded = new Set<(error: McpError.ConnectError) => void>()
  #end: Transport.Ended | undefined = undefined
  #drained: Deferred.Deferred<void> | undefined = undefined
  #closing = false
  #timerAt = Infinity
  #hasExactIds = false

  constructor(options: Options & Runtime) {
    this.#options = options
    const { report, transport } = options
    transport.start({
      message: this.#receive,
      failed: (id, error) => this.#settle(this.#pending.get(id), Exit.fail(error)),
      waiting: (id, open) => {
        const deadline = this.#pending.get(id)?.options.deadline
        deadline?.pause(open)
        this.#wakeBy(deadline?.at ?? Infinity)
      },
      diagnostic: report.diagnostic,
      ended: (end) => this.#finish(end)
    })
  }

  /** One request; interruption cancels it. */
  request(
    method: string,
    params: JsonRpc.JsonObject | undefined,
    options: RequestOptions
  ): Effect.Effect<JsonRpc.JsonObject, McpError.CallError> {
    return Effect.uninterruptibleMask((restore) => {
      let pending: Pending | undefined = undefined
      const answer = Effect.async<JsonRpc.JsonObject, McpError.CallError>((resume) => {
        if (this.#closing || this.#end !== undefined) {
          return resume(Exit.fail(this.#lost("not-sent", method) ?? this.#closed(method, "not-sent")))
        }
        const id = this.#nextId()
        options.onId?.(id)
        pending = { id, method, options, settle: resume }
        this.#pending.set(id, pending)
        const error = this.#send(
          { jsonrpc: "2.0", id, method, params: options.progress === true ? Messages.withToken(params, id) : params },
          options.headers
        )
        if (error !== undefined) return this.#settle(pending, Exit.fail(error))
        this.#wakeBy(options.deadline?.at ?? Infinity)
      })
      return onExitSync(restore(answer), () => {
        if (pending === undefined || this.#pending.get(pending.id) !== pending) return
        this.#giveUp(pending, "the caller no longer waits")
        this.#remove(pending)
      })
    })
  }

  readonly notify: McpClient.Channel["notify"] = (method, params) =>
    Effect.suspend(() => {
      const error = this.#lost("not-sent", method) ?? this.#send({ jsonrpc: "2.0", method, params })
      return error === undefined ? Effect.void : Effect.fail(error)
    })

  /** Calls the listener for each notification; returns a function that removes it. */
  readonly onNotification: McpClient.Channel["onNotification"] = (listener) =>
    Scoped.addListener(this.#onNotification, listener)

  /** Publishes a notification of our own to the listeners. */
  announce(notification: McpClient.Notification): void {
    for (const listener of this.#onNotification) this.#guarded("a listener", () => listener(notification))
  }

  /** Calls the listener at the end of the connection, or at once if it has ended. */
  readonly onEnded: McpClient.Channel["onEnded"] = (listener) => {
    const error = this.#end?.error("unknown")
    if (error === undefined) return Scoped.addListener(this.#onEnded, listener)
    listener(error)
    return () => undefined
  }

  readonly ended: McpClient.Channel["ended"] = Effect.async((resume) => {
    const remove = this.onEnded((error) => resume(Effect.succeed(error)))
    return Effect.sync(remove)
  })

  readonly now = (): number => this.#options.clock.unsafeCurrentTimeMillis()

  inFlight(): number {
    return this.#pending.size
  }

  /** Refuses new requests, waits for the pending ones up to `drain`, and fails the rest. */
  close(drain: Duration.Duration): Effect.Effect<void> {
    return Effect.gen(this, function*() {
      this.#closing = true
      if (this.#pending.size > 0 && Duration.toMillis(drain) > 0) {
        this.#drained = Deferred.unsafeMake<void>(FiberId.none)
        yield* BoundedWait.within(drain)(Deferred.await(this.#drained))
      }
      for (const pending of this.#pending.values()) this.#notifyCancelled(pending, "the connection closes")
      this.#finish({ error: (outcome) => this.#closed("the request", outcome), unsent: () => false })
    })
  }

  /** Fails the requests that are due; returns the next time to look. */
  expire(now: number): number {
    let next = Infinity
    for (const pending of this.#pending.values()) {
      const { deadline } = pending.options
      if (deadline === undefined) continue
      // while the application is asked something, the server owes nothing
      if (this.#serving.size > 0 && deadline.left() > 0) deadline.touch()
      if (deadline.at > now) {
        next = Math.min(next, deadline.at)
        continue
      }
      const overdue = deadline.expired("unknown")
      this.#giveUp(pending, `no answer within the ${overdue.kind} limit`)
      this.#settle(pending, Exit.fail(overdue))
    }
    return next
  }

  /** One sleeping fiber at most serves all deadlines. */
  readonly #sleep: Effect.Effect<void> = Effect.gen(this, function*() {
    while (this.#timerAt < Infinity) {
      yield* Effect.sleep(Math.max(1, this.#timerAt - this.now()))
      // a request that begins during `expire` is seen by it
      this.#timerAt = -Infinity
      this.#timerAt = this.expire(this.now())
    }
  })

  #wakeBy(time: number): void {
    if (time >= this.#timerAt) return
    this.#timerAt = time
    this.#options.runTimer(this.#sleep)
  }

  #nextId(): number {
    let id = 0
    do id = firstId + this.#options.random.integer(lastId - firstId)
    while (this.#pending.has(id))
    return id
  }

  /** Ends a request. It lets go of its call, because V8 keeps what a `Map` held while it grew until the next full collection. */
  #remove(pending: Pending): void {
    this.#pending.delete(pending.id)
    pending.options = {}
    pending.settle = constVoid
    if (this.#pending.size === 0 && this.#drained !== undefined) Deferred.unsafeDone(this.#drained, Effect.void)
  }

  #settle(pending: Pending | undefined, exit: Exit.Exit<JsonRpc.JsonObject, McpError.CallError>): void {
    if (pending === undefined) return
    const { options, settle } = pending
    this.#remove(pending)
    options.deadline?.pause(false)
    settle(Exit.isSuccess(exit) ? exit : Exit.mapError(exit, this.#options.report.error))
  }

  #send(message: JsonRpc.Message, headers?: Readonly<Record<string, string>>): McpError.CallError | undefined {
    const error = this.#options.transport.send(message, headers === undefined ? undefined : { headers })
    return error === undefined ? undefined : this.#options.report.error(error)
  }

  #notifyCancelled({ id, options }: Pending, reason: string): void {
    if (options.cancellable !== true || !this.cancelsByNotification) return
    this.#send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } })
  }

  #giveUp(pending: Pending, reason: string): void {
    this.#notifyCancelled(pending, reason)
    this.#options.transport.abandon(pending.id)
  }

  #closed(operation: string, outcome: McpError.Outcome): McpError.Closed {
    return new McpError.Closed({ server: this.#options.server, operation, outcome })
  }

  /** The error of an operation of a connection that has ended. */
  #lost(outcome: McpError.Outcome, operation: string): McpError.ConnectError | undefined {
    const error = this.#end?.error(outcome)
    return error?._tag === "Closed" ? this.#closed(operation, outcome) : error
  }

  #finish({ error, unsent }: Transport.Ended): void {
    if (this.#end !== undefined) return
    this.#end = { error: (outcome) => this.#options.report.error(error(outcome)), unsent }
    // the listeners come first, so that a caller whose request is lost finds the connection out of use
    const reason = this.#end.error("unknown")
    for (const listener of this.#onEnded) listener(reason)
    this.#onEnded.clear()
    for (const pending of Array.from(this.#pending.values())) {
      const lost = this.#lost(unsent(pending.id) ? "not-sent" : "unknown", pending.method)
      if (lost !== undefined) this.#settle(pending, Exit.fail(lost))
    }
    for (const id of Array.from(this.#serving.keys())) this.#stopServing(id)
  }

  readonly #receive = (message: JsonRpc.Incoming): void => {
    const { id: given, method } = message
    if (typeof method === "string") {
      if (message["jsonrpc"] !== "2.0") return this.#drop("noise", "a message that is not JSON-RPC 2.0")
      const params = Messages.objectOf(message["params"])
      return given === undefined ? this.#notified(method, params) : this.#requested(given, method, params)
    }
    if (typeof given !== "number" && typeof given !== "string") {
      return this.#drop("dropped", `neither a request nor an answer: ${Messages.excerpt(message)}`)
    }
    const pending = this.#find(given)
    if (pending !== undefined) return this.#settle(pending, Messages.decode(this.#options.server, message))
    // late answers to the requests that a close has cancelled are expected
    if (!this.#closing) this.#drop("dropped", `an answer to ${JSON.stringify(given)}, which is not pending`)
  }

  /** The pending request of an id. Some servers answer numeric ids as strings, which then holds for all their answers. */
  #find(given: unknown): Pending | undefined {
    const pending = this.#pending.get(given)
    this.#hasExactIds ||= pending !== undefined
    return pending ??
      (!this.#hasExactIds && String(Number(given)) === given ? this.#pending.get(Number(given)) : undefined)
  }

  #drop(kind: Transport.Diagnostic["kind"], detail: string): void {
    this.#options.report.diagnostic({ kind, detail: UntrustedText.excerpt(detail, 256) })
  }

  #guarded(callback: string, call: () => void): void {
    try {
      call()
    } catch (cause) {
      this.#drop("dropped", `${callback} has thrown: ${cause instanceof Error ? cause.message : typeof cause}`)
    }
  }

  #notified(method: string, params: JsonRpc.JsonObject): void {
    if (method === "notifications/progress") this.#progressed(params)
    if (method === "notifications/cancelled") this.#stopServing(params["requestId"])
    this.announce({ method, params })
  }

  #progressed(params: JsonRpc.JsonObject): void {
    const pending = this.#find(params["progressToken"])
    if (pending?.options.progress !== true) return
    pending.options.deadline?.touch()
    const { onProgress } = pending.options
    const progress = Messages.progressOf(params, this.#options.report.text)
    if (progress !== undefined) this.#guarded("a progress callback", () => onProgress?.(progress))
  }

  #requested(id: unknown, method: string, params: JsonRpc.JsonObject): void {
    const { fork, maxServerRequests, serve } = this.#options
    if (typeof id !== "number" && typeof id !== "string") return this.#drop("dropped", "a request with an invalid id")
    if (!this.acceptsRequests) return this.#drop("dropped", `the request ${method}, which this protocol does not have`)
    if (method === "ping") return this.#answer({ jsonrpc: "2.0", id, result: {} })
    if (this.#serving.has(id)) return this.#drop("dropped", `a second request with the id ${JSON.stringify(id)}`)
    if (this.#serving.size >= maxServerRequests) {
      this.#drop("shed", `the request ${method}: ${this.#serving.size} are being served`)
      return this.#answer({ jsonrpc: "2.0", id, error: { code: -32000, message: "Too many requests at once" } })
    }
    const fiber = fork(serve(method, params))
    this.#serving.set(id, fiber)
    fiber.addObserver((exit) => {
      if (this.#serving.get(id) !== fiber) return
      this.#served(id)
      if (exit._tag === "Success") return this.#answer({ jsonrpc: "2.0", id, result: exit.value })
      const refused = exit.cause._tag === "Fail" ? exit.cause.error : undefined
      const { code = -32603, reason = "The application could not answer" } = refused ?? {}
      this.#answer({ jsonrpc: "2.0", id, error: { code, message: reason } })
    })
  }

  /** Interrupts without an answer, because the server has cancelled the request or is gone. */
  #stopServing(id: unknown): void {
    const fiber = this.#serving.get(id)
    if (fiber === undefined) return
    this.#served(id)
    fiber.unsafeInterruptAsFork(fiber.id())
  }

  #served(id: unknown): void {
    this.#serving.delete(id)
    if (this.#serving.size > 0) return
    for (const { options } of this.#pending.values()) options.deadline?.touch()
  }

  #answer(message: JsonRpc.Success | JsonRpc.Failure): void {
    const error = this.#end === undefined ? this.#send(message) : undefined
    if (error !== undefined) this.#drop("shed", `an answer to the server: ${error.message}`)
  }
}

/** Starts the engine over an open transport. Requests of the server run in the scope. */
export const make = (options: Options): Effect.Effect<RequestEngine, never, Scope.Scope> =>
  Effect.gen(function*() {
    return new RequestEngine({
      ...options,
      clock: yield* Effect.clock,
      random: new Utils.PCGRandom(yield* Random.nextIntBetween(0, 2 ** 31 - 1)),
      runTimer: yield* FiberHandle.makeRuntime<never, void>(),
      fork: yield* FiberSet.makeRuntime<never, JsonRpc.JsonObject, Refused>()
    })
  })
