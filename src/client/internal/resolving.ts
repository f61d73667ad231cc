/**
 * Connecting what is configured with templates: each connect reads the variables anew, and nothing of what they hold
 * outlives it but the connection itself.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Limits from "../../config/Limits.ts"
import * as Resolution from "../../config/Resolution.ts"
import * as ServerConfig from "../../config/ServerConfig.ts"
import * as RuntimeLog from "../../internal/runtimeLog.ts"
import * as McpError from "../../McpError.ts"
import * as McpEvent from "../../McpEvent.ts"
import * as Redaction from "../../safety/Redaction.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as Connector from "../Connector.ts"
import * as Secrets from "./secrets.ts"

const publish = (event: McpEvent.McpEvent) =>
  Effect.map(Effect.serviceOption(McpEvent.McpEvents), (events) => {
    if (Option.isSome(events)) events.value.publish(event)
  })

const said = (server: string, { at, kind, variable }: Resolution.Warning) =>
  RuntimeLog.warning(`configuration: ${kind}`).pipe(Effect.annotateLogs({
    server: UntrustedText.excerpt(server, 128),
    field: UntrustedText.excerpt(at, 128),
    ...(variable === undefined ? {} : { variable: UntrustedText.excerpt(variable, 128) })
  }))

type Unset = NonNullable<McpError.Unauthorized["unset"]>

/** The variables whose headers were left out. */
const unsetOf = (warnings: ReadonlyArray<Resolution.Warning>): Unset =>
  warnings.flatMap(({ at, detail, kind, variable }) =>
    kind === "variable-unset" && variable !== undefined && detail !== undefined ? [{ name: variable, at, detail }] : []
  )

/** Statuses that refuse the request itself, and not its address or its rate. */
const isRefusal = (status: number): boolean => status === 400 || status === 407 || status === 422

/** Adds the unset variables of left-out headers to an error, because they are the likely cause of the refusal. */
const explained = (unset: Unset) => <E extends McpError.CallError>(error: E): E | McpError.ConnectError => {
  switch (error._tag) {
    case "Unauthorized":
      return new McpError.Unauthorized({ ...error, unset })
    case "Forbidden":
      return new McpError.Forbidden({ ...error, unset })
    case "AuthorizationFailed":
      return new McpError.AuthorizationFailed({ ...error, unset })
    case "InitializeRejected":
      return new McpError.InitializeRejected({ ...error, unset })
    case "HttpStatus":
      return isRefusal(error.status) ? new McpError.HttpStatus({ ...error, unset }) : error
    default:
      return error
  }
}

/** A server may accept a connection without credentials and refuse a later request. */
const explaining = (unset: Unset, connection: Connector.Connection): Connector.Connection => {
  const explain = explained(unset)
  return {
    ...connection,
    request: (method, params, options) => Effect.mapError(connection.request(method, params, options), explain),
    notify: (method, params) => Effect.mapError(connection.notify(method, params), explain),
    watch: (filter) => Effect.mapError(connection.watch(filter), explain),
    health: Effect.mapError(connection.health, explain),
    ended: Effect.map(connection.ended, explain),
    onEnded: (listener) => connection.onEnded((error) => listener(explain(error)))
  }
}

/**
 * Connects in the scope that will be the connection's.
 *
 * @internal
 */
export const connect = (
  config: ServerConfig.ServerConfig
): Effect.Effect<Connector.Connection, McpError.ConnectError, Connector.Connector | Scope.Scope> =>
  Effect.gen(function*() {
    const connector = yield* Connector.Connector
    const { resolve } = yield* Resolution.Resolution
    const server = config.name
    const limit = ServerConfig.limits(config, yield* Limits.CurrentLimits).startupTimeout
    const late = (error: Pick<McpError.ConnectTimeout, "phase" | "stderrTail">) =>
      new McpError.ConnectTimeout({ server, limit, phase: error.phase, stderrTail: error.stderrTail })
    const began = yield* Clock.currentTimeMillis
    const { config: plain, warnings } = yield* Effect.timeoutFail(resolve(config), {
      duration: limit,
      onTimeout: () => late({ phase: "spawn", stderrTail: undefined })
    })
    const { know } = yield* Redaction.Redaction
    // before the connection is there, so that they are known until it is not
    yield* Effect.forEach(Secrets.of(config, plain), know, { discard: true })
    for (const warning of warnings) {
      yield* publish(McpEvent.McpEvent.ConfigurationWarning({ server, warning }))
      yield* said(server, warning)
    }
    const took = (yield* Clock.currentTimeMillis) - began
    // the limit is one for all of it, and what is told is what was set
    const startupTimeout = Duration.millis(Math.max(1, Duration.toMillis(limit) - took))
    const connecting = took <= 0 ? connector.connect(plain) : Effect.catchTag(
      connector.connect({ ...plain, startupTimeout }),
      "ConnectTimeout",
      (error) => Effect.fail(late(error))
    )
    const unset = unsetOf(warnings)
    if (unset.length === 0) return yield* connecting
    return explaining(unset, yield* Effect.mapError(connecting, explained(unset)))
  }).pipe(
    Effect.tapError((error) => publish(McpEvent.McpEvent.ConnectFailed({ server: config.name, error })))
  )
