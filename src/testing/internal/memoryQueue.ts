/**
 * A queue that is filled synchronously and waited for by one fiber.
 *
 * @internal
 */
import * as Effect from "effect/Effect"

/** @internal */
export class Queue<A> {
  #items: Array<A> = []
  #first = 0
  readonly #stirred = Effect.unsafeMakeLatch(false)

  get size(): number {
    return this.#items.length - this.#first
  }

  /** The first item, which stays; and forgets every `stir` so far, so that none after this look is missed. */
  look(): A | undefined {
    this.#stirred.unsafeClose()
    return this.#items[this.#first]
  }

  push(item: A): void {
    this.#items.push(item)
    this.stir()
  }

  shift(): void {
    this.#first++
    if (this.#first < 1024 && this.#first < this.#items.length) return
    this.#items = this.#items.slice(this.#first)
    this.#first = 0
  }

  drain(): ReadonlyArray<A> {
    const items = this.#items.slice(this.#first)
    this.#items = []
    this.#first = 0
    return items
  }

  /** Lets the fiber that waits look again. */
  stir(): void {
    this.#stirred.unsafeOpen()
  }

  /** Until something has been pushed or stirred since the last look. */
  get stirred(): Effect.Effect<void> {
    return this.#stirred.await
  }
}
