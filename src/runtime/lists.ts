/** The lists of each server: its resources, templates and prompts, gathered for callers, and all four kept up to date. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import { identity } from "effect/Function"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type * as McpClient from "../client/McpClient.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import * as CallSpan from "../observability/CallSpan.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import * as CachedList from "../tools/CachedList.ts"
import type * as Tool from "../tools/Tool.ts"
import * as ToolCache from "../tools/ToolCache.ts"
import * as ToolCatalog from "../tools/ToolCatalog.ts"
import * as ToolPins from "../tools/ToolPins.ts"
import type * as Requests from "./requests.ts"
import type * as Server from "./Server.ts"
import type * as Servers from "./Servers.ts"

export interface ServerList<Item> {
  readonly method: string
  readonly current: () => McpClient.Listing<Item> | undefined
  readonly invalidate: () => void
  /** The cached list if it is fresh for this connection, which is an `Exit` then, or a fetch. */
  readonly get: (live: Server.Live) => Effect.Effect<McpClient.Listing<Item>, McpError.CallError>
}

/** The lists of one server. `ToolCatalog` fetches the tools, and `ToolCache` keeps them between runs. */
export interface Lists {
  readonly tools: ToolCache.ServerTools
  readonly resources: ServerList<McpClient.Resource>
  readonly templates: ServerList<McpClient.ResourceTemplate>
  readonly prompts: ServerList<McpClient.Prompt>
}

/** The lists of one user are not kept between runs, and those of a blocked server are not read. */
export const make = Effect.gen(function*() {
  const cache = yield* ToolCache.ToolCache
  const clock = yield* Effect.clock
  const pins = yield* ToolPins.ToolPins
  const scope = yield* Effect.scope
  return (config: ServerConfig.ServerConfig, identity?: string): Lists => {
    const options = { clock, lifetime: cache.lifetime, scope, server: config.name }
    const list = <Item>(
      method: string,
      capability: "resources" | "prompts",
      of: (client: McpClient.McpClient) => Effect.Effect<McpClient.Listing<Item>, McpError.CallError>
    ): ServerList<Item> => {
      const cached = CachedList.make<McpClient.Listing<Item>>({ ...options, operation: method })
      return {
        method,
        current: cached.current,
        invalidate: cached.invalidate,
        get: (live) => cached.get(CachedList.source(live, capability, of(live.session)))
      }
    }
    return {
      tools: identity === undefined && config.blocked === undefined
        ? cache.open(config, (tools) => pins.recall(config, tools))
        : { ...CachedList.make<Tool.ToolList>({ ...options, operation: "tools/list" }), loaded: Effect.void },
      resources: list("resources/list", "resources", ({ resources }) => resources),
      templates: list("resources/templates/list", "resources", ({ resourceTemplates }) => resourceTemplates),
      prompts: list("prompts/list", "prompts", ({ prompts }) => prompts)
    }
  }
})

/** One list of all servers; a server without it costs the others nothing. */
export const gathering = (servers: Servers.Servers, ask: Requests.Ask) =>
<Item extends object>(
  select: (lists: Lists) => ServerList<Item>,
  wait: Duration.DurationInput | undefined
): Effect.Effect<McpRuntime.Gathered<Item>> => {
  const ofServer = Effect.fnUntraced(function*({ lists, name: server, status }: Server.Server) {
    const { current, method } = select(lists)
    const get = (live: Server.Live) => {
      const listing = select(live.lists).get(live)
      const { config, session } = live
      // a cached list makes no request, and so no span
      return Exit.isExit(listing)
        ? listing
        : CallSpan.traced({ server, method, config, client: session }, () => listing)
    }
    const asked: Effect.Effect<McpClient.Listing<Item> | undefined, McpError.RuntimeError> = ask(server, method, get)
    const known = () => select(servers.get(server)?.lists ?? lists).current()
    // an idle server is not connected for a list that is known
    const isAsked = ToolCatalog.canConnect(status) && (status._tag !== "Idle" || current() === undefined)
    const within = wait === undefined
      ? asked
      : Effect.timeoutTo(asked, { duration: wait, onSuccess: identity, onTimeout: known })
    const found = isAsked
      ? yield* Effect.either(within)
      : Either.right(status._tag === "Idle" ? current() : undefined)
    if (Either.isRight(found) && found.right !== undefined) {
      return { items: found.right.items.map((item) => ({ ...item, server })), missing: [] }
    }
    const now = servers.get(server)?.status ?? status
    const error = Either.isLeft(found) ? found.left : undefined
    // a wait that ended has the reason why the server is not there
    const isWait = error === undefined || (error._tag === "RequestTimeout" && error.outcome === "not-sent")
    const why = isWait && "error" in now ? now.error : error ?? ToolCatalog.stillConnecting(server, now)
    return { items: [], missing: [{ server, status: now, error: why }] }
  })

  return Effect.map(
    Effect.suspend(() => Effect.forEach(servers.all(), ofServer, { concurrency: "unbounded" })),
    (parts) => ({ items: parts.flatMap(({ items }) => items), missing: parts.flatMap(({ missing }) => missing) })
  )
}

type Kind = keyof Lists

/** The least time between two refreshes, however often the server reports a change. */
const spacing = Duration.seconds(1)

/** How long the first lists wait for the server to agree to report changes. */
const agreement = Duration.seconds(5)

const kinds: ReadonlyArray<Kind> = ["tools", "resources", "templates", "prompts"]

const isChangedBy = (kind: Kind, method: string): boolean =>
  method === "$/resync" || method === `notifications/${kind === "templates" ? "resources" : kind}/list_changed`

/** Keeps the lists of a connection fresh, tools first, when the server reports changes. Ends with the connection. */
export const follow =
  (catalog: ToolCatalog.ToolCatalog["Type"], publish: McpEvent.McpEvents["Type"]["publish"]) =>
  (live: Server.Live): Effect.Effect<never, never, Scope.Scope> =>
    Effect.gen(function*() {
      const { lists, server, session: { capabilities, onNotification, watch } } = live
      const changed = new Set<Kind>(kinds)
      const signal = yield* Queue.dropping<void>(1)
      onNotification(({ method }) => {
        for (const kind of kinds.filter((kind) => isChangedBy(kind, method))) {
          changed.add(kind)
          lists[kind].invalidate()
          signal.unsafeOffer(undefined)
        }
      })
      const refresh = Effect.gen(function*() {
        for (const kind of kinds) {
          if (!changed.delete(kind)) continue
          const list = Effect.asVoid(kind === "tools" ? catalog.learn(live) : lists[kind].get(live))
          // the next caller asks again; a list that our own close has ended has not failed
          yield* Effect.catchAll(list, (error) =>
            Effect.sync(() => {
              if (error._tag !== "Closed") publish(McpEvent.McpEvent.ListFailed({ server, list: kind, error }))
            }))
        }
      })
      // before the lists, so that no change falls between
      const watched = watch({
        toolsListChanged: Object.hasOwn(capabilities, "tools"),
        resourcesListChanged: Object.hasOwn(capabilities, "resources"),
        promptsListChanged: Object.hasOwn(capabilities, "prompts")
      })
      yield* Effect.catchAll(BoundedWait.within(agreement)(watched), ({ _tag }) =>
        // the tag alone, because a message may contain text of the server
        Effect.annotateLogs(RuntimeLog.debug(`the server cannot be asked to report changes: ${_tag}`), { server }))
      yield* refresh
      return yield* Effect.forever(
        Queue.take(signal).pipe(Effect.zipRight(refresh), Effect.zipRight(Effect.sleep(spacing)))
      )
    })
