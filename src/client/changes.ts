/** Streams of signals that something has changed at the server. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as McpError from "../McpError.ts"
import * as Engine from "./engine.ts"
import type * as McpClient from "./McpClient.ts"

export interface Change {
  readonly filter: McpClient.WatchFilter
  readonly concerns: (notification: McpClient.Notification) => boolean
  /** The least time from one signal to the next. */
  readonly spacing: Duration.Duration
}

export const signals = (
  channel: McpClient.Channel,
  change: Change
): Stream.Stream<void, McpError.CallError> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const changed = yield* Effect.makeLatch(false)
    yield* Engine.listen(channel, (notification) => {
      if (notification.method === "$/resync" || change.concerns(notification)) changed.unsafeOpen()
    })
    yield* channel.watch(change.filter)
    const pace = pacing(Duration.toMillis(change.spacing))
    return Stream.repeatEffect(
      Effect.raceFirst(changed.await, Effect.flip(channel.ended)).pipe(
        Effect.zipRight(pace),
        // one signal stands for all changes up to here
        Effect.zipRight(changed.close),
        Effect.asVoid
      )
    )
  }))

const pacing = (spacing: number): Effect.Effect<void> => {
  let next = 0
  return Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const wait = Math.max(0, next - now)
    next = now + wait + spacing
    return wait === 0 ? Effect.void : Effect.sleep(Duration.millis(wait))
  })
}

const lists = {
  tools: { toolsListChanged: true },
  resources: { resourcesListChanged: true },
  prompts: { promptsListChanged: true }
} as const

export const list = (name: "tools" | "resources" | "prompts"): Change => {
  const method = `notifications/${name}/list_changed`
  return {
    filter: lists[name],
    concerns: (notification) => notification.method === method,
    spacing: Duration.seconds(1)
  }
}

/** Servers may announce the change of a part of the resource. */
export const resource = (uri: string): Change => {
  const parts = uri.endsWith("/") ? uri : `${uri}/`
  return {
    filter: { resourceUris: [uri] },
    concerns: ({ method, params }) => {
      if (method !== "notifications/resources/updated") return false
      const changed = params["uri"]
      return typeof changed === "string" && (changed === uri || changed.startsWith(parts))
    },
    spacing: Duration.zero
  }
}
