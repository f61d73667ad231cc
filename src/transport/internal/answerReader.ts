/** @internal */
// @effect-diagnostics nodeBuiltinImport:off - reads responses of node:http
import type { IncomingMessage } from "node:http"
import * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import type * as JsonRpc from "../JsonRpc.ts"
import type * as Transport from "../Transport.ts"
import * as EventStream from "./eventStream.ts"
import type * as HttpClient from "./httpClient.ts"
import * as JsonText from "./jsonText.ts"
import * as Refusal from "./refusal.ts"
import type * as Remote from "./remote.ts"
import * as ResponseBody from "./responseBody.ts"

/** @internal */
export interface Handlers {
  readonly message: (message: JsonRpc.Incoming) => void
  readonly diagnostic: (diagnostic: Transport.Diagnostic) => void
  readonly failed: (error: McpError.CallError) => void
  /** The answer is promised for another stream. */
  readonly accepted: () => void
  /** The stream of the answer has ended; whether the answer was among its messages is for the reader to know. */
  readonly ended: (cut: Cut) => void
}

/** @internal */
export interface Cut {
  readonly end: ResponseBody.End
  readonly lastEventId: string | undefined
  readonly retry: number | undefined
}

/** @internal */
export const violation = (
  server: string,
  what: string,
  excerpt: string,
  phase: McpError.Phase = "ready"
): McpError.ProtocolViolation =>
  new McpError.ProtocolViolation({
    server,
    what,
    excerpt: UntrustedText.excerpt(excerpt, 256),
    outcome: "unknown",
    phase
  })

/**
 * What it means that a body did not end well.
 *
 * @internal
 */
export const broken = (
  remote: Remote.Remote,
  end: Exclude<ResponseBody.End, "ended">
): McpError.MessageTooLarge | McpError.StreamInterrupted | McpError.ProtocolViolation => {
  const { limits, server } = remote
  switch (end) {
    case "oversize":
      return new McpError.MessageTooLarge({ server, limit: limits.maxMessageBytes, direction: "received" })
    case "cut":
      return new McpError.StreamInterrupted({ server, detail: "the connection was cut", outcome: "unknown" })
    case "corrupt":
      return violation(server, "a body that cannot be decompressed", "")
    case "encoding":
      return violation(server, "a body in an encoding that was not asked for", "")
  }
}

const json = (remote: Remote.Remote, response: IncomingMessage, id: JsonRpc.Id, on: Handlers): void => {
  const { limits, server } = remote
  const announced = Number(response.headers["content-length"] ?? 0)
  if (announced > limits.maxMessageBytes) return on.failed(broken(remote, "oversize"))
  ResponseBody.text(response, limits.maxMessageBytes, (end, text) => {
    if (end !== "ended") return on.failed(broken(remote, end))
    const value = JsonText.parse(text)
    const messages = Array.isArray(value) ? value : [value]
    const isAnswer = (message: unknown) =>
      typeof message === "object" && message !== null && !("method" in message) && "id" in message &&
      (message.id === id || (message.id === null && "error" in message))
    if (value === undefined) return on.failed(violation(server, "a body that is not JSON", text))
    if (!messages.some(isAnswer)) return on.failed(violation(server, "an answer to another request", text))
    JsonText.each(value, text, on.message, on.diagnostic)
  })
}

/**
 * Reads the response to the POST of a request.
 *
 * @internal
 */
export const read = (
  remote: Remote.Remote,
  response: IncomingMessage,
  exchange: HttpClient.Exchange,
  about: Refusal.About & { readonly id: JsonRpc.Id },
  on: Handlers
): void => {
  const status = response.statusCode ?? 0
  if (status < 200 || status >= 300) return Refusal.read(remote, response, exchange, about, on.failed)
  if (status === 202) {
    ResponseBody.text(response, remote.limits.errorBodyBytes, (end) => {
      if (end !== "ended") exchange.destroy()
    })
    return on.accepted()
  }
  switch (ResponseBody.mediaType(response)) {
    case "application/json":
      return json(remote, response, about.id, on)
    case "text/event-stream": {
      const parser = EventStream.read(response, remote.limits.maxMessageBytes, {
        event: (event) => onEvent(event, on),
        done: (end) => on.ended({ end, lastEventId: parser.lastEventId(), retry: parser.retry() })
      })
      return
    }
    default:
      return Refusal.unexpectedContent(remote, response, exchange, on.failed)
  }
}

/**
 * Hands over the message, or the batch, of an event; an event without data only carries an id.
 *
 * @internal
 */
export const onEvent = (
  event: { readonly type: string | undefined; readonly data: string },
  on: Pick<Handlers, "message" | "diagnostic">
): void => {
  if (event.data === "") return
  if (event.type !== undefined && event.type !== "message" && event.type !== "") {
    return on.diagnostic(JsonText.noise(`event ${event.type}: ${event.data}`))
  }
  JsonText.each(JsonText.parse(event.data), event.data, on.message, on.diagnostic)
}
