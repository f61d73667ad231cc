/** Servers in memory for tests, with faults, and the runtime over them: the entry point `effect-mcp-runtime/testing`. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Credentials from "../auth/Credentials.ts"
import * as Connector from "../client/Connector.ts"
import * as EraMemory from "../client/EraMemory.ts"
import * as NativeConnector from "../client/NativeConnector.ts"
import * as TrustStore from "../config/TrustStore.ts"
import * as McpEvent from "../McpEvent.ts"
import * as McpRuntime from "../McpRuntime.ts"
import * as RuntimeMetrics from "../observability/RuntimeMetrics.ts"
import * as CircuitBreaker from "../resilience/CircuitBreaker.ts"
import * as HealthCheck from "../resilience/HealthCheck.ts"
import * as ReconnectPolicy from "../resilience/ReconnectPolicy.ts"
import * as Teardown from "../resilience/Teardown.ts"
import { concern, sealed } from "../runtime/composition.ts"
import * as Approval from "../safety/Approval.ts"
import * as Grants from "../safety/Grants.ts"
import * as Permissions from "../safety/Permissions.ts"
import * as ToolCache from "../tools/ToolCache.ts"
import * as ToolPins from "../tools/ToolPins.ts"
import * as MemoryTransport from "./MemoryTransport.ts"

export * as Faults from "./Faults.ts"
export * as MemoryServer from "./MemoryServer.ts"
export { MemoryTransport }

export interface Options extends Partial<McpRuntime.Options> {
  readonly permissions?: Partial<Permissions.Options> | undefined
}

/**
 * A runtime over these peers: one server per peer under its name, or else those of `servers`. It keeps caches in
 * memory, writes no log, reads no files or environment variables, sends no health checks, and ends without waiting. A
 * provided concern replaces its default.
 */
export const layerTest = (peers: MemoryTransport.Peers, options: Options = {}) => {
  const { servers = Object.keys(peers).map((name) => MemoryTransport.config(name)) } = options
  const credentials = Effect.map(Layer.build(Credentials.layerNone), Context.get(Credentials.Credentials))
  const composition = McpRuntime.layer({ ...options, servers }).pipe(
    Layer.provide([
      concern(CircuitBreaker.CircuitBreaker, CircuitBreaker.make()),
      concern(ReconnectPolicy.ReconnectPolicy, Effect.sync(() => ReconnectPolicy.make())),
      concern(RuntimeMetrics.RuntimeMetrics, RuntimeMetrics.make),
      concern(ToolCache.ToolCache, ToolCache.make())
    ]),
    Layer.provideMerge(concern(Permissions.Permissions, Permissions.make(options.permissions))),
    Layer.provideMerge(concern(ToolPins.ToolPins, ToolPins.make())),
    Layer.provide(concern(Connector.Connector, NativeConnector.make)),
    Layer.provide([
      concern(Approval.Approval, Effect.succeed(Approval.none)),
      concern(Credentials.Credentials, credentials),
      concern(EraMemory.EraMemory, Effect.sync(EraMemory.makeMemory)),
      concern(Grants.Grants, Grants.makeMemory),
      concern(HealthCheck.HealthCheck, Effect.succeed({ ...HealthCheck.defaults, interval: Duration.infinity })),
      concern(TrustStore.TrustStore, TrustStore.makeMemory),
      MemoryTransport.layer(peers)
    ]),
    Layer.provideMerge(concern(McpEvent.McpEvents, McpEvent.make())),
    Layer.provide(concern(Teardown.Teardown, Teardown.make({ termGrace: 0 })))
  )
  return sealed(composition, Context.pick())
}
