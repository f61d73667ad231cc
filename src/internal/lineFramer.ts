/** @internal */

/**
 * A line over the limit. It comes twice: as soon as the limit is passed, without a `tail`, and once it has ended.
 *
 * @internal
 */
export interface Oversize {
  readonly head: string
  readonly tail: string | undefined
  readonly bytes: number
}

/**
 * What the bytes amount to: a line without its end, or notice of one that is skipped.
 *
 * @internal
 */
export type Frame = string | Oversize

/** @internal */
export interface LineFramer {
  /** Takes over the chunk; nothing is scanned yet. */
  readonly push: (chunk: Buffer) => void
  /** The next frame, or `undefined` if more bytes are needed. */
  readonly next: () => Frame | undefined
  /** What is left behind the last newline. */
  readonly rest: () => string
  /** The bytes of the line under way. */
  readonly pending: () => number
}

const newline = 10
const edge = 512
const slabBytes = 64 * 1024
const smallChunk = 4 * 1024
/** The longest text that V8 can hold; a longer line could not be decoded at all. */
const longest = 0x1fffffe8

/**
 * Cuts a stream of bytes into lines in linear time: only new bytes are searched, and a line is put together once. Small
 * chunks are gathered in slabs, so that a line that drips in costs its bytes and not an object per byte.
 *
 * @internal
 */
export const make = (maxLineBytes: number): LineFramer => {
  const limit = Math.min(maxLineBytes, longest)
  const chunks: Array<Buffer> = []
  let chunk: Buffer | undefined
  let offset = 0
  let parts: Array<Buffer> = []
  let slab: Buffer | undefined
  let used = 0
  let size = 0
  let head: string | undefined
  let tail = Buffer.alloc(0)
  let tailLength = 0

  const sealSlab = (): void => {
    if (slab === undefined) return
    parts.push(slab.subarray(0, used))
    slab = undefined
    used = 0
  }

  const keep = (bytes: Buffer): void => {
    if (bytes.length >= smallChunk) {
      sealSlab()
      parts.push(bytes)
      return
    }
    if (slab !== undefined && used + bytes.length > slab.length) sealSlab()
    slab ??= Buffer.allocUnsafeSlow(slabBytes)
    used += bytes.copy(slab, used)
  }

  const takeHeld = (): Buffer => {
    sealSlab()
    const held = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    parts = []
    return held
  }

  const keepTail = (bytes: Buffer): void => {
    const last = bytes.length > edge ? bytes.subarray(bytes.length - edge) : bytes
    const kept = Math.min(tailLength, edge - last.length)
    tail.copyWithin(0, tailLength - kept, tailLength)
    tailLength = kept + last.copy(tail, kept)
  }

  /** Whether the line has become too long with these bytes. */
  const hold = (bytes: Buffer): boolean => {
    size += bytes.length
    if (head !== undefined) {
      keepTail(bytes)
      return false
    }
    if (bytes.length > 0) keep(bytes)
    if (size <= limit) return false
    const held = takeHeld()
    head = held.toString("utf8", 0, edge)
    tail = Buffer.alloc(edge)
    tailLength = 0
    keepTail(held)
    return true
  }

  const advance = (): boolean => {
    if (chunk !== undefined && offset < chunk.length) return true
    chunk = chunks.shift()
    offset = 0
    return chunk !== undefined
  }

  const endOfLine = (): Frame => {
    const bytes = size
    size = 0
    if (head === undefined) return takeHeld().toString("utf8")
    const frame = { head, tail: tail.toString("utf8", 0, tailLength), bytes }
    head = undefined
    tail = Buffer.alloc(0)
    return frame
  }

  return {
    push: (bytes) => {
      chunks.push(bytes)
    },
    next: () => {
      while (advance()) {
        const bytes = chunk!
        const start = offset
        const at = bytes.indexOf(newline, start)
        const end = at === -1 ? bytes.length : at
        if (at !== -1 && size === 0 && end - start <= limit) {
          offset = at + 1
          return bytes.toString("utf8", start, at)
        }
        // A line that has just become too long is told before its end, which is found again on the next turn.
        offset = end
        if (hold(bytes.subarray(start, end))) return { head: head!, tail: undefined, bytes: size }
        if (at !== -1) {
          offset = at + 1
          return endOfLine()
        }
      }
      return undefined
    },
    rest: () => {
      const skipped = head !== undefined
      size = 0
      head = undefined
      return skipped ? "" : takeHeld().toString("utf8")
    },
    pending: () => size
  }
}
