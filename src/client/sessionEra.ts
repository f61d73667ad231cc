/** The session era (up to 2025-11-25): sessions that expire, subscriptions, the log level, pings. */
import type * as Sdk from "@modelcontextprotocol/sdk/types.js"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"
import * as McpError from "../McpError.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import type * as Era from "./era.ts"
import * as Handshake from "./handshake.ts"
import type * as McpClient from "./McpClient.ts"
import { objectOf, textOf } from "./messages.ts"
import * as Requests from "./requests.ts"
import * as Tasks from "./tasks.ts"

export interface Options extends Handshake.Options {
  /** Runs in the scope of the connection. */
  readonly run: (effect: Effect.Effect<void>) => void
}

/** The part of a channel that depends on the era. */
export type OfEra = Pick<
  McpClient.Channel,
  | "era"
  | "protocolVersion"
  | "serverInfo"
  | "capabilities"
  | "instructions"
  | "request"
  | "watch"
  | "setLogLevel"
  | "health"
  | "tasks"
  | "onPaused"
>

export const make = (options: Options, { protocolVersion, result }: Era.Initialized): OfEra => {
  const { engine, limits, report, server } = options
  const capabilities = objectOf(result["capabilities"])
  const subscribers = new Map<string, number>()
  let level: McpClient.LogLevel | undefined

  /** Sets the log level and the subscriptions again, in a session that has replaced another. */
  const restore = Effect.suspend(() => {
    const limit = Duration.toMillis(limits.listTimeout)
    return Effect.forEach(
      [
        ...(level === undefined ? [] : [["logging/setLevel", { level }] as const]),
        ...Array.from(subscribers.keys(), (uri) => ["resources/subscribe", { uri }] as const)
      ],
      ([method, params]) =>
        // not by `request`, which would begin a further session for a server that refuses this in the new one
        Effect.catchAll(
          engine.request(method, params, { idle: limit, total: limit, progress: false, cancellable: true }),
          (error) => RuntimeLog.debug(`${method} failed in a new session`, error)
        ),
      { discard: true }
    )
  })
  const { onPaused, probe, request } = Requests.make(server, engine, limits, makeSession(options, restore))

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
    era: "session",
    protocolVersion,
    serverInfo: serverInfoOf(result["serverInfo"]),
    capabilities,
    instructions: textOf(result["instructions"]),
    request,
    onPaused,
    watch: (filter) => Effect.forEach(filter.resourceUris ?? [], join, { discard: true }),
    setLogLevel: (wanted) =>
      Effect.map(request("logging/setLevel", { level: wanted satisfies Sdk.LoggingLevel }), () => {
        level = wanted
      }),
    health: isAlive(probe("ping", undefined, { idleTimeout: limits.pingTimeout, totalTimeout: limits.pingTimeout })),
    tasks: Tasks.make({ server, limits, capabilities, report, request, onNotification: engine.onNotification })
  }
}

/** A server that answers anything is alive. */
export const isAlive = (probe: ReturnType<Requests.Request>): McpClient.Channel["health"] =>
  Effect.asVoid(Effect.catchTag(probe, "RemoteError", () => Effect.void))

export const serverInfoOf = (value: unknown): McpClient.Channel["serverInfo"] => {
  const { name, title, version } = objectOf(value)
  if (typeof name !== "string") return undefined
  return { name, version: textOf(version) ?? "", ...(typeof title === "string" ? { title } : {}) }
}

/** After a gap in the notifications, anything that is watched may have changed. */
export const resync: McpClient.Notification = { method: "$/resync", params: {} }

/**
 * The session of a connection. A new one starts in the connection's scope, because all requests share it and the
 * interruption of one of them must not end it.
 */
const makeSession = (options: Options, restore: Effect.Effect<void>): Requests.Session => {
  const { engine, limits, run, server } = options
  let generation = 0
  let isExpired = false
  let beginning: Deferred.Deferred<void, McpError.ConnectError> | undefined

  const initialize = Handshake.initialize(options).pipe(
    Effect.timeoutFail({
      duration: limits.startupTimeout,
      onTimeout: () => new McpError.ConnectTimeout({ server, phase: "initialize", limit: limits.startupTimeout })
    }),
    Effect.map(() => {
      generation++
      isExpired = false
    }),
    Effect.mapError(McpError.notSent)
  )

  const begin = (): Deferred.Deferred<void, McpError.ConnectError> => {
    const begun = Deferred.unsafeMake<void, McpError.ConnectError>(FiberId.none)
    beginning = begun
    run(
      initialize.pipe(
        Effect.onExit((exit) =>
          Effect.sync(() => {
            beginning = undefined
            // interrupted with the connection, whose error goes to the waiting requests
            if (!Exit.isInterrupted(exit)) Deferred.unsafeDone(begun, exit)
          })
        ),
        Effect.zipRight(Effect.suspend(() => {
          engine.announce(resync)
          return restore
        })),
        // the waiting requests get this error
        Effect.ignore
      )
    )
    return begun
  }

  const ended = Effect.flatMap(engine.ended, (error) => Effect.fail(McpError.notSent(error)))
  const ready = Effect.suspend(() =>
    isExpired ? Effect.raceFirst(Deferred.await(beginning ?? begin()), ended) : Effect.void
  )

  return {
    generation: () => generation,
    isExpired: () => isExpired,
    expire: (seen) => {
      if (seen === generation) isExpired = true
    },
    renew: () => run(Effect.ignore(ready)),
    ready
  }
}
