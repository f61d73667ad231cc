/** Long synchronous work in parts, between which I/O and other fibers have their turn. */
import * as Effect from "effect/Effect"

// a yield gives way to fibers only, and not to I/O
const turn = Effect.async<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})

const batch = 20

/** Applies `f` to each item, 20 of them in one turn of the event loop. */
export const inTurns = <A, B>(items: ReadonlyArray<A>, f: (item: A) => B): Effect.Effect<Array<B>> =>
  Effect.gen(function*() {
    const results: Array<B> = []
    for (let at = 0; at < items.length; at += batch) {
      if (at > 0) yield* turn
      for (const item of items.slice(at, at + batch)) results.push(f(item))
    }
    return results
  })
