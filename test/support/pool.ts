/** Servers over peers in memory without a runtime, and what their tests look at. */
import { Context, Duration, Effect, Layer } from "effect"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as RuntimeMetrics from "../../src/observability/RuntimeMetrics.ts"
import * as CircuitBreaker from "../../src/resilience/CircuitBreaker.ts"
import * as HealthCheck from "../../src/resilience/HealthCheck.ts"
import * as ReconnectPolicy from "../../src/resilience/ReconnectPolicy.ts"
import type * as Teardown from "../../src/resilience/Teardown.ts"
import * as RuntimeServers from "../../src/runtime/Servers.ts"
import type * as ServerStatus from "../../src/runtime/ServerStatus.ts"
import type * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as ToolCache from "../../src/tools/ToolCache.ts"
import * as ToolPins from "../../src/tools/ToolPins.ts"
import * as Configs from "./configs.ts"
import * as overMemory from "./overMemory.ts"

/** The servers that a test looks at; a runtime keeps its own to itself. */
export class Servers extends Context.Tag("test/support/pool/Servers")<Servers, RuntimeServers.Servers>() {}

export interface Options extends Partial<RuntimeServers.Options> {
  readonly reconnect?: Layer.Layer<ReconnectPolicy.ReconnectPolicy>
  readonly health?: Layer.Layer<HealthCheck.HealthCheck>
  readonly teardown?: Layer.Layer<Teardown.Teardown>
}

export const layer = (peers: Parameters<typeof MemoryTransport.layer>[0], options: Options = {}) =>
  Layer.scoped(Servers, RuntimeServers.make(options)).pipe(
    Layer.provide(Layer.mergeAll(
      CircuitBreaker.layer(),
      RuntimeMetrics.layer,
      ToolCache.layer(),
      ToolPins.layerNone,
      options.reconnect ?? ReconnectPolicy.layer(),
      options.health ?? HealthCheck.layerNone
    )),
    Layer.provideMerge(overMemory.client(peers, options.teardown))
  )

export const remote = (
  name: string,
  more: Partial<ServerConfig.HttpInput> = {}
) => Configs.http({ name, url: `http://${name}.test/mcp`, ...more })

export const local = (
  name: string,
  more: Partial<ServerConfig.StdioInput> = {}
) => Configs.stdio({ name, command: name, ...more })

/** Waits until a server has this status. */
export const until = (server: string, tag: ServerStatus.ServerStatus["_tag"]) =>
  Effect.flatMap(Effect.all([Servers, McpEvent.McpEvents]), ([pool, events]) =>
    Effect.async<void>((resume) => {
      const is = () => pool.get(server)?.status._tag === tag
      if (is()) return resume(Effect.void)
      const stop = events.onEvent(() => {
        if (!is()) return
        stop()
        resume(Effect.void)
      })
      return Effect.sync(stop)
    }))

/** The statuses of a server from now on, by their tags. */
export const history = (server: string) =>
  Effect.map(McpEvent.McpEvents, (events) => {
    const tags: Array<string> = []
    events.onEvent((event) => {
      if (event._tag === "StatusChanged" && event.server === server) tags.push(event.status._tag)
    })
    return tags
  })

export const ping = (server: string) =>
  Effect.flatMap(Servers, (pool) => pool.use(server, ({ session }) => session.health))

export const millis = Duration.toMillis
export { McpEvent }
