/**
 * One who tells and many who hear, each at a pace of its own: who is slow loses what is oldest, and delays nobody.
 *
 * @internal
 */
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as MutableQueue from "effect/MutableQueue"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { Listeners } from "./listeners.ts"

/** @internal */
export interface Broadcast<A> {
  /** Never waits, and never throws. */
  readonly tell: (element: A) => void
  /** What is told from when this has succeeded. Shut down when all is over and everything was taken. */
  readonly subscribe: Effect.Effect<Queue.Dequeue<A>, never, Scope.Scope>
  /** Called synchronously with each element; returns how to stop. */
  readonly listen: (listener: (element: A) => void) => () => void
  /** Nothing is told after this. */
  readonly end: () => void
}

/** What one reader has not taken yet. Full, it makes room for what is new: a queue's own strategies cannot at once. */
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

/** @internal */
export const make = <A>(capacity: number): Broadcast<A> => {
  // somebody else's fault is neither the teller's nor the other listeners'
  const listeners = new Listeners<A>(() => undefined)
  const readers = new Map<Backlog<A>, Queue.Queue<A>>()
  let ended = false

  return {
    tell: (element) => {
      if (ended) return
      for (const queue of readers.values()) queue.unsafeOffer(element)
      listeners.tell(element)
    },
    subscribe: Effect.gen(function*() {
      const backlog = new Backlog<A>(Math.max(1, capacity))
      const queue = yield* Effect.acquireRelease(
        Effect.map(Queue.make(backlog, Queue.droppingStrategy<A>()), (queue) => {
          readers.set(backlog, queue)
          return queue
        }),
        (queue) =>
          Effect.suspend(() => {
            readers.delete(backlog)
            return Queue.shutdown(queue)
          })
      )
      if (ended) yield* Queue.shutdown(queue)
      // a queue can only be shut down by a fiber; where nobody may be interrupted, this one still has to be
      else {yield* Effect.forkScoped(Effect.interruptible(
          Effect.zipRight(Deferred.await(backlog.drained), Queue.shutdown(queue))
        ))}
      return queue
    }),
    listen: (listener) => listeners.add(listener),
    end: () => {
      ended = true
      for (const backlog of readers.keys()) backlog.end()
    }
  }
}
