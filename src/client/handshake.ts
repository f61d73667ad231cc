/**
 * From an open transport to a settled protocol: `server/discover` for the stateless era, `initialize` for the session
 * era. Answers decide, and silence decides nothing.
 */
import type * as Sdk from "@modelcontextprotocol/sdk/types.js"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Limits from "../config/Limits.ts"
import * as McpError from "../McpError.ts"
import * as Outcome from "../outcome.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Transport from "../transport/Transport.ts"
import type * as InputHandlers from "./InputHandlers.ts"
import { objectOf } from "./messages.ts"
import * as Protocol from "./Protocol.ts"
import type * as Reporting from "./reporting.ts"
import type * as RequestEngine from "./RequestEngine.ts"
import * as ServerRequests from "./serverRequests.ts"

/** What the parts of a connection share. The configuration is not part of it, because it holds secrets. */
export interface Connection {
  readonly server: string
  readonly limits: Limits.Limits
  readonly report: Reporting.Reporting
  readonly handlers: InputHandlers.Handlers
  readonly transport: Transport.Transport
  readonly engine: RequestEngine.RequestEngine
  /** Runs in the scope of the connection. */
  readonly run: (effect: Effect.Effect<void>) => void
}

/** A finished handshake, with the server's answer to it. */
export interface Settled extends Transport.Negotiated {
  readonly result: JsonRpc.JsonObject
}

export type Decision =
  | { readonly _tag: "Stateless"; readonly settled: Settled }
  | { readonly _tag: "Session" }
  /** The server refuses the version of the request, and names another that we speak. */
  | { readonly _tag: "Again"; readonly protocolVersion: string }

const session: Decision = { _tag: "Session" }

const unsupportedVersion = -32022

/** Decides on the answer to `server/discover`. */
export const decide = (
  server: string,
  answer: Either.Either<JsonRpc.JsonObject, McpError.CallError>
): Either.Either<Decision, McpError.ConnectError> => {
  if (Either.isRight(answer)) return ofVersions(server, answer.right["supportedVersions"], answer.right)
  const error = answer.left
  switch (error._tag) {
    case "RemoteError":
      return error.code === unsupportedVersion && JsonRpc.isObject(error.data)
        ? ofVersions(server, error.data["supported"], undefined)
        : Either.right(session)
    // answers of a server, or of something before it, that does not know the method: `initialize` may still work
    case "ProtocolViolation":
    case "MessageTooLarge":
    case "SessionExpired":
      return Either.right(session)
    case "HttpError":
      return error.reason === "status" || error.reason === "content-type" ? Either.right(session) : Either.left(error)
    case "ConnectionLost":
      return error.reason === "stream-interrupted" ? Either.right(session) : Either.left(error)
    default:
      return Either.left(refusal(server, error))
  }
}

const ofVersions = (
  server: string,
  versions: unknown,
  result: JsonRpc.JsonObject | undefined
): Either.Either<Decision, McpError.ConnectError> => {
  const supported = texts(versions)
  const protocolVersion = Protocol.statelessVersions.find((version) => supported.includes(version))
  if (protocolVersion !== undefined) {
    return Either.right(
      result === undefined
        ? { _tag: "Again", protocolVersion }
        : { _tag: "Stateless", settled: { era: "stateless", protocolVersion, result } }
    )
  }
  const foreign = supported.filter((version) => version >= Protocol.firstStatelessVersion)
  // a server that also speaks an older version can be asked for that one
  return foreign.length === 0 || supported.length > foreign.length
    ? Either.right(session)
    : Either.left(unsupported(server, foreign.join(", "), Protocol.versions))
}

const texts = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : []

const unsupported = (server: string, got: string, supported: ReadonlyArray<string>) =>
  new McpError.HandshakeFailed({ server, reason: "version", got: got.slice(0, 256), supported: [...supported] })

const violation = (server: string, what: string, outcome: McpError.Outcome) =>
  new McpError.ProtocolViolation({ server, what, outcome, phase: "initialize" })

/** The error of a connect whose handshake failed with `error`. */
const refusal = (server: string, error: McpError.CallError): McpError.ConnectError => {
  if (error._tag === "RemoteError") {
    const { code, data, detail } = error
    if (code !== unsupportedVersion) {
      return new McpError.HandshakeFailed({ server, reason: "rejected", code, detail })
    }
    const named = texts(objectOf(data)["supported"]).join(", ")
    return unsupported(server, named === "" ? "another version" : named, Protocol.sessionVersions)
  }
  return Outcome.isConnectError(error)
    ? error
    : violation(server, `the handshake ended with ${error._tag}`, "unknown")
}

/** Asks `server/discover`, and once more if the server refuses the version and names one that we speak. */
const discover = ({ engine, handlers, report, server }: Connection) =>
  Effect.gen(function*() {
    report.phase = "discover"
    const ask = (protocolVersion: string) =>
      Effect.flatMap(
        Effect.either(engine.request("server/discover", { _meta: envelope(handlers, protocolVersion) }, {})),
        (answer) => decide(server, answer)
      )
    const first = yield* ask(Protocol.firstStatelessVersion)
    if (first._tag !== "Again") return first
    const second = yield* ask(first.protocolVersion)
    // a server that refuses the version that it has just named speaks none
    return second._tag === "Again"
      ? yield* unsupported(server, `${second.protocolVersion}, which it refuses`, Protocol.versions)
      : second
  })

/**
 * Asks `server/discover`, and `initialize` where the server's answer says so. A server that stays silent is asked both;
 * which of its answers counts does not depend on the time.
 */
export const negotiate = (connection: Connection): Effect.Effect<Settled, McpError.ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    const { limits: { discoverPatience }, transport } = connection
    const question = yield* Effect.forkScoped(Effect.either(discover(connection)))
    // over HTTP every request has an answer of its own, so silence says nothing about the method
    const patience = transport.streamPerRequest ? Duration.infinity : discoverPatience
    const answered = yield* Effect.timeoutOption(Fiber.join(question), patience)
    if (Option.isSome(answered)) {
      const decision = yield* answered.value
      return decision._tag === "Stateless" ? decision.settled : yield* initialize(connection)
    }
    const session = yield* Effect.either(initialize(connection))
    if (Either.isRight(session)) {
      yield* Fiber.interruptFork(question)
      return session.right
    }
    // a server of the stateless era refuses `initialize`, and may have been slow with `server/discover`
    if (session.left._tag !== "HandshakeFailed") return yield* session.left
    const late = Option.flatMap(
      yield* Effect.timeoutOption(Fiber.join(question), discoverPatience),
      Either.getRight
    )
    return Option.isSome(late) && late.value._tag === "Stateless"
      ? late.value.settled
      : yield* session.left
  })

/** Asks `server/discover` only. */
export const onlyStateless = (connection: Connection): Effect.Effect<Settled, McpError.ConnectError> =>
  Effect.flatMap(discover(connection), (decision) =>
    decision._tag === "Stateless"
      ? Effect.succeed(decision.settled)
      : unsupported(connection.server, "a version before 2026-07-28", Protocol.statelessVersions))

/** The `_meta` of every request of the stateless era. */
export const envelope = (handlers: InputHandlers.Handlers, protocolVersion: string): JsonRpc.JsonObject => ({
  [Protocol.metaKey.protocolVersion]: protocolVersion,
  [Protocol.metaKey.clientInfo]: Protocol.clientInfo,
  [Protocol.metaKey.clientCapabilities]: ServerRequests.capabilities(handlers)
})

/** `initialize`, and `notifications/initialized` awaited, for a first or a further session. */
export const initialize = (
  { engine, handlers, report, server, transport }: Connection
): Effect.Effect<Settled, McpError.ConnectError> =>
  Effect.gen(function*() {
    const isFirst = report.phase !== "ready"
    if (isFirst) report.phase = "initialize"
    const params = {
      protocolVersion: Protocol.sessionVersions[0]!,
      // the cast: the application declares capabilities of any version
      capabilities: ServerRequests.capabilities(handlers) as Sdk.ClientCapabilities & JsonRpc.JsonObject,
      clientInfo: Protocol.clientInfo
    } satisfies Sdk.InitializeRequest["params"]
    const refused = (error: McpError.CallError) => refusal(server, error)
    const result = yield* Effect.mapError(engine.request("initialize", params, {}), refused)
    const protocolVersion = result["protocolVersion"]
    if (typeof protocolVersion !== "string") {
      return yield* violation(server, "the answer to initialize names no protocol version", "executed")
    }
    if (!Protocol.sessionVersions.includes(protocolVersion)) {
      return yield* unsupported(server, protocolVersion, Protocol.sessionVersions)
    }
    for (const field of isFirst ? ["capabilities", "serverInfo"] : []) {
      if (!JsonRpc.isObject(result[field])) report.lenient(`initialize: no ${field}`)
    }
    transport.negotiated({ era: "session", protocolVersion })
    const method = "notifications/initialized" satisfies Sdk.InitializedNotification["method"]
    yield* Effect.mapError(engine.notify(method), refused)
    // servers refuse a request that overtakes `notifications/initialized`
    yield* transport.accepted ?? Effect.void
    return { era: "session", protocolVersion, result }
  })
