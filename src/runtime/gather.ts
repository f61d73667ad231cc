/**
 * The lists of all servers as one: a server that has none costs the others nothing.
 *
 * @internal
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as McpClient from "../client/McpClient.ts"
import type * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import * as CallSpan from "../observability/CallSpan.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import type * as Offerings from "./offerings.ts"
import * as Present from "./present.ts"
import type * as Requests from "./requests.ts"
import type * as Server from "./Server.ts"
import type * as Servers from "./Servers.ts"
import type * as ServerStatus from "./ServerStatus.ts"

/** What is kept makes no request, and so no span. */
const traced = <A, E, R>(
  method: string,
  { config, server, session }: Server.Live,
  list: Effect.Effect<A, E, R>
) =>
  Exit.isExit(list)
    ? list
    : CallSpan.traced({ server, method, config, connection: () => session }, () => list)

/** Why a server has no list: where it was only waited for, that is why it is not there, and not how long that took. */
const reason = (error: McpError.RuntimeError, status: ServerStatus.ServerStatus): McpError.RuntimeError =>
  error._tag === "RequestTimeout" && error.outcome === "not-sent" && "error" in status ? status.error : error

/** The error for a server whose list did not come within the wait. */
const awayFor = (server: string, status: ServerStatus.ServerStatus): McpError.RuntimeError | undefined =>
  "error" in status ? status.error : Present.stillConnecting(server, status)

/** @internal */
export const make = (pool: Servers.Servers, ask: Requests.Ask) =>
<Item extends object>(
  operation: string,
  lists: Offerings.Lists<McpClient.Listing<Item>>,
  wait: Duration.DurationInput | undefined
): Effect.Effect<McpRuntime.Gathered<Item>> => {
  type Part = McpRuntime.Gathered<Item>

  const ofServer = ({ config: { name: server }, status }: Server.Server): Effect.Effect<Part> => {
    const without = (missing: ToolCatalog.Missing): Part => ({ items: [], missing: [missing] })
    if (status._tag !== "Connected" && status._tag !== "Connecting" && status._tag !== "Idle") {
      return Effect.succeed(without({ server, status, error: "error" in status ? status.error : undefined }))
    }
    const found = (listing: McpClient.Listing<Item>): Part => ({
      items: listing.items.map((item) => ({ ...item, server })),
      missing: []
    })
    // a server that is asleep is not woken for what is known of it
    const known = status._tag === "Idle" ? lists.known(server) : undefined
    if (known !== undefined) return Effect.succeed(found(known))
    const late = (error?: McpError.RuntimeError): Part => {
      const now = pool.member(server)?.status ?? status
      return without({ server, status: now, error: error ? reason(error, now) : awayFor(server, now) })
    }
    const asked = Effect.match(ask(server, operation, (live) => traced(operation, live, lists.get(live))), {
      onFailure: late,
      onSuccess: found
    })
    if (wait === undefined) return asked
    return Effect.map(Effect.timeoutOption(asked, wait), (part) => {
      if (Option.isSome(part)) return part.value
      const old = lists.known(server)
      return old === undefined ? late() : found(old)
    })
  }

  return Effect.map(
    Effect.suspend(() => Effect.forEach(pool.members(), ofServer, { concurrency: "unbounded" })),
    (parts) => ({ items: parts.flatMap(({ items }) => items), missing: parts.flatMap(({ missing }) => missing) })
  )
}
