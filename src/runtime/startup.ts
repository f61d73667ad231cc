/** The start of the servers: the required ones are waited for, and the bus hears how all of them settle. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as Scoped from "../scoped.ts"
import type * as Servers from "./Servers.ts"
import type * as ServerStatus from "./ServerStatus.ts"

type Configs = ReadonlyArray<ServerConfig.ServerConfig>

/** Publishes `StartupUpdate` for each server that starts by itself, and `StartupComplete` when all have settled. */
export const watch = (
  servers: Servers.Servers,
  events: McpEvent.McpEvents["Type"],
  configs: Configs
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(Effect.clock, (clock) => {
    const began = clock.unsafeCurrentTimeMillis()
    const starting = new Set(
      configs.filter((config) =>
        config.enabled !== false && config.blocked === undefined && ServerConfig.isEager(config)
      ).map(({ name }) => name)
    )
    const of = starting.size
    const ready: Array<string> = []
    const failed: Array<Extract<McpEvent.McpEvent, { _tag: "StartupComplete" }>["failed"][number]> = []

    const complete = (): void => {
      const took = Duration.millis(clock.unsafeCurrentTimeMillis() - began)
      events.publish(McpEvent.McpEvent.StartupComplete({ ready, failed, took }))
      stop()
    }
    const settle = (
      { server, status }: Pick<ServerStatus.Change, "server" | "status">,
      outcome: "ready" | McpError.RuntimeError | undefined
    ): void => {
      if (!starting.delete(server)) return
      if (outcome === "ready") ready.push(server)
      else if (outcome !== undefined) failed.push({ server, error: outcome })
      events.publish(McpEvent.McpEvent.StartupUpdate({ server, status, settled: of - starting.size, of }))
      if (starting.size === 0) complete()
    }
    /** A connected server is ready once its tools are listed. */
    const heard = (event: McpEvent.McpEvent): void => {
      if (event._tag === "ListFailed" && event.list === "tools") {
        const status = servers.get(event.server)?.status
        return status === undefined ? undefined : settle({ server: event.server, status }, event.error)
      }
      if (event._tag !== "StatusChanged" || event.status._tag === "Connecting") return
      const { status } = event
      if (status._tag !== "Connected") return settle(event, "error" in status ? status.error : undefined)
      if (status.tools !== undefined) settle(event, "ready")
    }
    const stop = events.onEvent(heard)
    if (of === 0) complete()
    return Scoped.onClose(stop)
  })

/** Waits until every required server is connected; fails with all that are not within the limit. */
export const awaitRequired = (
  servers: Servers.Servers,
  configs: Configs,
  limit: Duration.Duration
): Effect.Effect<void, McpError.RequiredServersFailed> => {
  const connected = ({ name: server }: ServerConfig.ServerConfig) =>
    servers.connected(server).pipe(
      Effect.timeoutFail({
        duration: limit,
        onTimeout: () => {
          const status = servers.get(server)?.status
          // the error of its last attempt says more than the limit
          return status !== undefined && "error" in status
            ? status.error
            : new McpError.ConnectTimeout({ server, phase: "open", limit })
        }
      }),
      Effect.mapError((error) => ({ server, reason: error.message, error }))
    )
  const required = configs.filter((config) => config.required === true && config.enabled !== false)
  return Effect.flatMap(Effect.partition(required, connected, { concurrency: "unbounded" }), ([failures]) => {
    if (failures.length === 0) return Effect.void
    const server = failures.map((failure) => failure.server).join(", ")
    return Effect.fail(new McpError.RequiredServersFailed({ server, failures }))
  })
}
