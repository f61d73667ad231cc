/**
 * Which era a server belongs to, told from its answer to `server/discover`. A pure table: silence decides nothing.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as McpError from "../../McpError.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import * as Protocol from "../Protocol.ts"

/** @internal */
export type Decision =
  | { readonly _tag: "Stateless"; readonly protocolVersion: string; readonly discovered: JsonRpc.JsonObject }
  | { readonly _tag: "Session" }
  /** It refuses the version that it was asked in, and names one that we speak as well. */
  | { readonly _tag: "Again"; readonly protocolVersion: string }
  | { readonly _tag: "Impossible"; readonly error: McpError.ConnectError }

const session: Decision = { _tag: "Session" }

/** @internal */
export const decide = (
  server: string,
  answer: Either.Either<JsonRpc.JsonObject, McpError.CallError>
): Decision => {
  if (Either.isRight(answer)) return fromVersions(server, answer.right["supportedVersions"], answer.right)
  const error = answer.left
  switch (error._tag) {
    case "RemoteError":
      return error.code === -32022 && JsonRpc.isObject(error.data)
        ? fromVersions(server, error.data["supported"], undefined)
        : session
    // answers of a server, or of a proxy, that does not know the question: the older one may still work
    case "ProtocolViolation":
    case "MessageTooLarge":
    case "SessionExpired":
    case "Cancelled":
    case "InvalidArguments":
    case "NotFound":
    case "RequestTimeout":
      return session
    case "HttpError":
      return error.reason === "status" || error.reason === "content-type" ? session : { _tag: "Impossible", error }
    case "ConnectionLost":
      return error.reason === "stream-interrupted" ? session : { _tag: "Impossible", error }
    default:
      return { _tag: "Impossible", error }
  }
}

const fromVersions = (server: string, versions: unknown, discovered: JsonRpc.JsonObject | undefined): Decision => {
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

const impossible = (server: string, got: string): Extract<Decision, { _tag: "Impossible" }> => ({
  _tag: "Impossible",
  error: new McpError.HandshakeFailed({
    server,
    reason: "version",
    got,
    supported: [...Protocol.statelessVersions, ...Protocol.sessionVersions]
  })
})

/**
 * A server that refuses the version that it has just named speaks none.
 *
 * @internal
 */
export const final = (server: string, decision: Decision): Exclude<Decision, { _tag: "Again" }> =>
  decision._tag === "Again" ? impossible(server, `${decision.protocolVersion}, which it refuses`) : decision
