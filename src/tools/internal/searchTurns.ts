/**
 * Long work in steps that hold nobody up.
 *
 * @internal
 */
import * as Effect from "effect/Effect"

/**
 * Characters looked at in one turn of the event loop: a millisecond of work. The first turns of a fresh program take
 * ten times as long for each, so they look at few, and each at a little more than the one before.
 */
const firstTurn = 1_024
const longestTurn = 16_384
const growth = 1.04

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
  let most = firstTurn
  const step = Effect.sync(() => {
    for (let characters = 0; at < all.length && characters < most;) characters += each(all[at++]!)
    most = Math.min(longestTurn, most * growth)
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
