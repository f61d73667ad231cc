/**
 * The end of a connection: told at once to whoever must not use it any more, and then to whoever waits.
 *
 * @internal
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import type * as McpError from "../../McpError.ts"

type Listener = (error: McpError.ConnectError) => void

/** @internal */
export class Ending {
  readonly #reached = Deferred.unsafeMake<McpError.ConnectError>(FiberId.none)
  readonly #listeners = new Set<Listener>()
  #error: McpError.ConnectError | undefined = undefined

  readonly wait: Effect.Effect<McpError.ConnectError> = Deferred.await(this.#reached)

  /** Called synchronously at the end, or at once if it has come; returns how to stop. */
  on(listener: Listener): () => void {
    if (this.#error !== undefined) {
      listener(this.#error)
      return () => undefined
    }
    const own: Listener = (error) => listener(error)
    this.#listeners.add(own)
    return () => {
      this.#listeners.delete(own)
    }
  }

  reach(error: McpError.ConnectError): void {
    this.#error = error
    for (const listener of this.#listeners) listener(error)
    this.#listeners.clear()
    Deferred.unsafeDone(this.#reached, Effect.succeed(error))
  }
}
