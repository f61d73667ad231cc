/**
 * When to connect again to a server that was lost or did not answer: a `Schedule` per server.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"

/** How one server is reconnected. */
export interface Reconnect {
  /** The delays of one series of attempts; the series is over when it ends. */
  readonly schedule: Schedule.Schedule<unknown, McpError.ConnectError>
  /** Follows the series for a server that was once connected. Without it the server fails when the series is over. */
  readonly slowLane: Schedule.Schedule<unknown, McpError.ConnectError> | undefined
  /** A connection that lived this long begins a new series; a shorter one continues the old. */
  readonly stableAfter: Duration.Duration
  /** More reconnects within that time fail the server, regardless of the schedule. */
  readonly storm: { readonly reconnects: number; readonly within: Duration.Duration }
}

export class ReconnectPolicy extends Context.Tag("effect-mcp-runtime/resilience/ReconnectPolicy")<ReconnectPolicy, {
  readonly for: (config: ServerConfig.ServerConfig) => Reconnect
}>() {}

export type Preset = "standard" | "capped" | "steps" | "health"

const doubling = (first: Duration.DurationInput, cap: Duration.DurationInput) =>
  Schedule.union(Schedule.exponential(first), Schedule.spaced(cap))

const jitter = { min: 0.8, max: 1.2 }

/** The delays of each preset. */
export const schedules: { readonly [P in Preset]: Schedule.Schedule<unknown> } = {
  /** 0.5, 1, 2, 4 s, ±20 %. */
  standard: Schedule.exponential(Duration.millis(500)).pipe(
    Schedule.jitteredWith(jitter),
    Schedule.intersect(Schedule.recurs(4))
  ),
  /** 1, 2, 4 s; never more than 30 s. */
  capped: Schedule.intersect(doubling("1 second", "30 seconds"), Schedule.recurs(3)),
  /** 2, 5, 15 s. */
  steps: Schedule.fromDelays("2 seconds", "5 seconds", "15 seconds"),
  /** From 100 ms, doubling, never more than 10 s; 5 attempts. */
  health: Schedule.intersect(doubling("100 millis", "10 seconds"), Schedule.recurs(5))
}

/** From 15 s, doubling to 5 min, without end. */
export const slowLane: Schedule.Schedule<unknown> = Schedule.jitteredWith(doubling("15 seconds", "5 minutes"), jitter)

export interface Options {
  readonly schedule: Preset | Schedule.Schedule<unknown, McpError.ConnectError>
  readonly stableAfter: Duration.DurationInput
  /** Reconnects within `stormWithin` after which a server has failed. */
  readonly stormReconnects: number
  readonly stormWithin: Duration.DurationInput
}

export const defaults: Options = {
  schedule: "standard",
  stableAfter: Duration.seconds(30),
  stormReconnects: 5,
  stormWithin: Duration.seconds(30)
}

export const make = (options?: Partial<Options>): ReconnectPolicy["Type"] => {
  const { schedule, stableAfter, stormReconnects, stormWithin } = { ...defaults, ...options }
  const reconnect: Reconnect = {
    schedule: typeof schedule === "string" ? schedules[schedule] : schedule,
    slowLane: undefined,
    stableAfter: Duration.decode(stableAfter),
    storm: { reconnects: stormReconnects, within: Duration.decode(stormWithin) }
  }
  // a local process that keeps exiting stays broken; a remote machine may come back
  const remote: Reconnect = schedule === "standard" ? { ...reconnect, slowLane } : reconnect
  return { for: (config) => config.transport === "stdio" ? reconnect : remote }
}

export const layer = (options?: Partial<Options>): Layer.Layer<ReconnectPolicy> =>
  Layer.succeed(ReconnectPolicy, make(options))

/** Servers are reconnected on demand only. */
export const layerNone: Layer.Layer<ReconnectPolicy> = layer({ schedule: Schedule.stop })
