/**
 * Long work in steps that hold nobody up.
 *
 * @internal
 */
import * as Effect from "effect/Effect"

/** Characters looked at in one turn of the event loop: a millisecond of work, and some while the program is fresh. */
const charactersOfTurn = 4_096

const turn = Effect.async<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})

/**
 * Does one thing after the other, and lets others have their turn in between. Each says how many characters it looked
 * at.
 *
 * @internal
 */
export const gently = <A>(all: ReadonlyArray<A>, each: (one: A) => number): Effect.Effect<void> => {
  let at = 0
  const step = Effect.sync(() => {
    for (let characters = 0; at < all.length && characters < charactersOfTurn;) characters += each(all[at++]!)
  })
  return Effect.zipRight(
    step,
    Effect.whileLoop({
      while: () => at < all.length,
      body: () => Effect.zipRight(turn, step),
      step: () => {}
    })
  )
}
