/**
 * What else than a call is asked of a server for a caller, each with its span: from before it waits until it is answered.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as ConnectionPool from "../connection/ConnectionPool.ts"
import type * as Connector from "../connection/Connector.ts"
import type * as McpError from "../McpError.ts"
import * as CallSpan from "../observability/CallSpan.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as CallPath from "./callPath.ts"

/** @internal */
export type Send = <A, E extends McpError.McpError, R>(
  server: string,
  what: Pick<CallSpan.Operation, "method" | "prompt" | "uri">,
  f: (live: ConnectionPool.Live, meta: JsonRpc.JsonObject | undefined) => Effect.Effect<A, E, R>
) => Effect.Effect<A, E | McpError.RuntimeError, R>

/** @internal */
export const make = (pool: ConnectionPool.ConnectionPool["Type"], path: CallPath.CallPath): Send => (server, what, f) =>
  Effect.suspend(() => {
    const config = pool.config(server)
    // a server that there is not is asked nothing
    if (config === undefined) return path.ask(server, what.method, (live) => f(live, undefined))
    let used: Connector.Connection | undefined = undefined
    return CallSpan.traced(
      { server, config, ...what, connection: () => used },
      (meta) =>
        path.ask(server, what.method, (live) => {
          used = live.session.connection
          return f(live, meta)
        })
    )
  })
