/** @internal */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as McpError from "../../McpError.ts"
import * as RetryPolicy from "../../resilience/RetryPolicy.ts"
import * as JsonRpc from "../JsonRpc.ts"
import type * as Transport from "../Transport.ts"
import * as AnswerReader from "./answerReader.ts"
import * as EventStream from "./eventStream.ts"
import * as Handshake from "./handshake.ts"
import * as HeaderText from "./headerText.ts"
import type * as HttpClient from "./httpClient.ts"
import * as JsonText from "./jsonText.ts"
import * as Lingering from "./lingering.ts"
import * as Remote from "./remote.ts"
import * as RequestHeaders from "./requestHeaders.ts"
import * as SidePosts from "./sidePost.ts"
import * as Slots from "./slots.ts"
import * as StreamRetry from "./streamRetry.ts"

/** @internal */
export interface Options {
  /** Requests in flight at once; more wait their turn. Notifications and answers never wait. */
  readonly maxInFlight: number
  readonly retry: StreamRetry.Options
}

interface Pending {
  readonly request: JsonRpc.Request
  readonly body: string
  readonly bytes: number
  readonly extra: Readonly<Record<string, string>> | undefined
  /** The session that it was sent in. */
  session: string | undefined
  stateless: boolean
  exchange: HttpClient.Exchange | undefined
  resuming: Fiber.RuntimeFiber<unknown> | undefined
}

/** @internal */
export interface Streamable {
  readonly transport: Transport.Transport
  /** Ends everything at once but what says farewell to the server, and waits for that. */
  readonly close: Effect.Effect<void>
}

/** Lives as long as its connection, so it takes no place among the requests in flight. */
const longLived = "subscriptions/listen"

const isSuccess = (status: number | undefined): boolean => status !== undefined && status >= 200 && status < 300

/** What somebody waits for; the rest keeps a connection, or is asked for in the background. */
const wanted: ReadonlySet<string> = new Set(["tools/call", "resources/read", "prompts/get"])

/** @internal */
export const make = (remote: Remote.Remote, options: Options): Streamable => {
  const { client, limits, server, url } = remote
  const path = Remote.pathOf(url)
  const headers = RequestHeaders.make(url, remote.source)
  const side = SidePosts.make(remote)
  const table = new Map<JsonRpc.Id, Pending>()
  const lingering = Lingering.make()
  let sink: Transport.Sink | undefined
  let listening: Fiber.RuntimeFiber<unknown> | undefined
  let streamOpen = false
  let closed = false
  /** True after the server refused the session: only `initialize` is sent until it has started a new one. */
  let expired = false
  // What a server asks while it has no stream for it is lost, and it waits for the answer for ever; so nothing is asked of
  // it before, if it may ask something in turn.
  let mayBeAsked = false

  const diagnostic = (diagnostic: Transport.Diagnostic) => {
    if (!closed) sink?.diagnostic(diagnostic)
  }

  const interrupt = (fiber: Fiber.RuntimeFiber<unknown> | undefined) => fiber?.unsafeInterruptAsFork(FiberId.none)

  const settle = (pending: Pending): void => {
    table.delete(pending.request.id)
    interrupt(pending.resuming)
    slots.leave(pending)
  }

  const slots = Slots.make<Pending>(options.maxInFlight, limits.writeQueueBytes, (next) => {
    if (closed) return
    const error = launch(next)
    if (error !== undefined) fail(next, error)
  })

  const isPending = (pending: Pending): boolean => !closed && table.get(pending.request.id) === pending

  const fail = (pending: Pending, error: McpError.CallError): void => {
    if (!isPending(pending)) return
    if (error._tag === "SessionExpired" && headers.session === pending.session) {
      expired = true
      stopListening()
    }
    settle(pending)
    pending.exchange?.destroy()
    sink?.failed(pending.request.id, error)
  }

  const deliver = (message: JsonRpc.Incoming, from: Pending | undefined): void => {
    if (closed) return
    if (!Object.hasOwn(message, "method") && Object.hasOwn(message, "id")) {
      const { id } = message
      if (id === null && from !== undefined && isPending(from)) {
        const failure = JsonText.failure(message)
        if (failure !== undefined) {
          const { code, data, message: detail } = failure
          return fail(from, new McpError.RemoteError({ server, code, detail, data }))
        }
      }
      const pending = typeof id === "string" || typeof id === "number" ? table.get(id) : undefined
      if (pending === undefined) {
        return diagnostic({ kind: "dropped", detail: "an answer that nobody waits for" })
      }
      settle(pending)
      if (pending.request.method === "initialize" && Object.hasOwn(message, "result")) expired = false
      if (pending.exchange !== undefined) {
        if (pending === from) lingering.add(pending.exchange)
        else pending.exchange.destroy()
      }
    }
    sink?.message(message)
  }

  const follow = (
    get: (lastEventId: string | undefined) => Array<string>,
    session: boolean,
    onOpen: () => void
  ): StreamRetry.Follow =>
  (lastEventId, onMessage) =>
    Effect.suspend(() =>
      EventStream.follow(remote, {
        path,
        headers: get(lastEventId),
        session,
        onOpen,
        onEvent: (event) =>
          AnswerReader.onEvent(event, {
            message: (message) => {
              onMessage()
              deliver(message, undefined)
            },
            diagnostic
          })
      })
    )

  const interrupted = (pending: Pending, detail: string) =>
    fail(pending, new McpError.StreamInterrupted({ server, detail, outcome: "unknown" }))

  const onStreamEnd = (pending: Pending, cut: AnswerReader.Cut): void => {
    if (pending.exchange !== undefined) lingering.delete(pending.exchange)
    if (!isPending(pending)) return
    const { end, lastEventId, retry } = cut
    if (end !== "ended" && end !== "cut") return fail(pending, AnswerReader.broken(remote, end))
    if (pending.stateless || lastEventId === undefined) {
      return interrupted(pending, end === "cut" ? "the connection was cut" : "the server ended it")
    }
    pending.exchange?.destroy()
    pending.exchange = undefined
    const resume = StreamRetry.resume(
      options.retry,
      follow(headers.get, pending.session !== undefined, () => undefined),
      { lastEventId, retry }
    )
    pending.resuming = remote.run(
      Effect.map(resume, (why) => {
        pending.resuming = undefined
        interrupted(pending, why)
      })
    )
  }

  const heldBack = () =>
    new McpError.SessionExpired({
      server,
      detail: "not sent, because the session has expired and a new one has not started yet",
      outcome: "not-sent"
    })

  const launch = (pending: Pending): McpError.CallError | undefined => {
    const { request } = pending
    const begins = request.method === "initialize"
    if (expired && !begins) return heldBack()
    pending.session = begins ? undefined : headers.session
    pending.stateless = headers.stateless(request) !== undefined
    const about = { id: request.id, session: pending.session !== undefined && !pending.stateless }
    const call: HttpClient.Call = {
      method: "POST",
      path,
      headers: headers.post(request, pending.bytes, pending.extra),
      body: pending.body,
      repeatable: RetryPolicy.isIdempotent(request.method),
      foreground: wanted.has(request.method)
    }
    try {
      const exchange = client.exchange(call, {
        failed: (error) => fail(pending, error),
        waiting: (open) => {
          if (isPending(pending)) sink?.waiting(request.id, open)
        },
        response: (response) => {
          if (begins && isSuccess(response.statusCode)) {
            const error = beginSession(response.headers["mcp-session-id"])
            if (error !== undefined) return fail(pending, error)
          }
          AnswerReader.read(remote, response, exchange, about, {
            message: (message) => deliver(message, pending),
            diagnostic,
            failed: (error) => fail(pending, error),
            accepted: () => {
              if (streamOpen) return
              fail(pending, AnswerReader.violation(server, "status 202 to a request, and no stream for its answer", ""))
            },
            ended: (cut) => onStreamEnd(pending, cut)
          })
        }
      })
      pending.exchange = exchange
      return undefined
    } catch {
      return new McpError.ConfigurationError({ server, path: "url", detail: "no request can be made of it" })
    }
  }

  const beginSession = (id: string | ReadonlyArray<string> | undefined): McpError.ProtocolViolation | undefined => {
    if (id !== undefined && (typeof id !== "string" || !/^[\u0021-\u007e]{1,4096}$/.test(id))) {
      return AnswerReader.violation(server, "a session id of other than visible ASCII", String(id), "initialize")
    }
    headers.session = id
    return undefined
  }

  const stopListening = (): void => {
    interrupt(listening)
    listening = undefined
    streamOpen = false
  }

  /** `settled`: the stream is open, or will not be for now. */
  const startListening = (settled: () => void): void => {
    if (closed || headers.negotiated?.era === "stateless") return settled()
    stopListening()
    const get = follow(headers.get, headers.session !== undefined, () => {
      streamOpen = true
      settled()
    })
    const once: StreamRetry.Follow = (lastEventId, onMessage) =>
      Effect.ensuring(
        get(lastEventId, onMessage),
        Effect.sync(() => {
          streamOpen = false
          settled()
        })
      )
    listening = remote.run(StreamRetry.listen(options.retry, once, remote.now, diagnostic))
  }

  const sendAside = (
    message: JsonRpc.Message,
    body: string,
    bytes: number,
    extra: Pending["extra"]
  ): McpError.Overloaded | McpError.SessionExpired | undefined => {
    if (expired) return heldBack()
    const method = "method" in message ? message.method : "an answer"
    const isInitialized = method === "notifications/initialized"
    const over = isInitialized ? Handshake.hold(remote, slots) : undefined
    return side.queue({
      bytes,
      call: () => ({ method: "POST", path, headers: headers.post(message, bytes, extra), body, repeatable: true }),
      about: { id: undefined, session: headers.session !== undefined },
      accepted: () => {
        const settled = () => over?.()
        if (isInitialized) startListening(settled)
        if (!isInitialized || !mayBeAsked) settled()
      },
      failed: (error) => {
        over?.()
        diagnostic({ kind: "dropped", detail: `${method} was not accepted: ${error.message}` })
      }
    })
  }

  const send: Transport.Transport["send"] = (message, sendOptions) => {
    if (closed) return new McpError.Closed({ server, operation: "sending", outcome: "not-sent" })
    const extra = sendOptions?.headers
    if (extra !== undefined) {
      for (const name of Object.keys(extra)) {
        if (!HeaderText.isName(name) || !HeaderText.isValue(extra[name]!)) {
          return new McpError.ConfigurationError({ server, path: `headers.${name}`, detail: "not a header" })
        }
      }
    }
    const body = JSON.stringify(message)
    const bytes = Buffer.byteLength(body)
    if (bytes > limits.maxMessageBytes) {
      return new McpError.MessageTooLarge({ server, limit: limits.maxMessageBytes, direction: "sent" })
    }
    if (!JsonRpc.isRequest(message)) return sendAside(message, body, bytes, extra)
    if (message.method === "initialize") {
      const capabilities = message.params?.["capabilities"]
      mayBeAsked = JsonRpc.isObject(capabilities) && Object.keys(capabilities).length > 0
      headers.negotiated = undefined
      stopListening()
    }
    const pending: Pending = {
      request: message,
      body,
      bytes,
      extra,
      session: undefined,
      stateless: false,
      exchange: undefined,
      resuming: undefined
    }
    const entered = message.method === longLived ? "now" : slots.enter(pending, bytes)
    if (entered === "full") {
      const queued = slots.waitingBytes()
      return new McpError.Overloaded({ server, queue: "write", queued, limit: limits.writeQueueBytes })
    }
    table.set(message.id, pending)
    if (entered === "later") return undefined
    const error = launch(pending)
    if (error !== undefined) settle(pending)
    return error
  }

  const farewell = Effect.async<void>((resume) => {
    const done = () => resume(Effect.void)
    if (headers.session !== undefined && !expired) {
      side.send({
        bytes: 0,
        call: () => ({ method: "DELETE", path, headers: headers.delete(), repeatable: true }),
        about: { id: undefined, session: false },
        accepted: () => undefined,
        failed: () => undefined
      })
    }
    side.whenIdle(done)
  })

  const close = Effect.suspend(() => {
    closed = true
    stopListening()
    lingering.destroy()
    for (const pending of table.values()) {
      interrupt(pending.resuming)
      pending.exchange?.destroy()
    }
    sink?.ended({
      error: (outcome) => new McpError.Closed({ server, operation: "the request", outcome }),
      unsent: (id) => {
        const pending = table.get(id)
        return pending !== undefined && slots.isWaiting(pending)
      }
    })
    return farewell
  })

  return {
    close,
    transport: {
      kind: "streamable-http",
      streamPerRequest: true,
      start: (to) => {
        sink = to
      },
      send,
      abandon: (id) => {
        const pending = table.get(id)
        if (pending === undefined) return
        settle(pending)
        pending.exchange?.destroy()
      },
      negotiated: (negotiated) => {
        headers.negotiated = negotiated
      },
      stderrTail: () => undefined
    }
  }
}
