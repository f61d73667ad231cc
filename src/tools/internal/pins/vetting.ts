/**
 * What of the lists of tools may be used: each is reviewed over the connection that gave it, before anybody sees it.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as McpClient from "../../../client/McpClient.ts"
import type * as Limits from "../../../config/Limits.ts"
import * as ServerConfig from "../../../config/ServerConfig.ts"
import * as McpError from "../../../McpError.ts"
import type * as ConnectionPool from "../../../runtime/ConnectionPool.ts"
import type * as Tool from "../../Tool.ts"
import type * as ToolCache from "../../ToolCache.ts"
import type * as ToolPins from "../../ToolPins.ts"

/** @internal */
export interface Vetting {
  /** Reviews what a server has given over this connection. */
  readonly review: (live: ConnectionPool.Live, tools: ReadonlyArray<Tool.Tool>) => Effect.Effect<void>
  /** Compares what was kept from an earlier run with what is pinned. */
  readonly recall: (config: ServerConfig.ServerConfig, manifest: ToolCache.Manifest | undefined) => Effect.Effect<void>
  /** The tools that may be offered; none before they were looked at. */
  readonly offered: (config: ServerConfig.ServerConfig, manifest: ToolCache.Manifest) => ReadonlyArray<Tool.Tool>
  /** Whether a tool may be called over this connection; `learn` asks for its list. */
  readonly admit: (
    live: ConnectionPool.Live,
    tool: string,
    learn: Effect.Effect<void, McpError.RuntimeError>
  ) => Effect.Effect<void, McpError.CallError> | undefined
}

/** What a server has given over one connection. */
interface Vetted {
  readonly tools: ReadonlyArray<Tool.Tool>
  readonly held: ReadonlyMap<string, ToolPins.Quarantined>
  /** How many decisions there had been when `usable` was made. */
  readonly decisions: number
  readonly usable: ReadonlySet<string>
}

/** A call that has to wait for a list was not sent, whatever became of the list. */
const unsent = (error: McpError.RuntimeError): McpError.CallError => {
  switch (error._tag) {
    case "Closed":
      return new McpError.Closed({ ...error, outcome: "not-sent" })
    case "ConnectionLost":
      return new McpError.ConnectionLost({ ...error, outcome: "not-sent" })
    default:
      return new McpError.Cancelled({
        server: error.server,
        operation: "tools/call", // by its tag alone, because a message may have text of the server in it
        detail: `what the tool is now could not be learned (${error._tag})`,
        outcome: "not-sent"
      })
  }
}

/** @internal */
export const make = (pins: ToolPins.ToolPins["Type"], limits: Limits.Limits, decisions: () => number): Vetting => {
  // with the connection goes what is known of it; several servers may share one
  const vetted = new WeakMap<McpClient.McpClient, Map<string, Vetted>>()
  const recalled = new WeakMap<ReadonlyArray<Tool.Tool>, ReadonlyArray<Tool.Tool>>()

  const usableOf = (config: ServerConfig.ServerConfig, tools: ReadonlyArray<Tool.Tool>): ReadonlySet<string> =>
    new Set(tools.filter((tool) => pins.mayUse(config, tool)).map(({ name }) => name))

  const vettedOf = ({ config, server, session }: ConnectionPool.Live): Vetted | undefined => {
    const known = vetted.get(session)?.get(server)
    if (known === undefined || known.decisions === decisions()) return known
    const now = { ...known, decisions: decisions(), usable: usableOf(config, known.tools) }
    vetted.get(session)?.set(server, now)
    return now
  }

  const review: Vetting["review"] = (live, tools) =>
    Effect.map(pins.review(live.config, tools), ({ quarantined }) => {
      const servers = vetted.get(live.session) ?? new Map<string, Vetted>()
      vetted.set(live.session, servers)
      servers.set(live.server, {
        tools,
        held: new Map(quarantined.map((one) => [one.tool, one])),
        decisions: decisions(),
        usable: usableOf(live.config, tools)
      })
    })

  /** The list over this very connection: what is known may come from a newer one, which says nothing of this one. */
  const vet = (live: ConnectionPool.Live, learn: Effect.Effect<void, McpError.RuntimeError>) => {
    const limit = ServerConfig.limits(live.config, limits).listTimeout
    const { server } = live
    return Effect.suspend(() => vettedOf(live) === undefined ? learn : Effect.void).pipe(
      Effect.flatMap(() =>
        vettedOf(live) === undefined
          ? Effect.flatMap(live.session.tools, ({ tools }) => review(live, tools))
          : Effect.void
      ),
      Effect.mapError(unsent),
      Effect.timeoutFail({
        duration: limit,
        onTimeout: () =>
          new McpError.RequestTimeout({ server, kind: "total", operation: "tools/list", limit, outcome: "not-sent" })
      })
    )
  }

  const admitted = (
    live: ConnectionPool.Live,
    tool: string,
    learn: Effect.Effect<void, McpError.RuntimeError>
  ): Effect.Effect<void, McpError.CallError> =>
    Effect.gen(function*() {
      const { config, server } = live
      // of what was never seen before there is nothing to compare with
      if (!(yield* pins.isPinned(config, tool))) return
      yield* vet(live, learn)
      const known = vettedOf(live)
      if (known?.usable.has(tool) === true) return
      const held = known?.held.get(tool)
      if (held !== undefined) {
        const changed = held.changes.map(({ path }) => path)
        return yield* new McpError.PermissionDenied({ server, why: "quarantined", kind: "tool", name: tool, changed })
      }
      return yield* new McpError.NotFound({ server, kind: "tool", name: tool })
    })

  return {
    review,
    recall: (config, manifest) =>
      manifest?.source !== "snapshot"
        ? Effect.void
        : Effect.map(pins.recall(config, manifest.tools), (tools) => {
          recalled.set(manifest.tools, tools)
        }),
    offered: (config, { source, tools }) => {
      if (pins.mode !== "enforce") return tools
      if (source === "snapshot") return recalled.get(tools) ?? []
      return tools.every((tool) => pins.mayUse(config, tool))
        ? tools
        : tools.filter((tool) => pins.mayUse(config, tool))
    },
    admit: (live, tool, learn) =>
      pins.mode !== "enforce" || vettedOf(live)?.usable.has(tool) === true ? undefined : admitted(live, tool, learn)
  }
}
