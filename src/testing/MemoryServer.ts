/**
 * A small but honest MCP server in memory, written as data: tools, resources, prompts, in either era of the protocol.
 *
 * It is a `MemoryTransport.Peer`, so every fault can be given to it.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Transport from "../transport/Transport.ts"
import { Refused } from "./internal/memoryJson.ts"
import * as memoryProtocol from "./internal/memoryProtocol.ts"
import type * as MemoryTransport from "./MemoryTransport.ts"

export {
  /**
   * An answer that is an error.
   *
   * @since 0.1.0
   * @category errors
   */
  Refused
}

/**
 * What a handler can know and do besides answering.
 *
 * @since 0.1.0
 * @category models
 */
export interface Context {
  readonly io: MemoryTransport.Io
  readonly era: Transport.Era
  readonly id: JsonRpc.Id
  readonly method: string
  readonly params: JsonRpc.JsonObject
  readonly clientCapabilities: JsonRpc.JsonObject
  /** Reports progress, if the client asked for it. */
  readonly progress: (progress: number, total?: number, message?: string) => Effect.Effect<void>
  readonly notify: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<void>
  /**
   * Asks the client for something: `elicitation/create`, `sampling/createMessage`, `roots/list`. In the stateless era
   * this ends the round, and the handler runs again from its beginning once the answer is there.
   */
  readonly ask: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject, Refused>
  /** Succeeds once the client has cancelled the request. */
  readonly cancelled: Effect.Effect<void>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Tool {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  /** Default: any object. */
  readonly inputSchema?: JsonRpc.JsonObject | undefined
  readonly outputSchema?: JsonRpc.JsonObject | undefined
  readonly annotations?: JsonRpc.JsonObject | undefined
  /** Other fields of the definition; they win. */
  readonly definition?: JsonRpc.JsonObject | undefined
  /** Gives a text, or a whole result. */
  readonly call: (args: JsonRpc.JsonObject, context: Context) => Effect.Effect<string | JsonRpc.JsonObject, Refused>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Resource {
  readonly uri: string
  readonly name: string
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
  /** Gives a text, or a whole result. */
  readonly read: (context: Context) => Effect.Effect<string | JsonRpc.JsonObject, Refused>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Template {
  /** With `{variables}`, each of which matches anything but a slash. */
  readonly uriTemplate: string
  readonly name: string
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
  readonly read: (uri: string, context: Context) => Effect.Effect<string | JsonRpc.JsonObject, Refused>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Prompt {
  readonly name: string
  readonly description?: string | undefined
  readonly arguments?:
    | ReadonlyArray<{
      readonly name: string
      readonly description?: string | undefined
      readonly required?: boolean | undefined
    }>
    | undefined
  /** Gives the text of a message of the user, or a whole result. */
  readonly get: (args: JsonRpc.JsonObject, context: Context) => Effect.Effect<string | JsonRpc.JsonObject, Refused>
}

/**
 * What a server offers; may change while it runs.
 *
 * @since 0.1.0
 * @category models
 */
export interface Offer {
  readonly tools?: ReadonlyArray<Tool> | undefined
  readonly resources?: ReadonlyArray<Resource> | undefined
  readonly templates?: ReadonlyArray<Template> | undefined
  readonly prompts?: ReadonlyArray<Prompt> | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options extends Offer, MemoryTransport.PeerOptions {
  /** `null`: the server does not say who it is, which only the stateless era allows. */
  readonly serverInfo?: { readonly name: string; readonly version: string; readonly title?: string } | null | undefined
  readonly era?: Transport.Era | "both" | undefined
  /** Versions of the session era, best first. */
  readonly sessionVersions?: ReadonlyArray<string> | undefined
  /** Versions of the stateless era, best first. */
  readonly statelessVersions?: ReadonlyArray<string> | undefined
  /** Default: what the offer needs. */
  readonly capabilities?: JsonRpc.JsonObject | undefined
  readonly instructions?: string | undefined
  /** The values that complete an argument. */
  readonly complete?:
    | ((params: JsonRpc.JsonObject, context: Context) => Effect.Effect<ReadonlyArray<string>, Refused>)
    | undefined
  /** Items of one page of a list (default: all). */
  readonly pageSize?: number | undefined
  /** Caching hints of the stateless era. */
  readonly ttlMs?: number | undefined
  readonly cacheScope?: "public" | "private" | undefined
  /** More requests, or other answers to those of the protocol. */
  readonly methods?:
    | Readonly<
      Record<string, (params: JsonRpc.JsonObject, context: Context) => Effect.Effect<JsonRpc.JsonObject, Refused>>
    >
    | undefined
  /** Finishes and answers what was cancelled, as careless servers do. */
  readonly ignoresCancellation?: boolean | undefined
  /** Runs beside each connection. */
  readonly onConnect?: ((io: MemoryTransport.Io) => Effect.Effect<void>) | undefined
  /** Runs when a connection's scope closes. */
  readonly onDisconnect?: ((io: MemoryTransport.Io) => Effect.Effect<void>) | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Server extends MemoryTransport.Peer {
  /** How often a tool was started; rounds of input are no new start. */
  readonly executions: (tool: string) => number
  /** Sends a notification on every connection whose client is ready; those of the stateless era only to whoever listens. */
  readonly notify: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<void>
  /** Offers something else, and says so. */
  readonly update: (offer: Offer) => Effect.Effect<void>
  /** Ends the subscriptions of the stateless era, gracefully. */
  readonly endSubscriptions: Effect.Effect<void>
  /** Tells those who subscribe to it. */
  readonly resourceUpdated: (uri: string) => Effect.Effect<void>
}

/**
 * A server in memory.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: (options?: Options) => Effect.Effect<Server> = memoryProtocol.make
