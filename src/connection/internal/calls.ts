/**
 * Requests as a connection offers them: the wire's, with the limits of the server and with what can be repeated safely.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Limits from "../../config/Limits.ts"
import type * as McpError from "../../McpError.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as Connector from "../Connector.ts"
import type * as Wire from "./wire.ts"

/** @internal */
export type Request = Connector.Connection["request"]

/**
 * What an era adds to a request, and what it does with an answer. `undefined` leaves things as they are.
 *
 * @internal
 */
export interface Manner {
  readonly params: (params: JsonRpc.JsonObject | undefined) => JsonRpc.JsonObject | undefined
  /** Opens an expired session anew, unless somebody has done so since `generation` was read. */
  readonly renew: ((generation: number) => Effect.Effect<void, McpError.CallError>) | undefined
  readonly generation: () => number
}

/** How often a server may say "later" to one request. */
const maxWaits = 3

/** @internal */
export const make = (wire: Wire.Wire, limits: Limits.Limits, manner: Manner): Request => {
  const options = (idle: Duration.Duration, total: Duration.Duration, progress: boolean): Wire.RequestOptions => ({
    idle: Duration.toMillis(idle),
    total: Duration.toMillis(total),
    progress,
    cancellable: true
  })
  // progress is always asked for in calls, because it is what keeps a long call alive
  const forCalls = options(limits.requestTimeout, limits.toolTimeout, true)
  const forOthers = options(limits.listTimeout, limits.listTimeout, false)

  const settings = (method: string, own: Connector.RequestOptions | undefined): Wire.RequestOptions => {
    const base = method === "tools/call" ? forCalls : forOthers
    if (own === undefined) return base
    return {
      ...base,
      idle: own.idleTimeout === undefined ? base.idle : Duration.toMillis(own.idleTimeout),
      total: own.totalTimeout === undefined ? base.total : Duration.toMillis(own.totalTimeout),
      progress: base.progress || own.onProgress !== undefined,
      onProgress: own.onProgress,
      headers: own.headers
    }
  }

  const again = (
    method: string,
    params: JsonRpc.JsonObject | undefined,
    setting: Wire.RequestOptions,
    repeat: Repeat
  ) =>
  (error: McpError.CallError): Effect.Effect<JsonRpc.JsonObject, McpError.CallError> => {
    const sendAgain = (next: Repeat) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const total = setting.total - (now - repeat.since)
        if (total <= 0) return Effect.fail(error)
        return Effect.catchAll(
          Effect.suspend(() => wire.request(method, manner.params(params), { ...setting, total })),
          again(method, params, setting, next)
        )
      })
    switch (error._tag) {
      case "SessionExpired":
        // refused before it was executed, so it may be sent once more in a new session
        return manner.renew === undefined || repeat.renewed
          ? Effect.fail(error)
          : Effect.zipRight(
            Effect.mapError(manner.renew(repeat.generation), () => error),
            sendAgain({ ...repeat, renewed: true })
          )
      case "RateLimited":
      case "Unavailable":
        return error.retryAfter === undefined || repeat.waits >= maxWaits ||
            Duration.toMillis(error.retryAfter) >= Math.min(setting.idle, setting.total)
          ? Effect.fail(error)
          : Effect.zipRight(Effect.sleep(error.retryAfter), sendAgain({ ...repeat, waits: repeat.waits + 1 }))
      default:
        return Effect.fail(error)
    }
  }

  return (method, params, own) => {
    const setting = settings(method, own)
    return Effect.flatMap(Clock.currentTimeMillis, (since) => {
      const generation = manner.generation()
      return Effect.catchAll(
        wire.request(method, manner.params(params), setting),
        again(method, params, setting, { since, generation, waits: 0, renewed: false })
      )
    })
  }
}

interface Repeat {
  readonly since: number
  readonly generation: number
  readonly waits: number
  readonly renewed: boolean
}
