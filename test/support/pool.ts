/** A pool over peers in memory, and what its tests look at. */
import { Duration, Effect, Layer } from "effect"
import * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as HealthCheck from "../../src/resilience/HealthCheck.ts"
import * as ReconnectPolicy from "../../src/resilience/ReconnectPolicy.ts"
import type * as Teardown from "../../src/resilience/Teardown.ts"
import * as ConnectionPool from "../../src/runtime/ConnectionPool.ts"
import type * as ServerStatus from "../../src/runtime/ServerStatus.ts"
import type * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as overMemory from "./overMemory.ts"

export interface Options {
  readonly pool?: Partial<ConnectionPool.Options>
  readonly reconnect?: Layer.Layer<ReconnectPolicy.ReconnectPolicy>
  readonly health?: Layer.Layer<HealthCheck.HealthCheck>
  readonly teardown?: Layer.Layer<Teardown.Teardown>
}

export const layer = (peers: Parameters<typeof MemoryTransport.layer>[0], options: Options = {}) =>
  ConnectionPool.layer(options.pool).pipe(
    Layer.provide(Layer.merge(
      options.reconnect ?? ReconnectPolicy.layer(),
      options.health ?? HealthCheck.layerNone
    )),
    Layer.provideMerge(overMemory.client(peers, options.teardown))
  )

export const remote = (
  name: string,
  more: Partial<ServerConfig.HttpInput> = {}
) => ServerConfig.http({ name, url: `http://${name}.test/mcp`, ...more })

export const local = (
  name: string,
  more: Partial<ServerConfig.StdioInput> = {}
) => ServerConfig.stdio({ name, command: name, ...more })

/** Waits until a server has this status. */
export const until = (server: string, tag: ServerStatus.ServerStatus["_tag"]) =>
  Effect.flatMap(ConnectionPool.ConnectionPool, (pool) =>
    Effect.async<void>((resume) => {
      const is = () => pool.member(server)?.status._tag === tag
      if (is()) return resume(Effect.void)
      const stop = pool.onChange(() => {
        if (!is()) return
        stop()
        resume(Effect.void)
      })
      return Effect.sync(stop)
    }))

/** The statuses of a server from now on, by their tags. */
export const history = (server: string) =>
  Effect.map(ConnectionPool.ConnectionPool, (pool) => {
    const tags: Array<string> = []
    pool.onChange((change) => {
      if (change.server === server) tags.push(change.status._tag)
    })
    return tags
  })

export const ping = (server: string) =>
  Effect.flatMap(ConnectionPool.ConnectionPool, (pool) => pool.use(server, ({ session }) => session.health))

export const millis = Duration.toMillis
export { ConnectionPool, McpEvent }
