/** What is answered over HTTP, whatever was asked. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import * as McpServer from "../../McpServer.ts"
import * as Envelope from "../envelope.ts"
import type * as Channel from "./channel.ts"

/** @internal */
export type Response = HttpServerResponse.HttpServerResponse

/** Nothing of this is for a browser to keep, to guess at, or to show. */
const always = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff"
}

type Headers = Readonly<Record<string, string>>

/** @internal */
export const json = (text: string, status: number, headers: Headers = {}): Response =>
  HttpServerResponse.text(text, { status, headers: { ...always, ...headers }, contentType: "application/json" })

/** @internal */
export const failure = (id: JsonRpc.Id | null, refusal: McpServer.Refusal, status: number): Response =>
  json(JSON.stringify(Envelope.failure(id, refusal)), status)

/** An error of the protocol that answers no request, or one that was not looked at. */
export const refused = (
  status: number,
  message: string,
  headers: Headers = {},
  code: number = McpServer.codes.invalidRequest,
  id: JsonRpc.Id | null = null
): Response => json(JSON.stringify(Envelope.failure(id, new McpServer.Refusal({ code, message }))), status, headers)

/** @internal */
export const sessionNotFound: Response = refused(404, "Session not found; begin anew with initialize")

/** @internal */
export const empty = (status: number, headers: Headers = {}): Response =>
  HttpServerResponse.empty({ status, headers: { ...always, ...headers } })

/** @internal */
export const events = (
  stream: Stream.Stream<Uint8Array>,
  headers: Headers = {}
): Response =>
  HttpServerResponse.stream(stream, {
    status: 200,
    headers: { ...always, "cache-control": "no-cache, no-transform", "x-accel-buffering": "no", ...headers },
    contentType: "text/event-stream"
  })

/** @internal */
export const withHeaders = (response: Response, headers: Headers): Response =>
  Object.keys(headers).length === 0 ? response : HttpServerResponse.setHeaders(response, headers)

/** What is not there soon is given as a stream, so that nobody in between takes the silence for the end. */
const patience = Duration.seconds(1)

/**
 * The answer as one JSON text, if that is all there is to say and it is there soon; otherwise as a stream. `left` runs when
 * whoever reads is gone before the end.
 */
export const reply = (
  channel: Channel.Channel,
  options: {
    readonly headers?: Headers | undefined
    readonly status: (code: number) => number
    readonly left: Effect.Effect<void>
    /** In place of an answer that there is not; it was cancelled, if this says nothing else. */
    readonly none?: (() => Response | undefined) | undefined
    /** Called if it becomes a stream, before it is read. */
    readonly streaming?: (() => void) | undefined
  }
): Effect.Effect<Response> =>
  channel.ready(patience).pipe(
    Effect.onInterrupt(() => options.left),
    Effect.map(() => {
      const only = channel.only()
      if (only !== undefined) {
        return json(only.json, only.code === undefined ? 200 : options.status(only.code), options.headers)
      }
      options.streaming?.()
      if (channel.isEnded && channel.isDone) return options.none?.() ?? empty(202, options.headers)
      return events(channel.stream(options.left), options.headers)
    })
  )
