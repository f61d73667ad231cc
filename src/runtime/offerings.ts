/**
 * The resources, templates and prompts of each server: listed after it has connected, when it says that they have
 * changed, and when what is known of them has grown old.
 *
 * @internal
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as McpClient from "../client/McpClient.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import type * as ToolCache from "../tools/ToolCache.ts"
import * as Present from "./present.ts"
import type * as Server from "./Server.ts"
import type * as Servers from "./Servers.ts"

/**
 * One list of every server.
 *
 * @internal
 */
export interface Lists<A> {
  /** What was listed last, however long ago. */
  readonly known: (server: string) => A | undefined
  /** What was listed over this connection and is not old, which is an Exit then; or is listed now. */
  readonly get: (live: Server.Live) => Effect.Effect<A, McpError.CallError>
  readonly learn: (live: Server.Live) => Effect.Effect<void, McpError.CallError>
  /** From now on what is known is old. */
  readonly invalidate: (server: string) => void
  readonly forget: (server: string) => void
}

/** @internal */
export interface Offerings {
  readonly resources: Lists<McpClient.Listing<McpClient.Resource>>
  readonly templates: Lists<McpClient.Listing<McpClient.ResourceTemplate>>
  readonly prompts: Lists<McpClient.Listing<McpClient.Prompt>>
}

interface Kept<A> {
  readonly config: ServerConfig.ServerConfig
  readonly generation: number
  /** Later fetches have higher ones. */
  readonly order: number
  readonly fetchedAt: number
  readonly lifetime: number
  readonly listing: A
}

/** @internal */
export interface Options {
  readonly cache: ToolCache.ToolCache["Type"]
  readonly clock: Clock.Clock
  readonly pool: Servers.Servers
}

const lists = <A extends McpClient.Listing<unknown>>(
  { cache, clock, pool }: Options,
  capability: "resources" | "prompts",
  list: (session: McpClient.McpClient) => Effect.Effect<A, McpError.CallError>
): Lists<A> => {
  const kept = new Map<string, Kept<A>>()
  /** Up to which order of a server everything is old. */
  const old = new Map<string, number>()
  let orders = 0

  const isOutdone = (live: Server.Live, order: number, by: Kept<A> | undefined): boolean =>
    by !== undefined && Present.isSame(by.config, live.config) &&
    (by.generation > live.generation || (by.generation === live.generation && by.order > order))

  const fetch = (live: Server.Live) =>
    Effect.suspend(() => {
      const order = ++orders
      return Effect.map(list(live.session), (listing) => {
        const { config, generation, server } = live
        if (Present.isPresent(pool, live) && !isOutdone(live, order, kept.get(server))) {
          const announcesChanges = Present.announcesChanges(live, capability)
          const lifetime = cache.lifetime({ ttlMs: listing.ttlMs, announcesChanges })
          kept.set(server, { config, generation, order, fetchedAt: clock.unsafeCurrentTimeMillis(), lifetime, listing })
        }
        return listing
      })
    })

  const isFresh = ({ generation, server }: Server.Live, known: Kept<A>): boolean => {
    if (known.generation !== generation || known.order <= (old.get(server) ?? 0)) return false
    const age = clock.unsafeCurrentTimeMillis() - known.fetchedAt
    return age >= 0 && age < known.lifetime
  }

  return {
    known: (server) => {
      const known = kept.get(server)
      return known !== undefined && Present.isSame(pool.config(server), known.config) ? known.listing : undefined
    },
    get: (live) => {
      const known = kept.get(live.server)
      return known !== undefined && isFresh(live, known) ? Exit.succeed(known.listing) : fetch(live)
    },
    learn: fetch,
    invalidate: (server) => {
      old.set(server, orders)
    },
    forget: (server) => {
      kept.delete(server)
      old.delete(server)
    }
  }
}

/** @internal */
export const make = (options: Options): Offerings => ({
  resources: lists(options, "resources", (session) => session.resources),
  templates: lists(options, "resources", (session) => session.resourceTemplates),
  prompts: lists(options, "prompts", (session) => session.prompts)
})
