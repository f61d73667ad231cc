/** The gateway: all that the servers of a runtime offer, behind one server, for callers of either era. */
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Protocol from "../client/Protocol.ts"
import type * as OutputGuard from "../safety/OutputGuard.ts"
import type * as ToolSearch from "../tools/ToolSearch.ts"
import type * as HttpEndpoint from "./HttpEndpoint.ts"
import * as internal from "./internal/gateway/gateway.ts"
import type * as McpServer from "./McpServer.ts"
import type * as Runtimes from "./Runtimes.ts"

export interface Options {
  readonly name: string
  readonly version: string
  readonly title: string | undefined
  readonly instructions: string | undefined
  /**
   * How tools and prompts are named: `qualified` by their server, or `plain`, as their server does, where no two servers
   * have the same name.
   */
  readonly naming: "qualified" | "plain"
  /**
   * What becomes of texts of servers: `clean` takes out what hides in them and keeps what is too long to be read page by
   * page; `wrap` marks them as somebody else's words besides, for callers that show them to a model as they are; `asis`
   * leaves them.
   */
  readonly output: "clean" | "wrap" | "asis"
  /** Whether callers are given a search, a description and a call in place of all tools. */
  readonly search: boolean
  /** Whether only one program is served: servers are then started once, when it has said what it can be asked. */
  readonly single: boolean
  /** The servers that all callers share, because they neither ask anything nor remember who has called. */
  readonly shared: (server: string) => boolean
  /**
   * How long a list waits for slow servers; `tools/list` waits for a server of which nothing is known as long as
   * `ToolCatalog.Options.firstListWait` says.
   */
  readonly gate: Duration.DurationInput
  /** How many callers may have connections of their own. */
  readonly maxSeats: number
  /** Connections for callers without sessions are kept so long for the next one. */
  readonly seatTimeout: Duration.DurationInput
}

export const defaults: Options = {
  name: "mcp-runtime",
  version: Protocol.clientInfo.version,
  title: undefined,
  instructions: undefined,
  naming: "qualified",
  output: "clean",
  search: false,
  single: false,
  shared: () => false,
  gate: Duration.seconds(1),
  maxSeats: 64,
  seatTimeout: Duration.minutes(5)
}

export type Requirements = OutputGuard.OutputGuard | Runtimes.Runtimes | ToolSearch.ToolSearch

/** What the gateway offers, for `StdioServer` or `HttpEndpoint`. */
export interface Gateway extends McpServer.Offer {
  /** The runtime that all callers share, for health and metrics; started now if it is not yet. */
  readonly shared: Effect.Effect<Context.Context<Runtimes.Services>, McpServer.Refusal>
  /** How many callers have connections of their own. */
  readonly seats: () => number
}

/** All connections end with the scope. */
export const make = (
  options?: Partial<Options>
): Effect.Effect<Gateway, never, Requirements | Scope.Scope> => internal.make({ ...defaults, ...options })

/** `/health` for anybody, `/status` and `/metrics` (as Prometheus reads them) for callers, beside the protocol. */
export const pages = (gateway: Gateway): ReadonlyArray<HttpEndpoint.Page> => {
  // the HTTP of platform is for those who serve
  const load = Effect.promise(() => import("./internal/gateway/pages.ts"))
  return [
    { path: "/health", guarded: false, render: Effect.flatMap(load, ({ health }) => health(gateway)) },
    { path: "/status", guarded: true, render: Effect.flatMap(load, ({ status }) => status(gateway)) },
    { path: "/metrics", guarded: true, render: Effect.flatMap(load, ({ metrics }) => metrics) }
  ]
}
