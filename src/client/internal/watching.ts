/**
 * How each era is asked to tell of changes.
 *
 * @internal
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Limits from "../../config/Limits.ts"
import * as RuntimeLog from "../../internal/runtimeLog.ts"
import * as McpError from "../../McpError.ts"
import * as BoundedWait from "../../resilience/BoundedWait.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as McpClient from "../McpClient.ts"
import * as Protocol from "../Protocol.ts"
import type * as Calls from "./calls.ts"
import type * as Wire from "./wire.ts"

/** @internal */
export interface Watching {
  readonly watch: McpClient.Channel["watch"]
  /** Asks again for everything that is watched, in a new session. */
  readonly restore: Effect.Effect<void>
}

/** @internal */
export const resync: McpClient.Notification = { method: "$/resync", params: {} }

/**
 * The session era: lists tell of themselves, resources are subscribed to one by one, once however many watch.
 *
 * @internal
 */
export const session = (wire: Wire.Wire, request: Calls.Request, limits: Limits.Limits): Watching => {
  const watchers = new Map<string, number>()
  const limit = Duration.toMillis(limits.listTimeout)
  // not by `request`, which would begin a further session for a server that refuses this in the new one
  const subscribeAgain = (uri: string) =>
    wire.request("resources/subscribe", { uri }, { idle: limit, total: limit, progress: false, cancellable: true })
  const subscribe = (uri: string) => request("resources/subscribe", { uri })
  const unsubscribe = (uri: string) =>
    request("resources/unsubscribe", { uri }).pipe(
      BoundedWait.within(limits.pingTimeout),
      Effect.catchAll((error) => RuntimeLog.debug("could not unsubscribe", error)),
      Effect.asVoid
    )
  const leave = (uri: string) =>
    Effect.suspend(() => {
      const left = (watchers.get(uri) ?? 1) - 1
      if (left > 0) {
        watchers.set(uri, left)
        return Effect.void
      }
      watchers.delete(uri)
      return unsubscribe(uri)
    })
  const join = (uri: string): Effect.Effect<void, McpError.CallError, Scope.Scope> =>
    Effect.suspend(() => {
      const count = watchers.get(uri) ?? 0
      watchers.set(uri, count + 1)
      return Effect.zipRight(
        Effect.addFinalizer(() => leave(uri)),
        count === 0 ? Effect.asVoid(subscribe(uri)) : Effect.void
      )
    })
  return {
    watch: (filter) => Effect.forEach(filter.resourceUris ?? [], join, { discard: true }),
    restore: Effect.suspend(() =>
      Effect.forEach(
        Array.from(watchers.keys()),
        (uri) => Effect.catchAll(subscribeAgain(uri), (error) => RuntimeLog.debug("could not subscribe again", error)),
        { discard: true }
      )
    )
  }
}

const firstPause = 500
const longestPause = 30_000

/**
 * The stateless era: one long request whose stream tells of changes; when it breaks it is asked again, and since
 * nobody knows what was missed meanwhile, our own readers are told to look anew.
 *
 * @internal
 */
export const stateless = (
  server: string,
  wire: Wire.Wire,
  limits: Limits.Limits,
  params: (params: JsonRpc.JsonObject) => JsonRpc.JsonObject | undefined
): Watching => ({
  restore: Effect.void,
  watch: (filter) =>
    Effect.gen(function*() {
      const acknowledged = yield* Deferred.make<void, McpError.CallError>()
      let begun = false
      const listen = listenOnce(wire, params({ notifications: wanted(filter) }), () => {
        if (begun) return wire.announce(resync)
        begun = true
        Deferred.unsafeDone(acknowledged, Effect.void)
      })
      const forever = (pause: number): Effect.Effect<void> =>
        Effect.flatMap(Effect.timed(Effect.exit(listen)), ([lasted, exit]) => {
          if (exit._tag === "Failure" && exit.cause._tag === "Fail") {
            const error = exit.cause.error
            if (!begun) return Deferred.fail(acknowledged, error)
            if (error._tag === "Closed" || error._tag === "RemoteError") return Effect.void
          } else if (!begun) {
            // ended as if all were well before it had begun: there is nothing to watch
            return Deferred.succeed(acknowledged, undefined)
          }
          const next = Duration.toMillis(lasted) > longestPause ? firstPause : Math.min(pause * 2, longestPause)
          return Effect.zipRight(Effect.sleep(Duration.millis(pause)), forever(next))
        })
      yield* Effect.forkScoped(forever(firstPause))
      yield* Deferred.await(acknowledged).pipe(Effect.timeoutFail({
        duration: limits.listTimeout,
        onTimeout: () =>
          new McpError.RequestTimeout({
            server,
            kind: "total",
            operation: "subscriptions/listen",
            limit: limits.listTimeout,
            outcome: "unknown"
          })
      }))
    })
})

const wanted = (filter: McpClient.WatchFilter): JsonRpc.JsonObject => ({
  ...(filter.toolsListChanged === true ? { toolsListChanged: true } : {}),
  ...(filter.promptsListChanged === true ? { promptsListChanged: true } : {}),
  ...(filter.resourcesListChanged === true ? { resourcesListChanged: true } : {}),
  ...(filter.resourceUris === undefined ? {} : { resourceSubscriptions: filter.resourceUris })
})

const listenOnce = (
  wire: Wire.Wire,
  params: JsonRpc.JsonObject | undefined,
  onAcknowledged: () => void
): Effect.Effect<JsonRpc.JsonObject, McpError.CallError> =>
  Effect.suspend(() => {
    let id: JsonRpc.Id | undefined = undefined
    const stop = wire.onNotification((notification) => {
      if (notification.method !== "notifications/subscriptions/acknowledged") return
      const meta = notification.params["_meta"]
      if (JsonRpc.isObject(meta) && meta[Protocol.metaKey.subscriptionId] === id) onAcknowledged()
    })
    return Effect.ensuring(
      wire.request("subscriptions/listen", params, {
        idle: Infinity,
        total: Infinity,
        progress: false,
        cancellable: true,
        onId: (given) => {
          id = given
        }
      }),
      Effect.sync(stop)
    )
  })
