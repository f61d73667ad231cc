/** The port between the protocol and the sending of single requests: ours is `RequestEngine`, the SDK's its `Client`. */
import * as Effect from "effect/Effect"
import type * as McpError from "../McpError.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
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

/** Options of requests that somebody else limits. */
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

/** Waits for the end of a connection. */
export const endOf = (engine: Pick<Engine, "onEnded">): Effect.Effect<McpError.ConnectError> =>
  Effect.async((resume) => {
    const remove = engine.onEnded((error) => resume(Effect.succeed(error)))
    return Effect.sync(remove)
  })
