/**
 * The server in memory: one shared state, and a client at the end of each connection.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as MemoryServer from "../MemoryServer.ts"
import * as MemoryTransport from "../MemoryTransport.ts"
import { Client } from "./memoryClient.ts"

/** @internal */
export type Offer = { readonly [K in keyof MemoryServer.Offer]-?: NonNullable<MemoryServer.Offer[K]> }

/**
 * What all connections of a server share.
 *
 * @internal
 */
export interface State {
  readonly options: MemoryServer.Options
  offer: Offer
  readonly executions: Map<string, number>
}

const changes = [
  ["tools", "notifications/tools/list_changed"],
  ["resources", "notifications/resources/list_changed"],
  ["templates", "notifications/resources/list_changed"],
  ["prompts", "notifications/prompts/list_changed"]
] as const

/** @internal */
export const make = (options: MemoryServer.Options = {}): Effect.Effect<MemoryServer.Server> =>
  Effect.gen(function*() {
    const { prompts = [], resources = [], templates = [], tools = [] } = options
    const state: State = { options, offer: { tools, resources, templates, prompts }, executions: new Map() }
    const clients = new Set<Client>()

    const connect = Effect.fnUntraced(function*(io: MemoryTransport.Io) {
      const client = yield* Effect.acquireRelease(
        Effect.sync(() => {
          const client = new Client(state, io)
          clients.add(client)
          return client
        }),
        (client) => {
          clients.delete(client)
          return options.onDisconnect?.(io) ?? Effect.void
        }
      )
      if (options.onConnect !== undefined) yield* Effect.forkScoped(options.onConnect(io))
      return client
    })
    const notify = (method: string, params: JsonRpc.JsonObject = {}) =>
      Effect.forEach(clients, (client) => client.announce(method, params), { discard: true })

    const peer = yield* MemoryTransport.make(connect, options)
    return {
      ...peer,
      executions: (tool) => state.executions.get(tool) ?? 0,
      notify,
      update: (offer) =>
        Effect.suspend(() => {
          const { offer: old } = state
          state.offer = {
            tools: offer.tools ?? old.tools,
            resources: offer.resources ?? old.resources,
            templates: offer.templates ?? old.templates,
            prompts: offer.prompts ?? old.prompts
          }
          const methods = new Set(changes.filter(([key]) => offer[key] !== undefined).map(([, method]) => method))
          return Effect.forEach(methods, (method) => notify(method), { discard: true })
        }),
      endSubscriptions: Effect.forEach(clients, (client) => client.endSubscriptions, { discard: true }),
      resourceUpdated: (uri) => notify("notifications/resources/updated", { uri })
    }
  })
