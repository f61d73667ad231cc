/**
 * The request engine of one connection: ids, the table of pending requests, their deadlines and the write, as plain
 * synchronous code with one Effect at its face. It knows JSON-RPC and nothing of MCP's eras.
 *
 * @internal
 */
import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Utils from "effect/Utils"
import type * as Limits from "../../config/Limits.ts"
import { Listeners } from "../../internal/listeners.ts"
import * as McpError from "../../McpError.ts"
import * as BoundedWait from "../../resilience/BoundedWait.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as Transport from "../../transport/Transport.ts"
import type * as McpClient from "../McpClient.ts"
import * as answer from "./answer.ts"
import * as Deadlines from "./deadlines.ts"
import { Ending } from "./ending.ts"
import * as Guests from "./guests.ts"
import { Handling } from "./handling.ts"
import type * as Hiding from "./hiding.ts"
import * as RequestClock from "./requestClock.ts"

/** @internal */
export type Settled = Either.Either<JsonRpc.JsonObject, McpError.CallError>

/**
 * Whoever shares the connection with us: an SDK client. It gets what is not ours: the server's requests, the answers
 * to its own, and the notifications that concern those.
 *
 * @internal
 */
export interface Guest {
  readonly request: (message: JsonRpc.Incoming) => void
  readonly notification: (message: JsonRpc.Incoming) => void
  readonly ended: () => void
}

/** @internal */
export interface Options {
  readonly server: string
  readonly limits: Limits.Limits
  readonly transport: Transport.Transport
  readonly diagnostic: (diagnostic: Transport.Diagnostic) => void
  /** What the server has put into errors and progress passes here before anybody is told. */
  readonly hiding: Hiding.Hiding
}

/** @internal */
export interface RequestOptions {
  /** Milliseconds; `Infinity` for none. */
  readonly idle: number
  /** What is left of the idle limit when the request begins (default: all of it). */
  readonly firstIdle?: number | undefined
  readonly total: number
  readonly progress: boolean
  readonly cancellable: boolean
  readonly onProgress?: ((progress: McpClient.Progress) => void) | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Told the id before anything is sent. */
  readonly onId?: ((id: JsonRpc.Id) => void) | undefined
}

interface Pending {
  readonly method: string
  readonly options: RequestOptions
  readonly clock: RequestClock.RequestClock
  readonly settle: (settled: Settled) => void
}

/** @internal */
export interface Wire {
  readonly request: (
    method: string,
    params: JsonRpc.JsonObject | undefined,
    options: RequestOptions
  ) => Effect.Effect<JsonRpc.JsonObject, McpError.CallError>
  /** The same without an Effect around it, for those who make their own: `settle` is called once, perhaps at once. */
  readonly begin: (
    method: string,
    params: JsonRpc.JsonObject | undefined,
    options: RequestOptions,
    settle: (settled: Settled) => void
  ) => JsonRpc.Id
  readonly cancel: (id: JsonRpc.Id) => void
  readonly now: () => number
  readonly notify: (method: string, params: JsonRpc.JsonObject | undefined) => McpError.CallError | undefined
  readonly onNotification: (listener: (notification: McpClient.Notification) => void) => () => void
  /** Tells our own readers of something that the server did not say. */
  readonly announce: (notification: McpClient.Notification) => void
  readonly ending: Ending
  readonly inhabit: (guest: Guest) => GuestAccess
  /** The stage that errors name. */
  phase: McpError.Phase
  /** Whether the server may send requests; it may not in the stateless era. */
  serverRequests: boolean
  /** Whether an abandoned request is cancelled by a notification. */
  cancelByNotification: boolean
  /** The requests in flight. */
  readonly inFlight: () => number
  /** Settles everything and refuses what comes later. */
  readonly close: (drain: Duration.Duration) => Effect.Effect<void>
}

/** @internal */
export interface GuestAccess {
  readonly request: (message: JsonRpc.Request, settle: (settled: Settled) => void) => void
  readonly send: (message: JsonRpc.Notification | JsonRpc.Success | JsonRpc.Failure) => McpError.CallError | undefined
  readonly abandon: (id: JsonRpc.Id) => void
}

/** An SDK client counts its ids from 0, so ours begin where it will never be. */
const firstId = 1 << 20
const lastId = 2 ** 31 - 1

const guestOptions: RequestOptions = { idle: Infinity, total: Infinity, progress: false, cancellable: false }

class Engine implements Wire {
  phase: McpError.Phase = "open"
  serverRequests = true
  cancelByNotification = true

  readonly #server: string
  readonly #transport: Transport.Transport
  readonly #diagnostic: (diagnostic: Transport.Diagnostic) => void
  readonly #hiding: Hiding.Hiding
  readonly ending = new Ending()
  readonly #clock: Clock.Clock
  readonly #random: Utils.PCGRandom
  readonly #pending = new Map<JsonRpc.Id, Pending>()
  readonly #listeners = new Listeners<McpClient.Notification>((cause) => this.#thrown("a listener", cause))
  readonly #handling: Handling
  #guest: Guest | undefined = undefined
  #end: Transport.Ended | undefined = undefined
  #deadlines: Deadlines.Deadlines = { by: () => undefined }
  #drained: Deferred.Deferred<void> | undefined = undefined
  #closing = false

  constructor(options: Options, clock: Clock.Clock, seed: number) {
    this.#server = options.server
    this.#handling = new Handling(options.limits.maxServerRequests)
    this.#transport = options.transport
    this.#diagnostic = options.diagnostic
    this.#hiding = options.hiding
    this.#clock = clock
    this.#random = new Utils.PCGRandom(seed)
  }

  start(deadlines: Deadlines.Deadlines): void {
    this.#deadlines = deadlines
    this.#transport.start({
      message: (message) => this.#receive(message),
      failed: (id, error) => this.#settle(id, Either.left(this.#staged(error))),
      waiting: (id, open) => this.#waits(id, open),
      diagnostic: this.#diagnostic,
      ended: (end) => this.#finish(end)
    })
  }

  request(method: string, params: JsonRpc.JsonObject | undefined, options: RequestOptions) {
    return Effect.async<JsonRpc.JsonObject, McpError.CallError>((resume) => {
      const id = this.begin(method, params, options, (settled) => {
        resume(Either.isRight(settled) ? Exit.succeed(settled.right) : Exit.fail(settled.left))
      })
      return Effect.sync(() => this.cancel(id))
    })
  }

  begin(
    method: string,
    params: JsonRpc.JsonObject | undefined,
    options: RequestOptions,
    settle: (settled: Settled) => void
  ): JsonRpc.Id {
    const id = this.#nextId()
    options.onId?.(id)
    this.#open(id, method, params, options, settle)
    return id
  }

  cancel(id: JsonRpc.Id): void {
    if (!this.#pending.has(id)) return
    this.#tellCancelled(id, "the caller no longer waits")
    this.#pending.delete(id)
    this.#emptied()
    this.#transport.abandon(id)
  }

  now(): number {
    return this.#clock.unsafeCurrentTimeMillis()
  }

  notify(method: string, params: JsonRpc.JsonObject | undefined): McpError.CallError | undefined {
    if (this.#end !== undefined) return this.#end.error("not-sent")
    return this.#send({ jsonrpc: "2.0", method, params })
  }

  onNotification(listener: (notification: McpClient.Notification) => void) {
    return this.#listeners.add(listener)
  }

  announce(notification: McpClient.Notification): void {
    this.#listeners.tell(notification)
  }

  inhabit(guest: Guest): GuestAccess {
    this.#guest = guest
    return {
      request: (message, settle) => {
        this.#open(message.id, message.method, message.params, guestOptions, settle)
      },
      send: (message) => {
        if ("id" in message && message.id !== null) this.#answered(message.id)
        return this.#end === undefined ? this.#send(message) : this.#end.error("not-sent")
      },
      abandon: (id) => {
        if (this.#pending.delete(id)) this.#transport.abandon(id)
      }
    }
  }

  inFlight(): number {
    return this.#pending.size
  }

  close(drain: Duration.Duration): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#closing = true
      if (this.#pending.size === 0 || Duration.toMillis(drain) <= 0) return Effect.void
      this.#drained = Deferred.unsafeMake<void>(FiberId.none)
      return Effect.asVoid(BoundedWait.within(drain)(Deferred.await(this.#drained)))
    }).pipe(Effect.andThen(Effect.sync(() => {
      for (const id of Array.from(this.#pending.keys())) {
        if (this.#end === undefined) this.#tellCancelled(id, "the connection closes")
      }
      this.#finish({
        error: (outcome) => new McpError.Closed({ server: this.#server, operation: "the request", outcome }),
        unsent: () => false
      })
    })))
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
    options: RequestOptions,
    settle: (settled: Settled) => void
  ): void {
    if (this.#end !== undefined) return settle(Either.left(operationNamed(this.#end.error("not-sent"), method)))
    if (this.#closing) {
      return settle(Either.left(new McpError.Closed({ server: this.#server, operation: method, outcome: "not-sent" })))
    }
    const now = this.#clock.unsafeCurrentTimeMillis()
    const pending: Pending = { method, options, clock: RequestClock.make(options, now), settle }
    this.#pending.set(id, pending)
    const error = this.#send(
      {
        jsonrpc: "2.0",
        id,
        method,
        params: options.progress ? { ...params, _meta: { ...metaOf(params), progressToken: id } } : params
      },
      options.headers
    )
    if (error !== undefined) return this.#settle(id, Either.left(error))
    this.#deadlines.by(RequestClock.at(pending.clock))
  }

  #send(message: JsonRpc.Message, headers?: Readonly<Record<string, string>>): McpError.CallError | undefined {
    const error = this.#transport.send(message, headers === undefined ? undefined : { headers })
    return error === undefined ? undefined : this.#hiding.error(error)
  }

  #settle(id: JsonRpc.Id, settled: Settled): void {
    const pending = this.#pending.get(id)
    if (pending === undefined) return
    this.#pending.delete(id)
    this.#emptied()
    pending.settle(Either.isLeft(settled) ? Either.left(this.#hiding.error(settled.left)) : settled)
  }

  #emptied(): void {
    if (this.#pending.size === 0 && this.#drained !== undefined) Deferred.unsafeDone(this.#drained, Effect.void)
  }

  #tellCancelled(id: JsonRpc.Id, reason: string): void {
    if (this.#pending.get(id)?.options.cancellable !== true || !this.cancelByNotification) return
    this.#send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } })
  }

  #waits(id: JsonRpc.Id, open: boolean): void {
    const clock = this.#pending.get(id)?.clock
    if (clock === undefined) return
    RequestClock.wait(clock, open, this.#clock.unsafeCurrentTimeMillis())
    this.#deadlines.by(RequestClock.at(clock))
  }

  /** Times out what is due; returns when to look again. */
  due(now: number): number {
    let next = Infinity
    for (const [id, pending] of this.#pending) {
      const { clock } = pending
      if (this.#handling.asking && clock.totalAt > now) RequestClock.touch(clock, now)
      const at = RequestClock.at(clock)
      if (at > now) {
        if (at < next) next = at
        continue
      }
      const kind = RequestClock.over(clock, now)
      this.#tellCancelled(id, `no answer within the ${kind} limit`)
      this.#transport.abandon(id)
      this.#settle(
        id,
        Either.left(
          new McpError.RequestTimeout({
            server: this.#server,
            kind,
            operation: pending.method,
            limit: Duration.millis(pending.options[kind]),
            outcome: "unknown"
          })
        )
      )
    }
    return next
  }

  #finish(end: Transport.Ended): void {
    if (this.#end !== undefined) return
    const staged: Transport.Ended = {
      error: (outcome) => this.#hiding.error(this.#staged(end.error(outcome))),
      unsent: end.unsent
    }
    this.#end = staged
    const error = staged.error("unknown")
    // first of all, so that nobody who is told of a lost request finds the connection in use
    this.ending.reach(error)
    for (const [id, pending] of Array.from(this.#pending)) {
      this.#settle(
        id,
        Either.left(operationNamed(staged.error(staged.unsent(id) ? "not-sent" : "unknown"), pending.method))
      )
    }
    this.#handling.clear()
    this.#guest?.ended()
  }

  /** Only the connection knows how far it has come. */
  #staged<E extends McpError.CallError>(error: E): E {
    if (this.phase === "ready" || !("phase" in error) || error.phase === this.phase) return error
    if (error._tag === "ConnectionLost") return new McpError.ConnectionLost({ ...error, phase: this.phase }) as E
    if (error._tag === "ProtocolViolation") return new McpError.ProtocolViolation({ ...error, phase: this.phase }) as E
    return error
  }

  #receive(message: JsonRpc.Incoming): void {
    const method = message["method"]
    if (typeof method === "string") {
      if (message["jsonrpc"] !== "2.0") return this.#drop("noise", "a message that is not JSON-RPC 2.0")
      if (message["id"] === undefined) return this.#notified(method, message)
      return this.#asked(method, message)
    }
    const id = message["id"]
    if (typeof id !== "number" && typeof id !== "string") {
      return this.#drop("dropped", `neither a request nor an answer: ${answer.shown(message)}`)
    }
    const pending = this.#pending.get(id)
    if (pending === undefined) return this.#drop("dropped", `an answer to ${JSON.stringify(id)}, which nobody awaits`)
    this.#settle(id, answer.decode(this.#server, this.phase, message))
  }

  #drop(kind: Transport.Diagnostic["kind"], detail: string): void {
    this.#diagnostic({ kind, detail: UntrustedText.excerpt(detail, 256) })
  }

  /** A bug of the application, which must not stop the reading. */
  #thrown(who: string, cause: unknown): void {
    this.#drop("dropped", `${who} has thrown: ${cause instanceof Error ? cause.message : typeof cause}`)
  }

  #notified(method: string, message: JsonRpc.Incoming): void {
    const params = JsonRpc.isObject(message["params"]) ? message["params"] as JsonRpc.JsonObject : {}
    if (method === "notifications/progress") {
      if (this.#progressed(params)) return
    }
    if (Guests.hears.has(method)) this.#guest?.notification(message)
    // an SDK gives no answer to what was cancelled
    if (method === "notifications/cancelled") this.#answered(params["requestId"])
    this.announce({ method, params })
  }

  #progressed(params: JsonRpc.JsonObject): boolean {
    const token = params["progressToken"]
    if (typeof token !== "number" && typeof token !== "string") return false
    const pending = this.#pending.get(token)
    if (pending === undefined || !pending.options.progress) return false
    RequestClock.touch(pending.clock, this.#clock.unsafeCurrentTimeMillis())
    const onProgress = pending.options.onProgress
    if (onProgress !== undefined && typeof params["progress"] === "number") {
      const { message, progress, total } = params
      try {
        onProgress({
          progress,
          total: typeof total === "number" ? total : undefined,
          message: typeof message === "string" ? this.#hiding.text(message) : undefined
        })
      } catch (cause) {
        this.#thrown("a progress callback", cause)
      }
    }
    this.announce({ method: "notifications/progress", params })
    return true
  }

  #asked(method: string, message: JsonRpc.Incoming): void {
    const id = message["id"]
    if (typeof id !== "number" && typeof id !== "string") return this.#drop("dropped", "a request with an odd id")
    if (!this.serverRequests) return this.#drop("dropped", `the request ${method}, which this protocol does not have`)
    if (method === "ping") return this.#answer({ jsonrpc: "2.0", id, result: {} })
    if (this.#guest === undefined) return this.#refuseRequest(id, -32601, "Method not found")
    const begun = this.#handling.begin(id, method)
    if (begun === "duplicate") return this.#drop("dropped", `a second request with the id ${JSON.stringify(id)}`)
    if (begun === "begun") return this.#guest.request(message)
    this.#drop("shed", `the request ${method}: ${this.#handling.size} are being handled`)
    this.#refuseRequest(id, -32000, "Too many requests at once")
  }

  #answered(id: unknown): void {
    if (!this.#handling.end(id)) return
    const now = this.#clock.unsafeCurrentTimeMillis()
    for (const { clock } of this.#pending.values()) RequestClock.touch(clock, now)
  }

  #refuseRequest(id: JsonRpc.Id, code: number, message: string): void {
    this.#answer({ jsonrpc: "2.0", id, error: { code, message } })
  }

  #answer(message: JsonRpc.Success | JsonRpc.Failure): void {
    const error = this.#send(message)
    if (error !== undefined) this.#drop("shed", `an answer to the server: ${error.message}`)
  }
}

const metaOf = (params: JsonRpc.JsonObject | undefined): JsonRpc.JsonObject | undefined => {
  const meta = params?.["_meta"]
  return JsonRpc.isObject(meta) ? meta as JsonRpc.JsonObject : undefined
}

const operationNamed = (error: McpError.ConnectError, operation: string): McpError.ConnectError =>
  error._tag === "Closed"
    ? new McpError.Closed({ server: error.server, operation, outcome: error.outcome })
    : error

/** @internal */
export const make = (options: Options): Effect.Effect<Wire, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const seed = yield* Random.nextIntBetween(0, 2 ** 31 - 1)
    const engine = new Engine(options, clock, seed)
    const deadlines = yield* Deadlines.make((now) => engine.due(now))
    engine.start(deadlines)
    return engine
  })
