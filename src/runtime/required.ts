/**
 * The servers that an application cannot do without.
 *
 * @internal
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import type * as ConnectionPool from "./ConnectionPool.ts"

/** Waits until all that are required are there, and no longer than this; names all that are not. */
const awaitRequired = (
  pool: ConnectionPool.ConnectionPool["Type"],
  servers: ReadonlyArray<ServerConfig.ServerConfig>,
  limit: Duration.Duration
): Effect.Effect<void, McpError.RequiredServersFailed> =>
  Effect.suspend(() => {
    const required = servers.filter((config) => config.required === true && config.enabled !== false)
    if (required.length === 0) return Effect.void
    const each = Effect.forEach(required, ({ name: server }) =>
      Effect.timeoutFail(pool.use(server, () => Effect.void), {
        duration: limit,
        onTimeout: () => {
          const status = pool.member(server)?.status
          // what has kept it away so far says more than that time is up
          return status !== undefined && "error" in status
            ? status.error
            : new McpError.ConnectTimeout({ server, phase: "open", limit })
        }
      }).pipe(
        Effect.either,
        Effect.map(Either.match({
          onLeft: (error) => [{ server, reason: error.message, error }],
          onRight: () => []
        }))
      ), { concurrency: "unbounded" })
    return Effect.flatMap(each, (found) => {
      const failures = found.flat()
      return failures.length === 0
        ? Effect.void
        : Effect.fail(
          new McpError.RequiredServersFailed({ server: failures.map(({ server }) => server).join(", "), failures })
        )
    })
  })

export {
  /** @internal */
  awaitRequired as await
}
