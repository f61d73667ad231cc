/** The session era (up to 2025-11-25): sessions that expire, subscriptions, the log level, pings. */
import type * as Sdk from "@modelcontextprotocol/sdk/types.js"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"
import * as McpError from "../McpError.ts"
import * as Outcome from "../outcome.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import * as Handshake from "./handshake.ts"
import type * as McpClient from "./McpClient.ts"
import { objectOf } from "./messages.ts"
import * as Requests from "./requests.ts"
import * as Tasks from "./tasks.ts"

/** The part of a channel that depends on the era. */
export type OfEra = Pick<McpClient.Channel, "request" | "watch" | "setLogLevel" | "health" | "tasks" | "onPaused">

export const make = (connection: Handshake.Connection, { result }: Handshake.Settled): OfEra => {
  const { engine, limits } = connection
  const subscribers = new Map<string, number>()
  let level: McpClient.LogLevel | undefined

  /** Sets the log level and the subscriptions again, in a session that has replaced another. */
  const restore = Effect.suspend(() => {
    return Effect.forEach(
      [
        ...(level === undefined ? [] : [["logging/setLevel", { level }] as const]),
        ...Array.from(subscribers.keys(), (uri) => ["resources/subscribe", { uri }] as const)
      ],
      ([method, params]) =>
        // not by `request`, which would begin a further session for a server that refuses this in the new one
        Effect.catchAll(
          Effect.flatMap(
            requests.deadlineOf(method),
            (deadline) => engine.request(method, params, { deadline, cancellable: true })
          ),
          (error) => RuntimeLog.debug(`${method} failed in a new session`, error)
        ),
      { discard: true }
    )
  })
  const requests = Requests.make(connection, makeSession(connection, restore))
  const { health, onPaused, request } = requests

  const leave = (uri: string) =>
    Effect.suspend(() => {
      const left = (subscribers.get(uri) ?? 1) - 1
      if (left > 0) {
        subscribers.set(uri, left)
        return Effect.void
      }
      subscribers.delete(uri)
      return request("resources/unsubscribe", { uri }).pipe(
        BoundedWait.within(limits.pingTimeout),
        Effect.catchAll((error) => RuntimeLog.debug("could not unsubscribe", error)),
        Effect.asVoid
      )
    })
  /** Lists announce their changes by themselves; a resource is subscribed to once, whatever the number of watchers. */
  const join = (uri: string): Effect.Effect<void, McpError.CallError, Scope.Scope> =>
    Effect.suspend(() => {
      const count = subscribers.get(uri) ?? 0
      subscribers.set(uri, count + 1)
      return Effect.zipRight(
        Effect.addFinalizer(() => leave(uri)),
        count === 0 ? Effect.asVoid(request("resources/subscribe", { uri })) : Effect.void
      )
    })

  return {
    request,
    onPaused,
    watch: (filter) => Effect.forEach(filter.resourceUris ?? [], join, { discard: true }),
    setLogLevel: (wanted) =>
      Effect.map(request("logging/setLevel", { level: wanted satisfies Sdk.LoggingLevel }), () => {
        level = wanted
      }),
    health: health("ping"),
    tasks: Tasks.make(connection, requests, objectOf(result["capabilities"]))
  }
}

/** After a gap in the notifications, anything that is watched may have changed. */
export const resync: McpClient.Notification = { method: "$/resync", params: {} }

/**
 * The session of a connection. A new one starts in the connection's scope, because all requests share it and the
 * interruption of one of them must not end it.
 */
const makeSession = (connection: Handshake.Connection, restore: Effect.Effect<void>): Requests.Session => {
  const { engine, limits: { startupTimeout: limit }, run, server } = connection
  let beginning: Deferred.Deferred<void, McpError.ConnectError> | undefined

  const begin = (): Deferred.Deferred<void, McpError.ConnectError> => {
    const begun = Deferred.unsafeMake<void, McpError.ConnectError>(FiberId.none)
    beginning = begun
    // interrupted with the connection, whose error goes to the waiting requests
    run(Effect.gen(function*() {
      const exit = yield* Handshake.initialize(connection).pipe(
        Effect.timeoutFail({
          duration: limit,
          onTimeout: () => new McpError.ConnectTimeout({ server, phase: "initialize", limit })
        }),
        Effect.mapError(Outcome.notSent),
        Effect.exit
      )
      beginning = undefined
      if (Exit.isSuccess(exit)) {
        session.generation++
        session.isExpired = false
      }
      Deferred.unsafeDone(begun, Exit.asVoid(exit))
      if (Exit.isFailure(exit)) return
      engine.announce(resync)
      yield* restore
    }))
    return begun
  }

  const ended = Effect.flatMap(engine.ended, (error) => Effect.fail(Outcome.notSent(error)))
  const session: Requests.Session = {
    generation: 0,
    isExpired: false,
    ready: Effect.suspend(() =>
      session.isExpired ? Effect.raceFirst(Deferred.await(beginning ?? begin()), ended) : Effect.void
    ),
    renew: () => {
      if (session.isExpired && beginning === undefined) void begin()
    }
  }
  return session
}
