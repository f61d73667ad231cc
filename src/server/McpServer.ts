/**
 * The port between what a server offers and the ways in which callers reach it: the same for both eras, for stdio and for
 * HTTP. What an offer gets is whole requests of known callers; framing, eras, cancellation and limits are below it.
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as McpClient from "../client/McpClient.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Transport from "../transport/Transport.ts"

/** The codes of JSON-RPC and of the protocol that a server answers with. */
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

/** An answer that is an error. Its text is sent as it is: it must say nothing that the caller may not know. */
export class Refusal extends Data.TaggedError("Refusal")<{
  readonly code: number
  readonly message: string
  readonly data?: JsonRpc.Json | undefined
}> {}

/** Who is served: one program at the other end of a pipe, one session over HTTP, or whoever comes without a session. */
export interface Caller {
  readonly era: Transport.Era
  readonly link: "stdio" | "http"
  readonly protocolVersion: string
  /** What it says of itself; nothing is decided on it. */
  readonly clientInfo: JsonRpc.JsonObject | undefined
  /** What it can be asked. In the stateless era every request says it anew. */
  readonly capabilities: JsonRpc.JsonObject
  /** As whom it has shown itself, where callers must. */
  readonly principal: string | undefined
}

/** How much of what happens a caller wants to be told, least important first. */
export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency"

/** What can be told to a caller. */
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
  /** A header of the HTTP request, where there is one. */
  readonly header: (name: string) => string | undefined
  /** Tells how far it is, if the caller has asked for that. What there is no room for is lost. */
  readonly progress: (progress: McpClient.Progress) => void
  /** Tells what happens, if the caller wants to know that much. */
  readonly log: (message: LogMessage) => void
  /** Any other notification that belongs to this request. */
  readonly notify: (method: string, params?: JsonRpc.JsonObject) => void
  /**
   * Asks the caller something on the way: `elicitation/create`, `sampling/createMessage`, `roots/list`. In the stateless
   * era that is a result with a question, and the answer comes with the next request.
   */
  readonly ask: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject, Refusal>
}

/** Answers one method. Interrupted when the caller cancels, or is gone for good. */
export type Handler = (exchange: Exchange) => Effect.Effect<JsonRpc.JsonObject, Refusal>

/** What a caller can be told and asked outside of its requests. */
export interface Visit {
  readonly caller: Caller
  /** Told to the caller, or in the stateless era to those who listen for it. What there is no room for is lost. */
  readonly notify: (method: string, params?: JsonRpc.JsonObject) => void
  readonly log: (message: LogMessage) => void
  /** Not possible in the stateless era, where only an `Exchange` can ask. */
  readonly ask: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject, Refusal>
}

/** What is there for one caller, as long as it is there. */
export interface Attendance {
  /** By method; what is not in it is not found. */
  readonly handlers: ReadonlyMap<string, Handler>
  /** `capabilities.extensions` for this caller, beside the capabilities of the offer. */
  readonly extensions?: ((caller: Caller) => Effect.Effect<JsonRpc.JsonObject>) | undefined
  /** Sees to it that changes of a resource are told, until the scope closes. */
  readonly watch?: ((uri: string) => Effect.Effect<void, Refusal, Scope.Scope>) | undefined
  /** The caller wants to be told so much from now on. */
  readonly setLogLevel?: ((level: LogLevel) => Effect.Effect<void, Refusal>) | undefined
  /** A notification of the caller that is not about a request. */
  readonly notified?: ((method: string, params: JsonRpc.JsonObject) => Effect.Effect<void>) | undefined
  /** How long what is listed or read may be kept, in the stateless era (default: not at all). */
  readonly hints?: ((method: string) => CacheHints) | undefined
}

export interface CacheHints {
  readonly ttlMs: number
  readonly cacheScope: "public" | "private"
}

/** What a server offers, whoever comes. */
export interface Offer {
  readonly info: { readonly name: string; readonly version: string; readonly title?: string | undefined }
  readonly instructions?: string | undefined
  readonly capabilities: JsonRpc.JsonObject
  /**
   * A caller has come; its scope closes when it is gone. All callers without a session over one HTTP endpoint are one
   * visit, and their exchanges say who they are.
   */
  readonly attend: (visit: Visit) => Effect.Effect<Attendance, Refusal, Scope.Scope>
}

/** What callers may take up. */
export interface Limits {
  /** Bytes of one message, in either direction. */
  readonly maxMessageBytes: number
  /** Requests of one caller at once. */
  readonly maxRequests: number
  /** Messages that wait to be looked at, and to be written. */
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
