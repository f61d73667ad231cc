/** One publisher and many subscribers. A slow subscriber loses its oldest elements, and delays no other. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Mailbox from "effect/Mailbox"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Scoped from "./scoped.ts"

export interface Broadcast<A> {
  /** Never waits, and never throws. Subscribers have the element before listeners are called. */
  readonly publish: (element: A) => void
  /** The elements after the subscription. Done when the broadcast has ended and everything was taken. */
  readonly subscribe: Effect.Effect<Mailbox.ReadonlyMailbox<A>, never, Scope.Scope>
  /** The elements after the stream is first read. */
  readonly stream: Stream.Stream<A>
  /** Calls the listener synchronously with each element; returns how to stop. */
  readonly onEvent: (listener: (element: A) => void) => () => void
}

/** The broadcast ends with the scope. A subscriber may leave `capacity` elements untaken. */
export const make = <A>(capacity: number): Effect.Effect<Broadcast<A>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const listeners = new Set<(element: A) => void>()
    const subscribers = new Set<Mailbox.Mailbox<A>>()
    let ended = false
    yield* Scoped.onClose(() => {
      ended = true
      for (const subscriber of subscribers) subscriber.unsafeDone(Exit.void)
    })

    const subscribe = Effect.acquireRelease(
      Effect.tap(Mailbox.make<A>({ capacity, strategy: "sliding" }), (subscriber) => {
        subscribers.add(subscriber)
        if (ended) subscriber.unsafeDone(Exit.void)
      }),
      (subscriber) =>
        Effect.suspend(() => {
          subscribers.delete(subscriber)
          return subscriber.shutdown
        })
    )

    return {
      publish: (element) => {
        if (ended) return
        for (const subscriber of subscribers) subscriber.unsafeOffer(element)
        for (const listener of listeners) {
          try {
            listener(element)
          } catch {
            // a fault of one listener keeps the element from no other
          }
        }
      },
      subscribe,
      stream: Stream.unwrapScoped(Effect.map(subscribe, (subscriber) => Mailbox.toStream(subscriber))),
      onEvent: (listener) => Scoped.addListener(listeners, listener)
    }
  })
