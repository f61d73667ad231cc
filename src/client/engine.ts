/** The port between the protocol and the sending of single requests: ours is `RequestEngine`, the SDK's its `Client`. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as McpError from "../McpError.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Transport from "../transport/Transport.ts"
import type * as McpClient from "./McpClient.ts"

/** The stage of a connect, which errors and timeouts name. */
export interface Stage {
  phase: McpError.Phase
}

export interface RequestOptions {
  /** Milliseconds without an answer or progress; `Infinity` for no limit. */
  readonly idle: number
  /** What is left of the idle limit when the request begins (default: all of it). */
  readonly firstIdle?: number | undefined
  /** Milliseconds in all. */
  readonly total: number
  /** Whether progress is requested. A text is a token of the caller, who listens to the notifications. */
  readonly progress: boolean | string
  /** Whether the server is notified when the request is given up. */
  readonly cancellable: boolean
  readonly onProgress?: ((progress: McpClient.Progress) => void) | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Called with the id before anything is sent. */
  readonly onId?: ((id: JsonRpc.Id) => void) | undefined
}

/** For requests that are limited by their caller. */
export const unlimited: RequestOptions = { idle: Infinity, total: Infinity, progress: false, cancellable: false }

/** What the layers above need of an engine; the client of the SDK is another one. */
export interface Engine {
  readonly request: (
    method: string,
    params: JsonRpc.JsonObject | undefined,
    options: RequestOptions
  ) => Effect.Effect<JsonRpc.JsonObject, McpError.CallError>
  readonly notify: (method: string, params?: JsonRpc.JsonObject) => McpError.CallError | undefined
  readonly onNotification: (listener: (notification: McpClient.Notification) => void) => () => void
  /** Publishes a notification of our own to the listeners. */
  readonly announce: (notification: McpClient.Notification) => void
  /** Called at once if the connection has ended. */
  readonly onEnded: (listener: (error: McpError.ConnectError) => void) => () => void
  readonly ended: Effect.Effect<McpError.ConnectError>
  readonly now: () => number
}

/** Listens to the notifications until the scope closes. */
export const listen = (
  { onNotification }: Pick<McpClient.Channel, "onNotification">,
  listener: (notification: McpClient.Notification) => void
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(Effect.sync(() => onNotification(listener)), (remove) => Effect.sync(remove)))

/** The error of a request or a series of requests that has reached its total limit. */
export const overdue = (server: string, operation: string, limit: Duration.Duration): McpError.RequestTimeout =>
  new McpError.RequestTimeout({ server, kind: "total", operation, limit, outcome: "unknown" })

/** The limits of a pending request. They stand still while the transport waits for a person on its behalf. */
export class Limited {
  idleAt: number
  totalAt: number
  #waitingSince: number | undefined = undefined
  readonly #limits: Pick<RequestOptions, "idle" | "total">

  constructor({ firstIdle, idle, total }: RequestOptions, now: number) {
    this.#limits = { idle, total }
    this.idleAt = now + (firstIdle ?? idle)
    this.totalAt = now + total
  }

  get isWaiting(): boolean {
    return this.#waitingSince !== undefined
  }

  get dueAt(): number {
    return this.isWaiting ? Infinity : Math.min(this.idleAt, this.totalAt)
  }

  /** Begins the idle limit again. */
  touch(now: number): void {
    this.idleAt = now + this.#limits.idle
  }

  waits(isOpen: boolean, now: number): void {
    if (isOpen) {
      this.#waitingSince ??= now
    } else if (this.#waitingSince !== undefined) {
      this.totalAt += now - this.#waitingSince
      this.#waitingSince = undefined
      this.touch(now)
    }
  }

  timeout(server: string, operation: string, now: number): McpError.RequestTimeout {
    const kind = this.totalAt <= now ? "total" : "idle"
    const limit = Duration.millis(this.#limits[kind])
    return new McpError.RequestTimeout({ server, kind, operation, limit, outcome: "unknown" })
  }
}

/** The listeners of a connection, and its end. */
export abstract class Listeners {
  readonly #notified = new Set<(notification: McpClient.Notification) => void>()
  readonly #ended = new Set<(error: McpError.ConnectError) => void>()
  #end: Transport.Ended | undefined = undefined

  /** Receives the defect of a listener, which must not stop the reading. */
  protected abstract thrown(callback: string, cause: unknown): void

  readonly onNotification: Engine["onNotification"] = (listener) => added(this.#notified, listener)

  announce(notification: McpClient.Notification): void {
    for (const listener of this.#notified) {
      try {
        listener(notification)
      } catch (cause) {
        this.thrown("a listener", cause)
      }
    }
  }

  onEnded(listener: (error: McpError.ConnectError) => void): () => void {
    const error = this.#end?.error("unknown")
    if (error === undefined) return added(this.#ended, listener)
    listener(error)
    return () => undefined
  }

  readonly ended: Engine["ended"] = Effect.async((resume) => {
    const remove = this.onEnded((error) => resume(Effect.succeed(error)))
    return Effect.sync(remove)
  })

  protected get isEnded(): boolean {
    return this.#end !== undefined
  }

  /** Ends the connection, once. */
  protected end(end: Transport.Ended): void {
    this.#end = end
    const error = end.error("unknown")
    for (const listener of this.#ended) listener(error)
    this.#ended.clear()
  }

  /** The error of an operation of a connection that has ended. */
  protected lost(outcome: McpError.Outcome, operation: string): McpError.ConnectError | undefined {
    const error = this.#end?.error(outcome)
    return error?._tag === "Closed" ? new McpError.Closed({ server: error.server, operation, outcome }) : error
  }
}

/** A new function, so that a listener that is added twice is called twice. */
const added = <A>(listeners: Set<(value: A) => void>, listener: (value: A) => void): () => void => {
  const own = (value: A) => listener(value)
  listeners.add(own)
  return () => {
    listeners.delete(own)
  }
}
