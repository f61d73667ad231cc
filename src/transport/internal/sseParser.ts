/** @internal */

/** @internal */
export interface SseEvent {
  readonly type: string | undefined
  readonly data: string
}

/**
 * An incremental parser of `text/event-stream` that works on bytes: linear under any chunking, and exact about limits.
 *
 * @internal
 */
export interface SseParser {
  /** `false`: one event is over the limit, and nothing more will be parsed. */
  readonly push: (chunk: Uint8Array) => boolean
  /** The stream ended in order: data whose blank line is missing still counts, as no part of a JSON text is one. */
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

/** @internal */
export const make = (limit: number, onEvent: (event: SseEvent) => void): SseParser => {
  let line = Buffer.allocUnsafe(0)
  let lineBytes = 0
  let inComment = false
  let skipLf = false
  let first = true
  let over = false
  let eventBytes = 0
  let data: Array<string> = []
  let type: string | undefined
  let id: string | undefined
  let lastId: string | undefined
  let retry: number | undefined

  const keep = (chunk: Buffer, from: number, to: number) => {
    if (inComment || from === to) return
    if (lineBytes === 0 && chunk[from] === COLON) {
      inComment = true
      return
    }
    const needed = lineBytes + to - from
    if (eventBytes + needed > limit) {
      over = true
      return
    }
    if (needed > line.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, line.length * 2, 1024))
      line.copy(grown, 0, 0, lineBytes)
      line = grown
    }
    chunk.copy(line, lineBytes, from, to)
    lineBytes = needed
  }

  const dispatch = () => {
    const event = data.length === 0 ? undefined : { type, data: data.length === 1 ? data[0]! : data.join("\n") }
    data = []
    type = undefined
    eventBytes = 0
    if (event !== undefined) onEvent(event)
  }

  const field = (name: string, bytes: Buffer, from: number, to: number) => {
    switch (name) {
      case "data":
        data.push(bytes.toString("utf8", from, to))
        return
      case "event":
        type = bytes.toString("utf8", from, to)
        return
      case "id": {
        const value = bytes.toString("utf8", from, to)
        if (!value.includes("\0")) id = value
        return
      }
      case "retry": {
        const value = bytes.toString("latin1", from, to)
        if (/^\d{1,15}$/.test(value)) retry = Number(value)
      }
    }
  }

  const parse = (bytes: Buffer, from: number, to: number) => {
    if (first) {
      first = false
      if (to - from >= 3 && bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf) from += 3
    }
    if (from === to) {
      lastId = id
      dispatch()
      return
    }
    if (bytes[from] === COLON) return
    eventBytes += to - from + 1
    if (eventBytes > limit) {
      over = true
      return
    }
    const last = Math.min(to, from + longestField + 1)
    let colon = from
    while (colon < last && bytes[colon] !== COLON) colon++
    if (colon === last && colon !== to) return
    const value = colon === to ? to : bytes[colon + 1] === SPACE && colon + 1 < to ? colon + 2 : colon + 1
    field(bytes.toString("latin1", from, colon), bytes, value, to)
  }

  const endLine = (chunk: Buffer, from: number, to: number) => {
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
    let from = 0
    if (skipLf && chunk.length > 0) {
      skipLf = false
      if (chunk[0] === LF) from = 1
    }
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
