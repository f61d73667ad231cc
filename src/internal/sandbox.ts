/**
 * The state of the application's sandbox, told to each connection whose server wants to know it: once, whether it was
 * there before the state or came after it.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as ConnectionPool from "../connection/ConnectionPool.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"

const capability = "codex/sandbox-state"

/** @internal */
export interface Sandbox {
  readonly notify: (state: JsonRpc.JsonObject) => Effect.Effect<void>
  /** For each connection as it comes. */
  readonly greet: (live: ConnectionPool.Live) => Effect.Effect<void>
}

/** @internal */
export const make = (pool: ConnectionPool.ConnectionPool["Type"]): Sandbox => {
  let current: JsonRpc.JsonObject | undefined = undefined
  const told = new Map<number, JsonRpc.JsonObject>()

  const greet: Sandbox["greet"] = (live) =>
    Effect.suspend(() => {
      const state = current
      if (state === undefined || told.get(live.generation) === state) return Effect.void
      if (live.session.experimental(capability) === undefined) return Effect.void
      told.set(live.generation, state)
      return Effect.catchAll(live.session.notify(`${capability}/update`, state), (error) => {
        // a connection that breaks is greeted anew when it comes back
        told.delete(live.generation)
        return Effect.annotateLogs(Effect.logDebug(`not told of the sandbox: ${error._tag}`), {
          server: live.server
        })
      })
    })

  return {
    greet,
    notify: (state) =>
      Effect.suspend(() => {
        current = state
        const lives = pool.members().flatMap(({ live }) => live === undefined ? [] : [live])
        const open = new Set(lives.map(({ generation }) => generation))
        for (const generation of told.keys()) if (!open.has(generation)) told.delete(generation)
        return Effect.forEach(lives, greet, { concurrency: "unbounded", discard: true })
      })
  }
}
