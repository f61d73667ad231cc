/** One publisher and many subscribers. A slow subscriber loses its oldest elements, and delays no other. */
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as MutableQueue from "effect/MutableQueue"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Scoped from "./scoped.ts"

export interface Broadcast<A> {
  /** Never waits, and never throws. Subscribers have the element before listeners are called. */
  readonly publish: (element: A) => void
  /** The elements after the subscription. Shut down when the broadcast has ended and everything was taken. */
  readonly subscribe: Effect.Effect<Queue.Dequeue<A>, never, Scope.Scope>
  /** The elements after the stream is first read. */
  readonly stream: Stream.Stream<A>
  /** Calls the listener synchronously with each element; returns how to stop. */
  readonly onEvent: (listener: (element: A) => void) => () => void
}

export interface Options {
  /** The elements that a subscriber may leave untaken. */
  readonly capacity: number
  /** Called with what a listener throws, which keeps the element from no other listener. */
  readonly onThrow?: (thrown: unknown) => void
}

/** The elements that a subscriber has not taken. Full, it drops the oldest at once, which `slidingStrategy` cannot. */
class Backlog<A> implements Queue.BackingQueue<A> {
  readonly [Queue.BackingQueueTypeId] = { _A: (element: A): A => element }
  readonly drained = Deferred.unsafeMake<void>(FiberId.none)
  readonly #elements: MutableQueue.MutableQueue<A>
  #ended = false

  constructor(capacity: number) {
    this.#elements = MutableQueue.bounded(capacity)
  }

  poll<Def>(def: Def): A | Def {
    const element = MutableQueue.poll(this.#elements, def)
    this.#taken()
    return element
  }

  pollUpTo(limit: number): Chunk.Chunk<A> {
    const elements = MutableQueue.pollUpTo(this.#elements, limit)
    this.#taken()
    return elements
  }

  offer(element: A): boolean {
    if (MutableQueue.isFull(this.#elements)) MutableQueue.poll(this.#elements, undefined)
    return MutableQueue.offer(this.#elements, element)
  }

  offerAll(elements: Iterable<A>): Chunk.Chunk<A> {
    for (const element of elements) this.offer(element)
    return Chunk.empty()
  }

  capacity(): number {
    return MutableQueue.capacity(this.#elements)
  }

  length(): number {
    return MutableQueue.length(this.#elements)
  }

  end(): void {
    this.#ended = true
    this.#taken()
  }

  #taken(): void {
    if (this.#ended && this.length() === 0) Deferred.unsafeDone(this.drained, Effect.void)
  }
}

/** The broadcast ends with the scope. */
export const make = <A>(options: Options): Effect.Effect<Broadcast<A>, never, Scope.Scope> =>
  Effect.map(
    Scoped.acquire(() => unscoped<A>(options), ({ end }) => end()),
    ({ broadcast }) => broadcast
  )

const unscoped = <A>({ capacity, onThrow }: Options) => {
  const listeners = new Set<(element: A) => void>()
  const subscribers = new Map<Backlog<A>, Queue.Queue<A>>()
  let ended = false

  const subscribe = Effect.gen(function*() {
    const backlog = new Backlog<A>(Math.max(1, capacity))
    const queue = yield* Effect.acquireRelease(
      Effect.tap(Queue.make(backlog, Queue.droppingStrategy<A>()), (queue) => subscribers.set(backlog, queue)),
      (queue) =>
        Effect.suspend(() => {
          subscribers.delete(backlog)
          return Queue.shutdown(queue)
        })
    )
    if (ended) yield* Queue.shutdown(queue)
    // only a fiber can shut a queue down; it must be interruptible wherever it is forked
    else {yield* Effect.forkScoped(
        Effect.interruptible(Effect.zipRight(Deferred.await(backlog.drained), Queue.shutdown(queue)))
      )}
    return queue
  })

  const broadcast: Broadcast<A> = {
    publish: (element) => {
      if (ended) return
      for (const queue of subscribers.values()) queue.unsafeOffer(element)
      for (const listener of listeners) {
        try {
          listener(element)
        } catch (thrown) {
          onThrow?.(thrown)
        }
      }
    },
    subscribe,
    stream: Stream.unwrapScoped(Effect.map(subscribe, (queue) => Stream.fromQueue(queue))),
    onEvent: (listener) => {
      // a new function, because one listener that is added twice is called twice
      const added = (element: A) => listener(element)
      listeners.add(added)
      return () => {
        listeners.delete(added)
      }
    }
  }
  return {
    broadcast,
    end: () => {
      ended = true
      for (const backlog of subscribers.keys()) backlog.end()
    }
  }
}
