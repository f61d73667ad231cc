/**
 * The headers that a remote server wants beside those of the protocol: from its configuration, an environment variable
 * or a program, and, where a Layer says so, from a login.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as HeadersCommand from "./internal/headersCommand.ts"
import * as HeaderText from "./internal/headerText.ts"

/**
 * A server that is reached over the network.
 *
 * @since 0.1.0
 * @category models
 */
export type RemoteServer = ServerConfig.HttpServer | ServerConfig.SseServer | ServerConfig.WebSocketServer

/**
 * The headers of one connection.
 *
 * @since 0.1.0
 * @category models
 */
export interface Source {
  /** Asked before each request; the same map as long as nothing has changed. */
  readonly current: () => ReadonlyMap<string, Redacted.Redacted>
  /** Told when the server has refused them. */
  readonly refused: (error: McpError.Unauthorized | McpError.Forbidden) => void
}

/**
 * The headers that stay the same for a connection's life.
 *
 * @since 0.1.0
 * @category constructors
 */
export const constant = (headers: ReadonlyMap<string, Redacted.Redacted>): Source => ({
  current: () => headers,
  refused: () => undefined
})

const invalid = (server: string, path: string, detail: string) =>
  new McpError.ConfigurationError({ server, path, detail })

/**
 * The headers of a configuration, later ones instead of earlier ones whatever the case of their names: `headers`, the
 * bearer token, then those that the program prints. Untraced, because a span would keep an error as it is before its
 * secrets are hidden.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromConfig = Effect.fnUntraced(function*(config: RemoteServer) {
  const headers = new Map<string, Redacted.Redacted>()
  const add = (more: Iterable<readonly [string, Redacted.Redacted]>) => {
    for (const [name, value] of more) headers.set(name.toLowerCase(), value)
  }
  if (config.headers !== undefined) {
    const problem = HeaderText.problem(config.name, "headers", config.headers)
    if (problem !== undefined) return yield* problem
    add(config.headers)
  }
  if (config.bearerTokenEnvVar !== undefined) {
    const name = config.bearerTokenEnvVar
    const token = yield* Config.redacted(name).pipe(
      Effect.mapError(() =>
        invalid(config.name, "bearerTokenEnvVar", `the variable ${JSON.stringify(name)} is not set`)
      )
    )
    const bearer = new Map([["authorization", Redacted.make(`Bearer ${Redacted.value(token).trim()}`)]])
    const problem = HeaderText.problem(config.name, "bearerTokenEnvVar", bearer)
    if (problem !== undefined) return yield* problem
    add(bearer)
  }
  if (config.headersCommand !== undefined) {
    const printed = yield* HeadersCommand.run(config.name, config.headersCommand)
    const problem = HeaderText.problem(config.name, "headersCommand", printed)
    if (problem !== undefined) return yield* problem
    add(printed)
  }
  return headers
})

/**
 * Turns the configuration of a server into headers, at each connect. Without a Layer: the configuration alone.
 *
 * @since 0.1.0
 * @category references
 */
export class RemoteHeaders extends Context.Reference<RemoteHeaders>()("effect-mcp-runtime/transport/RemoteHeaders", {
  defaultValue: (): {
    readonly resolve: (config: RemoteServer) => Effect.Effect<Source, McpError.ConnectError, Scope.Scope>
  } => ({ resolve: (config) => Effect.map(fromConfig(config), constant) })
}) {}
