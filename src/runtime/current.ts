/**
 * A connection in use: who counts its uses, and what they say of it.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type * as McpClient from "../client/McpClient.ts"
import type * as Signal from "../internal/signal.ts"
import * as McpError from "../McpError.ts"
import * as HealthCheck from "../resilience/HealthCheck.ts"
import type * as Link from "./Link.ts"
import * as Verdict from "./verdict.ts"

/** @internal */
export interface Current extends Link.Line {
  readonly inFlight: () => number
  /** When the last use ended, however it did. */
  readonly lastUsed: () => number
  /** When the last use ended well. */
  readonly lastHeard: () => number
}

/** @internal */
export interface Options {
  readonly server: string
  readonly generation: number
  readonly session: McpClient.McpClient
  readonly scope: Scope.Scope
  readonly now: () => number
  /** Called when nothing uses it any more. */
  readonly onQuiet: () => void
  /** Called when nothing uses it any more and a use has found nobody there. */
  readonly onMissed: (error: McpError.ConnectError) => void
}

/** @internal */
export const make = ({ generation, now, onMissed, onQuiet, scope, server, session }: Options): Current => {
  let inFlight = 0
  let lastUsed = now()
  let lastHeard = lastUsed
  let missed: McpError.ConnectError | undefined = undefined
  return {
    generation,
    session,
    scope,
    inFlight: () => inFlight,
    lastUsed: () => lastUsed,
    lastHeard: () => lastHeard,
    begin: () => {
      inFlight++
    },
    end: (exit) => {
      inFlight--
      lastUsed = now()
      if (Exit.isSuccess(exit)) lastHeard = lastUsed
      else missed ??= Verdict.ofUse(server, exit.cause)
      if (inFlight > 0) return
      onQuiet()
      // a server on its way out may still answer what it has begun
      if (missed !== undefined) onMissed(missed)
    }
  }
}

/**
 * Parks it when nobody has used it for so long.
 *
 * @internal
 */
export const untilIdle = (current: Current, limit: number, now: () => number, park: () => void): Effect.Effect<void> =>
  Effect.suspend(() => {
    const left = current.inFlight() > 0 ? limit : current.lastUsed() + limit - now()
    return left > 0
      ? Effect.zipRight(Effect.sleep(left), untilIdle(current, limit, now, park))
      : Effect.sync(park)
  })

const listMethods = [["tools", "tools/list"], ["resources", "resources/list"], ["prompts", "prompts/list"]] as const

/**
 * Probes it while it is idle, and ends with the error of a connection whose server is silent.
 *
 * @internal
 */
export const untilSilent = (
  { inFlight, lastHeard, session: client }: Current,
  options: HealthCheck.Options,
  server: string,
  onProbe: HealthCheck.Watched["onProbe"]
): Effect.Effect<McpError.ConnectError> => {
  const method = listMethods.find(([capability]) => client.capabilities[capability] !== undefined)?.[1]
  const list = method === undefined ? undefined : client.request(method)
  const watched = { ping: client.health, list, inFlight, lastUsed: lastHeard, onProbe }
  return Effect.zipWith(
    HealthCheck.watch(options, watched),
    client.stderrTail,
    (probes, stderrTail) =>
      new McpError.ConnectionLost({
        server,
        reason: "stalled",
        detail: `${probes} health probes in a row were not answered`,
        outcome: "unknown",
        stderrTail
      })
  )
}

/** @internal */
export interface Watched {
  readonly now: () => number
  readonly signal: Signal.Signal
  readonly isOver: () => boolean
  /** The end of the pause that the server asked for. */
  readonly pausedUntil: () => number | undefined
  readonly onPauseEnd: () => void
}

/**
 * Waits for the end of the connection, and until then reports the end of each pause.
 *
 * @internal
 */
export const untilOver = (watched: Watched): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { isOver, now, onPauseEnd, pausedUntil, signal } = watched
    if (isOver()) return Effect.void
    const until = pausedUntil()
    const changed = signal.until(() => isOver() || pausedUntil() !== until)
    const next = until === undefined
      ? changed
      : Effect.raceFirst(
        changed,
        Effect.zipRight(Effect.sleep(Math.max(0, until - now())), Effect.sync(onPauseEnd))
      )
    return Effect.zipRight(next, untilOver(watched))
  })
