/** @internal */

/**
 * A limit on what is in flight at once, with a queue that is bounded by bytes.
 *
 * @internal
 */
export interface Slots<Item> {
  /** Whether it may start at once, will be started later, or cannot wait because too much does. */
  readonly enter: (item: Item, bytes: number) => "now" | "later" | "full"
  /** Whether in flight or waiting: it is neither any more. */
  readonly leave: (item: Item) => void
  /** Lets everything wait until it is released. */
  readonly hold: () => void
  readonly release: () => void
  readonly isWaiting: (item: Item) => boolean
  readonly waitingBytes: () => number
}

/** @internal */
export const make = <Item>(max: number, maxBytes: number, start: (item: Item) => void): Slots<Item> => {
  const running = new Set<Item>()
  const waiting = new Map<Item, number>()
  let bytes = 0
  let held = false

  const drop = (item: Item, size: number) => {
    waiting.delete(item)
    bytes -= size
  }

  const startNext = () => {
    for (const [next, size] of waiting) {
      if (held || running.size >= max) return
      drop(next, size)
      running.add(next)
      start(next)
    }
  }

  return {
    enter: (item, size) => {
      if (!held && running.size < max && waiting.size === 0) {
        running.add(item)
        return "now"
      }
      if (bytes + size > maxBytes) return "full"
      waiting.set(item, size)
      bytes += size
      return "later"
    },
    leave: (item) => {
      const size = waiting.get(item)
      if (size !== undefined) return drop(item, size)
      // Only after this turn is the socket of what has just ended free to be used again.
      if (running.delete(item) && waiting.size > 0) queueMicrotask(startNext)
    },
    hold: () => {
      held = true
    },
    release: () => {
      held = false
      startNext()
    },
    isWaiting: (item) => waiting.has(item),
    waitingBytes: () => bytes
  }
}
