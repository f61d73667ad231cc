/**
 * Each server as people see it, gathered from those who know.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Hold from "../internal/hold.ts"
import * as Mailbox from "../internal/mailbox.ts"
import type * as McpError from "../McpError.ts"
import type * as McpEvent from "../McpEvent.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import type * as CallTool from "./callTool.ts"
import type * as ConnectionPool from "./ConnectionPool.ts"
import type * as Server from "./Server.ts"

/** @internal */
export interface Options {
  readonly pool: ConnectionPool.ConnectionPool["Type"]
  readonly catalog: ToolCatalog.ToolCatalog["Type"]
  readonly calls: CallTool.Calls
  readonly events: McpEvent.McpEvents["Type"]
  readonly servers: Server.Servers
}

/** @internal */
export interface ServerInfos {
  readonly all: Effect.Effect<ReadonlyArray<McpRuntime.ServerInfo>>
  readonly one: (server: string) => Effect.Effect<McpRuntime.ServerInfo, McpError.NotFound>
  readonly changes: Stream.Stream<ReadonlyArray<McpRuntime.ServerInfo>>
}

/** The breaker of a server that was removed meanwhile. */
const closed: McpRuntime.ServerInfo["breaker"] = { _tag: "Closed", failures: 0 }

/** @internal */
export const make = ({ calls, catalog, events, pool, servers }: Options): ServerInfos => {
  const infoOf = (member: ConnectionPool.Member): Effect.Effect<McpRuntime.ServerInfo> => {
    const { config, health, live, reconnects, sharedWith, status } = member
    const connection = live?.session
    const server = servers.find(config.name)
    return Effect.map(server?.breaker.state ?? Effect.succeed(closed), (breaker) => ({
      name: config.name,
      title: config.title,
      status,
      toolCount: catalog.isKnown(config.name) ? catalog.index().ofServer(config.name).length : undefined,
      // an HTTP server can be reached over the older transport
      transport: connection?.transport === "sse" ? "sse" : config.transport,
      era: connection?.era,
      protocolVersion: connection?.protocolVersion,
      serverInfo: connection?.serverInfo,
      instructions: connection?.instructions,
      error: "error" in status ? status.error : undefined,
      connectedSince: status._tag === "Connected" ? status.since : undefined,
      pausedUntil: status._tag === "Connected" ? status.pausedUntil : undefined,
      breaker,
      bulkhead: server?.bulkhead.state() ?? { active: 0, queued: 0 },
      health,
      reconnects,
      callsInFlight: calls.inFlight(config.name),
      sharedWith,
      provenance: config.provenance
    }))
  }
  const all = Effect.suspend(() => Effect.forEach(pool.members(), infoOf))

  /** Calls `changed` for each change of a status or a breaker. */
  const watch = (changed: () => void): Effect.Effect<void, never, Scope.Scope> =>
    Hold.listen(() => {
      const stops = [
        pool.onChange(changed),
        events.onEvent(({ _tag }) => {
          if (_tag === "BreakerChanged") changed()
        })
      ]
      return () => {
        for (const stop of stops) stop()
      }
    })

  return {
    all,
    one: (server) => Effect.flatMap(pool.find(server), infoOf),
    changes: Stream.unwrapScoped(Effect.gen(function*() {
      // of many changes only that there were some: what is shown is what is then
      const mailbox = Mailbox.make<void, never>(1)
      const changed = () => mailbox.offer(undefined)
      yield* watch(changed)
      changed()
      const over = Effect.sync(() => mailbox.end(Exit.succeed([])))
      yield* Effect.forkScoped(Effect.zipRight(Stream.runDrain(pool.changes), over))
      return Stream.mapEffect(Mailbox.stream(mailbox), () => all)
    }))
  }
}
