/**
 * A transport to a peer in the same process, with faults: for tests of this package and of what is built on it.
 *
 * Everything runs on Effect's `Clock`, so `TestClock` drives it, and nothing is random but what a seed decides. Messages
 * cross as JSON texts, in order, and never within the call that sends them. `MemoryServer` is a whole MCP server to put
 * at the other end.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as Transport from "../transport/Transport.ts"
import * as memoryPeer from "./internal/memoryPeer.ts"

/**
 * How a connection ends, seen from the client: the error for a request whose outcome is `outcome`.
 *
 * @since 0.1.0
 * @category models
 */
export interface End {
  (server: string, outcome: McpError.Outcome, stderrTail: string | undefined): McpError.ConnectError
}

/**
 * What a peer can do with one connection.
 *
 * @since 0.1.0
 * @category models
 */
export interface Io {
  /** 1 for the first connection of the peer, 2 for the second. */
  readonly connection: number
  readonly config: ServerConfig.ServerConfig
  /** Sends any value as JSON, whether or not it is a message. */
  readonly send: (message: unknown) => Effect.Effect<void>
  /** Sends a text as it is, whether or not it is JSON. */
  readonly line: (text: string) => Effect.Effect<void>
  /** Lets a request fail alone, as HTTP can with a status. */
  readonly fail: (id: JsonRpc.Id, error: (server: string) => McpError.CallError) => Effect.Effect<void>
  readonly stderr: (text: string) => Effect.Effect<void>
  /** Lets whoever waits with `until` ask again. */
  readonly stir: Effect.Effect<void>
  /** Ends the connection, after what was sent has arrived. */
  readonly end: (end?: End) => Effect.Effect<void>
}

/**
 * What a peer does with what it receives. Each call runs in a fiber of its own, which ends with the connection; they
 * start in the order of arrival.
 *
 * @since 0.1.0
 * @category models
 */
export interface Receiver {
  readonly message: (message: JsonRpc.Incoming) => Effect.Effect<void>
  /** The client no longer waits for this request; only if `streamPerRequest`. */
  readonly abandoned?: ((id: JsonRpc.Id) => Effect.Effect<void>) | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface PeerOptions {
  /** Whether each request has a stream of its own, as over HTTP (default: no). */
  readonly streamPerRequest?: boolean | undefined
  /** How many messages may wait while the peer hangs (default 1 024). */
  readonly queueLimit?: number | undefined
  /** How many entries of the transcript are kept (default 10 000, the newest). */
  readonly transcriptLimit?: number | undefined
}

/**
 * One thing that happened at a peer, for assertions and for comparing runs.
 *
 * @since 0.1.0
 * @category models
 */
export interface Entry {
  /** Milliseconds of the `Clock`. */
  readonly at: number
  /** 0 where there is no connection. */
  readonly connection: number
  readonly kind: "opened" | "refused" | "received" | "delivered" | "lost" | "ended" | "closed"
  /** The message as it crossed, or the tag of the error. */
  readonly detail: string
}

/**
 * The connections of a peer, counted.
 *
 * @since 0.1.0
 * @category models
 */
export interface Connections {
  readonly opened: number
  readonly refused: number
  /** Acquired and not yet released: a connection that has ended counts until its scope closes. */
  readonly open: number
  /** The most that were open at once. */
  readonly maxOpen: number
  /** Released. */
  readonly closed: number
}

/**
 * Random faults: how likely each is, from 0 to 1.
 *
 * @since 0.1.0
 * @category models
 */
export interface Rates {
  /** A connect is refused. */
  readonly refuse?: number | undefined
  /** The connection breaks at a message, before or after it has arrived. */
  readonly drop?: number | undefined
  /** What is under way to the client is lost when the connection breaks. */
  readonly discard?: number | undefined
  /** An answer never comes. */
  readonly lose?: number | undefined
  /** An answer comes twice. */
  readonly duplicate?: number | undefined
  /** An answer to a request that nobody made comes as well. */
  readonly stray?: number | undefined
  /** A line that is no message comes first. */
  readonly garbage?: number | undefined
  /** A message is late by up to `maxDelay`, and what follows it with it. */
  readonly delay?: number | undefined
  /** Default: one second. */
  readonly maxDelay?: Duration.DurationInput | undefined
}

/**
 * How late a message arrives: always the same, or decided for each. Messages never overtake each other.
 *
 * @since 0.1.0
 * @category models
 */
export type Delay =
  | Duration.DurationInput
  | ((message: JsonRpc.Incoming, direction: "to-peer" | "to-client") => Duration.DurationInput)

/**
 * A peer: what answers, what it has seen, and the faults that a test can give it. Faults concern the connections that
 * are open and those to come, until `heal`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Peer {
  readonly open: Transport.Open<ServerConfig.ServerConfig>
  /** The counters as they are now. */
  readonly connections: () => Connections
  readonly transcript: () => ReadonlyArray<Entry>
  /** The messages that reached the peer, all of them or those with this method. */
  readonly received: (method?: string) => ReadonlyArray<JsonRpc.Incoming>
  /** Waits until this is true; it is asked again whenever something happens at the peer. */
  readonly until: (predicate: () => boolean) => Effect.Effect<void>
  /** Sends a message on every open connection. */
  readonly broadcast: (message: unknown) => Effect.Effect<void>
  /** Sends a line that is no message on every open connection. */
  readonly garbage: (text: string) => Effect.Effect<void>
  /** Ends every open connection; with `discard`, what is under way to the client is lost. */
  readonly drop: (end?: End, options?: { readonly discard?: boolean | undefined }) => Effect.Effect<void>
  /** Stops reading: what is sent waits, and after the `stallTimeout` the connection is lost. */
  readonly hang: Effect.Effect<void>
  readonly unhang: Effect.Effect<void>
  /** Goes on reading and working, and sends nothing any more. */
  readonly halfClose: Effect.Effect<void>
  readonly delay: (delay: Delay) => Effect.Effect<void>
  /** Sends each answer this many times more. */
  readonly duplicate: (copies: number) => Effect.Effect<void>
  /** Refuses the next connects (default: all). */
  readonly refuseConnect: (end: End, times?: number) => Effect.Effect<void>
  readonly slowConnect: (duration: Duration.DurationInput) => Effect.Effect<void>
  /** Random faults; the same seed and the same program give the same faults. */
  readonly chaos: (seed: number, rates: Rates) => Effect.Effect<void>
  /** Takes all faults away. */
  readonly heal: Effect.Effect<void>
}

/**
 * A peer in full control of each connection.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: (
  connect: (io: Io) => Effect.Effect<Receiver, never, Scope.Scope>,
  options?: PeerOptions
) => Effect.Effect<Peer> = memoryPeer.make

/**
 * A peer that is one function of what it receives.
 *
 * @since 0.1.0
 * @category constructors
 */
export const peer = (
  message: (message: JsonRpc.Incoming, io: Io) => Effect.Effect<void>,
  options?: PeerOptions
): Effect.Effect<Peer> => make((io) => Effect.succeed({ message: (incoming) => message(incoming, io) }), options)

/**
 * The end of a process that has exited by itself.
 *
 * @since 0.1.0
 * @category constructors
 */
export const exited = (code = 0): End => (server, outcome, stderrTail) =>
  new McpError.ProcessExited({ server, code, signal: null, outcome, phase: "ready", stderrTail })

/**
 * The end of a process that was killed.
 *
 * @since 0.1.0
 * @category constructors
 */
export const killed = (signal = "SIGKILL"): End => (server, outcome, stderrTail) =>
  new McpError.ProcessExited({ server, code: null, signal, outcome, phase: "ready", stderrTail })

/**
 * The end of a socket or a pipe.
 *
 * @since 0.1.0
 * @category constructors
 */
export const lost =
  (reason: McpError.ConnectionLost["reason"] = "socket-closed"): End => (server, outcome, stderrTail) =>
    new McpError.ConnectionLost({ server, reason, detail: "the peer ended the connection", outcome, stderrTail })

/**
 * The configuration of a server that `layer` knows by this name.
 *
 * @since 0.1.0
 * @category constructors
 */
export const config = (
  name: string,
  overrides?: Partial<Omit<ServerConfig.StdioInput, "name">>
): ServerConfig.StdioServer => ServerConfig.stdio({ command: "memory", ...overrides, name })

/**
 * Reaches these peers, by the name of the server or as a function chooses, whatever transport the configuration names.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  peers: Readonly<Record<string, Peer>> | ((config: ServerConfig.ServerConfig) => Peer | undefined)
): Layer.Layer<Transport.Transports> => {
  const byName = new Map(typeof peers === "function" ? [] : Object.entries(peers))
  const find = typeof peers === "function" ? peers : (config: ServerConfig.ServerConfig) => byName.get(config.name)
  return Layer.succeed(Transport.Transports, {
    open: (config) =>
      find(config)?.open(config) ??
        Effect.fail(
          new McpError.ConfigurationError({
            server: config.name,
            path: "name",
            detail: "no peer in memory has this name"
          })
        )
  })
}
