/**
 * Sends requests within the limits of the server, waits for its pauses, and replaces an expired session. Tool calls are
 * never sent again here, because `RetryPolicy` decides about that.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Limits from "../config/Limits.ts"
import * as McpError from "../McpError.ts"
import * as RetryPolicy from "../resilience/RetryPolicy.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Engine from "./engine.ts"
import type * as McpClient from "./McpClient.ts"
import * as RetryAfter from "./retryAfter.ts"

/** The session that requests are sent in, which a server can end with 404. */
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

export interface RequestOptions extends McpClient.RequestOptions {
  /** A progress token of the caller, who listens to the notifications itself. */
  readonly progressToken?: string | undefined
}

export interface Request {
  (
    method: string,
    params?: JsonRpc.JsonObject,
    options?: RequestOptions
  ): Effect.Effect<JsonRpc.JsonObject, McpError.CallError>
}

export interface Requests {
  readonly request: Request
  /** A health check: sent during a pause too, and its answer does not end the pause. */
  readonly probe: Request
  /** Called synchronously with the end of each pause; returns a function that removes the listener. */
  readonly onPaused: (listener: (until: number) => void) => () => void
}

interface Asked {
  readonly method: string
  readonly params: JsonRpc.JsonObject | undefined
  readonly settings: Engine.RequestOptions
  /** Whether the request waits for pauses. */
  readonly isPatient: boolean
  readonly since: number
}

/** The attempts of a request so far. */
interface Attempts {
  /** Since when the request has only waited. */
  readonly idleSince: number | undefined
  /** What is left of the idle limit until the first answer. */
  readonly firstIdle: number | undefined
  readonly pauses: number
  readonly sessions: number
  /** Whether it was sent in a session that had expired. */
  readonly isRefused: boolean
}

const none = { idleSince: undefined, pauses: 0, sessions: 0, isRefused: false }

/** How often a server may ask one request to come back later. */
const maxPauses = 3

/** How many new sessions one request waits for without having been sent. */
const maxSessions = 3

type Sent = Effect.Effect<JsonRpc.JsonObject, McpError.CallError>

/** `session` is `undefined` in the stateless era. */
export const make = (
  server: string,
  engine: Engine.Engine,
  limits: Limits.Limits,
  session?: Session
): Requests => {
  const listeners = new Set<(until: number) => void>()
  // made at the first pause: most servers never ask for one
  let gate: RetryAfter.Gate | undefined

  const settingsOf = (method: string, own: RequestOptions | undefined): Engine.RequestOptions => {
    const isCall = method === "tools/call"
    return {
      idle: Duration.toMillis(own?.idleTimeout ?? (isCall ? limits.requestTimeout : limits.listTimeout)),
      total: Duration.toMillis(own?.totalTimeout ?? (isCall ? limits.toolTimeout : limits.listTimeout)),
      // calls always request progress, because it keeps a long call alive
      progress: own?.progressToken ?? (isCall || own?.onProgress !== undefined),
      cancellable: true,
      onProgress: own?.onProgress,
      headers: own?.headers
    }
  }

  const totalLeft = ({ settings, since }: Asked): number => settings.total - (engine.now() - since)

  const send = (asked: Asked, attempts: Attempts): Sent =>
    Effect.suspend(() => {
      const admission = asked.isPatient ? gate?.admit(engine.now()) : undefined
      if (admission?._tag === "Refused") return Effect.fail(admission.error)
      if (admission?._tag === "Wait") {
        const { pause } = admission
        return afterPause(asked, attempts, pause.until, (now) => RetryAfter.refusal(pause, now))
      }
      const probed = (isAnswered: boolean) =>
        Effect.sync(() => {
          if (admission?._tag === "Probe") gate?.probed(admission.pause, isAnswered)
        })
      if (session?.isExpired() === true) {
        return Effect.zipRight(probed(false), inNextSession(asked, attempts, session))
      }
      const generation = session?.generation() ?? 0
      const sent = engine.request(asked.method, asked.params, {
        ...asked.settings,
        firstIdle: attempts.firstIdle,
        total: totalLeft(asked)
      })
      const observed = admission === undefined || admission._tag === "Open"
        ? sent
        : Effect.onExit(sent, (exit) =>
          probed(exit._tag === "Success" || (exit.cause._tag === "Fail" && exit.cause.error.outcome === "executed")))
      return Effect.catchAll(observed, (error) =>
        afterError(asked, attempts, error, generation))
    })

  const afterError = (asked: Asked, before: Attempts, error: McpError.CallError, generation: number): Sent => {
    const now = engine.now()
    // an answer starts the idle limit afresh
    const attempts: Attempts = { ...before, idleSince: undefined, firstIdle: undefined }
    if (error._tag === "SessionExpired" && session !== undefined) {
      session.expire(generation)
      if (session.isExpired() && gate?.isClosed(now) !== true) session.renew()
      const isHeld = error.outcome === "not-sent"
      const maySend = isHeld
        ? attempts.sessions < maxSessions
        : !attempts.isRefused && RetryPolicy.isIdempotent(asked.method)
      return maySend
        ? again(asked, () => error, {
          ...attempts,
          sessions: attempts.sessions + 1,
          isRefused: attempts.isRefused || !isHeld
        })
        : Effect.fail(error)
    }
    if (error._tag !== "HttpError") return Effect.fail(error)
    gate ??= new RetryAfter.Gate()
    const pause = gate.refused(error, now)
    if (pause === undefined) return Effect.fail(error)
    for (const listener of listeners) listener(pause.until)
    const refusal = gate.answer(error, now)
    if (refusal !== undefined) return Effect.fail(refusal)
    return attempts.pauses >= maxPauses || !asked.isPatient
      ? Effect.fail(error)
      : afterPause(asked, { ...attempts, pauses: attempts.pauses + 1 }, pause.until, () => error)
  }

  const again = (asked: Asked, error: (now: number) => McpError.CallError, attempts: Attempts): Sent =>
    Effect.suspend(() => totalLeft(asked) <= 0 ? Effect.fail(error(engine.now())) : send(asked, attempts))

  /** Waits for the end of a pause, if the limits of the request allow it. */
  const afterPause = (
    asked: Asked,
    attempts: Attempts,
    until: number,
    refusal: (now: number) => McpError.CallError
  ): Sent => {
    const now = engine.now()
    const { idle } = asked.settings
    const idleSince = attempts.idleSince ??
      (attempts.firstIdle === undefined ? now : now - idle + attempts.firstIdle)
    return until - idleSince >= idle || until - asked.since >= asked.settings.total
      ? Effect.fail(refusal(now))
      : Effect.zipRight(
        Effect.sleep(Duration.millis(until - now)),
        again(asked, refusal, { ...attempts, idleSince })
      )
  }

  /** Waits for a new session within the limits of the request. */
  const inNextSession = (asked: Asked, attempts: Attempts, session: Session): Sent => {
    const generation = session.generation()
    const { idle } = asked.settings
    const total = totalLeft(asked)
    const kind = idle < total ? "idle" : "total"
    return session.ready.pipe(
      Effect.timeoutFail({
        duration: Duration.millis(Math.max(0, Math.min(idle, total))),
        onTimeout: () =>
          new McpError.RequestTimeout({
            server,
            kind,
            operation: asked.method,
            limit: Duration.millis(asked.settings[kind]),
            outcome: "not-sent"
          })
      }),
      Effect.matchEffect({
        onFailure: (error) => afterError(asked, attempts, error, generation),
        onSuccess: () => send(asked, attempts)
      })
    )
  }

  const sending = (isPatient: boolean): Request => (method, params, options) =>
    Effect.suspend(() =>
      send(
        { method, params, settings: settingsOf(method, options), isPatient, since: engine.now() },
        { ...none, firstIdle: options?.firstIdleTimeout && Duration.toMillis(options.firstIdleTimeout) }
      )
    )

  return {
    request: sending(true),
    probe: sending(false),
    onPaused: (listener) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    }
  }
}
