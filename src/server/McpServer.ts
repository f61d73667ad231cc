/**
 * The port between a server (`Offer`) and its transports. An offer handles complete requests, the same for both eras, stdio
 * and HTTP; framing, eras, cancellation and limits are handled below it.
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as McpClient from "../client/McpClient.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Transport from "../transport/Transport.ts"

/** The error codes of JSON-RPC and of the protocol. */
export const codes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Too many concurrent requests of one caller. */
  overloaded: -32000,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022
} as const

/** An error response. Its message is sent unchanged, so it must not contain secrets. */
export class Refusal extends Data.TaggedError("Refusal")<{
  readonly code: number
  readonly message: string
  readonly data?: JsonRpc.Json | undefined
}> {}

export const refusal = (code: keyof typeof codes, message: string, data?: JsonRpc.Json): Refusal =>
  new Refusal({ code: codes[code], message, data })

export const invalidParams = (message: string, data?: JsonRpc.Json): Refusal => refusal("invalidParams", message, data)

/** A client of this server: the parent process over stdio, a session over HTTP, or the sender of a stateless request. */
export interface Caller {
  readonly era: Transport.Era
  readonly link: "stdio" | "http"
  readonly protocolVersion: string
  /** As the client describes itself. No decision depends on it. */
  readonly clientInfo: JsonRpc.JsonObject | undefined
  /** The requests that it answers. In the stateless era each request declares them. */
  readonly capabilities: JsonRpc.JsonObject
  /** The name of its bearer token, if the endpoint requires one. */
  readonly principal: string | undefined
}

/** The log levels, least severe first. */
export const logLevels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const

export type LogLevel = typeof logLevels[number]

export const logLevelOf = (value: unknown): LogLevel | undefined => logLevels.find((level) => level === value)

export interface LogMessage {
  readonly level: LogLevel
  readonly logger?: string | undefined
  readonly data: JsonRpc.Json
}

/** A request in flight. */
export interface Exchange {
  readonly caller: Caller
  readonly method: string
  readonly params: JsonRpc.JsonObject
  /** A header of the HTTP request. */
  readonly header: (name: string) => string | undefined
  /** Reports progress, if the caller requested it. Dropped when the outgoing queue is full. */
  readonly progress: (progress: McpClient.Progress) => void
  /** Logs to the caller, if the level is at least the one that it set. */
  readonly log: (message: LogMessage) => void
  /** Sends any other notification about this request. */
  readonly notify: (method: string, params?: JsonRpc.JsonObject) => void
  /**
   * Sends the caller a request: `elicitation/create`, `sampling/createMessage`, `roots/list`. In the stateless era it is
   * sent as the result of this request, and the next request brings the answer.
   */
  readonly ask: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject, Refusal>
}

/** Handles one method. Interrupted when the caller cancels or disconnects for good. */
export type Handler = (exchange: Exchange) => Effect.Effect<JsonRpc.JsonObject, Refusal>

/** Messages to a caller that belong to no request. */
export interface Peer {
  readonly caller: Caller
  /** Notifies the caller, or in the stateless era its subscriptions. Dropped when the outgoing queue is full. */
  readonly notify: (method: string, params?: JsonRpc.JsonObject) => void
  readonly log: (message: LogMessage) => void
  /** Fails in the stateless era, where only an `Exchange` can ask. */
  readonly ask: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject, Refusal>
}

export interface Watching {
  readonly ended: Effect.Effect<void>
}

/** The handlers of an offer for one caller, until it disconnects. */
export interface Service {
  /** By method. Any other method fails with `methodNotFound`. */
  readonly handlers: ReadonlyMap<string, Handler>
  /** `capabilities.extensions` for this caller, added to the capabilities of the offer. */
  readonly extensions?: ((caller: Caller) => Effect.Effect<JsonRpc.JsonObject>) | undefined
  /** Calls `changed` for each change of a resource until the scope closes, or until `ended`. */
  readonly watch?: ((uri: string, changed: () => void) => Effect.Effect<Watching, Refusal, Scope.Scope>) | undefined
  readonly setLogLevel?: ((level: LogLevel) => Effect.Effect<void, Refusal>) | undefined
  /** Handles a notification of the caller, except `notifications/cancelled`. */
  readonly notified?: ((method: string, params: JsonRpc.JsonObject) => Effect.Effect<void>) | undefined
  /** How long a list or a resource may be cached in the stateless era (default: not cached). */
  readonly hints?: ((method: string) => CacheHints) | undefined
}

export interface CacheHints {
  readonly ttlMs: number
  readonly cacheScope: "public" | "private"
}

/** A server for any number of callers. */
export interface Offer {
  readonly info: { readonly name: string; readonly version: string; readonly title?: string | undefined }
  readonly instructions?: string | undefined
  readonly capabilities: JsonRpc.JsonObject
  /**
   * Called for a new caller; the scope closes when it disconnects. All callers without a session of one HTTP endpoint
   * share one peer, and each exchange has its own `caller`.
   */
  readonly open: (peer: Peer) => Effect.Effect<Service, Refusal, Scope.Scope>
}

/** The limits of one caller. */
export interface Limits {
  /** Bytes of one message, in either direction. */
  readonly maxMessageBytes: number
  /** Concurrent requests of one caller. */
  readonly maxRequests: number
  /** Outgoing messages in the queue. */
  readonly queue: number
  /** How long to wait for an answer of the caller. */
  readonly inputTimeout: Duration.DurationInput
  /** How long requests in flight may continue after the input has ended. */
  readonly drainTimeout: Duration.DurationInput
}

export const defaults: Limits = {
  maxMessageBytes: 16 * 1024 * 1024,
  maxRequests: 2_048,
  queue: 1_024,
  inputTimeout: Duration.minutes(10),
  drainTimeout: Duration.seconds(5)
}
