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
import type * as McpRuntime from "../McpRuntime.ts"
import type * as CircuitBreaker from "../resilience/CircuitBreaker.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import * as BreakersHeard from "./breakersHeard.ts"
import type * as CallPath from "./callPath.ts"
import type * as ConnectionPool from "./ConnectionPool.ts"

/** @internal */
export interface Options {
  readonly pool: ConnectionPool.ConnectionPool["Type"]
  readonly catalog: ToolCatalog.ToolCatalog["Type"]
  readonly breakers: CircuitBreaker.CircuitBreaker["Type"]
  readonly path: CallPath.CallPath
}

/** @internal */
export interface ServerInfos {
  readonly all: Effect.Effect<ReadonlyArray<McpRuntime.ServerInfo>>
  readonly one: (server: string) => Effect.Effect<McpRuntime.ServerInfo, McpError.NotFound>
  readonly changes: Stream.Stream<ReadonlyArray<McpRuntime.ServerInfo>>
}

/** @internal */
export const make = ({ breakers, catalog, path, pool }: Options): ServerInfos => {
  const infoOf = (member: ConnectionPool.Member): Effect.Effect<McpRuntime.ServerInfo> => {
    const { config, health, live, reconnects, sharedWith, status } = member
    const connection = live?.session
    return Effect.map(breakers.for(config.name).state, (breaker) => ({
      name: config.name,
      title: config.title,
      status,
      toolCount: catalog.isKnown(config.name) ? catalog.index().ofServer(config.name).length : undefined,
      transport: config.transport,
      era: connection?.era,
      protocolVersion: connection?.protocolVersion,
      serverInfo: connection?.serverInfo,
      instructions: connection?.instructions,
      error: "error" in status ? status.error : undefined,
      connectedSince: status._tag === "Connected" ? status.since : undefined,
      pausedUntil: status._tag === "Connected" ? status.pausedUntil : undefined,
      breaker,
      bulkhead: path.bulkhead(config.name),
      health,
      reconnects,
      callsInFlight: path.inFlight(config.name),
      sharedWith,
      provenance: config.provenance
    }))
  }
  const all = Effect.suspend(() => Effect.forEach(pool.members(), infoOf))

  /** Tells of each change of a status or a breaker from now on. */
  const watch = (changed: () => void): Effect.Effect<void, never, Scope.Scope> =>
    Hold.listen(() => {
      const { hear, stop: silence } = BreakersHeard.make(pool, breakers, changed)
      for (const { name } of pool.configs()) hear(name)
      const stop = pool.onChange(({ server }) => {
        hear(server)
        changed()
      })
      return () => {
        stop()
        silence()
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
