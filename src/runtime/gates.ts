/**
 * What stands before a connection: its breaker, its places, and that it is there at all.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Limits from "../config/Limits.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import type * as RuntimeMetrics from "../observability/RuntimeMetrics.ts"
import * as Bulkhead from "../resilience/Bulkhead.ts"
import type * as CircuitBreaker from "../resilience/CircuitBreaker.ts"
import * as Deadline from "../resilience/Deadline.ts"
import type * as RetryPolicy from "../resilience/RetryPolicy.ts"
import * as ToolFilter from "../tools/ToolFilter.ts"
import type * as ConnectionPool from "./ConnectionPool.ts"

/**
 * What the calls of one server need, looked up once per configuration.
 *
 * @internal
 */
export interface Gates {
  readonly server: string
  readonly config: ServerConfig.ServerConfig
  /** Which tools are not filtered out; however somebody has got at one, it is asked with each call. */
  readonly offers: ToolFilter.ToolFilter
  readonly breaker: CircuitBreaker.Breaker
  readonly permits: Bulkhead.Permits
  readonly retry: RetryPolicy.Options
  readonly metrics: RuntimeMetrics.ServerMetrics
  readonly idle: number
  readonly total: number
  readonly listTotal: number
}

/** @internal */
export interface Options {
  readonly limits: Limits.Limits
  readonly pool: ConnectionPool.ConnectionPool["Type"]
  readonly breakers: CircuitBreaker.CircuitBreaker["Type"]
  readonly bulkhead: Bulkhead.Options
  readonly retry: RetryPolicy.Options
  readonly metrics: RuntimeMetrics.RuntimeMetrics["Type"]
}

/**
 * The gates of each server that is configured.
 *
 * @internal
 */
export const lookup = (options: Options) => {
  const { breakers, bulkhead, limits, metrics, pool, retry } = options
  const known = new Map<string, Gates>()
  const find = (server: string): Gates | undefined => {
    const config = pool.config(server)
    const gates = known.get(server)
    if (config === undefined || gates?.config === config) return config === undefined ? undefined : gates
    const inForce = ServerConfig.limits(config, limits)
    const concurrency = config.concurrency ?? bulkhead.concurrency
    gates?.permits.resize(concurrency)
    const made: Gates = {
      server,
      config,
      offers: ToolFilter.make(config),
      breaker: breakers.for(server),
      permits: gates?.permits ?? Bulkhead.make({ ...bulkhead, server, concurrency }),
      retry,
      metrics: metrics.for(server),
      idle: Duration.toMillis(inForce.requestTimeout),
      total: Duration.toMillis(inForce.toolTimeout),
      listTotal: Duration.toMillis(inForce.listTimeout)
    }
    known.set(server, made)
    return made
  }
  return {
    find,
    forget: (server: string): void => {
      known.delete(server)
    }
  }
}

/**
 * A connection with all its gates passed; whoever has one is certain to leave.
 *
 * @internal
 */
export class Passage {
  readonly #gates: Gates
  readonly #pass: CircuitBreaker.Pass
  readonly #line: ConnectionPool.Line

  constructor(gates: Gates, pass: CircuitBreaker.Pass, line: ConnectionPool.Line) {
    this.#gates = gates
    this.#pass = pass
    this.#line = line
  }

  get live(): ConnectionPool.Live {
    return this.#line.live
  }

  leave(exit: Exit.Exit<unknown, McpError.McpError>): void {
    this.#line.end(exit)
    this.#gates.permits.give()
    this.#gates.breaker.settle(this.#pass, exit)
  }
}

/**
 * Passes all gates in one step, if none of them makes anybody wait; otherwise `undefined`.
 *
 * @internal
 */
export const enter = (
  pool: ConnectionPool.ConnectionPool["Type"],
  gates: Gates
): Passage | McpError.CircuitOpen | undefined => {
  const line = pool.line(gates.server)
  if (line === undefined || !gates.permits.hasRoom()) return undefined
  const pass = gates.breaker.admit()
  if (typeof pass !== "number") return pass
  gates.permits.take()
  line.begin()
  return new Passage(gates, pass, line)
}

/**
 * The same where something has to be waited for: each gate waits as it does, and all of it is bounded until the
 * connection has been reached.
 *
 * @internal
 */
export const wait = <A, E extends McpError.McpError, R>(
  pool: ConnectionPool.ConnectionPool["Type"],
  { breaker, permits, server }: Gates,
  operation: string,
  deadline: Deadline.Deadline,
  f: (live: ConnectionPool.Live) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | McpError.RuntimeError, R> =>
  Deadline.untilArrived(deadline, server, operation)((arrived) =>
    breaker.protect(permits.withPermit(pool.use(server, (live) => {
      arrived()
      return f(live)
    })))
  )

/**
 * Where nothing may be interrupted: what may all the same.
 *
 * @internal
 */
export type Restore = <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
