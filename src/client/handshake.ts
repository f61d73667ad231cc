/** From an open transport to a settled protocol: `server/discover` for the stateless era, `initialize` for the session era. */
import type * as Sdk from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Limits from "../config/Limits.ts"
import type * as McpError from "../McpError.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Transport from "../transport/Transport.ts"
import * as Engine from "./engine.ts"
import * as Era from "./era.ts"
import * as Protocol from "./Protocol.ts"
import type * as Reporting from "./reporting.ts"

export type Settled =
  | Extract<Era.Decision, { _tag: "Stateless" }>
  | { readonly _tag: "Session" } & Era.Initialized

export interface Options {
  readonly server: string
  readonly engine: Engine.Engine
  readonly transport: Transport.Transport
  readonly stage: Engine.Stage
  readonly limits: Limits.Limits
  readonly report: Reporting.Reporting
  readonly capabilities: JsonRpc.JsonObject
}

/**
 * Asks `server/discover`, and `initialize` where the server's answer says so. A server that stays silent is asked both;
 * which of its answers counts does not depend on the time.
 */
export const negotiate = (options: Options): Effect.Effect<Settled, McpError.ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    const question = yield* Effect.forkScoped(discover(options))
    // over HTTP every request has an answer of its own, so silence says nothing about the method
    const answered = options.transport.streamPerRequest
      ? Option.some(yield* Fiber.join(question))
      : yield* Effect.timeoutOption(Fiber.join(question), options.limits.discoverPatience)
    if (Option.isSome(answered)) {
      return yield* answered.value._tag === "Session" ? initialize(options) : settled(options, answered.value)
    }
    const session = yield* Effect.either(initialize(options))
    if (Either.isRight(session)) {
      yield* Fiber.interruptFork(question)
      return session.right
    }
    // a server of the stateless era refuses `initialize`, and may have been slow with `server/discover`
    if (session.left._tag !== "HandshakeFailed") return yield* session.left
    const late = yield* Effect.timeoutOption(Fiber.join(question), options.limits.discoverPatience)
    return Option.isSome(late) && late.value._tag === "Stateless"
      ? yield* settled(options, late.value)
      : yield* session.left
  })

/** Asks `server/discover` only. */
export const onlyStateless = (options: Options): Effect.Effect<Settled, McpError.ConnectError> =>
  Effect.flatMap(discover(options), (decision) => settled(options, decision))

type Decision = ReturnType<typeof Era.final>

const settled = (
  { server, transport }: Options,
  decision: Decision
): Effect.Effect<Settled, McpError.ConnectError> => {
  if (decision._tag === "Impossible") return Effect.fail(decision.error)
  if (decision._tag === "Session") return Effect.fail(Era.onlySession(server))
  transport.negotiated({ era: "stateless", protocolVersion: decision.protocolVersion })
  return Effect.succeed(decision)
}

const discover = (options: Options): Effect.Effect<Decision> =>
  Effect.suspend(() => {
    options.stage.phase = "discover"
    const discoverIn = (protocolVersion: string): Effect.Effect<Era.Decision> =>
      options.engine.request(
        "server/discover",
        { _meta: envelope(options.capabilities, protocolVersion) },
        Engine.unlimited
      ).pipe(
        Effect.either,
        Effect.map((answer) => Era.decide(options.server, answer))
      )
    return Effect.flatMap(discoverIn(Protocol.firstStatelessVersion), (decision) =>
      decision._tag === "Again"
        ? Effect.map(discoverIn(decision.protocolVersion), (second) => Era.final(options.server, second))
        : Effect.succeed(decision))
  })

/** The `_meta` of every request of the stateless era. */
export const envelope = (
  capabilities: JsonRpc.JsonObject,
  protocolVersion = Protocol.firstStatelessVersion
): JsonRpc.JsonObject => ({
  [Protocol.metaKey.protocolVersion]: protocolVersion,
  [Protocol.metaKey.clientInfo]: Protocol.clientInfo,
  [Protocol.metaKey.clientCapabilities]: capabilities
})

/** `initialize`, and `notifications/initialized` awaited, for a first or a further session. */
export const initialize = (options: Options): Effect.Effect<Settled, McpError.ConnectError> =>
  Effect.suspend(() => {
    const { capabilities, engine, report, server, stage, transport } = options
    const isFirst = stage.phase !== "ready"
    if (isFirst) stage.phase = "initialize"
    const params = {
      protocolVersion: Protocol.sessionVersions[0]!,
      // the cast: the application declares capabilities of any version
      capabilities: capabilities as Sdk.ClientCapabilities & JsonRpc.JsonObject,
      clientInfo: Protocol.clientInfo
    } satisfies Sdk.InitializeRequest["params"]
    return engine.request("initialize", params, Engine.unlimited).pipe(
      Effect.mapError((error) => Era.refusal(server, error)),
      Effect.flatMap((result) => Era.initialized(server, result)),
      Effect.tap(({ protocolVersion, result }) => {
        if (isFirst) {
          const missing = (field: string) => report.diagnostic({ kind: "lenient", detail: `initialize: no ${field}` })
          if (!JsonRpc.isObject(result["capabilities"])) missing("capabilities")
          if (!JsonRpc.isObject(result["serverInfo"])) missing("serverInfo")
        }
        transport.negotiated({ era: "session", protocolVersion })
        const error = engine.notify("notifications/initialized" satisfies Sdk.InitializedNotification["method"])
        if (error !== undefined) return Effect.fail(Era.refusal(server, error))
        // servers refuse a request that overtakes `notifications/initialized`
        return transport.accepted ?? Effect.void
      }),
      Effect.map(({ protocolVersion, result }): Settled => ({ _tag: "Session", protocolVersion, result }))
    )
  })
