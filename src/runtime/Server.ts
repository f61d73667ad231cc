/** The state that the calls of one configured server share. */
import * as Effect from "effect/Effect"
import type * as Limits from "../config/Limits.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import type * as RuntimeMetrics from "../observability/RuntimeMetrics.ts"
import * as Bulkhead from "../resilience/Bulkhead.ts"
import type * as CircuitBreaker from "../resilience/CircuitBreaker.ts"
import * as Deadline from "../resilience/Deadline.ts"
import * as ToolFilter from "../tools/ToolFilter.ts"
import type * as ConnectionPool from "./ConnectionPool.ts"

export interface Server {
  readonly name: string
  readonly config: ServerConfig.ServerConfig
  /** The limits in force: those of the configuration, then those of the application. */
  readonly limits: Limits.Limits
  /** False for tools that are filtered out. */
  readonly offers: ToolFilter.ToolFilter
  readonly breaker: CircuitBreaker.Breaker
  readonly bulkhead: Bulkhead.Permits
  readonly metrics: RuntimeMetrics.ServerMetrics
  /** Uses the live client, or waits for one within the deadline of the call. */
  readonly withClient: <A, E, R>(
    deadline: Deadline.Deadline,
    f: (live: ConnectionPool.Live) => Effect.Effect<A, E, R>
  ) => Effect.Effect<
    A,
    E | McpError.ConnectError | McpError.ServerUnavailable | McpError.NotFound | McpError.RequestTimeout,
    R
  >
}

export interface Servers {
  /** The server of this name; another value after a reload that changed its configuration. */
  readonly find: (name: string) => Server | undefined
  /** An isolated server is remembered, because one that a reload adds again is isolated until its breaker is reset. */
  readonly forget: (name: string) => void
}

export interface Options {
  readonly limits: Limits.Limits
  readonly pool: ConnectionPool.ConnectionPool["Type"]
  readonly breakers: CircuitBreaker.CircuitBreaker["Type"]
  readonly bulkhead: Bulkhead.Options
  readonly metrics: RuntimeMetrics.RuntimeMetrics["Type"]
  readonly publish: (event: McpEvent.McpEvent) => void
}

export const make = ({ breakers, bulkhead, limits, metrics, pool, publish }: Options): Servers => {
  const servers = new Map<string, Server>()

  const breakerOf = (name: string): CircuitBreaker.Breaker => {
    const breaker = breakers.make(name, (state) => {
      // a removed server's calls in flight still change its breaker, which is no longer of this name
      if (servers.get(name)?.breaker !== breaker) return
      metrics.for(name).breaker(state)
      publish(McpEvent.McpEvent.BreakerChanged({ server: name, state }))
    })
    return breaker
  }

  const waitedFor = (name: string): Deadline.WaitedFor => {
    const status = pool.member(name)?.status
    const lastError = status !== undefined && "error" in status ? status.error : undefined
    return { waitedFor: "connection", ...(lastError === undefined ? {} : { lastError }) }
  }

  return {
    find: (name) => {
      const config = pool.config(name)
      const known = servers.get(name)
      if (config === undefined || known?.config === config) return config === undefined ? undefined : known
      const concurrency = config.concurrency ?? bulkhead.concurrency
      known?.bulkhead.resize(concurrency)
      const server: Server = {
        name,
        config,
        limits: ServerConfig.limits(config, limits),
        offers: ToolFilter.make(config),
        breaker: known?.breaker ?? breakerOf(name),
        bulkhead: known?.bulkhead ?? Bulkhead.make({ ...bulkhead, server: name, concurrency }),
        metrics: metrics.for(name),
        withClient: (deadline, f) =>
          Effect.suspend(() =>
            pool.isConnected(name)
              ? pool.use(name, f)
              : Deadline.boundWait(deadline, () => waitedFor(name), (arrived) =>
                pool.use(name, (live) => {
                  arrived()
                  return f(live)
                }))
          )
      }
      servers.set(name, server)
      return server
    },
    forget: (name) => {
      if (servers.get(name)?.breaker.isIsolated() !== true) servers.delete(name)
    }
  }
}
