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
 * A request that the server refused for what it carried.
 *
 * @since 0.1.0
 * @category models
 */
export interface Refusal {
  readonly status: 401 | 403
  /** What it asks for: untrusted. */
  readonly challenge: {
    /** The schemes that it takes, in lower case. */
    readonly schemes: ReadonlyArray<string>
    readonly error: string | undefined
    readonly scope: string | undefined
    readonly resourceMetadata: string | undefined
  }
  /** What `Login.headers` gave for it. */
  readonly sent: ReadonlyMap<string, Redacted.Redacted>
  /** How often it was sent before. */
  readonly attempt: number
  /** Whether somebody wants just this done: a call, and not what keeps a connection. */
  readonly foreground: boolean
  /** To be told when a person is waited for, and when no longer: clocks stand still meanwhile. */
  readonly waiting: (open: boolean) => void
}

/**
 * Credentials that change while a connection lives.
 *
 * @since 0.1.0
 * @category models
 */
export interface Login {
  /** The same at once, where nobody has to be asked for it; the time is in milliseconds since 1970. */
  readonly now: (time: number) => ReadonlyMap<string, Redacted.Redacted> | undefined
  /** The headers of one request, asked for right before it is sent. */
  readonly headers: (
    request: { readonly method: string; readonly url: string }
  ) => Effect.Effect<ReadonlyMap<string, Redacted.Redacted>, McpError.AuthorizationFailed>
  /** A number that the next proof has to name (`DPoP-Nonce`), which comes with any response. */
  readonly nonce: (nonce: string) => void
  /** Whether there are others now, and it is to be sent again. */
  readonly refused: (refusal: Refusal) => Effect.Effect<boolean, McpError.AuthorizationFailed>
}

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
  readonly login?: Login | undefined
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
