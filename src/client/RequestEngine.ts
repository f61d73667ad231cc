/**
 * The JSON-RPC engine of one connection: ids, pending requests, deadlines, cancellation, and the requests of the server.
 * Plain synchronous code with one Effect at its face, because every call passes it.
 */
import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberHandle from "effect/FiberHandle"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Utils from "effect/Utils"
import * as McpError from "../McpError.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Transport from "../transport/Transport.ts"
import * as Engine from "./engine.ts"
import type { Refused } from "./InputHandlers.ts"
import * as Messages from "./messages.ts"
import type * as Reporting from "./reporting.ts"

export interface Options {
  readonly server: string
  readonly transport: Transport.Transport
  readonly stage: Engine.Stage
  readonly report: Reporting.Reporting
  /** How many requests of the server are served at once; more are refused. */
  readonly maxServerRequests: number
  /** Answers a request of the server; interrupted when the server cancels it. */
  readonly serve: (method: string, params: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject, Refused>
}

type Served = Fiber.RuntimeFiber<JsonRpc.JsonObject, Refused>

type Settled = Either.Either<JsonRpc.JsonObject, McpError.CallError>

class Pending extends Engine.Limited {
  readonly method: string
  readonly options: Engine.RequestOptions
  readonly settle: (settled: Settled) => void

  constructor(method: string, options: Engine.RequestOptions, settle: (settled: Settled) => void, now: number) {
    super(options, now)
    this.method = method
    this.options = options
    this.settle = settle
  }
}

const firstId = 1 << 20
const lastId = 2 ** 31 - 1

export class RequestEngine extends Engine.Listeners implements Engine.Engine {
  /** Whether the server may send requests; it may not in the stateless era. */
  acceptsRequests = true
  /** Whether an abandoned request is cancelled by a notification. */
  cancelsByNotification = true

  readonly #options: Options
  readonly #clock: Clock.Clock
  readonly #random: Utils.PCGRandom
  readonly #runTimer: (effect: Effect.Effect<void>) => void
  readonly #fork: (effect: Effect.Effect<JsonRpc.JsonObject, Refused>) => Served
  readonly #pending = new Map<JsonRpc.Id, Pending>()
  readonly #serving = new Map<JsonRpc.Id, Served>()
  #drained: Deferred.Deferred<void> | undefined = undefined
  #closing = false
  #timerAt = Infinity
  #hasExactIds = false

  constructor(
    options: Options,
    clock: Clock.Clock,
    seed: number,
    runTimer: (effect: Effect.Effect<void>) => void,
    fork: (effect: Effect.Effect<JsonRpc.JsonObject, Refused>) => Served
  ) {
    super()
    this.#options = options
    this.#clock = clock
    this.#random = new Utils.PCGRandom(seed)
    this.#runTimer = runTimer
    this.#fork = fork
  }

  start(): void {
    const { report, transport } = this.#options
    transport.start({
      message: (message) => this.#receive(message),
      failed: (id, error) => this.#settle(id, Either.left(this.#inPhase(error))),
      waiting: (id, open) => this.#waits(id, open),
      diagnostic: report.diagnostic,
      ended: (end) => this.#finish(end)
    })
  }

  /** One request; interruption cancels it. */
  request(
    method: string,
    params: JsonRpc.JsonObject | undefined,
    options: Engine.RequestOptions
  ): Effect.Effect<JsonRpc.JsonObject, McpError.CallError> {
    return Effect.async((resume) => {
      const id = this.#nextId()
      options.onId?.(id)
      this.#open(
        id,
        method,
        params,
        options,
        (settled) => resume(Either.isRight(settled) ? Exit.succeed(settled.right) : Exit.fail(settled.left))
      )
      return Effect.sync(() => this.#cancel(id))
    })
  }

  notify(method: string, params?: JsonRpc.JsonObject): McpError.CallError | undefined {
    return this.lost("not-sent", method) ?? this.#send({ jsonrpc: "2.0", method, params })
  }

  now(): number {
    return this.#clock.unsafeCurrentTimeMillis()
  }

  inFlight(): number {
    return this.#pending.size
  }

  /** Refuses new requests, waits for the pending ones up to `drain`, and fails the rest. */
  close(drain: Duration.Duration): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#closing = true
      if (this.#pending.size === 0 || Duration.toMillis(drain) <= 0) return Effect.void
      this.#drained = Deferred.unsafeMake<void>(FiberId.none)
      return Effect.asVoid(BoundedWait.within(drain)(Deferred.await(this.#drained)))
    }).pipe(Effect.andThen(Effect.sync(() => {
      if (!this.isEnded) {
        for (const id of this.#pending.keys()) this.#notifyCancelled(id, "the connection closes")
      }
      this.#finish({
        error: (outcome) => new McpError.Closed({ server: this.#options.server, operation: "the request", outcome }),
        unsent: () => false
      })
    })))
  }

  /** Fails the requests that are due; returns the next time to look. */
  expire(now: number): number {
    let next = Infinity
    for (const [id, pending] of this.#pending) {
      // while the application is asked something, the server owes nothing
      if (this.#serving.size > 0 && pending.totalAt > now) pending.touch(now)
      const at = pending.dueAt
      if (at > now) {
        next = Math.min(next, at)
        continue
      }
      const overdue = pending.timeout(this.#options.server, pending.method, now)
      this.#notifyCancelled(id, `no answer within the ${overdue.kind} limit`)
      this.#options.transport.abandon(id)
      this.#settle(id, Either.left(overdue))
    }
    return next
  }

  /** One sleeping fiber at most serves all deadlines. */
  readonly #sleep: Effect.Effect<void> = Effect.suspend(() =>
    this.#timerAt === Infinity ? Effect.void : Effect.sleep(Math.max(1, this.#timerAt - this.now())).pipe(
      Effect.andThen(Effect.sync(() => {
        // a request that begins during `expire` is seen by it
        this.#timerAt = -Infinity
        this.#timerAt = this.expire(this.now())
      })),
      Effect.andThen(this.#sleep)
    )
  )

  #wakeBy(time: number): void {
    if (time >= this.#timerAt) return
    this.#timerAt = time
    this.#runTimer(this.#sleep)
  }

  #nextId(): number {
    let id = 0
    do id = firstId + this.#random.integer(lastId - firstId)
    while (this.#pending.has(id))
    return id
  }

  #open(
    id: JsonRpc.Id,
    method: string,
    params: JsonRpc.JsonObject | undefined,
    options: Engine.RequestOptions,
    settle: (settled: Settled) => void
  ): void {
    const { server } = this.#options
    const lost = this.lost("not-sent", method)
    if (lost !== undefined) return settle(Either.left(lost))
    if (this.#closing) {
      return settle(Either.left(new McpError.Closed({ server, operation: method, outcome: "not-sent" })))
    }
    const pending = new Pending(method, options, settle, this.now())
    this.#pending.set(id, pending)
    const error = this.#send(
      {
        jsonrpc: "2.0",
        id,
        method,
        params: Messages.withToken(params, options.progress === true ? id : options.progress)
      },
      options.headers
    )
    if (error !== undefined) return this.#settle(id, Either.left(error))
    this.#wakeBy(pending.dueAt)
  }

  #cancel(id: JsonRpc.Id): void {
    if (!this.#pending.has(id)) return
    this.#notifyCancelled(id, "the caller no longer waits")
    this.#remove(id)
    this.#options.transport.abandon(id)
  }

  #remove(id: JsonRpc.Id): void {
    this.#pending.delete(id)
    if (this.#pending.size === 0 && this.#drained !== undefined) Deferred.unsafeDone(this.#drained, Effect.void)
  }

  #settle(id: JsonRpc.Id, settled: Settled): void {
    const pending = this.#pending.get(id)
    if (pending === undefined) return
    this.#remove(id)
    pending.settle(Either.mapLeft(settled, this.#options.report.error))
  }

  #send(message: JsonRpc.Message, headers?: Readonly<Record<string, string>>): McpError.CallError | undefined {
    const error = this.#options.transport.send(message, headers === undefined ? undefined : { headers })
    return error === undefined ? undefined : this.#options.report.error(error)
  }

  #notifyCancelled(id: JsonRpc.Id, reason: string): void {
    if (this.#pending.get(id)?.options.cancellable !== true || !this.cancelsByNotification) return
    this.#send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } })
  }

  #waits(id: JsonRpc.Id, open: boolean): void {
    const pending = this.#pending.get(id)
    if (pending === undefined) return
    pending.waits(open, this.now())
    this.#wakeBy(pending.dueAt)
  }

  #finish(end: Transport.Ended): void {
    if (this.isEnded) return
    // the listeners come first, so that a caller whose request is lost finds the connection out of use
    this.end({
      error: (outcome) => this.#options.report.error(this.#inPhase(end.error(outcome))),
      unsent: end.unsent
    })
    for (const [id, { method }] of Array.from(this.#pending)) {
      const error = this.lost(end.unsent(id) ? "not-sent" : "unknown", method)
      if (error !== undefined) this.#settle(id, Either.left(error))
    }
    for (const id of Array.from(this.#serving.keys())) this.#stopServing(id)
  }

  /** Errors of the transport do not know how far the connect has come. */
  #inPhase<E extends McpError.CallError>(error: E): E {
    const { phase } = this.#options.stage
    if (phase === "ready" || !("phase" in error) || error.phase === phase) return error
    // the casts: the same class with another phase
    if (error._tag === "ConnectionLost" && error.reason === "exited") {
      return new McpError.ConnectionLost({ ...error, phase }) as E
    }
    if (error._tag === "ProtocolViolation") return new McpError.ProtocolViolation({ ...error, phase }) as E
    return error
  }

  #receive(message: JsonRpc.Incoming): void {
    const method = message["method"]
    if (typeof method === "string") {
      if (message["jsonrpc"] !== "2.0") return this.#drop("noise", "a message that is not JSON-RPC 2.0")
      return message["id"] === undefined ? this.#notified(method, message) : this.#requested(method, message)
    }
    const given = message["id"]
    if (typeof given !== "number" && typeof given !== "string") {
      return this.#drop("dropped", `neither a request nor an answer: ${Messages.excerpt(message)}`)
    }
    const id = this.#pendingId(given)
    if (id !== undefined) {
      return this.#settle(id, Messages.decode(this.#options.server, this.#options.stage.phase, message))
    }
    // late answers to the requests that a close has cancelled are expected
    if (!this.#closing) this.#drop("dropped", `an answer to ${JSON.stringify(given)}, which is not pending`)
  }

  /** The pending request of an id. Some servers answer numeric ids as strings, which then holds for all their answers. */
  #pendingId(given: unknown): JsonRpc.Id | undefined {
    if (typeof given !== "number" && typeof given !== "string") return undefined
    if (this.#pending.has(given)) {
      this.#hasExactIds = true
      return given
    }
    const numeric = Number(given)
    return !this.#hasExactIds && String(numeric) === given && this.#pending.has(numeric) ? numeric : undefined
  }

  #drop(kind: Transport.Diagnostic["kind"], detail: string): void {
    this.#options.report.diagnostic({ kind, detail: UntrustedText.excerpt(detail, 256) })
  }

  protected thrown(callback: string, cause: unknown): void {
    this.#drop("dropped", `${callback} has thrown: ${cause instanceof Error ? cause.message : typeof cause}`)
  }

  #notified(method: string, message: JsonRpc.Incoming): void {
    const params = Messages.paramsOf(message)
    if (method === "notifications/progress") this.#progressed(params)
    if (method === "notifications/cancelled") {
      const id = params["requestId"]
      if (typeof id === "number" || typeof id === "string") this.#stopServing(id)
    }
    this.announce({ method, params })
  }

  #progressed(params: JsonRpc.JsonObject): void {
    const id = this.#pendingId(params["progressToken"])
    const pending = id === undefined ? undefined : this.#pending.get(id)
    if (pending?.options.progress !== true) return
    pending.touch(this.now())
    const progress = Messages.progressOf(params, this.#options.report.text)
    if (pending.options.onProgress === undefined || progress === undefined) return
    try {
      pending.options.onProgress(progress)
    } catch (cause) {
      this.thrown("a progress callback", cause)
    }
  }

  #requested(method: string, message: JsonRpc.Incoming): void {
    const id = message["id"]
    if (typeof id !== "number" && typeof id !== "string") return this.#drop("dropped", "a request with an invalid id")
    if (!this.acceptsRequests) return this.#drop("dropped", `the request ${method}, which this protocol does not have`)
    if (method === "ping") return this.#answer({ jsonrpc: "2.0", id, result: {} })
    if (this.#serving.has(id)) return this.#drop("dropped", `a second request with the id ${JSON.stringify(id)}`)
    if (this.#serving.size >= this.#options.maxServerRequests) {
      this.#drop("shed", `the request ${method}: ${this.#serving.size} are being served`)
      return this.#answer({ jsonrpc: "2.0", id, error: { code: -32000, message: "Too many requests at once" } })
    }
    const fiber = this.#fork(this.#options.serve(method, Messages.paramsOf(message)))
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
  #stopServing(id: JsonRpc.Id): void {
    const fiber = this.#serving.get(id)
    if (fiber === undefined) return
    this.#served(id)
    fiber.unsafeInterruptAsFork(fiber.id())
  }

  #served(id: JsonRpc.Id): void {
    this.#serving.delete(id)
    if (this.#serving.size > 0) return
    const now = this.now()
    for (const pending of this.#pending.values()) pending.touch(now)
  }

  #answer(message: JsonRpc.Success | JsonRpc.Failure): void {
    const error = this.isEnded ? undefined : this.#send(message)
    if (error !== undefined) this.#drop("shed", `an answer to the server: ${error.message}`)
  }
}

/** Starts the engine over an open transport. Requests of the server run in the scope. */
export const make = (options: Options): Effect.Effect<RequestEngine, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const seed = yield* Random.nextIntBetween(0, 2 ** 31 - 1)
    const runTimer = yield* FiberHandle.makeRuntime<never, void>()
    const fork = yield* FiberSet.makeRuntime<never, JsonRpc.JsonObject, Refused>()
    const engine = new RequestEngine(options, clock, seed, runTimer, fork)
    engine.start()
    return engine
  })
