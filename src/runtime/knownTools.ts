/**
 * The tools that a model may know of: after a wait for the servers, or as much as is known at once.
 *
 * @internal
 */
import * as Array from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as McpRuntime from "../McpRuntime.ts"
import type * as Permissions from "../safety/Permissions.ts"
import * as Tool from "../tools/Tool.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import type * as ToolIndex from "../tools/ToolIndex.ts"
import * as Present from "./present.ts"
import type * as ServerStatus from "./ServerStatus.ts"

/** @internal */
export interface KnownTool {
  readonly entry: ToolIndex.Entry
  readonly requiresApproval: boolean
  readonly deferred: boolean
}

/** @internal */
export interface Known {
  readonly tools: ReadonlyArray<KnownTool>
  /** Tools that only apps may call; no model is offered them. */
  readonly apps: ReadonlyArray<KnownTool>
  readonly missing: ReadonlyArray<ToolCatalog.Missing>
}

/** @internal */
export interface Options {
  readonly catalog: ToolCatalog.ToolCatalog["Type"]
  readonly permissions: Permissions.Permissions["Type"]
  readonly runtime: McpRuntime.McpRuntime["Type"]
}

/** Whether a call of what is known of it has a chance. */
const isOffering = ({ _tag }: ServerStatus.ServerStatus): boolean =>
  _tag === "Connected" || _tag === "Connecting" || _tag === "Idle" || _tag === "Reconnecting"

/**
 * What is known now, without a wait and without waking anybody.
 *
 * @internal
 */
export const atOnce = ({ catalog, permissions, runtime }: Options): Effect.Effect<Known> =>
  Effect.map(runtime.servers.list, (servers) => {
    const offering = new Map<string, boolean>()
    const missing: Array<ToolCatalog.Missing> = []
    for (const { error, name: server, status } of servers) {
      if (catalog.isKnown(server) && isOffering(status)) offering.set(server, status._tag !== "Connected")
      else missing.push({ server, status, error: error ?? Present.stillConnecting(server, status) })
    }
    const all = catalog.index().entries.flatMap((entry): ReadonlyArray<KnownTool> => {
      const deferred = offering.get(entry.server)
      if (deferred === undefined) return []
      const { decision } = permissions.decide("model", { kind: "tool", server: entry.server, name: entry.tool.name })
      return decision === "deny" ? [] : [{ entry, requiresApproval: decision === "ask", deferred }]
    })
    const [tools, apps] = Array.partition(all, ({ entry: { tool } }) => Tool.isAppOnly(tool))
    return { tools, apps, missing }
  })

const known = (tools: Effect.Effect<McpRuntime.Tools>): Effect.Effect<Known> =>
  Effect.map(tools, ({ apps, missing, tools }) => ({
    tools: tools.map(knownOf),
    apps: apps.map(knownOf),
    missing
  }))

const knownOf = ({ _tag, name, requiresApproval, server, tool }: McpRuntime.RuntimeTool): KnownTool => ({
  entry: { name, server, tool },
  requiresApproval,
  deferred: _tag === "Deferred"
})

/**
 * The tools after the wait that `McpRuntime.tools` takes.
 *
 * @internal
 */
export const awaited = ({ runtime }: Options): Effect.Effect<Known> => known(runtime.tools)

/**
 * The tools after this wait, or after that of `McpRuntime.tools`.
 *
 * @internal
 */
export const within = (parts: Options, wait: Duration.DurationInput | undefined): Effect.Effect<Known> => {
  if (wait === undefined) return awaited(parts)
  return Duration.toMillis(wait) === 0 ? atOnce(parts) : known(parts.runtime.offered(wait).tools)
}
