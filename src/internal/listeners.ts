/**
 * Who is told of something, each at once and in order. A bug in one keeps nothing from the others.
 *
 * @internal
 */

/** @internal */
export class Listeners<A> {
  readonly #listeners = new Set<(told: A) => void>()
  readonly #thrown: (cause: unknown) => void

  constructor(thrown: (cause: unknown) => void) {
    this.#thrown = thrown
  }

  /** Returns how to stop. */
  add(listener: (told: A) => void): () => void {
    // a fresh function, so that one listener added twice is two
    const own = (told: A) => listener(told)
    this.#listeners.add(own)
    return () => {
      this.#listeners.delete(own)
    }
  }

  tell(told: A): void {
    for (const listener of this.#listeners) {
      try {
        listener(told)
      } catch (cause) {
        this.#thrown(cause)
      }
    }
  }

  clear(): void {
    this.#listeners.clear()
  }
}
