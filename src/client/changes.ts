/** Streams of signals that something has changed at the server. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import * as Hold from "../internal/hold.ts"
import * as Mailbox from "../internal/mailbox.ts"
import type * as McpError from "../McpError.ts"
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
    const mailbox = Mailbox.make<void, McpError.CallError>(1)
    yield* Hold.listen(() =>
      channel.onNotification((notification) => {
        if (notification.method === "$/resync" || change.concerns(notification)) mailbox.offer(undefined)
      })
    )
    yield* channel.watch(change.filter)
    yield* Effect.forkScoped(Effect.map(channel.ended, (error) => mailbox.end(Exit.fail(error))))
    return Mailbox.stream(mailbox, pacing(Duration.toMillis(change.spacing)))
  }))

// What comes while it waits is told by the signal that follows the wait.
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

/**
 * A server may tell of a part of what was asked for.
 *
 * @internal
 */
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
