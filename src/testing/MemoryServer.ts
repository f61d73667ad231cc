/**
 * An MCP server in memory, declared as data: tools, resources and prompts, in both eras of the protocol. It is a
 * `MemoryTransport.Peer`, so all faults apply to it.
 */
import * as Effect from "effect/Effect"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Transport from "../transport/Transport.ts"
import { Client, Refused } from "./connectedClient.ts"
import * as MemoryTransport from "./MemoryTransport.ts"

export { Refused }

/** A request, and functions for its handler. */
export interface Context {
  readonly io: MemoryTransport.Io
  readonly era: Transport.Era
  readonly id: JsonRpc.Id
  readonly method: string
  readonly params: JsonRpc.JsonObject
  readonly clientCapabilities: JsonRpc.JsonObject
  /** Reports progress, if the client requested it. */
  readonly progress: (progress: number, total?: number, message?: string) => Effect.Effect<void>
  readonly notify: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<void>
  /**
   * Sends the client a request: `elicitation/create`, `sampling/createMessage`, `roots/list`. In the stateless era this
   * ends the round, and the handler runs again from the start when the answer arrives.
   */
  readonly ask: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject, Refused>
  /** Succeeds when the client cancels the request. */
  readonly cancelled: Effect.Effect<void>
}

/** The result of a request. A string, where allowed, is short for a result with one text. */
export type Answer<A = JsonRpc.JsonObject> = Effect.Effect<A, Refused>

interface Named {
  readonly name: string
  readonly description?: string | undefined
}

export interface Tool extends Named {
  readonly title?: string | undefined
  /** Default: any object. */
  readonly inputSchema?: JsonRpc.JsonObject | undefined
  readonly outputSchema?: JsonRpc.JsonObject | undefined
  readonly annotations?: JsonRpc.JsonObject | undefined
  /** Other fields of the definition; they override the ones above. */
  readonly definition?: JsonRpc.JsonObject | undefined
  readonly call: (args: JsonRpc.JsonObject, context: Context) => Answer<string | JsonRpc.JsonObject>
}

export interface Resource extends Named {
  readonly uri: string
  readonly mimeType?: string | undefined
  readonly read: (context: Context) => Answer<string | JsonRpc.JsonObject>
}

export interface Template extends Named {
  /** With `{variables}`, which match any text without a slash. */
  readonly uriTemplate: string
  readonly mimeType?: string | undefined
  readonly read: (uri: string, context: Context) => Answer<string | JsonRpc.JsonObject>
}

export interface Prompt extends Named {
  readonly arguments?: ReadonlyArray<Named & { readonly required?: boolean | undefined }> | undefined
  /** A string is short for one user message. */
  readonly get: (args: JsonRpc.JsonObject, context: Context) => Answer<string | JsonRpc.JsonObject>
}

/** The tools, resources and prompts of a server. `update` changes them. */
export interface Offer {
  readonly tools?: ReadonlyArray<Tool> | undefined
  readonly resources?: ReadonlyArray<Resource> | undefined
  readonly templates?: ReadonlyArray<Template> | undefined
  readonly prompts?: ReadonlyArray<Prompt> | undefined
}

export interface Options extends Offer, MemoryTransport.PeerOptions {
  /** `null` for an anonymous server, which only the stateless era allows. */
  readonly serverInfo?: { readonly name: string; readonly version: string; readonly title?: string } | null | undefined
  /** Default: both. */
  readonly era?: Transport.Era | "both" | undefined
  /** Versions of the session era, preferred first. */
  readonly sessionVersions?: ReadonlyArray<string> | undefined
  /** Versions of the stateless era, preferred first. */
  readonly statelessVersions?: ReadonlyArray<string> | undefined
  /** Default: those that the tools, resources and prompts need. */
  readonly capabilities?: JsonRpc.JsonObject | undefined
  readonly instructions?: string | undefined
  /** The values that complete an argument. */
  readonly complete?: ((params: JsonRpc.JsonObject, context: Context) => Answer<ReadonlyArray<string>>) | undefined
  /** Items in one page of a list (default: all). */
  readonly pageSize?: number | undefined
  /** Caching hints of the stateless era. */
  readonly ttlMs?: number | undefined
  readonly cacheScope?: "public" | "private" | undefined
  /** Handlers of other requests. They replace the built-in handlers. */
  readonly methods?: Readonly<Record<string, (params: JsonRpc.JsonObject, context: Context) => Answer>> | undefined
  /** Completes cancelled requests and sends their responses (default: no). */
  readonly ignoresCancellation?: boolean | undefined
  /** Runs beside each connection. */
  readonly onConnect?: ((io: MemoryTransport.Io) => Effect.Effect<void>) | undefined
  /** Runs when the scope of a connection closes. */
  readonly onDisconnect?: ((io: MemoryTransport.Io) => Effect.Effect<void>) | undefined
}

export interface Server extends MemoryTransport.Peer {
  /** How often a tool was started. Later input rounds are not counted. */
  readonly executions: (tool: string) => number
  /** Notifies all initialized connections, or in the stateless era the subscriptions with a matching filter. */
  readonly notify: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<void>
  /** Replaces tools, resources or prompts, and notifies clients of the changed lists. */
  readonly update: (offer: Offer) => Effect.Effect<void>
  /** Ends the subscriptions of the stateless era gracefully. */
  readonly endSubscriptions: Effect.Effect<void>
  /** Notifies the subscribers of a resource. */
  readonly resourceUpdated: (uri: string) => Effect.Effect<void>
}

/** The state that all connections of a server share. */
export interface State {
  readonly options: Options
  offer: Offer
  readonly executions: Map<string, number>
}

export const make = (options: Options = {}): Effect.Effect<Server> =>
  Effect.gen(function*() {
    const state: State = { options, offer: options, executions: new Map() }
    const clients = new Set<Client>()

    const connect = Effect.fnUntraced(function*(io: MemoryTransport.Io) {
      const client = new Client(state, io)
      yield* Effect.acquireRelease(Effect.sync(() => clients.add(client)), () => {
        clients.delete(client)
        return options.onDisconnect?.(io) ?? Effect.void
      })
      if (options.onConnect !== undefined) yield* Effect.forkScoped(options.onConnect(io))
      return client
    })
    const notify = (method: string, params: JsonRpc.JsonObject = {}) =>
      Effect.forEach(clients, (client) => client.announce(method, params), { discard: true })

    return {
      ...(yield* MemoryTransport.make(connect, options)),
      executions: (tool) => state.executions.get(tool) ?? 0,
      notify,
      update: (offer) =>
        Effect.suspend(() => {
          const changed = Object.entries(offer).filter(([, items]) => items !== undefined)
          state.offer = { ...state.offer, ...Object.fromEntries(changed) }
          // templates have no notification of their own
          const names = new Set(changed.map(([part]) => part === "templates" ? "resources" : part))
          return Effect.forEach(names, (name) => notify(`notifications/${name}/list_changed`), { discard: true })
        }),
      endSubscriptions: Effect.forEach(clients, (client) => client.endSubscriptions, { discard: true }),
      resourceUpdated: (uri) => notify("notifications/resources/updated", { uri })
    }
  })
