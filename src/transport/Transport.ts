/**
 * The port between the client and a transport. A transport carries whole messages. It opens in a scope (interruptible,
 * and limited by its caller), and closing the scope releases everything within the limits of `Teardown`. Its functions
 * are synchronous and never block; later events go to its `Sink`.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import type * as JsonRpc from "./JsonRpc.ts"

export type { Id, Incoming, Message } from "./JsonRpc.ts"

/** An oddity that fails no request: it is counted and reported, never thrown. */
export interface Diagnostic {
  readonly kind:
    | "noise" // output that is no message: a banner, a log line, JSON that is not JSON-RPC
    | "oversize" // a message over the limit was skipped
    | "stream" // an optional stream could not be opened or was given up
    | "dropped" // a message was dropped because nothing waits for it
    | "shed" // a request of the server was refused because too many wait
    | "lenient" // the server broke a rule that can be forgiven
  /** Escaped and bounded. */
  readonly detail: string
}

/** Why a transport has ended, and which requests certainly never left this process. */
export interface Ended {
  /** The error for a request whose outcome is `outcome`. */
  readonly error: (outcome: McpError.Outcome) => McpError.ConnectError
  readonly unsent: (id: JsonRpc.Id) => boolean
}

/** Receives messages and events. Every member is called synchronously and must not throw. */
export interface Sink {
  readonly message: (message: JsonRpc.Incoming) => void
  /** The request with this id will get no answer. */
  readonly failed: (id: JsonRpc.Id, error: McpError.CallError) => void
  /** A question to a person was opened or closed for this request, whose deadline is paused in between. */
  readonly waiting: (id: JsonRpc.Id, open: boolean) => void
  readonly diagnostic: (diagnostic: Diagnostic) => void
  /** Called exactly once, after everything that could still be read was delivered. */
  readonly ended: (ended: Ended) => void
}

export interface SendOptions {
  /** Headers of this message; a transport without headers ignores them. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The result of the handshake; a transport with headers repeats it in them. */
export interface Negotiated {
  readonly era: Era
  readonly protocolVersion: string
}

/**
 * The two families of protocol versions: those with a handshake and a session (up to 2025-11-25), and those without
 * (2026-07-28 and later).
 */
export type Era = "session" | "stateless"

/** An open connection to one server. */
export interface Transport {
  readonly kind: "stdio" | "streamable-http" | "sse" | "ws" | "memory"
  /** True if every request has a separate stream, whose end cancels the request in the stateless era. */
  readonly streamPerRequest: boolean
  /** Begins delivery; called once, before the first `send`. */
  readonly start: (sink: Sink) => void
  /**
   * Sends or queues a message. An error means that it was not sent; later failures of a request reach `Sink.failed` or
   * `Sink.ended`.
   */
  readonly send: (message: JsonRpc.Message, options?: SendOptions) => McpError.CallError | undefined
  /**
   * Waits, bounded, until the notifications sent so far are accepted. Only where a request could overtake them; the
   * handshake awaits it after `notifications/initialized`.
   */
  readonly accepted?: Effect.Effect<void> | undefined
  /** The caller no longer waits for this request: its resources are released. */
  readonly abandon: (id: JsonRpc.Id) => void
  /** Called once the handshake is done, and again after a re-initialization. */
  readonly negotiated: (negotiated: Negotiated) => void
  /** The end of the server's stderr, where it has one. */
  readonly stderrTail: () => string | undefined
  /** True while a launcher (npx, uvx, …) visibly installs the server; absent without a launcher. */
  readonly installing?: (() => boolean) | undefined
}

/** Opens a transport for a server's configuration. */
export interface Open<Config> {
  (config: Config): Effect.Effect<Transport, McpError.ConnectError, Scope.Scope>
}

/** The transports of an application: one opener that chooses by the configuration's `transport` field. */
export class Transports extends Context.Tag("effect-mcp-runtime/transport/Transport/Transports")<Transports, {
  readonly open: Open<ServerConfig.ServerConfig>
}>() {}
