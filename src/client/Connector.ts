/** Opening a client: the port that connects, and the reading of a configuration's variables before each connect. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Limits from "../config/Limits.ts"
import * as Resolution from "../config/Resolution.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import * as Redaction from "../safety/Redaction.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as McpClient from "./McpClient.ts"

export interface ConnectOptions {
  /** When the time to connect has begun, in milliseconds of the clock (default: now). */
  readonly began?: number | undefined
}

export class Connector extends Context.Tag("effect-mcp-runtime/client/Connector")<Connector, {
  /**
   * Connects within the server's `startupTimeout`. The variables of the configuration are already resolved. A failed or
   * interrupted connect leaves nothing open.
   */
  readonly connect: (
    config: ServerConfig.ServerConfig,
    options?: ConnectOptions
  ) => Effect.Effect<McpClient.McpClient, McpError.ConnectError, Scope.Scope>
  /** The variables of the configuration are read at another place, where the connection lives. */
  readonly isRemote?: boolean | undefined
}>() {}

/**
 * The user that a connection is opened for; `undefined` for the application itself. Connections and logins of different
 * users are never shared, so a connector that keeps either has to keep them by this value, too.
 */
export class Identity extends Context.Reference<Identity>()("effect-mcp-runtime/client/Connector/Identity", {
  defaultValue: (): string | undefined => undefined
}) {}

const publish = (event: McpEvent.McpEvent) =>
  Effect.map(Effect.serviceOption(McpEvent.McpEvents), (events) => {
    if (Option.isSome(events)) events.value.publish(event)
  })

const logWarning = (server: string, { at, kind, variable }: Resolution.Warning) =>
  RuntimeLog.warning(`configuration: ${kind}`).pipe(Effect.annotateLogs({
    server: UntrustedText.excerpt(server, 128),
    field: UntrustedText.excerpt(at, 128),
    ...(variable === undefined ? {} : { variable: UntrustedText.excerpt(variable, 128) })
  }))

/**
 * Opens a client, and closes it with the scope. The variables of the configuration are read now, and their values live
 * no longer than the connection.
 */
export const open = (
  config: ServerConfig.ServerConfig
): Effect.Effect<McpClient.McpClient, McpError.ConnectError, Connector | Scope.Scope> =>
  Effect.gen(function*() {
    const connector = yield* Connector
    if (connector.isRemote === true) return yield* connector.connect(config)
    const { resolve } = yield* Resolution.Resolution
    const server = config.name
    const limit = ServerConfig.limits(config, yield* Limits.CurrentLimits).startupTimeout
    const began = yield* Clock.currentTimeMillis
    const { config: plain, secrets, warnings } = yield* Effect.timeoutFail(resolve(config), {
      duration: limit,
      onTimeout: () => new McpError.ConnectTimeout({ server, limit, phase: "spawn" })
    })
    const { know } = yield* Redaction.Redaction
    // registered before the connection opens, so that the scope forgets them after it has closed
    yield* Effect.forEach(secrets, know, { discard: true })
    for (const warning of warnings) {
      yield* publish(McpEvent.McpEvent.ConfigurationWarning({ server, warning }))
      yield* logWarning(server, warning)
    }
    return yield* connector.connect(plain, { began })
  }).pipe(
    Effect.tapError((error) => publish(McpEvent.McpEvent.ConnectFailed({ server: config.name, error })))
  )

/**
 * Opens several clients, `batchSize` at once, and reports each failure separately. Closing the scope closes them in
 * parallel.
 */
export const openAll = (
  configs: Iterable<ServerConfig.ServerConfig>,
  { batchSize = 3 }: { readonly batchSize?: number | undefined } = {}
): Effect.Effect<
  ReadonlyArray<Either.Either<McpClient.McpClient, McpError.ConnectError>>,
  never,
  Connector | Scope.Scope
> =>
  Effect.gen(function*() {
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.parallel)
    return yield* Effect.forEach(configs, (config) => Effect.either(Scope.extend(open(config), scope)), {
      concurrency: batchSize
    })
  })
