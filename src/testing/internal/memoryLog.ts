/**
 * What has happened at a peer in memory, and who waits for something to happen.
 *
 * @internal
 */
import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as MemoryTransport from "../MemoryTransport.ts"

/** @internal */
export interface Log {
  readonly add: (clock: Clock.Clock, connection: number, kind: MemoryTransport.Entry["kind"], detail: string) => void
  readonly receive: (clock: Clock.Clock, connection: number, text: string, message: JsonRpc.Incoming) => void
  /** The number of the new connection. */
  readonly opened: (clock: Clock.Clock, detail: string) => number
  readonly connections: () => MemoryTransport.Connections
  readonly transcript: () => ReadonlyArray<MemoryTransport.Entry>
  readonly received: (method?: string) => ReadonlyArray<JsonRpc.Incoming>
  readonly until: (predicate: () => boolean) => Effect.Effect<void>
  /** Something else has happened that somebody may wait for. */
  readonly stir: () => void
}

/** @internal */
export const make = (limit: number): Log => {
  // not `slice(-limit)`, which of a limit of none keeps all
  const newest = <A>(all: ReadonlyArray<A>): Array<A> => all.slice(Math.max(0, all.length - limit))
  let entries: Array<MemoryTransport.Entry> = []
  let messages: Array<JsonRpc.Incoming> = []
  const count = { opened: 0, refused: 0, open: 0, maxOpen: 0, closed: 0 }
  const waiting = new Map<Deferred.Deferred<void>, () => boolean>()

  const stir = () => {
    for (const [deferred, predicate] of waiting) {
      if (!predicate()) continue
      waiting.delete(deferred)
      Deferred.unsafeDone(deferred, Effect.void)
    }
  }
  const push = (clock: Clock.Clock, connection: number, kind: MemoryTransport.Entry["kind"], detail: string) => {
    entries.push({ at: clock.unsafeCurrentTimeMillis(), connection, kind, detail })
    // cut seldom, so that a long simulation pays nothing per entry
    if (entries.length >= 2 * limit) entries = newest(entries)
    if (kind === "refused") count.refused++
    if (kind === "closed") {
      count.closed++
      count.open--
    }
  }

  return {
    add: (clock, connection, kind, detail) => {
      push(clock, connection, kind, detail)
      stir()
    },
    receive: (clock, connection, text, message) => {
      messages.push(message)
      if (messages.length >= 2 * limit) messages = newest(messages)
      push(clock, connection, "received", text)
      stir()
    },
    opened: (clock, detail) => {
      const connection = ++count.opened
      count.maxOpen = Math.max(count.maxOpen, ++count.open)
      push(clock, connection, "opened", detail)
      stir()
      return connection
    },
    connections: () => ({ ...count }),
    transcript: () => newest(entries),
    received: (method) => newest(messages).filter((message) => method === undefined || message["method"] === method),
    until: (predicate) =>
      Effect.suspend(() => {
        if (predicate()) return Effect.void
        const deferred = Deferred.unsafeMake<void>(FiberId.none)
        waiting.set(deferred, predicate)
        return Effect.onInterrupt(Deferred.await(deferred), () => Effect.sync(() => waiting.delete(deferred)))
      }),
    stir
  }
}
