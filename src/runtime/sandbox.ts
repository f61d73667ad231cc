/**
 * The state of the application's sandbox, told to each connection whose server wants to know it: once, whether it was
 * there before the state or came after it.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as McpClient from "../client/McpClient.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Server from "./Server.ts"
import type * as Servers from "./Servers.ts"

const capability = "codex/sandbox-state"

/** @internal */
export interface Sandbox {
  readonly notify: (state: JsonRpc.JsonObject) => Effect.Effect<void>
  /** For each connection as it comes. */
  readonly greet: (live: Server.Live) => Effect.Effect<void>
}

/** One state to tell; another for each time that somebody gives one, even if it is the same object. */
interface News {
  readonly state: JsonRpc.JsonObject
}

/** @internal */
export const make = (servers: Servers.Servers): Sandbox => {
  let current: News | undefined = undefined
  // goes with each connection
  const told = new WeakMap<McpClient.McpClient, News>()

  const greet: Sandbox["greet"] = ({ server, session }) =>
    Effect.suspend(() => {
      const news = current
      if (news === undefined || told.get(session) === news) return Effect.void
      if (session.experimental(capability) === undefined) return Effect.void
      told.set(session, news)
      return Effect.catchAll(session.notify(`${capability}/update`, news.state), (error) => {
        // a connection that breaks is greeted anew when it comes back
        if (told.get(session) === news) told.delete(session)
        return Effect.annotateLogs(
          RuntimeLog.debug(`the sandbox state could not be sent to the server: ${error._tag}`),
          { server }
        )
      })
    })

  return {
    greet,
    notify: (state) =>
      Effect.suspend(() => {
        current = { state }
        const lives = servers.members().flatMap(({ live }) => live === undefined ? [] : [live])
        return Effect.forEach(lives, greet, { concurrency: "unbounded", discard: true })
      })
  }
}
