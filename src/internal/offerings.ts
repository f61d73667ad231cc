/**
 * The resources, templates and prompts of each server: listed after it has connected, and when it says that they have
 * changed.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as ConnectionPool from "../connection/ConnectionPool.ts"
import type * as Session from "../connection/Session.ts"
import type * as McpError from "../McpError.ts"

/**
 * One list of every server.
 *
 * @internal
 */
export interface Lists<A> {
  /** What was listed over this connection, or is now. */
  readonly get: (live: ConnectionPool.Live) => Effect.Effect<A, McpError.CallError>
  readonly learn: (live: ConnectionPool.Live) => Effect.Effect<void, McpError.CallError>
  readonly forget: (server: string) => void
}

/** @internal */
export interface Offerings {
  readonly resources: Lists<Session.Listing<Session.Resource>>
  readonly templates: Lists<Session.Listing<Session.ResourceTemplate>>
  readonly prompts: Lists<Session.Listing<Session.Prompt>>
}

const lists = <A>(list: (session: Session.Session) => Effect.Effect<A, McpError.CallError>): Lists<A> => {
  const kept = new Map<string, { readonly generation: number; readonly listing: A }>()
  const fetch = (live: ConnectionPool.Live) =>
    Effect.tap(list(live.session), (listing) =>
      Effect.sync(() => {
        // what an older connection gave says nothing of the present one
        if ((kept.get(live.server)?.generation ?? 0) > live.generation) return
        kept.set(live.server, { generation: live.generation, listing })
      }))
  return {
    get: (live) => {
      const known = kept.get(live.server)
      return known?.generation === live.generation ? Effect.succeed(known.listing) : fetch(live)
    },
    learn: fetch,
    forget: (server) => {
      kept.delete(server)
    }
  }
}

/** @internal */
export const make = (): Offerings => ({
  resources: lists((session) => session.resources),
  templates: lists((session) => session.resourceTemplates),
  prompts: lists((session) => session.prompts)
})
