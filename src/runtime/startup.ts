/**
 * Publishes how the start goes and the metrics of connections, and half-opens the breaker of a server that reconnects.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as Hold from "../internal/hold.ts"
import * as McpEvent from "../McpEvent.ts"
import type * as RuntimeMetrics from "../observability/RuntimeMetrics.ts"
import type * as ConnectionPool from "./ConnectionPool.ts"
import type * as Server from "./Server.ts"
import type * as ServerStatus from "./ServerStatus.ts"

/** @internal */
export interface Options {
  readonly pool: ConnectionPool.ConnectionPool["Type"]
  readonly events: McpEvent.McpEvents["Type"]
  readonly metrics: RuntimeMetrics.RuntimeMetrics["Type"]
  readonly runtimeServers: Server.Servers
  readonly servers: ReadonlyArray<ServerConfig.ServerConfig>
}

export const watch = (
  { events, metrics, pool, runtimeServers, servers }: Options
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const began = clock.unsafeCurrentTimeMillis()
    const starting = new Set(
      servers.filter((config) =>
        config.enabled !== false && config.blocked === undefined && ServerConfig.isEager(config)
      ).map(({ name }) => name)
    )
    const of = starting.size
    const ready: Array<string> = []
    const failed: Array<Extract<McpEvent.McpEvent, { _tag: "StartupComplete" }>["failed"][number]> = []

    const complete = (): void =>
      events.publish(McpEvent.McpEvent.StartupComplete({
        ready,
        failed,
        took: Duration.millis(clock.unsafeCurrentTimeMillis() - began)
      }))

    const settled = ({ server, status }: ServerStatus.Change): void => {
      if (status._tag === "Connecting" || !starting.delete(server)) return
      if (status._tag === "Connected") ready.push(server)
      else if ("error" in status) failed.push({ server, error: status.error })
      events.publish(McpEvent.McpEvent.StartupUpdate({ server, settled: of - starting.size, of }))
      if (starting.size === 0) complete()
    }

    yield* Hold.listen(() =>
      pool.onChange((change) => {
        const { previous, server, status } = change
        settled(change)
        const is = status._tag === "Connected"
        const was = previous?._tag === "Connected"
        if (is !== was) metrics.for(server).connections(is ? 1 : 0)
        if (is && previous?._tag === "Reconnecting") metrics.for(server).reconnected()
        // a server that has reconnected gets a probe, however long its circuit would stay open
        if (is && !was) runtimeServers.find(server)?.breaker.halfOpen()
      })
    )
    if (of === 0) complete()
  })
