import { assert } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { type Cell, type It, Opened, remembers } from "./cell.ts"

const lists = [["tools", "add_tool"], ["prompts", "add_prompt"], ["resources", "add_resource"]] as const

/** What a server tells without being asked. */
export const notifications = (it: It, cell: Cell): void => {
  it.effect("has a stream of notifications", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const message = yield* session.notifications.pipe(
        Stream.filter(({ method, params }) =>
          method === "notifications/message" && Object(params["data"]).token === "stream"
        ),
        Stream.runHead,
        Effect.fork
      )
      // In the stateless era a server that was asked for no level sends no messages.
      yield* session.setLogLevel("warning")
      yield* session.callTool("chatter", { token: "stream" })
      const first = yield* Fiber.join(message)
      assert.strictEqual(first._tag, "Some")
    }))

  if (!remembers(cell)) return

  it.effect("signals changed tools once it watches them", () =>
    Effect.gen(function*() {
      const { peer, session } = yield* Opened
      const changed = yield* Deferred.make<void>()
      yield* peer.canPush
      const stop = session.onNotification(({ method }) => {
        if (method === "notifications/tools/list_changed") Deferred.unsafeDone(changed, Effect.void)
      })
      yield* session.watch({ toolsListChanged: true })
      yield* session.callTool("add_tool", { name: "added_watched" })
      yield* Deferred.await(changed)
      stop()
      const { tools } = yield* session.tools
      assert.isTrue(tools.some((tool) => tool.name === "added_watched"))
    }).pipe(Effect.scoped))

  for (const [list, trigger] of lists) {
    it.effect(`signals changes of its ${list} as a stream`, () =>
      Effect.gen(function*() {
        const { session } = yield* Opened
        let added = 0
        // Nothing tells when the server has begun to listen, so it is given changes until one is noticed.
        const changes = Effect.suspend(() => session.callTool(trigger, { name: `added_${list}_${added++}` })).pipe(
          Effect.zipRight(Effect.sleep("50 millis")),
          Effect.forever
        )
        yield* Effect.raceFirst(Stream.runHead(session.listChanged(list)), changes)
      }))
  }

  it.effect("is sent the log messages from the level that was asked for", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      yield* session.setLogLevel("warning")
      const levels: Array<unknown> = []
      const heard = yield* Deferred.make<void>()
      const stop = session.onNotification(({ method, params }) => {
        if (method !== "notifications/message" || Object(params["data"]).token !== "levels") return
        levels.push(params["level"])
        if (params["level"] === "error") Deferred.unsafeDone(heard, Effect.void)
      })
      yield* session.callTool("chatter", { token: "levels" })
      yield* Deferred.await(heard)
      stop()
      assert.deepStrictEqual(levels, ["warning", "error"])
    }))
}
