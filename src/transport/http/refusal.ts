/** What the status, the headers and the body of a response without an answer mean, as errors. */
// @effect-diagnostics nodeBuiltinImport:off - reads responses of node:http
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { IncomingMessage } from "node:http"
import type * as Limits from "../../config/Limits.ts"
import * as McpError from "../../McpError.ts"
import * as HeaderField from "../../text/headerField.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as Failure from "../failure.ts"
import * as JsonRpc from "../JsonRpc.ts"
import type * as RemoteHeaders from "../RemoteHeaders.ts"
import * as Client from "./client.ts"
import type * as Proxy from "./proxy.ts"

/** A server behind a URL. */
export interface Peer {
  readonly server: string
  readonly limits: Limits.Limits
  /** Told of a 401 or 403. */
  readonly source: RemoteHeaders.Source
  readonly proxy: Proxy.Proxy | undefined
}

export type Refusal =
  | McpError.AuthorizationFailed
  | McpError.HttpError
  | McpError.SessionExpired

/** The body of a refusal only explains it, so a slow one is cut short. */
const patience = Duration.seconds(2)

/** What servers of the session era answer with 400 when they do not know the session. */
const sessionUnknown: ReadonlySet<number> = new Set([-32000, -32001])
const invalidRequest = -32600
const methodNotFound = -32601

/** Fails with what a refused request means, which can be the JSON-RPC error in the body. */
export const refuseRequest = (
  peer: Peer,
  response: IncomingMessage,
  inSession: boolean,
  id: JsonRpc.Id | undefined
): Effect.Effect<never, Refusal | McpError.RemoteError> =>
  Effect.flatMap(explained(peer, response), (body): Effect.Effect<never, Refusal | McpError.RemoteError> => {
    const { server } = peer
    const status = response.statusCode ?? 0
    const failure = status < 500 ? JsonRpc.failure(JsonRpc.parse(body)) : undefined
    const isOurs = failure !== undefined && id !== undefined && failure.id === id
    const isAnonymous = failure !== undefined && (failure.id === undefined || failure.id === null)
    const isExpired = status === 404
      ? !(isOurs && failure.code === methodNotFound)
      : status === 400 && failure !== undefined &&
        (sessionUnknown.has(failure.code) || (isAnonymous && failure.code === invalidRequest))
    if (inSession && isExpired) {
      return new McpError.SessionExpired({ server, detail: failure?.message ?? `status ${status}` })
    }
    // an anonymous 404 or 405 outside of a session is about the address, which may be one of the old SSE transport
    const isMisplaced = !inSession && (status === 404 || status === 405)
    return isOurs || (isAnonymous && !isMisplaced)
      ? new McpError.RemoteError({ server, code: failure.code, detail: failure.message, data: failure.data })
      : unexplained(peer, response, body)
  })

/** Fails with what a refused GET, notification or WebSocket handshake means. */
export const refuse = (peer: Peer, response: IncomingMessage, inSession: boolean): Effect.Effect<never, Refusal> =>
  Effect.catchTag(
    refuseRequest(peer, response, inSession, undefined),
    "RemoteError",
    ({ detail }) => unexplained(peer, response, detail)
  )

const unexplained = ({ server }: Peer, { statusCode: status }: IncomingMessage, body: string): McpError.HttpError =>
  new McpError.HttpError({ server, reason: "status", status, detail: UntrustedText.excerpt(body), outcome: "unknown" })

/** The body, as far as it comes in time; fails where the status alone decides. */
const explained = (peer: Peer, response: IncomingMessage) =>
  Effect.gen(function*() {
    const { headers, statusCode: status } = response
    const read = Effect.async<string>((resume) =>
      Client.text(response, peer.limits.errorBodyBytes, (_, text) => resume(Effect.succeed(text)))
    )
    const cut = Effect.delay(Effect.sync(() => response.destroy(new Error("slow"))), patience)
    const body = yield* Effect.raceFirst(read, Effect.zipRight(cut, Effect.never))
    const { challenge, resourceMetadata, scope } = HeaderField.challengeOf(headers["www-authenticate"])
    const retryAfter = HeaderField.retryAfter(headers["retry-after"], yield* Clock.currentTimeMillis)
    const common = { server: peer.server, status, outcome: "not-sent" } as const
    const later = { ...common, retryAfter, detail: UntrustedText.excerpt(body) }
    const refused = (error: McpError.AuthorizationFailed | McpError.HttpError) => {
      peer.source.refused(error)
      return error
    }
    if (status === 401) {
      const asked = { challenge, resourceMetadata, scope }
      return yield* refused(new McpError.AuthorizationFailed({ ...common, reason: "unauthorized", ...asked }))
    }
    if (status === 403) {
      return yield* refused(new McpError.HttpError({ ...common, reason: "forbidden", challenge, scope }))
    }
    if (status === 429) return yield* new McpError.HttpError({ ...later, reason: "rate-limited" })
    if (status === 503 && retryAfter !== undefined) {
      return yield* new McpError.HttpError({ ...later, reason: "unavailable" })
    }
    return body
  })

/** Fails with what a success means whose content is neither JSON nor an event stream. */
export const unexpectedContent = (
  peer: Peer,
  response: IncomingMessage
): Effect.Effect<never, Refusal | McpError.ProtocolViolation> =>
  Effect.flatMap(explained(peer, response), (body): Effect.Effect<never, Refusal | McpError.ProtocolViolation> => {
    const { server } = peer
    const got = (response.headers["content-type"] ?? "").slice(0, 256)
    if (got === "" && body === "") return Failure.violation(server, `status ${response.statusCode} without content`, "")
    const detail = UntrustedText.excerpt(body)
    return new McpError.HttpError({ server, reason: "content-type", outcome: "unknown", got, detail })
  })

/** The error of a body that did not end well. */
export const broken = ({ limits, server }: Peer, end: Exclude<Client.End, "ended">) => {
  if (end === "oversize") return Failure.tooLarge(server, limits.maxMessageBytes, "received")
  if (end === "cut") return Failure.lost(server, "stream-interrupted", "the connection was cut")("unknown")
  const what = end === "corrupt" ? "that cannot be decompressed" : "in an encoding that was not asked for"
  return Failure.violation(server, `a body ${what}`, "")
}
