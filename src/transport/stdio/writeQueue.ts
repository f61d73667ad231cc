import type * as JsonRpc from "../JsonRpc.ts"

/** A stream of Node. Once it is not `writable`, what waits was certainly not sent. */
export interface Outlet {
  readonly writable: boolean
  readonly write: (data: string | Buffer, done: (error?: Error | null) => void) => unknown
  readonly end: () => unknown
}

export type WriteQueue = ReturnType<typeof make>

/** The size of one write: more gains nothing, and with less, less is lost with a peer that stops reading. */
const writeBytes = 64 * 1024

/** Lines that leave without waiting for the end of the turn, so that the server works on them while others are made. */
const earlyLines = 16

/**
 * The lines that wait to be written, in order. Few lines of one turn leave in one write, at most one write is under way,
 * and a line larger than a write leaves in pieces, so that a slow reader can be told from one that has stopped.
 */
export const make = (limit: number, outlet: Outlet) => {
  const queue = new Map<JsonRpc.Id | symbol, { readonly line: string; readonly bytes: number }>()
  let waiting = 0
  let scheduled = false
  let writing = false
  let writes = 0
  let large: Buffer | undefined
  let state: "open" | "ending" | "stopped" = "open"

  const remove = (key: JsonRpc.Id | symbol): void => {
    waiting -= queue.get(key)?.bytes ?? 0
    queue.delete(key)
  }

  const next = (): string | Buffer => {
    let text = ""
    let bytes = 0
    for (const [key, entry] of large === undefined ? queue : []) {
      if (bytes > 0 && bytes + entry.bytes > writeBytes) break
      remove(key)
      bytes += entry.bytes
      if (entry.bytes > writeBytes) large = Buffer.from(entry.line)
      else text += entry.line
    }
    if (large === undefined) return text
    const piece = large.subarray(0, writeBytes)
    large = large.length > writeBytes ? large.subarray(writeBytes) : undefined
    return piece
  }

  const flush = (): void => {
    scheduled = false
    if (writing || state === "stopped" || !outlet.writable) return
    const data = next()
    if (data.length > 0) {
      writing = true
      writes++
      outlet.write(data, written)
    } else if (state === "ending") {
      state = "stopped"
      outlet.end()
    }
  }

  const written = (error?: Error | null): void => {
    writing = false
    // The outlet reports its failure itself.
    if (error === undefined || error === null) flush()
  }

  return {
    /** Queues a line; the number of bytes that wait if there is no room. */
    offer: (id: JsonRpc.Id | undefined, line: string, bytes: number): number | undefined => {
      if (waiting > 0 && waiting + bytes > limit) return waiting
      queue.set(id ?? Symbol(), { line, bytes })
      waiting += bytes
      if (!writing && queue.size >= earlyLines) {
        flush()
      } else if (!scheduled && !writing) {
        scheduled = true
        queueMicrotask(flush)
      }
      return undefined
    },
    /** Drops this request if it still waits. */
    abandon: (id: JsonRpc.Id): void => remove(id),
    /** Ends the outlet once everything is written. */
    end: (): void => {
      if (state !== "open") return
      state = "ending"
      flush()
    },
    /** Writes nothing more. */
    stop: (): void => {
      state = "stopped"
      large = undefined
    },
    /** True if nothing of this request was handed over; to be asked after `stop`. */
    unsent: (id: JsonRpc.Id): boolean => queue.has(id),
    /** The number of writes handed over so far, while one is under way. */
    outstanding: (): number | undefined => (writing ? writes : undefined)
  }
}
