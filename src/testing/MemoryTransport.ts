/**
 * A transport to a peer in the same process, with faults.
 *
 * It uses Effect's `Clock`, so `TestClock` controls it, and takes random choices from a seed. Messages are JSON text and
 * arrive in order, asynchronously. `MemoryServer` is a peer that implements an MCP server.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Limits from "../config/Limits.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as Teardown from "../resilience/Teardown.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as Transport from "../transport/Transport.ts"
import { Connection } from "./connection.ts"
import * as Faults from "./Faults.ts"

/** One connection, as the peer sees it. */
export interface Io {
  /** 1 for the first connection of the peer, 2 for the second. */
  readonly connection: number
  readonly config: ServerConfig.ServerConfig
  /** Sends any value as JSON, even one that is not a message. */
  readonly send: (message: unknown) => Effect.Effect<void>
  /** Fails one request and keeps the connection, like an HTTP error status. */
  readonly fail: (id: JsonRpc.Id, error: (server: string) => McpError.CallError) => Effect.Effect<void>
  readonly stderr: (text: string) => Effect.Effect<void>
  /** Evaluates the predicates of `until`. */
  readonly stir: Effect.Effect<void>
  /** Ends the connection after the messages in flight have arrived. */
  readonly end: (end?: Faults.End) => Effect.Effect<void>
}

/** Handles messages of the client. Each call runs in its own fiber, which ends with the connection; fibers start in order. */
export interface Receiver {
  readonly message: (message: JsonRpc.Incoming) => Effect.Effect<void>
  /** The client abandoned this request; only with `streamPerRequest`. */
  readonly abandoned?: ((id: JsonRpc.Id) => Effect.Effect<void>) | undefined
}

export interface PeerOptions {
  /** Uses one stream per request, like HTTP (default: no). */
  readonly streamPerRequest?: boolean | undefined
  /** The limit of queued messages while the peer hangs (default: 1,024). */
  readonly queueLimit?: number | undefined
  /** The limit of the transcript in entries; the oldest are dropped (default: 10,000). */
  readonly transcriptLimit?: number | undefined
}

/** One step of the traffic of a peer. */
export interface Entry {
  /** Milliseconds of the `Clock`. */
  readonly at: number
  /** 0 for a refused connect. */
  readonly connection: number
  readonly kind: "opened" | "refused" | "received" | "delivered" | "lost" | "ended" | "closed"
  /** The message, or the tag of the error. */
  readonly detail: string
}

export interface Connections {
  readonly opened: number
  readonly refused: number
  /** Connections with an open scope, including those that the peer has ended. */
  readonly open: number
  readonly maxOpen: number
  readonly closed: number
}

/** A peer: its transport, its faults and its transcript. */
export interface Peer extends Faults.Controls {
  readonly open: Transport.Open<ServerConfig.ServerConfig>
  /** The current counters. */
  readonly connections: () => Connections
  readonly transcript: () => ReadonlyArray<Entry>
  /** The messages that the peer received: all, or those with this method. */
  readonly received: (method?: string) => ReadonlyArray<JsonRpc.Incoming>
  /** Waits for a predicate, which is evaluated after each step of the peer. */
  readonly until: (predicate: () => boolean) => Effect.Effect<void>
  /** Sends a message on every open connection. */
  readonly broadcast: (message: unknown) => Effect.Effect<void>
  /** Sends a line that is not a message on every open connection. */
  readonly garbage: (text: string) => Effect.Effect<void>
  /** Ends every open connection; with `discard`, messages in flight to the client are lost. */
  readonly drop: (end?: Faults.End, options?: { readonly discard?: boolean | undefined }) => Effect.Effect<void>
}

type Connect = (io: Io) => Effect.Effect<Receiver, never, Scope.Scope>

/** The transcript of a peer, its counters, and the waiters of `until`. */
export type Journal = ReturnType<typeof makeJournal>

const makeJournal = (limit: number) => {
  const entries: Array<Entry> = []
  const messages: Array<JsonRpc.Incoming> = []
  const count = { opened: 0, refused: 0, open: 0, maxOpen: 0, closed: 0 }
  const waiting = new Set<{ readonly predicate: () => boolean; readonly resume: () => void }>()

  // truncates at twice the limit, so that the list does not shift for each entry
  const keep = <A>(list: Array<A>, item: A): void => {
    list.push(item)
    if (list.length >= 2 * limit) list.splice(0, list.length - limit)
  }
  const newest = <A>(list: ReadonlyArray<A>): ReadonlyArray<A> => list.slice(Math.max(0, list.length - limit))
  const stir = () => {
    for (const waiter of waiting) {
      if (!waiter.predicate()) continue
      waiting.delete(waiter)
      waiter.resume()
    }
  }
  const note = (at: number, connection: number, kind: Entry["kind"], detail: string): void => {
    keep(entries, { at, connection, kind, detail })
    if (kind === "opened" || kind === "refused" || kind === "closed") count[kind]++
    count.open = count.opened - count.closed
    count.maxOpen = Math.max(count.maxOpen, count.open)
    stir()
  }

  const receive = (at: number, connection: number, text: string): JsonRpc.Incoming => {
    // the cast: `send` serialized a message
    const message = JSON.parse(text) as JsonRpc.Incoming
    keep(messages, message)
    note(at, connection, "received", text)
    return message
  }
  const view: Pick<Peer, "connections" | "received" | "transcript" | "until"> = {
    connections: () => ({ ...count }),
    transcript: () => newest(entries),
    received: (method) => newest(messages).filter((message) => method === undefined || message["method"] === method),
    until: (predicate) =>
      Effect.suspend(() =>
        predicate() ? Effect.void : Effect.async<void>((resume) => {
          const waiter = { predicate, resume: () => resume(Effect.void) }
          waiting.add(waiter)
          return Effect.sync(() => waiting.delete(waiter))
        })
      )
  }
  return { note, receive, stir, view }
}

/** A peer that controls each connection. */
export const make = (connect: Connect, options: PeerOptions = {}): Effect.Effect<Peer> =>
  Effect.sync(() => {
    const faults = new Faults.Faults()
    const journal = makeJournal(options.transcriptLimit ?? 10_000)
    const connections = new Set<Connection>()
    const each = (f: (connection: Connection) => void) => Effect.sync(() => Array.from(connections).forEach(f))

    const open = Effect.fnUntraced(function*(
      config: ServerConfig.ServerConfig
    ): Effect.fn.Return<Transport.Transport, McpError.ConnectError, Scope.Scope> {
      const clock = yield* Effect.clock
      const limits = ServerConfig.limits(config, yield* Limits.CurrentLimits)
      const teardown = Option.getOrUndefined(yield* Effect.serviceOption(Teardown.Teardown))
      const refusal = faults.admit()
      const { connectDelay } = faults.active
      if (Duration.greaterThan(connectDelay, Duration.zero)) yield* Effect.sleep(connectDelay)
      if (refusal !== undefined) {
        const error = refusal(config.name, "not-sent", undefined)
        journal.note(clock.unsafeCurrentTimeMillis(), 0, "refused", error._tag)
        return yield* error
      }
      const peerScope = yield* Scope.make()
      const connection = yield* Effect.acquireRelease(
        Effect.sync(() => {
          const connection = new Connection({ config, limits, clock, faults, journal, options, peerScope, teardown })
          connections.add(connection)
          return connection
        }),
        (connection) => {
          connections.delete(connection)
          return connection.release
        }
      )
      yield* connection.run(yield* Scope.extend(connect(connection.io), peerScope))
      return connection
    })

    return {
      ...faults.controls,
      ...journal.view,
      open,
      broadcast: (message) => each((connection) => connection.toClient(message)),
      garbage: (text) => each((connection) => connection.lineToClient(text)),
      drop: (end = Faults.lost(), how) => each((connection) => connection.end(end, how?.discard))
    }
  })

/** A peer made of one function for all messages. */
export const peer = (
  message: (message: JsonRpc.Incoming, io: Io) => Effect.Effect<void>,
  options?: PeerOptions
): Effect.Effect<Peer> => make((io) => Effect.succeed({ message: (incoming) => message(incoming, io) }), options)

/** The configuration of the peer with this name. */
export const config = (
  name: string,
  overrides?: Partial<Omit<ServerConfig.StdioServer, "name" | "transport">>
): ServerConfig.StdioServer => ({ transport: "stdio", command: "memory", ...overrides, name })

/** The peers by the name of the server, or a function that selects one. */
export type Peers = Readonly<Record<string, Peer>> | ((config: ServerConfig.ServerConfig) => Peer | undefined)

/** Opens connections to these peers, for any transport in the configuration. */
export const layer = (peers: Peers): Layer.Layer<Transport.Transports> => {
  const byName = new Map(typeof peers === "function" ? [] : Object.entries(peers))
  const find = typeof peers === "function" ? peers : ({ name }: ServerConfig.ServerConfig) => byName.get(name)
  return Layer.succeed(Transport.Transports, {
    open: (config) =>
      find(config)?.open(config) ??
        new McpError.ConfigurationError({
          server: config.name,
          path: "name",
          detail: "no peer in memory has this name"
        })
  })
}
