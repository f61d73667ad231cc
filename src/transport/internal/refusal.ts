/** @internal */
// @effect-diagnostics nodeBuiltinImport:off - reads responses of node:http
import * as Effect from "effect/Effect"
import type { IncomingMessage } from "node:http"
import * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import type * as JsonRpc from "../JsonRpc.ts"
import type * as HttpClient from "./httpClient.ts"
import * as HttpErrors from "./httpErrors.ts"
import * as JsonText from "./jsonText.ts"
import type * as Remote from "./remote.ts"
import * as ResponseBody from "./responseBody.ts"

/** @internal */
export interface About {
  /** The id of the request that is refused, if it is one. */
  readonly id: JsonRpc.Id | undefined
  /** Whether it was sent within a session. */
  readonly session: boolean
}

/** @internal */
export type Refusal =
  | McpError.Unauthorized
  | McpError.Forbidden
  | McpError.RateLimited
  | McpError.Unavailable
  | McpError.SessionExpired
  | McpError.RemoteError
  | McpError.HttpStatus

/** The body of a refusal only explains it, so a slow one is not waited for. */
const patience = "2 seconds"

/** What servers of the session era answer with 400 when they do not know the session. */
const sessionUnknown: ReadonlySet<number> = new Set([-32000, -32001])
const invalidRequest = -32600
const methodNotFound = -32601

const classify = (
  remote: Remote.Remote,
  response: IncomingMessage,
  about: About,
  body: string
): Refusal => {
  const { server } = remote
  const status = response.statusCode ?? 0
  const decisive = HttpErrors.decisive(server, status, response.headers, body, remote.now())
  if (decisive !== undefined) return decisive
  const failure = status < 500 ? JsonText.failure(JsonText.parse(body)) : undefined
  const mine = failure !== undefined && about.id !== undefined && failure.id === about.id
  const anonymous = failure !== undefined && (failure.id === undefined || failure.id === null)
  if (about.session) {
    const expired = status === 404
      ? !(mine && failure.code === methodNotFound)
      : status === 400 && failure !== undefined &&
        (sessionUnknown.has(failure.code) || (anonymous && failure.code === invalidRequest))
    if (expired) return new McpError.SessionExpired({ server, detail: failure?.message ?? `status ${status}` })
  }
  // an anonymous answer where nothing takes the request is about the address: it may be one of the old SSE transport
  const misplaced = anonymous && !about.session && (status === 404 || status === 405)
  return mine || (anonymous && !misplaced)
    ? new McpError.RemoteError({ server, code: failure.code, detail: failure.message, data: failure.data })
    : HttpErrors.status(server, status, body)
}

/**
 * Reads a response that refuses, as far as it helps to say why, and ends its exchange.
 *
 * @internal
 */
export const read = (
  remote: Remote.Remote,
  response: IncomingMessage,
  exchange: HttpClient.Exchange,
  about: About,
  done: (error: Refusal) => void
): void => {
  const waiting = remote.run(Effect.delay(Effect.sync(exchange.destroy), patience))
  ResponseBody.text(response, remote.limits.errorBodyBytes, (_, body) => {
    waiting.unsafeInterruptAsFork(waiting.id())
    exchange.destroy()
    const error = classify(remote, response, about, body)
    if (error._tag === "Unauthorized" || error._tag === "Forbidden") remote.source.refused(error)
    done(error)
  })
}

/**
 * Reads a response of success whose content is none that MCP knows, and ends its exchange.
 *
 * @internal
 */
export const unexpectedContent = (
  remote: Remote.Remote,
  response: IncomingMessage,
  exchange: HttpClient.Exchange,
  done: (error: McpError.ProtocolViolation | McpError.UnexpectedContentType) => void
): void => {
  const { server } = remote
  const got = response.headers["content-type"] ?? ""
  const waiting = remote.run(Effect.delay(Effect.sync(exchange.destroy), patience))
  ResponseBody.text(response, remote.limits.errorBodyBytes, (_, body) => {
    waiting.unsafeInterruptAsFork(waiting.id())
    exchange.destroy()
    done(
      got === "" && body === ""
        ? new McpError.ProtocolViolation({
          server,
          what: `status ${response.statusCode} without content`,
          excerpt: "",
          outcome: "unknown",
          phase: "ready"
        })
        : new McpError.UnexpectedContentType({ server, got: got.slice(0, 256), excerpt: UntrustedText.excerpt(body) })
    )
  })
}
