/**
 * What else than a call is asked of a server for a caller, each with its span: from before it waits until it is answered.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as McpClient from "../client/McpClient.ts"
import type * as McpError from "../McpError.ts"
import * as CallSpan from "../observability/CallSpan.ts"
import * as Deadline from "../resilience/Deadline.ts"
import type * as Permissions from "../safety/Permissions.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as ConnectionPool from "./ConnectionPool.ts"
import type * as Permitted from "./permitted.ts"
import type * as Server from "./Server.ts"

type What =
  | { readonly method: "resources/read"; readonly uri: string }
  | { readonly method: "prompts/get"; readonly prompt: string; readonly args: McpClient.Arguments }

const subjectOf = (what: What): Pick<Permitted.Wanted, "kind" | "name" | "args"> =>
  what.method === "resources/read"
    ? { kind: "resource", name: what.uri }
    : { kind: "prompt", name: what.prompt, args: what.args }

interface Given {
  readonly meta: JsonRpc.JsonObject | undefined
  /** The arguments that were permitted, if something was decided of them. */
  readonly args: JsonRpc.JsonObject | undefined
}

/** @internal */
export type Send = <A, E extends McpError.McpError, R>(
  server: string,
  what: What,
  origin: Permissions.Origin,
  f: (live: ConnectionPool.Live, given: Given) => Effect.Effect<A, E, R>
) => Effect.Effect<A, E | McpError.RuntimeError, R>

/** A request within the deadline of the server's lists, behind its breaker and its bulkhead. */
export type Ask = <A, E, R>(
  server: string,
  operation: string,
  f: (live: ConnectionPool.Live) => Effect.Effect<A, E, R>
) => Effect.Effect<A, E | McpError.RuntimeError, R>

export const asking = (pool: ConnectionPool.ConnectionPool["Type"], servers: Server.Servers): Ask => {
  const ask: Ask = (name, operation, f) =>
    Effect.suspend(() => {
      const server = servers.find(name)
      // a server that was added meanwhile is asked, any other is not found
      if (server === undefined) return Effect.flatMap(pool.find(name), () => ask(name, operation, f))
      const total = Duration.toMillis(server.limits.listTimeout)
      return server.withClient(f).pipe(
        server.bulkhead.withPermit,
        server.breaker.protect,
        Deadline.withinDeadline({ server: name, operation, idle: total, total })
      )
    })
  return ask
}

/** Reads and prompts, each with a span from before it waits until it is answered. */
export const make = (
  pool: ConnectionPool.ConnectionPool["Type"],
  ask: Ask,
  permitted: Permitted.Permitted
): Send => {
  const send: Send = (server, what, origin, f) =>
    Effect.suspend(() => {
      const config = pool.config(server)
      // a server that there is not is asked nothing, and one that has come since is decided on
      if (config === undefined) return Effect.flatMap(pool.find(server), () => send(server, what, origin, f))
      const wanted: Permitted.Wanted = { origin, config, server, ...subjectOf(what) }
      let used: McpClient.McpClient | undefined = undefined
      return CallSpan.traced(
        { server, config, ...what, connection: () => used },
        (meta) =>
          Effect.flatMap(permitted.authorize(wanted), (permit) =>
            ask(server, what.method, (live) => {
              used = live.session
              const waiting = permitted.before(live, wanted, permit)
              const asked = Effect.suspend(() => f(live, { meta, args: permit?.args }))
              return waiting === undefined ? asked : Effect.zipRight(waiting, asked)
            }))
      )
    })
  return send
}
