/**
 * Requests as a connection offers them: the wire's, with the limits of the server and with what can be repeated safely.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import type * as Limits from "../../config/Limits.ts"
import type * as McpError from "../../McpError.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as Connector from "../Connector.ts"
import * as Parking from "./parking.ts"
import type * as Wire from "./wire.ts"

/** @internal */
export type Request = Connector.Connection["request"]

/**
 * What an era adds to a request, and what it does with what comes back.
 *
 * @internal
 */
export interface Manner {
  readonly params: (
    params: JsonRpc.JsonObject | undefined,
    capabilities: JsonRpc.JsonObject | undefined
  ) => JsonRpc.JsonObject | undefined
  /** What is left to do before a result is one, which was asked for then; `undefined` if nothing is. */
  readonly unfinished: (result: JsonRpc.JsonObject, asked: Asked, since: number) => ReturnType<Request> | undefined
  /** Opens an expired session anew, unless somebody has done so since `generation` was read. */
  readonly renew: ((generation: number) => Effect.Effect<void, McpError.CallError>) | undefined
  readonly generation: () => number
}

/** @internal */
export interface Asked {
  readonly method: string
  readonly params: JsonRpc.JsonObject | undefined
  readonly own: Connector.RequestOptions | undefined
}

/** @internal */
export interface Calls {
  readonly request: Request
  /** Takes whatever result the request has, finished or not. */
  readonly once: Request
  /** Is sent whatever the server has said of later, and never waits. */
  readonly probe: Request
}

/** How often a server may say "later" to one request. */
const maxWaits = 3

/** @internal */
export const make = (wire: Wire.Wire, limits: Limits.Limits, manner: Manner): Calls => {
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
      cancellable: base.cancellable,
      idle: own.idleTimeout === undefined ? base.idle : Duration.toMillis(own.idleTimeout),
      total: own.totalTimeout === undefined ? base.total : Duration.toMillis(own.totalTimeout),
      progress: base.progress || own.onProgress !== undefined,
      onProgress: own.onProgress,
      headers: own.headers
    }
  }

  let parking: Parking.Parking | undefined

  // One Effect for a request that goes well: what goes wrong, and only that, is given to more of them.
  const send = (asked: Asked, setting: Wire.RequestOptions, repeat: Repeat) =>
    Effect.async<JsonRpc.JsonObject, McpError.CallError>((resume) => {
      const since = repeat.since ?? wire.now()
      if (parking !== undefined && since < parking.until && repeat.patient) {
        const now = wire.now()
        if (now < parking.until) {
          return resume(parked(asked, setting, repeat, since, parking.until, Parking.refusal(parking, now)))
        }
      }
      const generation = manner.generation()
      const handOver = asked.own?.handOver
      const params = manner.params(asked.params, handOver?.capabilities)
      const id = wire.begin(asked.method, params, left(setting, repeat), (settled) => {
        if (Either.isLeft(settled)) {
          return resume(again(asked, setting, settled.left, repeat, since, generation))
        }
        const rest = repeat.finishing && handOver === undefined
          ? manner.unfinished(settled.right, asked, since)
          : undefined
        resume(rest ?? Exit.succeed(settled.right))
      })
      return Effect.sync(() => wire.cancel(id))
    })

  const again = (
    asked: Asked,
    setting: Wire.RequestOptions,
    error: McpError.CallError,
    repeat: Repeat,
    since: number,
    generation: number
  ): Effect.Effect<JsonRpc.JsonObject, McpError.CallError> => {
    const next: Repeat = { ...repeat, since, idleSince: undefined }
    switch (error._tag) {
      case "SessionExpired":
        // refused before it was executed, so it may be sent once more in a new session
        return manner.renew === undefined || repeat.renewed
          ? Effect.fail(error)
          : Effect.zipRight(
            Effect.mapError(manner.renew(generation), () => error),
            sendAgain(asked, setting, error, { ...next, renewed: true })
          )
      case "RateLimited":
      case "Unavailable":
        if (error.retryAfter === undefined) return Effect.fail(error)
        parking = Parking.extended(parking, error, error.retryAfter, wire.now())
        return repeat.waits >= maxWaits || !repeat.patient
          ? Effect.fail(error)
          : parked(asked, setting, { ...next, waits: repeat.waits + 1 }, since, parking.until, error)
      default:
        return Effect.fail(error)
    }
  }

  const sendAgain = (
    asked: Asked,
    setting: Wire.RequestOptions,
    error: McpError.CallError,
    repeat: Repeat
  ): ReturnType<Request> =>
    Effect.suspend(() => left(setting, repeat).total <= 0 ? Effect.fail(error) : send(asked, setting, repeat))

  /** Waits with all the others until the server wants requests again, if the limits of the request allow it. */
  const parked = (
    asked: Asked,
    setting: Wire.RequestOptions,
    repeat: Repeat,
    since: number,
    until: number,
    error: Parking.Later
  ): ReturnType<Request> => {
    const now = wire.now()
    const idleSince = repeat.idleSince ?? now
    return until - idleSince >= setting.idle || until - since >= setting.total
      ? Effect.fail(error)
      : Effect.zipRight(
        Effect.sleep(Duration.millis(until - now)),
        sendAgain(asked, setting, error, { ...repeat, since, idleSince })
      )
  }

  /** What is left of the limits of a request that has waited. */
  const left = (setting: Wire.RequestOptions, { since }: Repeat): Wire.RequestOptions =>
    since === undefined ? setting : { ...setting, total: setting.total - (wire.now() - since) }

  return {
    request: (method, params, own) => send({ method, params, own }, settings(method, own), first),
    once: (method, params, own) => send({ method, params, own }, settings(method, own), firstOnly),
    probe: (method, params, own) => send({ method, params, own }, settings(method, own), impatient)
  }
}

/** What has been done for a request before. */
interface Repeat {
  /** When it was first begun, if that was before. */
  readonly since: number | undefined
  /** Since when nothing has happened to it but waiting. */
  readonly idleSince: number | undefined
  readonly waits: number
  readonly renewed: boolean
  readonly finishing: boolean
  readonly patient: boolean
}

const first: Repeat = {
  since: undefined,
  idleSince: undefined,
  waits: 0,
  renewed: false,
  finishing: true,
  patient: true
}
const firstOnly: Repeat = { ...first, finishing: false }
const impatient: Repeat = { ...firstOnly, patient: false }
