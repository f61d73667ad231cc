/**
 * Sends requests within the limits of the server, waits for its pauses, and replaces an expired session. Tool calls are
 * never sent again here, because `RetryPolicy` decides about that.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Limits from "../config/Limits.ts"
import * as McpError from "../McpError.ts"
import * as Deadline from "../resilience/Deadline.ts"
import * as RetryPolicy from "../resilience/RetryPolicy.ts"
import * as Scoped from "../scoped.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Handshake from "./handshake.ts"
import type * as McpClient from "./McpClient.ts"
import type * as RequestEngine from "./RequestEngine.ts"
import * as RetryAfter from "./retryAfter.ts"

/** The session that requests are sent in, which a server can end with 404. */
export interface Session {
  /** Grows with each new session. */
  generation: number
  isExpired: boolean
  /** Starts a new session in place of the expired one, unless one is starting already. */
  readonly renew: () => void
  /** The same, and waits for its outcome, which all waiting requests share. */
  readonly ready: Effect.Effect<void, McpError.ConnectError>
}

/** `progress` is by default as the caller asks. */
export interface RequestOptions extends McpClient.RequestOptions, Pick<RequestEngine.RequestOptions, "progress"> {
  /** False for a request that is sent during a pause, too. */
  readonly isPatient?: boolean | undefined
}

export type Request = (
  method: string,
  params?: JsonRpc.JsonObject,
  options?: RequestOptions
) => Effect.Effect<JsonRpc.JsonObject, McpError.CallError>

export type Requests = ReturnType<typeof make>

/** How often a server may ask one request to come back later. */
const maxPauses = 3

/** How many new sessions one request waits for without having been sent. */
const maxSessions = 3

/** The total limit of a series of requests. */
export const within = (server: string, operation: string, limit: Duration.Duration) =>
  Effect.timeoutFail({
    duration: limit,
    onTimeout: () => new McpError.RequestTimeout({ server, kind: "total", operation, limit, outcome: "unknown" })
  })

/** The deadline of a request that begins now, or of its series. */
export const deadlines =
  (server: string, { listTimeout, requestTimeout, toolTimeout }: Limits.Limits, now: () => number) =>
  (
    operation: string,
    { deadline, idleTimeout, totalTimeout }: McpClient.RequestOptions = {}
  ): Either.Either<Deadline.Deadline, McpError.InvalidArguments> => {
    if (deadline !== undefined) return Either.right(deadline)
    const isCall = operation === "tools/call"
    const idle = idleTimeout ?? (isCall ? requestTimeout : listTimeout)
    const total = totalTimeout ?? (isCall ? toolTimeout : listTimeout)
    return Deadline.make({ server, operation, idle, total, now })
  }

/** `session` is `undefined` in the stateless era. */
export const make = (
  { engine, limits, server }: Handshake.Connection,
  session?: Session
) => {
  const listeners = new Set<(until: number) => void>()
  const deadlineOf = deadlines(server, limits, engine.now)
  // made at the first pause: most servers never ask for one
  let gate: RetryAfter.Gate | undefined

  const request: Request = (method, params, options) =>
    Effect.suspend(() => {
      const begun = deadlineOf(method, options)
      if (Either.isLeft(begun)) return begun.left
      const deadline = begun.right
      const isPatient = options?.isPatient !== false
      const sent = engine.request(method, params, {
        deadline,
        // calls always request progress, because it keeps a long call alive
        progress: options?.progress ?? (method === "tools/call" || options?.onProgress !== undefined),
        cancellable: true,
        onProgress: options?.onProgress,
        headers: options?.headers
      })
      let pauses = 0
      let sessions = 0
      let isRefused = false

      /** Sends, once there is no pause and a session. `failure`: the error of the last attempt, if that began a pause. */
      const attempt = (isFirst: boolean, failure?: McpError.CallError): ReturnType<Request> => {
        const admission = isPatient ? gate?.admit(engine.now()) : undefined
        if (admission !== undefined && admission.as !== "probe") {
          const { as, pause } = admission
          const now = engine.now()
          if (as === "refused" || pause.until >= deadline.at) return failure ?? RetryAfter.refusal(pause, now)
          return Effect.zipRight(Effect.sleep(pause.until - now), Effect.suspend(() => attempt(false)))
        }
        // what has only waited so far has all of the idle limit for its answer
        if (!isFirst) deadline.touch()
        const generation = session?.generation ?? 0
        const failed = (error: McpError.CallError) => again(error, generation)
        if (session?.isExpired === true) {
          const renewing = renewed(session, deadline)
          return Effect.matchEffect(admission === undefined ? renewing : probing(renewing, admission), {
            onFailure: failed,
            onSuccess: () => attempt(false, failure)
          })
        }
        return Effect.catchAll(admission === undefined ? sent : probing(sent, admission), failed)
      }

      const again = (error: McpError.CallError, generation: number): ReturnType<Request> => {
        const now = engine.now()
        if (error._tag === "SessionExpired" && session !== undefined) {
          if (session.generation === generation) session.isExpired = true
          if (session.isExpired && gate?.isClosed(now) !== true) session.renew()
          const isHeld = error.outcome === "not-sent"
          const maySend = isHeld ? sessions < maxSessions : !isRefused && RetryPolicy.isIdempotent(method)
          if (!maySend) return error
          sessions++
          isRefused ||= !isHeld
        } else if (error._tag === "HttpError") {
          gate ??= new RetryAfter.Gate()
          const pause = gate.refused(error, now)
          if (pause === undefined) return error
          for (const listener of listeners) listener(pause.until)
          if (pause.refusal !== undefined || !isPatient || pauses >= maxPauses) return pause.refusal ?? error
          pauses++
        } else return error
        if (deadline.left() <= 0) return error
        return attempt(false, error._tag === "HttpError" ? error : undefined)
      }
      return attempt(true)
    })

  /** The outcome of a probe decides about the requests behind it; a new session alone is no answer. */
  const probing = <A>(
    attempt: Effect.Effect<A, McpError.CallError>,
    { pause }: RetryAfter.Admission
  ): Effect.Effect<A, McpError.CallError> =>
    Effect.onExit(attempt, (exit) => {
      const isAnswered = exit._tag === "Success"
        ? exit.value !== undefined
        : exit.cause._tag === "Fail" && exit.cause.error.outcome === "executed"
      return Effect.sync(() => gate?.probed(pause, isAnswered))
    })

  /** Waits for a new session within the limits of the request. */
  const renewed = (session: Session, deadline: Deadline.Deadline): Effect.Effect<void, McpError.CallError> =>
    Effect.timeoutFail(session.ready, {
      duration: deadline.wait(),
      onTimeout: () => deadline.expired("not-sent")
    })

  return {
    request,
    deadlineOf,
    /** Succeeds if the server answers anything. Sent during a pause too, and the answer does not end the pause. */
    health: (method: string, params?: JsonRpc.JsonObject): McpClient.Channel["health"] =>
      request(method, params, { idleTimeout: limits.pingTimeout, totalTimeout: limits.pingTimeout, isPatient: false })
        .pipe(
          Effect.catchTag("RemoteError", () => Effect.void),
          Effect.asVoid
        ),
    /** Called synchronously with the end of each pause; returns a function that removes the listener. */
    onPaused: (listener: (until: number) => void) => Scoped.addListener(listeners, listener)
  }
}
