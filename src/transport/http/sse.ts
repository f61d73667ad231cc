/** Event streams (`text/event-stream`): the parser, the reading of a response, and a GET that opens one. */
// @effect-diagnostics nodeBuiltinImport:off - reads responses of node:http
import * as Effect from "effect/Effect"
import type { IncomingMessage } from "node:http"
import type * as McpError from "../../McpError.ts"
import * as JsonRpc from "../JsonRpc.ts"
import * as Client from "./client.ts"
import type * as Connection from "./connection.ts"
import * as Refusal from "./refusal.ts"

export interface SseEvent {
  readonly type: string | undefined
  readonly data: string
}

/** An incremental parser: linear under any chunking. */
export const parser = (limit: number, onEvent: (event: SseEvent) => void) => {
  // drops a BOM, and keeps a character that is cut between chunks
  const decoder = new TextDecoder()
  /** The unfinished line, whose parts are joined once, at its end; a comment keeps only its colon. */
  let parts: Array<string> = []
  let afterCr = false
  let eventBytes = 0
  let data: Array<string> = []
  let type: string | undefined
  let id: string | undefined
  let lastId: string | undefined
  let retry: number | undefined

  const keep = (part: string): void => {
    if (part === "" || parts[0]?.startsWith(":") === true) return
    parts.push(part)
    if (!part.startsWith(":") || parts.length > 1) eventBytes += Buffer.byteLength(part)
  }

  const dispatch = (): void => {
    const event = data.length === 0 ? undefined : { type, data: data.join("\n") }
    data = []
    type = undefined
    eventBytes = 0
    if (event !== undefined) onEvent(event)
  }

  const endLine = (): void => {
    const line = parts.join("")
    parts = []
    if (line === "") {
      lastId = id
      return dispatch()
    }
    const colon = line.indexOf(":")
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)
    const field = colon === -1 ? line : line.slice(0, colon)
    if (field === "data") data.push(value)
    else if (field === "event") type = value
    else if (field === "id" && !value.includes("\0")) id = value
    else if (field === "retry" && /^\d{1,15}$/.test(value)) retry = Number(value)
  }

  return {
    /** `false`: one event is over the limit, and nothing more is parsed. */
    push: (chunk: Uint8Array): boolean => {
      if (eventBytes > limit) return false
      const text = decoder.decode(chunk, { stream: true })
      const [first = "", ...lines] = (afterCr && text.startsWith("\n") ? text.slice(1) : text).split(/\r\n|[\r\n]/)
      if (text !== "") afterCr = text.endsWith("\r")
      keep(first)
      for (const line of lines) {
        if (eventBytes > limit) break
        endLine()
        keep(line)
      }
      return eventBytes <= limit
    },
    /** The stream ended in order. Data without its blank line counts, because no part of a JSON text is a JSON text. */
    end: (): void => {
      if (eventBytes <= limit) dispatch()
    },
    /** The id of the last whole event that had or inherited one. */
    lastEventId: (): string | undefined => lastId === "" ? undefined : lastId,
    /** The last `retry:`, in milliseconds. */
    retry: (): number | undefined => retry
  }
}

/** How a stream ended, and where to go on. */
export interface Cut {
  /** `done`: nothing more is expected of the stream. */
  readonly end: Client.End | "done"
  readonly lastEventId: string | undefined
  readonly retry: number | undefined
}

export interface Handlers extends JsonRpc.Handlers {
  /** Checked after each chunk; true leaves the stream to its server. */
  readonly isDone?: () => boolean
  /** The event that only the HTTP+SSE transport has. */
  readonly endpoint?: (data: string) => void
  readonly open?: () => void
}

/** Hands over the message, or the batch, of an event; an event without data only carries an id. */
const onEvent = ({ data, type = "message" }: SseEvent, on: Handlers): void => {
  if (type === "endpoint" && on.endpoint !== undefined) on.endpoint(data)
  else if (data === "") return
  else if (type === "message" || type === "") JsonRpc.each(JsonRpc.parse(data), data, on)
  else on.diagnostic(JsonRpc.noise(`event ${type}: ${data}`))
}

/** Reads the events of a response until it ends, or nothing more is expected of it. */
export const events = (
  { client, limits }: Connection.Connection,
  response: IncomingMessage,
  on: Handlers
): Effect.Effect<Cut> =>
  Effect.async((resume) => {
    const parsing = parser(limits.maxMessageBytes, (event) => onEvent(event, on))
    const isDone = on.isDone ?? (() => false)
    const over = (end: Cut["end"]): void =>
      resume(Effect.succeed({ end, lastEventId: parsing.lastEventId(), retry: parsing.retry() }))
    let isLeft = false
    Client.read(
      response,
      (chunk) => {
        const isWithin = parsing.push(chunk)
        if (isDone() && !isLeft) {
          isLeft = true
          client.linger(response)
          over("done")
        }
        return isWithin
      },
      (end) => {
        if (end === "ended") parsing.end()
        over(isDone() ? "done" : end)
      }
    )
  })

/** Opens an event stream and reads it; fails if there is none. */
export const open = (
  connection: Connection.Connection,
  headers: ReadonlyArray<string>,
  inSession: boolean,
  on: Handlers
): Effect.Effect<Cut, McpError.ConnectError> =>
  connection.client.exchange(
    { method: "GET", path: connection.path, headers, repeatable: true },
    (response, done) => {
      if (!Client.isSuccess(response)) return done(Refusal.refuse(connection, response, inSession))
      if (Client.mediaType(response) !== "text/event-stream") {
        return done(Refusal.unexpectedContent(connection, response))
      }
      on.open?.()
      done(events(connection, response, on))
    }
  )
