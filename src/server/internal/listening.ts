/** Those who listen in the stateless era: each has said what for, and hears of nothing else. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Protocol from "../../client/Protocol.ts"
import * as Scoped from "../../scoped.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import * as McpServer from "../McpServer.ts"
import * as Exchange from "./exchange.ts"
import * as Outlet from "./outlet.ts"

interface Filter {
  readonly toolsListChanged?: true
  readonly promptsListChanged?: true
  readonly resourcesListChanged?: true
  readonly resourceSubscriptions?: ReadonlyArray<string>
}

interface Listener {
  readonly id: JsonRpc.Id
  readonly filter: Filter
  readonly outlet: Outlet.Outlet
}

/** @internal */
export interface Listening {
  /** Goes on until it is interrupted or everything ends, in good order then. */
  readonly listen: (
    id: JsonRpc.Id,
    params: JsonRpc.JsonObject,
    outlet: Outlet.Outlet,
    watch: McpServer.Attendance["watch"]
  ) => Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal>
  readonly tell: (method: string, params: JsonRpc.JsonObject | undefined) => void
  /** All of them have heard everything. */
  readonly end: () => void
}

const most = 1_024

const crowded = new McpServer.Refusal({ code: McpServer.codes.overloaded, message: "Too many listen already" })

const stamped = (params: JsonRpc.JsonObject | undefined, id: JsonRpc.Id): JsonRpc.JsonObject => ({
  ...params,
  _meta: { ...Exchange.metaOf(params ?? {}), [Protocol.metaKey.subscriptionId]: id }
})

const isWanted = (filter: Filter, method: string, params: JsonRpc.JsonObject | undefined): boolean => {
  switch (method) {
    case "notifications/tools/list_changed":
      return filter.toolsListChanged === true
    case "notifications/prompts/list_changed":
      return filter.promptsListChanged === true
    case "notifications/resources/list_changed":
      return filter.resourcesListChanged === true
    case "notifications/resources/updated": {
      const uri = params?.["uri"]
      return typeof uri === "string" && filter.resourceSubscriptions?.includes(uri) === true
    }
    default:
      return false
  }
}

/** What of it is honoured: what the server says that it can tell. */
const filterOf = (
  asked: JsonRpc.JsonObject,
  capabilities: JsonRpc.JsonObject,
  canWatch: boolean
): Filter => {
  const tells = (what: string): boolean => Exchange.objectOf(capabilities[what])["listChanged"] === true
  const uris = asked["resourceSubscriptions"]
  const isUris = canWatch && Array.isArray(uris)
  return {
    ...(asked["toolsListChanged"] === true && tells("tools") ? { toolsListChanged: true } : {}),
    ...(asked["promptsListChanged"] === true && tells("prompts") ? { promptsListChanged: true } : {}),
    ...(asked["resourcesListChanged"] === true && tells("resources") ? { resourcesListChanged: true } : {}),
    ...(isUris
      ? { resourceSubscriptions: uris.filter((uri): uri is string => typeof uri === "string").slice(0, most) }
      : {})
  }
}

/** @internal */
export const make = (offer: McpServer.Offer): Listening => {
  const listeners = new Set<Listener>()
  const ending = Deferred.unsafeMake<void>(FiberId.none)
  return {
    listen: (id, params, outlet, watch) =>
      Effect.scoped(Effect.gen(function*() {
        if (listeners.size >= most) return yield* crowded
        const asked = Exchange.objectOf(params["notifications"])
        const filter = filterOf(asked, offer.capabilities, watch !== undefined)
        const listener: Listener = { id, filter, outlet }
        // it is heard from the moment that it is told so
        yield* Scoped.acquire(() => listeners.add(listener), () => listeners.delete(listener))
        yield* outlet.send(Outlet.notification(
          "notifications/subscriptions/acknowledged",
          stamped({ notifications: { ...filter } }, id)
        ))
        if (watch !== undefined) {
          yield* Effect.forEach(filter.resourceSubscriptions ?? [], (uri) => watch(uri), {
            concurrency: 8,
            discard: true
          })
        }
        yield* Deferred.await(ending)
        return {}
      })),
    tell: (method, params) => {
      for (const { filter, id, outlet } of listeners) {
        if (isWanted(filter, method, params)) outlet.hint(Outlet.notification(method, stamped(params, id)))
      }
    },
    end: () => {
      Deferred.unsafeDone(ending, Effect.void)
    }
  }
}
