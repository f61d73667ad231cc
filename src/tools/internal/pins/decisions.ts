/**
 * Telling of decisions: at once to those who listen, and as a stream.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as Hold from "../../../internal/hold.ts"
import * as Mailbox from "../../../internal/mailbox.ts"

/** How many decisions somebody who does not look may miss the rest of. */
const backlog = 1_024

/** @internal */
export interface Decisions {
  readonly tell: (server: string) => void
  readonly listen: (listener: (server: string) => void) => () => void
  readonly changes: Stream.Stream<void>
}

/**
 * The stream ends with the scope.
 *
 * @internal
 */
export const make: Effect.Effect<Decisions, never, Scope.Scope> = Effect.gen(function*() {
  const readers = Mailbox.readers<void>(backlog)
  const listeners = new Set<(server: string) => void>()
  yield* Hold.letGo(readers.end)
  return {
    tell: (server) => {
      for (const listener of listeners) listener(server)
      readers.tell()
    },
    listen: (listener) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    changes: readers.changes
  }
})
