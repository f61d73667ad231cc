/**
 * An MCP server in memory, written as data: tools, resources, prompts, in either era of the protocol.
 *
 * It is a `MemoryTransport.Peer`, so it takes every fault.
 */
import * as Effect from "effect/Effect"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Transport from "../transport/Transport.ts"
import { Client, Refused } from "./connectedClient.ts"
import * as MemoryTransport from "./MemoryTransport.ts"

export { Refused }

/** One request, and what its handler can do besides answering. */
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
   * Sends the client a request: `elicitation/create`, `sampling/createMessage`, `roots/list`. In the stateless era this
   * ends the round, and the handler runs again from its beginning when the answer is there.
   */
  readonly ask: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject, Refused>
  /** Succeeds when the client cancels the request. */
  readonly cancelled: Effect.Effect<void>
}

/** The result of a request. Where it can be a text, the text stands for a result with this one text in it. */
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
  /** With `{variables}`, each of which matches anything but a slash. */
  readonly uriTemplate: string
  readonly mimeType?: string | undefined
  readonly read: (uri: string, context: Context) => Answer<string | JsonRpc.JsonObject>
}

export interface Prompt extends Named {
  readonly arguments?: ReadonlyArray<Named & { readonly required?: boolean | undefined }> | undefined
  /** A text stands for one message of the user. */
  readonly get: (args: JsonRpc.JsonObject, context: Context) => Answer<string | JsonRpc.JsonObject>
}

/** The tools, resources and prompts of a server, which may change while it runs. */
export interface Offer {
  readonly tools?: ReadonlyArray<Tool> | undefined
  readonly resources?: ReadonlyArray<Resource> | undefined
  readonly templates?: ReadonlyArray<Template> | undefined
  readonly prompts?: ReadonlyArray<Prompt> | undefined
}

export interface Options extends Offer, MemoryTransport.PeerOptions {
  /** `null`: an anonymous server, which only the stateless era allows. */
  readonly serverInfo?: { readonly name: string; readonly version: string; readonly title?: string } | null | undefined
  /** Default: both. */
  readonly era?: Transport.Era | "both" | undefined
  /** Versions of the session era, best first. */
  readonly sessionVersions?: ReadonlyArray<string> | undefined
  /** Versions of the stateless era, best first. */
  readonly statelessVersions?: ReadonlyArray<string> | undefined
  /** Default: those that the offer needs. */
  readonly capabilities?: JsonRpc.JsonObject | undefined
  readonly instructions?: string | undefined
  /** The values that complete an argument. */
  readonly complete?: ((params: JsonRpc.JsonObject, context: Context) => Answer<ReadonlyArray<string>>) | undefined
  /** Items in one page of a list (default: all). */
  readonly pageSize?: number | undefined
  /** Caching hints of the stateless era. */
  readonly ttlMs?: number | undefined
  readonly cacheScope?: "public" | "private" | undefined
  /** Handlers of further requests, or in place of those of the protocol. */
  readonly methods?: Readonly<Record<string, (params: JsonRpc.JsonObject, context: Context) => Answer>> | undefined
  /** Finishes and answers cancelled requests, as careless servers do. */
  readonly ignoresCancellation?: boolean | undefined
  /** Runs beside each connection. */
  readonly onConnect?: ((io: MemoryTransport.Io) => Effect.Effect<void>) | undefined
  /** Runs when the scope of a connection closes. */
  readonly onDisconnect?: ((io: MemoryTransport.Io) => Effect.Effect<void>) | undefined
}

export interface Server extends MemoryTransport.Peer {
  /** The number of times a tool was started; a round of input is not a new start. */
  readonly executions: (tool: string) => number
  /** Notifies every connection that is ready; in the stateless era, the subscriptions whose filter matches. */
  readonly notify: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<void>
  /** Replaces parts of the offer, and notifies of the lists that changed. */
  readonly update: (offer: Offer) => Effect.Effect<void>
  /** Ends the subscriptions of the stateless era gracefully. */
  readonly endSubscriptions: Effect.Effect<void>
  /** Notifies the subscribers of this resource. */
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
          // templates are resources to the protocol
          const names = new Set(changed.map(([part]) => part === "templates" ? "resources" : part))
          return Effect.forEach(names, (name) => notify(`notifications/${name}/list_changed`), { discard: true })
        }),
      endSubscriptions: Effect.forEach(clients, (client) => client.endSubscriptions, { discard: true }),
      resourceUpdated: (uri) => notify("notifications/resources/updated", { uri })
    }
  })
