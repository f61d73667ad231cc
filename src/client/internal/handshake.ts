/**
 * From an open transport to a settled protocol: which era, which version, who is there.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Limits from "../../config/Limits.ts"
import * as McpError from "../../McpError.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as Transport from "../../transport/Transport.ts"
import * as Protocol from "../Protocol.ts"
import type * as Adapter from "./adapter.ts"
import type * as Bridge from "./bridge.ts"
import * as Era from "./era.ts"
import type * as Wire from "./wire.ts"

/** @internal */
export type Settled =
  | { readonly _tag: "Stateless"; readonly protocolVersion: string; readonly discovered: JsonRpc.JsonObject }
  | { readonly _tag: "Session"; readonly initialized: Bridge.Initialized; readonly session: Adapter.Session }

/** @internal */
export interface Options {
  readonly server: string
  readonly limits: Limits.Limits
  readonly wire: Wire.Wire
  readonly transport: Transport.Transport
  readonly envelope: JsonRpc.JsonObject
  readonly bridge: () => Bridge.Bridge
  readonly initialize: (bridge: Bridge.Bridge) => Effect.Effect<Adapter.Session, Adapter.HandshakeFailed, Scope.Scope>
}

const forHandshake: Wire.RequestOptions = { idle: Infinity, total: Infinity, progress: false, cancellable: false }

/**
 * Asks `server/discover` and falls back to `initialize` on the server's own word. A server that is silent is asked
 * `initialize` too after a while; what it answers decides, not the while.
 *
 * @internal
 */
export const negotiate = (options: Options): Effect.Effect<Settled, McpError.ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    const question = yield* Effect.forkScoped(discover(options))
    // over HTTP every request has its own answer, so there is nothing to be patient about
    const answered = options.transport.streamPerRequest
      ? Option.some(yield* Fiber.join(question))
      : yield* Effect.timeoutOption(Fiber.join(question), options.limits.discoverPatience)
    if (Option.isSome(answered)) return yield* follow(options, answered.value)
    const session = yield* Effect.either(inSession(options))
    if (Either.isRight(session)) {
      yield* Fiber.interruptFork(question)
      return session.right
    }
    // it refused the older question: had it answered the newer one meanwhile?
    if (!refusesSessions(session.left)) return yield* session.left
    const late = yield* Effect.timeoutOption(Fiber.join(question), options.limits.discoverPatience)
    return Option.isSome(late) && late.value._tag === "Stateless" ? stateless(options, late.value) : yield* session.left
  })

const refusesSessions = (error: McpError.ConnectError): boolean => error._tag === "HandshakeFailed"

/** @internal */
export const onlyStateless = (options: Options): Effect.Effect<Settled, McpError.ConnectError> =>
  Effect.flatMap(discover(options), (decision): Effect.Effect<Settled, McpError.ConnectError> => {
    switch (decision._tag) {
      case "Stateless":
        return Effect.succeed(stateless(options, decision))
      case "Impossible":
        return Effect.fail(decision.error)
      case "Session":
        return Effect.fail(
          new McpError.HandshakeFailed({
            server: options.server,
            reason: "version",
            got: "a version before 2026-07-28",
            supported: [...Protocol.statelessVersions]
          })
        )
    }
  })

/** @internal */
export const inSession = (options: Options): Effect.Effect<Settled, McpError.ConnectError, Scope.Scope> =>
  Effect.suspend(() => {
    options.wire.phase = "initialize"
    const bridge = options.bridge()
    return options.initialize(bridge).pipe(
      Effect.mapError((failed) => whatHappened(options.server, bridge, failed)),
      // servers refuse a request that overtakes `notifications/initialized`
      Effect.zipLeft(options.transport.accepted ?? Effect.void),
      Effect.flatMap((session): Effect.Effect<Settled, McpError.ConnectError> => {
        const initialized = bridge.initialized()
        return initialized === undefined
          ? Effect.fail(violation(options.server, "no answer to initialize", ""))
          : Effect.map(initialized, (facts) => ({ _tag: "Session", initialized: facts, session }))
      })
    )
  })

const whatHappened = (
  server: string,
  bridge: Bridge.Bridge,
  failed: Adapter.HandshakeFailed
): McpError.ConnectError => {
  const initialized = bridge.initialized()
  return initialized !== undefined && Either.isLeft(initialized)
    ? initialized.left
    : violation(server, "the handshake failed", failed.detail)
}

const violation = (server: string, what: string, excerpt: string) =>
  new McpError.ProtocolViolation({ server, what, excerpt, outcome: "unknown", phase: "initialize" })

type Decision = ReturnType<typeof Era.final>

const discover = (options: Options): Effect.Effect<Decision> =>
  Effect.suspend(() => {
    options.wire.phase = "discover"
    return Effect.flatMap(discoverIn(options, options.envelope), (decision) =>
      decision._tag !== "Again" ? Effect.succeed(decision) : Effect.map(
        discoverIn(options, { ...options.envelope, [Protocol.metaKey.protocolVersion]: decision.protocolVersion }),
        (second) =>
          Era.final(options.server, second)
      ))
  })

const discoverIn = (options: Options, envelope: JsonRpc.JsonObject): Effect.Effect<Era.Decision> =>
  Effect.map(
    Effect.either(options.wire.request("server/discover", { _meta: envelope }, forHandshake)),
    (answer) => Era.decide(options.server, answer)
  )

const follow = (options: Options, decision: Decision) => {
  switch (decision._tag) {
    case "Stateless":
      return Effect.succeed(stateless(options, decision))
    case "Impossible":
      return Effect.fail(decision.error)
    case "Session":
      return inSession(options)
  }
}

const stateless = (options: Options, decision: Extract<Era.Decision, { _tag: "Stateless" }>): Settled => {
  options.transport.negotiated({ era: "stateless", protocolVersion: decision.protocolVersion })
  return decision
}
