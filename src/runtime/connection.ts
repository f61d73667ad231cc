/** An established connection: who uses it, when it is idle, and whether its server still answers. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type * as McpClient from "../client/McpClient.ts"
import * as McpError from "../McpError.ts"
import * as HealthCheck from "../resilience/HealthCheck.ts"
import { onExitSync } from "../resilience/onExitSync.ts"

/** A connection that can be used now. Each `begin` needs an `end`. */
export interface Connection {
  /** Grows with each connection of the application. */
  readonly generation: number
  readonly session: McpClient.McpClient
  readonly scope: Scope.Scope
  readonly begin: () => void
  readonly end: (exit: Exit.Exit<unknown, unknown>) => void
  readonly inFlight: () => number
  /** Keeps the connection from being idle during an effect, which delays no drain and no probe. */
  readonly awake: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** The last health probe. */
  readonly health: () => { readonly at: number; readonly ok: boolean } | undefined
  /** Ends the connection once it has been idle for this many milliseconds. */
  readonly untilIdle: (limit: number) => Effect.Effect<void>
  /** Probes the idle connection, and loses it after enough silence. */
  readonly untilSilent: (options: HealthCheck.Options) => Effect.Effect<void>
}

export interface Options extends Pick<Connection, "generation" | "session" | "scope"> {
  readonly server: string
  readonly now: () => number
  readonly onLost: (error: McpError.ConnectError) => void
  /** Called when the last use has ended. */
  readonly onUnused: () => void
  /** Called when the idle limit is reached, in one step with the decision, so that no use begins in between. */
  readonly onIdle: () => void
}

/** The loss that the error of a use shows. Over HTTP only a request can show it: no socket has to be open between two. */
const lossOf = (server: string, exit: Exit.Exit<unknown, unknown>): McpError.ConnectError | undefined => {
  const error = Exit.isFailure(exit) && exit.cause._tag === "Fail" ? exit.cause.error : undefined
  return McpError.isMcpError(error) && error._tag === "NetworkError" && error.reason === "network" &&
      error.outcome === "not-sent" && error.server === server
    ? error
    : undefined
}

const listMethods = [["tools", "tools/list"], ["resources", "resources/list"], ["prompts", "prompts/list"]] as const

export const make = (
  { generation, now, onIdle, onLost, onUnused, scope, server, session }: Options
): Connection => {
  let inFlight = 0
  let awake = 0
  let lastUsed = now()
  let lastSucceeded = lastUsed
  let loss: McpError.ConnectError | undefined = undefined
  let health: ReturnType<Connection["health"]> = undefined

  const untilIdle = (limit: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const left = inFlight + awake > 0 ? limit : lastUsed + limit - now()
      return left > 0 ? Effect.zipRight(Effect.sleep(left), untilIdle(limit)) : Effect.sync(onIdle)
    })

  return {
    generation,
    session,
    scope,
    inFlight: () => inFlight,
    health: () => health,
    awake: (self) =>
      Effect.uninterruptibleMask((restore) => {
        awake++
        return onExitSync(restore(self), () => {
          awake--
          lastUsed = now()
        })
      }),
    begin: () => {
      inFlight++
    },
    end: (exit) => {
      inFlight--
      lastUsed = now()
      if (Exit.isSuccess(exit)) lastSucceeded = lastUsed
      else loss ??= lossOf(server, exit)
      if (inFlight > 0) return
      onUnused()
      // not before the other uses have ended, because the server may still answer them
      if (loss !== undefined) onLost(loss)
    },
    untilIdle,
    untilSilent: (options) => {
      const method = listMethods.find(([capability]) => session.capabilities[capability] !== undefined)?.[1]
      const watched: HealthCheck.Watched = {
        ping: session.health,
        list: method === undefined ? undefined : session.request(method),
        inFlight: () => inFlight,
        lastUsed: () => lastSucceeded,
        onProbe: (probe) => {
          health = probe
        }
      }
      return Effect.zipWith(HealthCheck.watch(options, watched), session.stderrTail, (probes, stderrTail) => {
        const detail = `${probes} health probes in a row were not answered`
        onLost(new McpError.ConnectionLost({ server, reason: "stalled", detail, outcome: "unknown", stderrTail }))
      })
    }
  }
}
