/** Event streams (`text/event-stream`): the parser, the reading of a response, and a GET that opens one. */
// @effect-diagnostics nodeBuiltinImport:off - reads responses of node:http
import * as Effect from "effect/Effect"
import type { IncomingMessage } from "node:http"
import type * as McpError from "../../McpError.ts"
import * as Client from "./client.ts"
import type * as Connection from "./connection.ts"
import * as Messages from "./messages.ts"
import * as Refusal from "./refusal.ts"

export interface SseEvent {
  readonly type: string | undefined
  readonly data: string
}

/** An incremental parser over bytes: linear under any chunking, exact about its limit. */
export interface Parser {
  /** `false`: one event is over the limit, and nothing more is parsed. */
  readonly push: (chunk: Uint8Array) => boolean
  /** The stream ended in order. Data without its blank line counts, because no part of a JSON text is a JSON text. */
  readonly end: () => void
  /** The id of the last whole event that had or inherited one. */
  readonly lastEventId: () => string | undefined
  /** The last `retry:`, in milliseconds. */
  readonly retry: () => number | undefined
}

const LF = 10
const CR = 13
const COLON = 58
const SPACE = 32
const longestField = 5
const keptCapacity = 64 * 1024

export const parser = (limit: number, onEvent: (event: SseEvent) => void): Parser => {
  // the part of a line that came with earlier chunks
  let line = Buffer.allocUnsafe(0)
  let lineBytes = 0
  let inComment = false
  let skipLf = false
  let isFirst = true
  let over = false
  let eventBytes = 0
  let data: Array<string> = []
  let type: string | undefined
  let id: string | undefined
  let lastId: string | undefined
  let retry: number | undefined

  const keep = (chunk: Buffer, from: number, to: number): void => {
    if (inComment || from === to) return
    if (lineBytes === 0 && chunk[from] === COLON) {
      inComment = true
      return
    }
    const needed = lineBytes + to - from
    over = eventBytes + needed > limit
    if (over) return
    if (needed > line.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, line.length * 2, 1024))
      line.copy(grown, 0, 0, lineBytes)
      line = grown
    }
    chunk.copy(line, lineBytes, from, to)
    lineBytes = needed
  }

  const dispatch = (): void => {
    const event = data.length === 0 ? undefined : { type, data: data.length === 1 ? data[0]! : data.join("\n") }
    data = []
    type = undefined
    eventBytes = 0
    if (event !== undefined) onEvent(event)
  }

  const field = (name: string, bytes: Buffer, from: number, to: number): void => {
    if (name === "data") data.push(bytes.toString("utf8", from, to))
    else if (name === "event") type = bytes.toString("utf8", from, to)
    else if (name === "id") {
      const value = bytes.toString("utf8", from, to)
      if (!value.includes("\0")) id = value
    } else if (name === "retry") {
      const value = bytes.toString("latin1", from, to)
      if (/^\d{1,15}$/.test(value)) retry = Number(value)
    }
  }

  const parse = (bytes: Buffer, from: number, to: number): void => {
    if (isFirst) {
      isFirst = false
      if (to - from >= 3 && bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf) from += 3
    }
    if (from === to) {
      lastId = id
      return dispatch()
    }
    if (bytes[from] === COLON) return
    eventBytes += to - from + 1
    over = eventBytes > limit
    if (over) return
    const last = Math.min(to, from + longestField + 1)
    let colon = from
    while (colon < last && bytes[colon] !== COLON) colon++
    if (colon === last && colon !== to) return
    const value = colon === to ? to : bytes[colon + 1] === SPACE && colon + 1 < to ? colon + 2 : colon + 1
    field(bytes.toString("latin1", from, colon), bytes, value, to)
  }

  const endLine = (chunk: Buffer, from: number, to: number): void => {
    if (lineBytes === 0 && !inComment) return parse(chunk, from, to)
    keep(chunk, from, to)
    const bytes = lineBytes
    lineBytes = 0
    if (over) return
    if (inComment) inComment = false
    else parse(line, 0, bytes)
    if (line.length > keptCapacity) line = Buffer.allocUnsafe(0)
  }

  const push = (input: Uint8Array): boolean => {
    const chunk = Buffer.isBuffer(input) ? input : Buffer.from(input.buffer, input.byteOffset, input.byteLength)
    let from = skipLf && chunk[0] === LF ? 1 : 0
    if (chunk.length > 0) skipLf = false
    let lf = chunk.indexOf(LF, from)
    let cr = chunk.indexOf(CR, from)
    while (from < chunk.length && !over) {
      if (lf !== -1 && lf < from) lf = chunk.indexOf(LF, from)
      if (cr !== -1 && cr < from) cr = chunk.indexOf(CR, from)
      const to = lf === -1 ? cr : cr === -1 ? lf : Math.min(lf, cr)
      if (to === -1) {
        keep(chunk, from, chunk.length)
        break
      }
      endLine(chunk, from, to)
      from = to + 1
      if (to !== cr) continue
      if (from === chunk.length) skipLf = true
      else if (chunk[from] === LF) from++
    }
    return !over
  }

  return {
    push,
    end: () => {
      if (!over) dispatch()
    },
    lastEventId: () => lastId === "" ? undefined : lastId,
    retry: () => retry
  }
}

/** How a stream ended, and where to go on. */
export interface Cut {
  readonly end: Client.End | "done"
  readonly lastEventId: string | undefined
  readonly retry: number | undefined
}

/**
 * Reads the events of a response until it ends. It succeeds earlier, with `done`, once `isDone` holds after a chunk; what
 * comes later is still read.
 */
export const events = (
  response: IncomingMessage,
  limit: number,
  onEvent: (event: SseEvent) => void,
  isDone: () => boolean = () => false
): Effect.Effect<Cut> =>
  Effect.async((resume) => {
    const parsing = parser(limit, onEvent)
    const over = (end: Cut["end"]): void =>
      resume(Effect.succeed({ end, lastEventId: parsing.lastEventId(), retry: parsing.retry() }))
    Client.read(
      response,
      (chunk) => {
        const isWithin = parsing.push(chunk)
        if (isDone()) over("done")
        return isWithin
      },
      (end) => {
        if (end === "ended") parsing.end()
        else response.destroy()
        over(isDone() ? "done" : end)
      }
    )
  })

/** Hands over the message, or the batch, of an event; an event without data only carries an id. */
export const onMessage = (event: SseEvent, on: Messages.Handlers): void => {
  if (event.data === "") return
  if (event.type !== undefined && event.type !== "message" && event.type !== "") {
    return on.diagnostic(Messages.noise(`event ${event.type}: ${event.data}`))
  }
  Messages.each(Messages.parse(event.data), event.data, on)
}

export interface Get {
  readonly path: string
  readonly headers: ReadonlyArray<string>
  /** True if it belongs to a session. */
  readonly inSession: boolean
  readonly onOpen: () => void
  readonly onEvent: (event: SseEvent) => void
}

/** Opens an event stream and reads it to its end; fails if there is none. */
export const open = (
  connection: Connection.Connection,
  { headers, inSession, onEvent, onOpen, path }: Get
): Effect.Effect<Cut, McpError.ConnectError> =>
  connection.client.exchange(
    { method: "GET", path, headers, repeatable: true },
    (response): Effect.Effect<Cut, McpError.ConnectError> => {
      if (!Client.isSuccess(response)) return Refusal.refuse(connection, response, inSession)
      if (Client.mediaType(response) !== "text/event-stream") return Refusal.unexpectedContent(connection, response)
      onOpen()
      return events(response, connection.limits.maxMessageBytes, onEvent)
    }
  )
