/**
 * Logging in to a server of the runtime: with the configuration as it is now, and the connection made anew.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Credentials from "../auth/Credentials.ts"
import * as Limits from "../config/Limits.ts"
import * as Resolution from "../config/Resolution.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import type * as RemoteHeaders from "../transport/RemoteHeaders.ts"
import type * as ConnectionPool from "./ConnectionPool.ts"

const isRemote = (config: ServerConfig.ServerConfig): config is RemoteHeaders.RemoteServer =>
  config.transport !== "stdio" && config.transport !== "docker"

type Logins = Pick<McpRuntime.McpServers, "login" | "logout" | "loginStatus">

/** @internal */
export const make = (
  pool: ConnectionPool.ConnectionPool["Type"]
): Effect.Effect<Logins, never, Credentials.Credentials> =>
  Effect.gen(function*() {
    const credentials = yield* Credentials.Credentials
    const { resolve } = yield* Resolution.Resolution
    const limits = yield* Limits.CurrentLimits

    const nobody = (server: string, detail: string) =>
      new McpError.AuthorizationFailed({ server, reason: "not-interactive", detail })

    const programs = (server: string) =>
      nobody(server, "it is a program of this machine, which asks for what it needs by itself")

    const remote = (name: string) =>
      Effect.gen(function*() {
        const { config } = yield* pool.find(name)
        // what nobody has agreed to is not read, run or asked for anything
        const { blocked } = config
        if (blocked !== undefined) {
          const detail = blocked === "denied" ? "a policy denies it" : "nobody has agreed to it; approve it first"
          return yield* new McpError.ServerUnavailable({ server: name, why: blocked, detail })
        }
        if (!isRemote(config)) return yield* programs(name)
        const limit = ServerConfig.limits(config, limits).startupTimeout
        const { config: plain } = yield* Effect.timeoutFail(resolve(config), {
          duration: limit,
          onTimeout: () => new McpError.ConnectTimeout({ server: name, limit, phase: "spawn", stderrTail: undefined })
        })
        return isRemote(plain) ? plain : yield* programs(name)
      })

    return {
      login: (server) =>
        Effect.zipRight(
          Effect.flatMap(remote(server), credentials.authorize),
          pool.reconnect(server)
        ),
      logout: (server) =>
        Effect.zipRight(
          Effect.flatMap(remote(server), credentials.logout),
          Effect.ignore(pool.reconnect(server))
        ),
      loginStatus: (server) => Effect.flatMap(remote(server), credentials.status)
    }
  })
