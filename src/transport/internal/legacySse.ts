/** @internal */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as McpError from "../../McpError.ts"
import * as RetryPolicy from "../../resilience/RetryPolicy.ts"
import * as JsonRpc from "../JsonRpc.ts"
import type * as Transport from "../Transport.ts"
import * as AnswerReader from "./answerReader.ts"
import * as EventStream from "./eventStream.ts"
import * as Handshake from "./handshake.ts"
import type * as HttpClient from "./httpClient.ts"
import * as Lingering from "./lingering.ts"
import * as Remote from "./remote.ts"
import * as RequestHeaders from "./requestHeaders.ts"
import * as SidePosts from "./sidePost.ts"
import * as Slots from "./slots.ts"
import type * as SseParser from "./sseParser.ts"

interface Pending {
  readonly message: JsonRpc.Message
  readonly body: string
  readonly bytes: number
  /** Its POST, until that is accepted. */
  exchange: HttpClient.Exchange | undefined
}

/** @internal */
export interface LegacySse {
  readonly transport: Transport.Transport
  readonly close: Effect.Effect<void>
}

const maxInFlight = 64

/**
 * Why the server's endpoint cannot be used, or the path to POST to.
 *
 * @internal
 */
export const endpointOf = (
  remote: Remote.Remote,
  text: string
): Either.Either<string, McpError.OriginMismatch | McpError.ProtocolViolation> => {
  const { server, url } = remote
  if (text === "" || !URL.canParse(text, url.href)) {
    return Either.left(AnswerReader.violation(server, "an endpoint that is no URL", text, "endpoint"))
  }
  const endpoint = new URL(text, url)
  return endpoint.origin === url.origin
    ? Either.right(Remote.pathOf(endpoint))
    : Either.left(new McpError.OriginMismatch({ server, to: endpoint.href.slice(0, 2048) }))
}

/**
 * Opens the stream; `endpoint` is settled when the server has named a usable one, or when that is out of question.
 *
 * @internal
 */
export const make = (
  remote: Remote.Remote,
  endpoint: Deferred.Deferred<void, McpError.ConnectError>
): LegacySse => {
  const { client, limits, server, url } = remote
  const headers = RequestHeaders.make(url, remote.source)
  const side = SidePosts.make(remote)
  const table = new Map<JsonRpc.Id, Pending>()
  const lingering = Lingering.make()
  // What comes between the endpoint and `start` waits for it.
  let early: Array<(sink: Transport.Sink) => void> = []
  let sink: Transport.Sink | undefined
  let path: string | undefined
  let end: Transport.Ended | undefined

  const tell = (what: (sink: Transport.Sink) => void): void => {
    if (sink !== undefined) what(sink)
    else if (path !== undefined) early.push(what)
  }

  const finish = (error: Transport.Ended["error"]): void => {
    if (end !== undefined) return
    const waiting = new Set(Array.from(table).flatMap(([id, pending]) => slots.isWaiting(pending) ? [id] : []))
    const ended: Transport.Ended = { error, unsent: (id) => waiting.has(id) }
    end = ended
    tell((sink) => sink.ended(ended))
    Deferred.unsafeDone(endpoint, Effect.fail(error("not-sent")))
    table.clear()
    client.destroy()
  }

  const settle = (id: JsonRpc.Id, pending: Pending): void => {
    table.delete(id)
    slots.leave(pending)
  }

  const deliver = (message: JsonRpc.Incoming): void => {
    if (end !== undefined) return
    if (!Object.hasOwn(message, "method") && Object.hasOwn(message, "id")) {
      const { id } = message
      const pending = typeof id === "string" || typeof id === "number" ? table.get(id) : undefined
      if (pending === undefined || (typeof id !== "string" && typeof id !== "number")) {
        return tell((sink) => sink.diagnostic({ kind: "dropped", detail: "an answer that nobody waits for" }))
      }
      settle(id, pending)
      if (pending.exchange !== undefined) lingering.add(pending.exchange)
    }
    tell((sink) => sink.message(message))
  }

  const diagnostic = (diagnostic: Transport.Diagnostic): void => {
    if (end === undefined) tell((sink) => sink.diagnostic(diagnostic))
  }

  const onEvent = (event: SseParser.SseEvent): void => {
    if (end !== undefined) return
    if (event.type !== "endpoint") return AnswerReader.onEvent(event, { message: deliver, diagnostic })
    if (path !== undefined) return diagnostic({ kind: "lenient", detail: "another endpoint event was ignored" })
    const named = endpointOf(remote, event.data)
    if (Either.isLeft(named)) return finish(() => named.left)
    path = named.right
    Deferred.unsafeDone(endpoint, Effect.void)
  }

  const stream = EventStream.follow(remote, {
    path: Remote.pathOf(url),
    headers: headers.get(undefined),
    session: false,
    onOpen: () => undefined,
    onEvent
  })
  remote.run(
    Effect.map(Effect.either(stream), (ended) => {
      if (Either.isLeft(ended)) {
        const error = ended.left
        return finish(() => error)
      }
      const how = ended.right.end
      finish((outcome) =>
        how === "ended" || how === "cut"
          ? new McpError.StreamInterrupted({ server, detail: "the stream ended", outcome })
          : AnswerReader.broken(remote, how)
      )
    })
  )

  const fail = (pending: Pending, error: McpError.CallError): void => {
    const { message } = pending
    if (!JsonRpc.isRequest(message)) {
      const what = "method" in message ? message.method : "an answer"
      return diagnostic({ kind: "dropped", detail: `${what} was not accepted: ${error.message}` })
    }
    if (table.get(message.id) !== pending) return
    settle(message.id, pending)
    tell((sink) => sink.failed(message.id, error))
  }

  const postOf = (pending: Pending, over: () => void): SidePosts.Post => {
    const { body, bytes, message } = pending
    const request = JsonRpc.isRequest(message) ? message : undefined
    return {
      bytes,
      call: () => ({
        method: "POST",
        path: path ?? Remote.pathOf(url),
        headers: headers.post(message, bytes, undefined),
        body,
        repeatable: request === undefined || RetryPolicy.isIdempotent(request.method)
      }),
      about: { id: request?.id, session: false },
      accepted: over,
      failed: (error) => {
        over()
        fail(pending, error)
      }
    }
  }

  const launch = (pending: Pending): void => {
    if (end !== undefined) return
    const over = () => {
      if (pending.exchange !== undefined) lingering.delete(pending.exchange)
      pending.exchange = undefined
      slots.leave(pending)
    }
    pending.exchange = side.send(postOf(pending, over))
  }

  const slots = Slots.make<Pending>(maxInFlight, limits.writeQueueBytes, launch)

  const send = (message: JsonRpc.Message): McpError.CallError | undefined => {
    if (end !== undefined) return end.error("not-sent")
    const body = JSON.stringify(message)
    const bytes = Buffer.byteLength(body)
    if (bytes > limits.maxMessageBytes) {
      return new McpError.MessageTooLarge({ server, limit: limits.maxMessageBytes, direction: "sent" })
    }
    const pending: Pending = { message, body, bytes, exchange: undefined }
    if (!JsonRpc.isRequest(message)) {
      const isInitialized = "method" in message && message.method === "notifications/initialized"
      return side.queue(postOf(pending, isInitialized ? Handshake.hold(remote, slots) : () => undefined))
    }
    const entered = slots.enter(pending, bytes)
    if (entered === "full") {
      const queued = slots.waitingBytes()
      return new McpError.Overloaded({ server, queue: "write", queued, limit: limits.writeQueueBytes })
    }
    table.set(message.id, pending)
    if (entered === "now") launch(pending)
    return undefined
  }

  return {
    close: Effect.sync(() => finish((outcome) => new McpError.Closed({ server, operation: "the request", outcome }))),
    transport: {
      kind: "sse",
      streamPerRequest: false,
      start: (to) => {
        sink = to
        for (const what of early) what(to)
        early = []
      },
      send,
      abandon: (id) => {
        const pending = table.get(id)
        if (pending === undefined) return
        settle(id, pending)
        pending.exchange?.destroy()
      },
      negotiated: (negotiated) => {
        headers.negotiated = negotiated
      },
      stderrTail: () => undefined
    }
  }
}
