/**
 * A bounded number of places and a queue for them, as plain synchronous code: while there is room, taking a place is to
 * count.
 *
 * @internal
 */

/**
 * One who holds a place, waits for one, or neither.
 *
 * @internal
 */
export interface Guest {
  held: boolean
  /** Called once, in the step in which a waiting guest gets its place. */
  admitted: () => void
}

/** @internal */
export class Places {
  #limit: number
  #taken = 0
  // in the order of arrival, and without a search for whoever leaves from the middle
  readonly #queue = new Set<Guest>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get taken(): number {
    return this.#taken
  }

  get hasRoom(): boolean {
    return this.#taken < this.#limit
  }

  get waiting(): number {
    return this.#queue.size
  }

  /** A larger limit lets in whoever waits; a smaller one turns nobody out. */
  resize(limit: number): void {
    if (limit === this.#limit) return
    this.#limit = limit
    this.#admit()
  }

  /** Takes a place if there is one. Nobody waits while there is one, so nobody is overtaken. */
  readonly take = (): boolean => {
    if (this.#taken >= this.#limit) return false
    this.#taken++
    return true
  }

  readonly give = (): void => {
    this.#taken--
    if (this.#queue.size > 0) this.#admit()
  }

  enter(guest: Guest): boolean {
    guest.held = this.take()
    return guest.held
  }

  queue(guest: Guest): void {
    this.#queue.add(guest)
  }

  /** Gives up the place that is held, or the one in the queue. */
  leave(guest: Guest): void {
    if (!guest.held) {
      this.#queue.delete(guest)
      return
    }
    guest.held = false
    this.give()
  }

  #admit(): void {
    for (const guest of this.#queue) {
      if (this.#taken >= this.#limit) return
      this.#queue.delete(guest)
      this.#taken++
      guest.held = true
      guest.admitted()
    }
  }
}
