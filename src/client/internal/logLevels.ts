/**
 * The level of the log messages that a server is asked for: a request of its own in the session era, a word in the
 * `_meta` of each request in the stateless era.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as RuntimeLog from "../../internal/runtimeLog.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as McpClient from "../McpClient.ts"
import * as Protocol from "../Protocol.ts"

/** @internal */
export interface LogLevels {
  readonly set: McpClient.McpClient["setLogLevel"]
  /** The connection's, with the level where it belongs. */
  readonly request: McpClient.Channel["request"]
}

/** @internal */
export const make = (connection: McpClient.Channel): LogLevels =>
  connection.era === "stateless" ? stateless(connection) : session(connection)

const stateless = (connection: McpClient.Channel): LogLevels => {
  let level: McpClient.LogLevel | undefined = undefined
  return {
    set: (wanted) =>
      Effect.sync(() => {
        level = wanted
      }),
    request: (method, params, options) => {
      if (level === undefined) return connection.request(method, params, options)
      const meta = params?.["_meta"]
      // the cast: an object that was checked to be JSON
      const known = JsonRpc.isObject(meta) ? meta as JsonRpc.JsonObject : {}
      return connection.request(
        method,
        { ...params, _meta: { [Protocol.metaKey.logLevel]: level, ...known } },
        options
      )
    }
  }
}

const session = (connection: McpClient.Channel): LogLevels => {
  let level: McpClient.LogLevel | undefined = undefined
  let forgotten = false
  const tell = (wanted: McpClient.LogLevel) => Effect.asVoid(connection.request("logging/setLevel", { level: wanted }))
  // A session that was opened anew does not know the level of the one before.
  connection.onNotification(({ method }) => {
    if (method === "$/resync") forgotten = level !== undefined
  })
  const tellAgain = Effect.suspend(() => {
    if (!forgotten || level === undefined) return Effect.void
    forgotten = false
    return Effect.catchAll(tell(level), (error) => RuntimeLog.debug("could not set the log level again", error))
  })
  return {
    set: (wanted) =>
      Effect.tap(tell(wanted), () => {
        level = wanted
        forgotten = false
      }),
    request: (method, params, options) =>
      forgotten
        ? Effect.zipRight(tellAgain, connection.request(method, params, options))
        : connection.request(method, params, options)
  }
}
