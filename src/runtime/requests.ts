/**
 * What else than a call is asked of a server for a caller, each with its span: from before it waits until it is answered.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as McpClient from "../client/McpClient.ts"
import type * as McpError from "../McpError.ts"
import * as CallSpan from "../observability/CallSpan.ts"
import type * as Permissions from "../safety/Permissions.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as CallPath from "./callPath.ts"
import type * as ConnectionPool from "./ConnectionPool.ts"
import type * as Permitted from "./permitted.ts"

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

/** @internal */
export const make = (
  pool: ConnectionPool.ConnectionPool["Type"],
  path: CallPath.CallPath,
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
            path.ask(server, what.method, (live) => {
              used = live.session
              const waiting = permitted.before(live, wanted, permit)
              const asked = Effect.suspend(() => f(live, { meta, args: permit?.args }))
              return waiting === undefined ? asked : Effect.zipRight(waiting, asked)
            }))
      )
    })
  return send
}
