/** @internal */
import * as Effect from "effect/Effect"
import type { RawData, WebSocket } from "ws"
import type * as Limits from "../../config/Limits.ts"
import * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as JsonRpc from "../JsonRpc.ts"
import type * as Transport from "../Transport.ts"
import * as AnswerReader from "./answerReader.ts"
import * as HttpErrors from "./httpErrors.ts"
import * as JsonText from "./jsonText.ts"

/** @internal */
export interface WebSocketLink {
  readonly transport: Transport.Transport
  /** Pings while the socket lives, and ends it when nothing came back. */
  readonly keepAlive: Effect.Effect<void>
  /** Settles everything at once, then closes with a handshake. */
  readonly close: Effect.Effect<void>
  readonly destroy: () => void
}

/** After an event loop that was blocked, timers come before what has arrived meanwhile: that is read first. */
const grace = "100 millis"

const textOf = (data: RawData): string =>
  Array.isArray(data)
    ? Buffer.concat(data).toString("utf8")
    : Buffer.isBuffer(data)
    ? data.toString("utf8")
    : Buffer.from(data).toString("utf8")

/** @internal */
export const make = (server: string, socket: WebSocket, limits: Limits.Limits): WebSocketLink => {
  // The requests whose bytes are not all with the system yet: a frame that is not whole has not been seen.
  const unwritten = new Set<JsonRpc.Id>()
  let sink: Transport.Sink | undefined
  let end: Transport.Ended | undefined
  let alive = true

  const finish = (error: Transport.Ended["error"]): void => {
    if (end !== undefined) return
    const unsent = new Set(unwritten)
    end = { error, unsent: (id) => unsent.has(id) }
    sink?.ended(end)
  }

  const lost = (reason: McpError.ConnectionLost["reason"], detail: string) => (outcome: McpError.Outcome) =>
    new McpError.ConnectionLost({ server, reason, detail, outcome })

  const diagnostic = (diagnostic: Transport.Diagnostic): void => {
    if (end === undefined) sink?.diagnostic(diagnostic)
  }

  const onMessage = (data: RawData, isBinary: boolean): void => {
    if (end !== undefined) return
    alive = true
    if (isBinary) return diagnostic({ kind: "noise", detail: "a binary frame" })
    const text = textOf(data)
    JsonText.each(JsonText.parse(text), text, (message) => {
      if (end === undefined) sink?.message(message)
    }, diagnostic)
  }

  socket.on("message", onMessage)
  socket.on("pong", () => {
    alive = true
  })
  socket.on("error", (error: HttpErrors.SystemError) => {
    const { code } = error
    finish((outcome) => {
      if (code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") {
        return new McpError.MessageTooLarge({ server, limit: limits.maxMessageBytes, direction: "received" })
      }
      if (code?.startsWith("WS_ERR_") === true) return AnswerReader.violation(server, `a broken frame (${code})`, "")
      const broken = HttpErrors.network(server, error, outcome === "not-sent")
      return broken._tag === "TlsError" ? broken : lost("reset", `${code ?? "?"}`)(outcome)
    })
  })
  socket.on("close", (code, reason) => {
    const why = reason.length === 0 ? "" : ` ${UntrustedText.excerpt(reason.toString("utf8"), 128)}`
    finish(lost("socket-closed", `close code ${code}${why}`))
  })

  const send = (message: JsonRpc.Message): McpError.CallError | undefined => {
    if (end !== undefined) return end.error("not-sent")
    const text = JSON.stringify(message)
    const bytes = Buffer.byteLength(text)
    if (bytes > limits.maxMessageBytes) {
      return new McpError.MessageTooLarge({ server, limit: limits.maxMessageBytes, direction: "sent" })
    }
    const queued = socket.bufferedAmount
    if (queued + bytes > limits.writeQueueBytes && queued > 0) {
      return new McpError.Overloaded({ server, queue: "write", queued, limit: limits.writeQueueBytes })
    }
    if (!JsonRpc.isRequest(message)) {
      // What fails here ends the socket, which tells it.
      socket.send(text, () => undefined)
      return undefined
    }
    const { id } = message
    unwritten.add(id)
    socket.send(text, (error) => {
      if (error === undefined || error === null) unwritten.delete(id)
    })
    return undefined
  }

  const judge = Effect.sync(() => {
    if (alive) return
    finish(lost("stalled", "nothing came back for a ping"))
    socket.terminate()
  })

  const ping = Effect.sync(() => {
    alive = false
    if (socket.readyState === socket.OPEN) socket.ping()
  })

  const beat = Effect.suspend(() => alive ? ping : Effect.zipRight(Effect.delay(judge, grace), ping))

  const closing = Effect.async<void>((resume) => {
    if (socket.readyState === socket.CLOSED) return resume(Effect.void)
    socket.on("close", () => resume(Effect.void))
    socket.resume()
    socket.close(1000)
  })

  return {
    keepAlive: Effect.repeat(
      Effect.andThen(Effect.sleep(limits.keepAlive), beat),
      { while: () => end === undefined }
    ),
    close: Effect.suspend(() => {
      finish((outcome) => new McpError.Closed({ server, operation: "the request", outcome }))
      return closing
    }),
    destroy: () => socket.terminate(),
    transport: {
      kind: "ws",
      streamPerRequest: false,
      start: (to) => {
        sink = to
        if (end !== undefined) return to.ended(end)
        socket.resume()
      },
      send,
      abandon: () => undefined,
      negotiated: () => undefined,
      stderrTail: () => undefined
    }
  }
}
