/** One configured server: its configuration, the state that its calls share, and the link that connects it. */
import * as Effect from "effect/Effect"
import type * as McpClient from "../client/McpClient.ts"
import * as Fingerprint from "../config/Fingerprint.ts"
import * as Limits from "../config/Limits.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as McpEvent from "../McpEvent.ts"
import * as RuntimeMetrics from "../observability/RuntimeMetrics.ts"
import * as Bulkhead from "../resilience/Bulkhead.ts"
import * as CircuitBreaker from "../resilience/CircuitBreaker.ts"
import * as ToolFilter from "../tools/ToolFilter.ts"
import type * as Connection from "./connection.ts"
import type * as Link from "./Link.ts"
import * as Lists from "./lists.ts"
import type * as ServerStatus from "./ServerStatus.ts"

/** The connection of a server. `generation` grows with each connection and is never used twice. */
export interface Live {
  readonly server: string
  /** The user that the connection belongs to; `undefined` for the connection of the application. */
  readonly identity: string | undefined
  readonly config: ServerConfig.ServerConfig
  readonly generation: number
  readonly session: McpClient.McpClient
  readonly connection: Connection.Connection
  readonly lists: Lists.Lists
}

/** A reload that changes the configuration makes a new value, with the breaker, the bulkhead and the metrics of the old. */
export interface Server {
  readonly name: string
  /** The user that its link connects for; `undefined` for the application. */
  readonly identity: string | undefined
  /** The same server for each user with a link: a breaker, a bulkhead and metrics in common, nothing else. */
  readonly users: Map<string, Server>
  readonly config: ServerConfig.ServerConfig
  /** The limits of the configuration, then those of the application. */
  readonly limits: Limits.Limits
  /** False for tools that the configuration filters out. */
  readonly offers: ToolFilter.ToolFilter
  readonly breaker: CircuitBreaker.Breaker
  readonly bulkhead: Bulkhead.Permits
  readonly metrics: RuntimeMetrics.ServerMetrics
  /** Kept over reloads that change only how the server is used. */
  readonly lists: Lists.Lists
  /** Servers that differ only in names, titles and filters may have the same link (`shareIdentical`). */
  readonly link: Link.Link
  readonly status: ServerStatus.ServerStatus
  /** `undefined` while it has no connection. */
  readonly live: Live | undefined
  /** Takes a change of the status into the metrics, and lets a probe through the breaker after a reconnect. */
  readonly changed: (status: ServerStatus.ServerStatus, previous: ServerStatus.ServerStatus | undefined) => void
}

/** Makes servers; `get` gives the present server of a name. A successor has the breaker and the permits of `previous`. */
export const make = (get: (name: string) => Server | undefined) =>
  Effect.gen(function*() {
    const breakers = yield* CircuitBreaker.CircuitBreaker
    const bulkhead = yield* Bulkhead.Bulkhead
    const limits = yield* Limits.CurrentLimits
    const metrics = yield* RuntimeMetrics.RuntimeMetrics
    const { publish } = yield* McpEvent.McpEvents
    const makeLists = yield* Lists.make
    /** The breakers of removed servers too: one that is isolated stays so when a reload adds its server again. */
    const made = new Map<string, CircuitBreaker.Breaker>()

    const breakerOf = (name: string): CircuitBreaker.Breaker => {
      const known = made.get(name)
      if (known?.isIsolated() === true) return known
      const breaker = breakers.make(name, (state) => {
        // calls that outlive their server change it later
        if (get(name)?.breaker !== breaker) return
        metrics.for(name).breaker(state)
        publish(McpEvent.McpEvent.BreakerChanged({ server: name, state }))
      })
      made.set(name, breaker)
      return breaker
    }

    return (
      config: ServerConfig.ServerConfig,
      link: Link.Link,
      previous: Server | undefined,
      identity?: string
    ): Server => {
      const { name } = config
      const concurrency = config.concurrency ?? bulkhead.concurrency
      previous?.bulkhead.resize(concurrency)
      const isSame = previous?.identity === identity && previous?.config.blocked === config.blocked &&
        Fingerprint.isSame(previous?.config, config)
      const server: Server = {
        name,
        identity,
        users: new Map(),
        config,
        limits: ServerConfig.limits(config, limits),
        offers: ToolFilter.make(config),
        breaker: previous?.breaker ?? breakerOf(name),
        bulkhead: previous?.bulkhead ?? Bulkhead.make({ ...bulkhead, server: name, concurrency }),
        metrics: metrics.for(name),
        lists: previous !== undefined && isSame ? previous.lists : makeLists(config, identity),
        link,
        get status() {
          return link.status()
        },
        get live() {
          const connection = link.connected()
          if (connection === undefined) return undefined
          const { generation, session } = connection
          return { server: name, identity, config, generation, session, connection, lists: server.lists }
        },
        changed: (status, previous) => {
          const isConnected = status._tag === "Connected"
          const wasConnected = previous?._tag === "Connected"
          if (isConnected === wasConnected) return
          server.metrics.connections(isConnected ? 1 : 0)
          if (!isConnected) return
          if (previous?._tag === "Reconnecting") server.metrics.reconnected()
          server.breaker.halfOpen()
        }
      }
      return server
    }
  })
