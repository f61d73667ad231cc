/**
 * The port between what a server offers and the ways in which callers reach it: the same for both eras, for stdio and for
 * HTTP. An offer gets whole requests; framing, eras, cancellation and limits are below it.
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
  /** Too many requests of one caller at once. */
  overloaded: -32000,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022
} as const

/** An answer that is an error. Its message is sent as it is, so it must hold nothing that the caller may not know. */
export class Refusal extends Data.TaggedError("Refusal")<{
  readonly code: number
  readonly message: string
  readonly data?: JsonRpc.Json | undefined
}> {}

export const refusal = (code: keyof typeof codes, message: string, data?: JsonRpc.Json): Refusal =>
  new Refusal({ code: codes[code], message, data })

export const invalidParams = (message: string, data?: JsonRpc.Json): Refusal => refusal("invalidParams", message, data)

/** Whom the server serves: the program at the other end of a pipe, a session over HTTP, or the sender of one request. */
export interface Caller {
  readonly era: Transport.Era
  readonly link: "stdio" | "http"
  readonly protocolVersion: string
  /** Its own description; nothing is decided on it. */
  readonly clientInfo: JsonRpc.JsonObject | undefined
  /** The questions that it answers. In the stateless era every request states them anew. */
  readonly capabilities: JsonRpc.JsonObject
  /** The name of its bearer token, where the endpoint has tokens. */
  readonly principal: string | undefined
}

/** The log levels, least important first. */
export const logLevels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const

export type LogLevel = typeof logLevels[number]

export const logLevelOf = (value: unknown): LogLevel | undefined => logLevels.find((level) => level === value)

export interface LogMessage {
  readonly level: LogLevel
  readonly logger?: string | undefined
  readonly data: JsonRpc.Json
}

/** One request on its way to an answer. */
export interface Exchange {
  readonly caller: Caller
  readonly method: string
  readonly params: JsonRpc.JsonObject
  /** A header of the HTTP request. */
  readonly header: (name: string) => string | undefined
  /** Reports progress, if the caller has asked for it. It is dropped where there is no room. */
  readonly progress: (progress: McpClient.Progress) => void
  /** Logs to the caller, if it wants this level. */
  readonly log: (message: LogMessage) => void
  /** Any other notification that belongs to this request. */
  readonly notify: (method: string, params?: JsonRpc.JsonObject) => void
  /**
   * Asks the caller on the way: `elicitation/create`, `sampling/createMessage`, `roots/list`. In the stateless era the
   * question is the result of this request, and the answer comes with the next one.
   */
  readonly ask: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject, Refusal>
}

/** Answers one method. Interrupted when the caller cancels, or is gone for good. */
export type Handler = (exchange: Exchange) => Effect.Effect<JsonRpc.JsonObject, Refusal>

/** The way to a caller outside of its requests. */
export interface Peer {
  readonly caller: Caller
  /** Notifies the caller, or in the stateless era its subscriptions. Dropped where there is no room. */
  readonly notify: (method: string, params?: JsonRpc.JsonObject) => void
  readonly log: (message: LogMessage) => void
  /** Fails in the stateless era, where only an `Exchange` can ask. */
  readonly ask: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject, Refusal>
}

export interface Watching {
  readonly ended: Effect.Effect<void>
}

/** The handlers of an offer for one caller, until the caller is gone. */
export interface Service {
  /** By method; other methods are not found. */
  readonly handlers: ReadonlyMap<string, Handler>
  /** `capabilities.extensions` for this caller, beside the capabilities of the offer. */
  readonly extensions?: ((caller: Caller) => Effect.Effect<JsonRpc.JsonObject>) | undefined
  /** Calls `changed` for the changes of a resource until the scope closes, or until `ended`. */
  readonly watch?: ((uri: string, changed: () => void) => Effect.Effect<Watching, Refusal, Scope.Scope>) | undefined
  readonly setLogLevel?: ((level: LogLevel) => Effect.Effect<void, Refusal>) | undefined
  /** A notification of the caller that is not about a request. */
  readonly notified?: ((method: string, params: JsonRpc.JsonObject) => Effect.Effect<void>) | undefined
  /** How long a list or a resource may be cached, in the stateless era (default: not at all). */
  readonly hints?: ((method: string) => CacheHints) | undefined
}

export interface CacheHints {
  readonly ttlMs: number
  readonly cacheScope: "public" | "private"
}

/** A server, as all its callers see it. */
export interface Offer {
  readonly info: { readonly name: string; readonly version: string; readonly title?: string | undefined }
  readonly instructions?: string | undefined
  readonly capabilities: JsonRpc.JsonObject
  /**
   * A caller has come; its scope closes when it is gone. All callers without a session over one HTTP endpoint are one
   * peer, and their exchanges say who they are.
   */
  readonly open: (peer: Peer) => Effect.Effect<Service, Refusal, Scope.Scope>
}

/** The limits for one caller. */
export interface Limits {
  /** Bytes of one message, in either direction. */
  readonly maxMessageBytes: number
  /** Requests of one caller at once. */
  readonly maxRequests: number
  /** Messages that wait to be written. */
  readonly queue: number
  /** How long an answer of the caller is waited for. */
  readonly inputTimeout: Duration.DurationInput
  /** How long requests may go on once no more can come. */
  readonly drainTimeout: Duration.DurationInput
}

export const defaults: Limits = {
  maxMessageBytes: 16 * 1024 * 1024,
  maxRequests: 2_048,
  queue: 1_024,
  inputTimeout: Duration.minutes(10),
  drainTimeout: Duration.seconds(5)
}
