/**
 * Who is told of notifications, each at once and in order. A bug in one keeps nothing from the others.
 *
 * @internal
 */
import type * as Connector from "../Connector.ts"

type Listener = (notification: Connector.Notification) => void

/** @internal */
export class Listeners {
  readonly #listeners = new Set<Listener>()
  readonly #thrown: (cause: unknown) => void

  constructor(thrown: (cause: unknown) => void) {
    this.#thrown = thrown
  }

  /** Returns how to stop. */
  add(listener: Listener): () => void {
    // a fresh function, so that one listener added twice is two
    const own = (notification: Connector.Notification) => listener(notification)
    this.#listeners.add(own)
    return () => {
      this.#listeners.delete(own)
    }
  }

  tell(notification: Connector.Notification): void {
    for (const listener of this.#listeners) {
      try {
        listener(notification)
      } catch (cause) {
        this.#thrown(cause)
      }
    }
  }
}
