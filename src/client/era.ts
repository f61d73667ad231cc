/** The meaning of a server's answers to `server/discover` and `initialize`. Pure: silence decides nothing. */
import * as Either from "effect/Either"
import * as McpError from "../McpError.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import * as Protocol from "./Protocol.ts"

export type Decision =
  | { readonly _tag: "Stateless"; readonly protocolVersion: string; readonly discovered: JsonRpc.JsonObject }
  | { readonly _tag: "Session" }
  /** The server refuses the version of the request, and names another that we speak. */
  | { readonly _tag: "Again"; readonly protocolVersion: string }
  | { readonly _tag: "Impossible"; readonly error: McpError.ConnectError }

const session: Decision = { _tag: "Session" }

const unsupportedVersion = -32022

/** Decides on the answer to `server/discover`. */
export const decide = (
  server: string,
  answer: Either.Either<JsonRpc.JsonObject, McpError.CallError>
): Decision => {
  if (Either.isRight(answer)) return ofVersions(server, answer.right["supportedVersions"], answer.right)
  const error = answer.left
  switch (error._tag) {
    case "RemoteError":
      return error.code === unsupportedVersion && JsonRpc.isObject(error.data)
        ? ofVersions(server, error.data["supported"], undefined)
        : session
    // answers of a server, or of something before it, that does not know the method: `initialize` may still work
    case "ProtocolViolation":
    case "MessageTooLarge":
    case "SessionExpired":
      return session
    case "HttpError":
      return error.reason === "status" || error.reason === "content-type" ? session : { _tag: "Impossible", error }
    case "ConnectionLost":
      return error.reason === "stream-interrupted" ? session : { _tag: "Impossible", error }
    default:
      return { _tag: "Impossible", error: refusal(server, error) }
  }
}

const ofVersions = (server: string, versions: unknown, discovered: JsonRpc.JsonObject | undefined): Decision => {
  if (!Array.isArray(versions)) return session
  const supported = versions.filter((version) => typeof version === "string")
  const shared = Protocol.statelessVersions.find((version) => supported.includes(version))
  if (shared !== undefined) {
    return discovered === undefined
      ? { _tag: "Again", protocolVersion: shared }
      : { _tag: "Stateless", protocolVersion: shared, discovered }
  }
  const foreign = supported.filter((version) => version >= Protocol.firstStatelessVersion)
  // a server that also speaks an older version can be asked for that one
  if (foreign.length === 0 || supported.length > foreign.length) return session
  return impossible(server, foreign.join(", ").slice(0, 256))
}

const unsupported = (server: string, got: string, supported: ReadonlyArray<string>): McpError.ConnectError =>
  new McpError.HandshakeFailed({ server, reason: "version", got, supported: [...supported] })

const impossible = (server: string, got: string): Extract<Decision, { _tag: "Impossible" }> => ({
  _tag: "Impossible",
  error: unsupported(server, got, [...Protocol.statelessVersions, ...Protocol.sessionVersions])
})

/** Decides on the second answer: a server that refuses the version that it has just named speaks none. */
export const final = (server: string, decision: Decision): Exclude<Decision, { _tag: "Again" }> =>
  decision._tag === "Again" ? impossible(server, `${decision.protocolVersion}, which it refuses`) : decision

/** The error of a server that was asked for the stateless era and has only the session era. */
export const onlySession = (server: string): McpError.ConnectError =>
  unsupported(server, "a version before 2026-07-28", Protocol.statelessVersions)

/** The result of a successful `initialize`. */
export interface Initialized {
  readonly result: JsonRpc.JsonObject
  readonly protocolVersion: string
}

/** Judges the answer to `initialize`. */
export const initialized = (
  server: string,
  result: JsonRpc.JsonObject
): Either.Either<Initialized, McpError.ConnectError> => {
  const protocolVersion = result["protocolVersion"]
  if (typeof protocolVersion !== "string") {
    return Either.left(violation(server, "the answer to initialize names no protocol version", "executed"))
  }
  return Protocol.sessionVersions.includes(protocolVersion)
    ? Either.right({ result, protocolVersion })
    : Either.left(unsupported(server, protocolVersion.slice(0, 256), Protocol.sessionVersions))
}

const violation = (server: string, what: string, outcome: McpError.Outcome) =>
  new McpError.ProtocolViolation({ server, what, excerpt: "", outcome, phase: "initialize" })

/** The error of a connect whose handshake failed with `error`. */
export const refusal = (server: string, error: McpError.CallError): McpError.ConnectError => {
  if (error._tag === "RemoteError") {
    const { code, data, detail } = error
    return code === unsupportedVersion
      ? unsupported(server, namedVersions(data) ?? "another version", Protocol.sessionVersions)
      : new McpError.HandshakeFailed({ server, reason: "rejected", code, detail })
  }
  return McpError.isConnectError(error)
    ? error
    : violation(server, `the handshake ended with ${error._tag}`, "unknown")
}

const namedVersions = (data: unknown): string | undefined => {
  if (!JsonRpc.isObject(data) || !Array.isArray(data["supported"])) return undefined
  return data["supported"].filter((version) => typeof version === "string").join(", ").slice(0, 256)
}
