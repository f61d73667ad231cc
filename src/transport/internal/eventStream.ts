/** @internal */
// @effect-diagnostics nodeBuiltinImport:off - reads responses of node:http
import * as Effect from "effect/Effect"
import type { IncomingMessage } from "node:http"
import type * as McpError from "../../McpError.ts"
import * as HttpErrors from "./httpErrors.ts"
import * as Refusal from "./refusal.ts"
import type * as Remote from "./remote.ts"
import * as ResponseBody from "./responseBody.ts"
import * as SseParser from "./sseParser.ts"

/** @internal */
export interface Handlers {
  readonly event: (event: SseParser.SseEvent) => void
  readonly done: (end: ResponseBody.End) => void
}

/**
 * Reads the events of a response as they come.
 *
 * @internal
 */
export const read = (response: IncomingMessage, limit: number, on: Handlers): SseParser.SseParser => {
  const parser = SseParser.make(limit, on.event)
  ResponseBody.read(response, parser.push, (end) => {
    if (end === "ended") parser.end()
    on.done(end)
  })
  return parser
}

/**
 * How a stream that was open has ended.
 *
 * @internal
 */
export interface Followed {
  readonly end: ResponseBody.End
  readonly lastEventId: string | undefined
  readonly retry: number | undefined
}

/** @internal */
export interface Request {
  readonly path: string
  readonly headers: Array<string>
  /** Whether it is asked for within a session. */
  readonly session: boolean
  readonly onOpen: () => void
  readonly onEvent: (event: SseParser.SseEvent) => void
}

/**
 * One GET of an event stream: succeeds when the stream has ended, fails when there is none. Interrupting it destroys
 * its socket.
 *
 * @internal
 */
export const follow = (remote: Remote.Remote, request: Request): Effect.Effect<Followed, McpError.ConnectError> =>
  Effect.async((resume) => {
    const opened = (response: IncomingMessage) => {
      request.onOpen()
      const parser = read(response, remote.limits.maxMessageBytes, {
        event: request.onEvent,
        done: (end) => {
          exchange.destroy()
          resume(Effect.succeed({ end, lastEventId: parser.lastEventId(), retry: parser.retry() }))
        }
      })
    }
    const exchange = remote.client.exchange(
      { method: "GET", path: request.path, headers: request.headers, repeatable: true },
      {
        response: (response) => {
          const status = response.statusCode ?? 0
          const failed = (error: McpError.ConnectError | McpError.RemoteError) =>
            resume(
              Effect.fail(error._tag === "RemoteError" ? HttpErrors.status(remote.server, status, error.detail) : error)
            )
          if (status < 200 || status >= 300) {
            return Refusal.read(remote, response, exchange, { id: undefined, session: request.session }, failed)
          }
          if (ResponseBody.mediaType(response) === "text/event-stream") return opened(response)
          Refusal.unexpectedContent(remote, response, exchange, failed)
        },
        failed: (error) => resume(Effect.fail(error))
      }
    )
    return Effect.sync(exchange.destroy)
  })
