/** Keeps the last bytes of an endless stream, in at most twice its capacity of memory. */
export type ByteRing = ReturnType<typeof make>

export const make = (capacity: number) => {
  let buffer = Buffer.alloc(0)
  let length = 0
  let isWhole = true
  return {
    push: (bytes: Buffer): void => {
      const fresh = bytes.length > capacity ? bytes.subarray(bytes.length - capacity) : bytes
      if (fresh.length < bytes.length) isWhole = false
      if (length + fresh.length > buffer.length) {
        const kept = Math.min(length, capacity - fresh.length)
        if (kept < length) isWhole = false
        const wanted = Math.min(2 * capacity, Math.max(1024, 2 * (kept + fresh.length)))
        const next = wanted > buffer.length ? Buffer.allocUnsafeSlow(wanted) : buffer
        buffer.copy(next, 0, length - kept, length)
        buffer = next
        length = kept
      }
      length += fresh.copy(buffer, length)
    },
    /** The last bytes as text, at most `limit`, beginning at a whole character. */
    tail: (limit = capacity): string => {
      let from = Math.max(0, length - Math.min(limit, capacity))
      // A cut can fall into a character: its remaining bytes, three at most, are dropped.
      const cut = isWhole && from === 0 ? 0 : from + 3
      while (from < Math.min(cut, length) && (buffer[from]! & 0xc0) === 0x80) from++
      return buffer.toString("utf8", from, length)
    }
  }
}
