/**
 * Sends requests over the wire with the limits of the server, waits for its pauses, and replaces an expired session.
 * Tool calls are never sent again here, because the `RetryPolicy` decides about that.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import type * as Limits from "../../config/Limits.ts"
import * as McpError from "../../McpError.ts"
import * as RetryPolicy from "../../resilience/RetryPolicy.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as McpClient from "../McpClient.ts"
import * as Pause from "./pause.ts"
import type * as Wire from "./wire.ts"

/** @internal */
export type Request = McpClient.Channel["request"]

/**
 * What an era adds to a request, and what it does with the result.
 *
 * @internal
 */
export interface Manner {
  readonly server: string
  readonly params: (
    params: JsonRpc.JsonObject | undefined,
    capabilities: JsonRpc.JsonObject | undefined
  ) => JsonRpc.JsonObject | undefined
  /** Continues a request, begun at `since`, whose first result is not final; `undefined` if it is. */
  readonly unfinished: (result: JsonRpc.JsonObject, asked: Asked, since: number) => ReturnType<Request> | undefined
  /** `undefined` in the stateless era. */
  readonly session: Session | undefined
}

/**
 * The session that requests are sent in, which a server can end with 404.
 *
 * @internal
 */
export interface Session {
  /** Grows with each new session. */
  readonly generation: () => number
  readonly isExpired: () => boolean
  /** Marks the session of this generation as expired. Does nothing if a newer one has begun. */
  readonly expire: (generation: number) => void
  /** Starts a new session in place of the expired one, unless one is starting already. */
  readonly renew: () => void
  /** The same, and waits for its outcome, which all waiting requests share. */
  readonly ready: Effect.Effect<void, McpError.ConnectError>
}

/** @internal */
export interface Asked {
  readonly method: string
  readonly params: JsonRpc.JsonObject | undefined
  readonly own: McpClient.RequestOptions | undefined
}

/** @internal */
export interface Calls {
  readonly request: Request
  /** Takes any result of the request, finished or not. */
  readonly once: Request
  /** A health check: sent during a pause too, and its answer does not end the pause. */
  readonly probe: Request
  /** Called synchronously with the end of each pause; returns how to stop. */
  readonly onPaused: (listener: (until: number) => void) => () => void
}

/** How often a server may ask one request to come back later. */
const maxWaits = 3

/** How many new sessions one request waits for without having been sent. */
const maxSessions = 3

/** @internal */
export const make = (wire: Wire.Wire, limits: Limits.Limits, manner: Manner): Calls => {
  const { session } = manner
  const options = (idle: Duration.Duration, total: Duration.Duration, progress: boolean): Wire.RequestOptions => ({
    idle: Duration.toMillis(idle),
    total: Duration.toMillis(total),
    progress,
    cancellable: true
  })
  // progress is always asked for in calls, because it is what keeps a long call alive
  const forCalls = options(limits.requestTimeout, limits.toolTimeout, true)
  const forOthers = options(limits.listTimeout, limits.listTimeout, false)

  const settings = (method: string, own: McpClient.RequestOptions | undefined): Wire.RequestOptions => {
    const base = method === "tools/call" ? forCalls : forOthers
    if (own === undefined) return base
    return {
      cancellable: base.cancellable,
      idle: own.idleTimeout === undefined ? base.idle : Duration.toMillis(own.idleTimeout),
      firstIdle: own.firstIdleTimeout === undefined ? undefined : Duration.toMillis(own.firstIdleTimeout),
      total: own.totalTimeout === undefined ? base.total : Duration.toMillis(own.totalTimeout),
      progress: base.progress || own.onProgress !== undefined,
      onProgress: own.onProgress,
      headers: own.headers
    }
  }

  // made at the first pause: most servers never ask for one
  let gate: Pause.Gate | undefined
  const listeners = new Set<(until: number) => void>()

  // A successful request is one `Effect.async`; only errors build further effects.
  const send = (asked: Asked, setting: Wire.RequestOptions, repeat: Repeat) =>
    Effect.async<JsonRpc.JsonObject, McpError.CallError>((resume) => {
      const since = repeat.since ?? wire.now()
      const admission = repeat.patient ? gate?.admit(wire.now()) : undefined
      if (admission?._tag === "Refused") return resume(Exit.fail(admission.error))
      if (admission?._tag === "Wait") {
        const { pause } = admission
        return resume(paused(asked, setting, { ...repeat, since }, pause.until, (now) => Pause.refusal(pause, now)))
      }
      const probed = (answered: boolean) => {
        if (admission?._tag === "Probe") gate?.probed(admission.pause, answered)
      }
      if (session?.isExpired() === true) {
        probed(false)
        return resume(inNextSession(asked, setting, { ...repeat, since }, session))
      }
      const generation = session?.generation() ?? 0
      const passInput = asked.own?.passInput
      const params = manner.params(asked.params, passInput?.capabilities)
      const id = wire.begin(asked.method, params, left(setting, repeat), (settled) => {
        probed(Either.isRight(settled) || settled.left.outcome === "executed")
        if (Either.isLeft(settled)) {
          return resume(again(asked, setting, settled.left, { ...repeat, since }, generation))
        }
        const rest = repeat.finishing && passInput === undefined
          ? manner.unfinished(settled.right, asked, since)
          : undefined
        resume(rest ?? Exit.succeed(settled.right))
      })
      return Effect.sync(() => {
        probed(false)
        wire.cancel(id)
      })
    })

  const again = (
    asked: Asked,
    given: Wire.RequestOptions,
    error: McpError.CallError,
    repeat: Begun,
    generation: number
  ): Effect.Effect<JsonRpc.JsonObject, McpError.CallError> => {
    // an answer starts the idle limit afresh
    const setting = given.firstIdle === undefined ? given : { ...given, firstIdle: undefined }
    const next: Begun = { ...repeat, idleSince: undefined }
    const now = wire.now()
    switch (error._tag) {
      case "SessionExpired": {
        if (session === undefined) return Effect.fail(error)
        session.expire(generation)
        if (session.isExpired() && gate?.isClosed(now) !== true) session.renew()
        const held = error.outcome === "not-sent"
        const mayFollow = held
          ? repeat.sessions < maxSessions
          : !repeat.refused && RetryPolicy.isIdempotent(asked.method)
        return mayFollow
          ? sendAgain(asked, setting, () => error, {
            ...next,
            sessions: repeat.sessions + 1,
            refused: repeat.refused || !held
          })
          : Effect.fail(error)
      }
      case "HttpError": {
        gate ??= new Pause.Gate()
        const pause = gate.refused(error, now)
        if (pause === undefined) return Effect.fail(error)
        for (const listener of listeners) listener(pause.until)
        const answer = gate.answer(error, now)
        if (answer !== undefined) return Effect.fail(answer)
        return repeat.waits >= maxWaits || !repeat.patient
          ? Effect.fail(error)
          : paused(asked, setting, { ...next, waits: repeat.waits + 1 }, pause.until, () => error)
      }
      default:
        return Effect.fail(error)
    }
  }

  const sendAgain = (
    asked: Asked,
    setting: Wire.RequestOptions,
    error: (now: number) => McpError.CallError,
    repeat: Repeat
  ): ReturnType<Request> =>
    Effect.suspend(() =>
      left(setting, repeat).total <= 0 ? Effect.fail(error(wire.now())) : send(asked, setting, repeat)
    )

  /** Waits for the end of a pause, if the limits of the request allow it. */
  const paused = (
    asked: Asked,
    setting: Wire.RequestOptions,
    repeat: Begun,
    until: number,
    refusal: (now: number) => McpError.HttpError
  ): ReturnType<Request> => {
    const now = wire.now()
    const idleSince = repeat.idleSince ?? now - (setting.idle - (setting.firstIdle ?? setting.idle))
    return until - idleSince >= setting.idle || until - repeat.since >= setting.total
      ? Effect.fail(refusal(now))
      : Effect.zipRight(
        Effect.sleep(Duration.millis(until - now)),
        sendAgain(asked, setting, refusal, { ...repeat, idleSince })
      )
  }

  /** Waits for a new session within the limits of the request. */
  const inNextSession = (
    asked: Asked,
    setting: Wire.RequestOptions,
    repeat: Begun,
    session: Session
  ): ReturnType<Request> => {
    const generation = session.generation()
    const { idle, total } = left(setting, repeat)
    const kind = idle < total ? "idle" : "total"
    return session.ready.pipe(
      Effect.timeoutFail({
        duration: Duration.millis(Math.max(0, Math.min(idle, total))),
        onTimeout: () =>
          new McpError.RequestTimeout({
            server: manner.server,
            kind,
            operation: asked.method,
            limit: Duration.millis(setting[kind]),
            outcome: "not-sent"
          })
      }),
      Effect.matchEffect({
        onFailure: (error) => again(asked, setting, error, repeat, generation),
        onSuccess: () => send(asked, setting, repeat)
      })
    )
  }

  /** The limits that are left to a request after a wait. */
  const left = (setting: Wire.RequestOptions, { since }: Repeat): Wire.RequestOptions =>
    since === undefined ? setting : { ...setting, total: setting.total - (wire.now() - since) }

  return {
    request: (method, params, own) => send({ method, params, own }, settings(method, own), first),
    once: (method, params, own) => send({ method, params, own }, settings(method, own), firstOnly),
    probe: (method, params, own) => send({ method, params, own }, settings(method, own), impatient),
    onPaused: (listener) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    }
  }
}

/** The attempts of a request so far. */
interface Repeat {
  /** When it was first begun, if that was before. */
  readonly since: number | undefined
  /** Since when nothing has happened to it but waiting. */
  readonly idleSince: number | undefined
  readonly waits: number
  /** The number of new sessions that this request has waited for. */
  readonly sessions: number
  /** True if it was sent in a session that had expired. */
  readonly refused: boolean
  readonly finishing: boolean
  readonly patient: boolean
}

type Begun = Repeat & { readonly since: number }

const first: Repeat = {
  since: undefined,
  idleSince: undefined,
  waits: 0,
  sessions: 0,
  refused: false,
  finishing: true,
  patient: true
}
const firstOnly: Repeat = { ...first, finishing: false }
const impatient: Repeat = { ...firstOnly, patient: false }
