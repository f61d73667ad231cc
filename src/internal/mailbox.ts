/**
 * What a callback hands to a stream: bounded, in order, the newest kept.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Hold from "./hold.ts"

/** @internal */
export interface Mailbox<A, E> {
  /** Never waits: when the mailbox is full, the newest element gives way. */
  readonly offer: (element: A) => void
  /** Nothing comes after this; a success may bring last elements, which are never lost. */
  readonly end: (exit: Exit.Exit<ReadonlyArray<A>, E>) => void
  /** Waits until there is something to take; says whether it is an element. */
  readonly ready: Effect.Effect<boolean>
  /** Takes everything there is, without waiting. */
  readonly take: Effect.Effect<Chunk.Chunk<A>, Option.Option<E>>
}

/** @internal */
export const make = <A, E>(capacity: number): Mailbox<A, E> => {
  let elements: Array<A> = []
  let ended: Exit.Exit<unknown, E> | undefined = undefined
  let wake: (() => void) | undefined = undefined

  const signal = (): void => {
    const waiting = wake
    wake = undefined
    waiting?.()
  }

  return {
    offer: (element) => {
      if (ended !== undefined) return
      if (elements.length < capacity) elements.push(element)
      else elements[capacity - 1] = element
      signal()
    },
    end: (exit) => {
      if (ended !== undefined) return
      ended = exit
      if (exit._tag === "Success") elements.push(...exit.value)
      signal()
    },
    ready: Effect.async<boolean>((resume) => {
      const tell = () => resume(Effect.succeed(elements.length > 0))
      if (elements.length > 0 || ended !== undefined) return tell()
      wake = tell
      return Effect.sync(() => {
        wake = undefined
      })
    }),
    take: Effect.suspend(() => {
      if (elements.length > 0 || ended === undefined) {
        const taken = elements
        elements = []
        return Effect.succeed(Chunk.unsafeFromArray(taken))
      }
      return ended._tag === "Failure"
        ? Effect.failCause(Cause.map(ended.cause, Option.some))
        : Effect.fail(Option.none())
    })
  }
}

/**
 * The elements as they come; `pace` runs between hearing of an element and taking it.
 *
 * @internal
 */
export const stream = <A, E>(mailbox: Mailbox<A, E>, pace: Effect.Effect<void> = Effect.void): Stream.Stream<A, E> =>
  Stream.repeatEffectChunkOption(
    Effect.flatMap(mailbox.ready, (some) => some ? Effect.zipRight(pace, mailbox.take) : mailbox.take)
  )

/**
 * Everybody who follows the same news, each with a mailbox of its own.
 *
 * @internal
 */
export interface Readers<A> {
  /** Never waits. */
  readonly tell: (element: A) => void
  /** Nothing is told after this, and nobody who begins to follow waits for anything. */
  readonly end: () => void
  readonly changes: Stream.Stream<A>
}

/** @internal */
export const readers = <A>(capacity: number): Readers<A> => {
  const all = new Set<Mailbox<A, never>>()
  let ended = false
  return {
    tell: (element) => {
      for (const reader of all) reader.offer(element)
    },
    end: () => {
      ended = true
      for (const reader of all) reader.end(Exit.succeed([]))
    },
    changes: Stream.unwrapScoped(Effect.map(
      Hold.make(() => {
        const reader = make<A, never>(capacity)
        if (ended) reader.end(Exit.succeed([]))
        all.add(reader)
        return reader
      }, (reader) => all.delete(reader)),
      (reader) => stream(reader)
    ))
  }
}
