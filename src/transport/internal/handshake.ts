/** @internal */
import * as Effect from "effect/Effect"
import type * as Remote from "./remote.ts"
import type * as Slots from "./slots.ts"

/** A server that accepts no notification still gets requests, a little later. */
const patience = "2 seconds"

/**
 * Holds requests back until the returned function says that `notifications/initialized` was accepted: sent on a socket
 * of their own they could overtake it, and servers refuse what comes before it.
 *
 * @internal
 */
export const hold = <Item>(remote: Remote.Remote, slots: Slots.Slots<Item>): () => void => {
  slots.hold()
  let over = false
  const release = () => {
    if (over) return
    over = true
    slots.release()
  }
  const waiting = remote.run(Effect.delay(Effect.sync(release), patience))
  return () => {
    waiting.unsafeInterruptAsFork(waiting.id())
    release()
  }
}
