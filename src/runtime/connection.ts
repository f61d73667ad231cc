/** An established connection: who uses it, when it is idle, and whether its server still answers. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type * as McpClient from "../client/McpClient.ts"
import * as McpError from "../McpError.ts"
import * as HealthCheck from "../resilience/HealthCheck.ts"
import { onExitSync } from "../resilience/onExitSync.ts"

export interface Options {
  readonly server: string
  /** Grows with each connection of the application. */
  readonly generation: number
  readonly session: McpClient.McpClient
  readonly scope: Scope.Scope
  readonly now: () => number
  readonly onLost: (error: McpError.ConnectError) => void
  /** Called when it is drained or the idle limit is reached, in one step with the decision, so that no use begins in between. */
  readonly onIdle: () => void
}

/** The loss that the error of a use shows. Over HTTP only a request can show it: no socket has to be open between two. */
const lossOf = (server: string, exit: Exit.Exit<unknown, unknown>): McpError.ConnectError | undefined => {
  const error = Exit.isFailure(exit) && exit.cause._tag === "Fail" ? exit.cause.error : undefined
  return McpError.isMcpError(error) && error._tag === "NetworkError" && error.reason !== "tls" &&
      error.outcome === "not-sent" && error.server === server
    ? error
    : undefined
}

const listMethods = [["tools", "tools/list"], ["resources", "resources/list"], ["prompts", "prompts/list"]] as const

/** A connection that can be used now. Each `begin` needs an `end`. */
export type Connection = ReturnType<typeof make>

export const make = ({ generation, now, onIdle, onLost, scope, server, session }: Options) => {
  let inFlight = 0
  let isDraining = false
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
    /** The last health probe. */
    health: (): { readonly at: number; readonly ok: boolean } | undefined => health,
    /** Keeps the connection from being idle during an effect, which delays no drain and no probe. */
    awake: <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.uninterruptibleMask((restore) => {
        awake++
        return onExitSync(restore(self), () => {
          awake--
          lastUsed = now()
        })
      }),
    begin: (): void => {
      inFlight++
    },
    end: (exit: Exit.Exit<unknown, unknown>): void => {
      inFlight--
      lastUsed = now()
      if (Exit.isSuccess(exit)) lastSucceeded = lastUsed
      else loss ??= lossOf(server, exit)
      if (inFlight > 0) return
      if (isDraining) onIdle()
      // not before the other uses have ended, because the server may still answer them
      if (loss !== undefined) onLost(loss)
    },
    /** Ends the connection once it has no use. */
    drain: (): void => {
      isDraining = true
      if (inFlight === 0) onIdle()
    },
    /** Ends the connection once it has been idle for this many milliseconds. */
    untilIdle,
    /** Probes the idle connection, and loses it after enough silence. */
    untilSilent: (options: HealthCheck.Options): Effect.Effect<void> => {
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
