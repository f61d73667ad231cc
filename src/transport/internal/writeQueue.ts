/** @internal */
import type * as JsonRpc from "../JsonRpc.ts"

/**
 * Where the bytes go: one write at a time, and `done` once it was taken over.
 *
 * @internal
 */
export interface Outlet {
  /** Whether anything can be written at all; if not, what waits was certainly not sent. */
  readonly isOpen: () => boolean
  readonly write: (data: string | Buffer, done: (error?: Error | null) => void) => void
  readonly end: () => void
}

/** @internal */
export interface WriteQueue {
  /** Queues a line; the number of bytes that wait if it finds no room. */
  readonly offer: (id: JsonRpc.Id | undefined, line: string, bytes: number) => number | undefined
  /** This request need not be written any more. */
  readonly abandon: (id: JsonRpc.Id) => void
  /** Ends the outlet once everything was written. */
  readonly end: () => void
  /** Writes nothing more. */
  readonly stop: () => void
  /** Whether this request was never handed over; to be asked after `stop`. */
  readonly unsent: (id: JsonRpc.Id) => boolean
  /** How many writes have been handed over, while one is under way. */
  readonly outstanding: () => number | undefined
}

interface Entry {
  readonly id: JsonRpc.Id | undefined
  readonly line: string
  readonly bytes: number
}

/** What is handed over at once: more of it gains nothing, and less of it is lost with a peer that stops reading. */
const writeBytes = 64 * 1024

/**
 * What waits to be written. The lines of one turn leave in one write, at most one write is under way, and a line larger
 * than a write leaves in pieces, so that a slow reader can be told from one that has stopped.
 *
 * @internal
 */
export const make = (limit: number, outlet: Outlet): WriteQueue => {
  let queue: Array<Entry> = []
  let next = 0
  let waiting = 0
  let scheduled = false
  let writing = false
  let writes = 0
  let large: Buffer | undefined
  let state: "open" | "ending" | "stopped" = "open"
  const abandoned = new Set<JsonRpc.Id>()
  let frozen: ReadonlySet<JsonRpc.Id> | undefined

  const batch = (): string | Buffer | undefined => {
    if (next > 1024 && 2 * next > queue.length) {
      queue = queue.slice(next)
      next = 0
    }
    let text: string | undefined
    let bytes = 0
    while (next < queue.length) {
      const entry = queue[next]!
      if (abandoned.size > 0 && entry.id !== undefined && abandoned.delete(entry.id)) {
        waiting -= entry.bytes
        next++
        continue
      }
      if (text !== undefined && bytes + entry.bytes > writeBytes) return text
      next++
      waiting -= entry.bytes
      if (entry.bytes > writeBytes) {
        large = Buffer.from(entry.line)
        return undefined
      }
      text = text === undefined ? entry.line : text + entry.line
      bytes += entry.bytes
    }
    queue = []
    next = 0
    abandoned.clear()
    return text
  }

  const written = (error?: Error | null): void => {
    writing = false
    // The outlet tells its failure itself.
    if (error === undefined || error === null) flush()
  }

  const flush = (): void => {
    scheduled = false
    if (writing || state === "stopped" || !outlet.isOpen()) return
    let data = large === undefined ? batch() : undefined
    if (large !== undefined) {
      data = large.subarray(0, writeBytes)
      large = large.length > writeBytes ? large.subarray(writeBytes) : undefined
    }
    if (data === undefined) {
      if (state !== "ending") return
      state = "stopped"
      outlet.end()
      return
    }
    writing = true
    writes++
    outlet.write(data, written)
  }

  return {
    offer: (id, line, bytes) => {
      if (waiting > 0 && waiting + bytes > limit) return waiting
      queue.push({ id, line, bytes })
      waiting += bytes
      if (!scheduled && !writing) {
        scheduled = true
        queueMicrotask(flush)
      }
      return undefined
    },
    abandon: (id) => {
      if (waiting > 0) abandoned.add(id)
    },
    end: () => {
      if (state !== "open") return
      state = "ending"
      flush()
    },
    stop: () => {
      state = "stopped"
      large = undefined
    },
    unsent: (id) => {
      frozen ??= new Set(queue.slice(next).flatMap((entry) => entry.id === undefined ? [] : [entry.id]))
      return frozen.has(id)
    },
    outstanding: () => (writing ? writes : undefined)
  }
}
