import * as Effect from "effect/Effect"
import * as RuntimeLog from "../../runtimeLog.ts"
import { estimate } from "./tokenEstimate.ts"

/**
 * Of a longer text so much is counted, and the rest in proportion.
 *
 * @internal
 */
export const sampledAbove = 256 * 1024

const samples = 16

/**
 * Counts no more than it is worth.
 *
 * @internal
 */
export const bounded = (count: (text: string) => number) => (text: string): number => {
  const { length } = text
  if (length <= sampledAbove) return count(text)
  const each = sampledAbove / samples
  const step = (length - each) / (samples - 1)
  let tokens = 0
  for (let at = 0; at < samples; at++) {
    const from = Math.round(at * step)
    tokens += count(text.slice(from, from + each))
  }
  return Math.ceil(tokens * (length / sampledAbove))
}

/** @internal */
export const estimated: (text: string) => number = bounded(estimate)

/**
 * Counts as soon as it can be learned how; estimates if it cannot, and says so once.
 *
 * @internal
 */
export const orEstimated = <E>(
  counter: Effect.Effect<(text: string) => number, E>
): Effect.Effect<(text: string) => Effect.Effect<number>> =>
  Effect.map(
    Effect.cached(
      counter.pipe(
        Effect.map(bounded),
        Effect.catchAll((error) =>
          Effect.as(RuntimeLog.warning("Tokens are estimated: gpt-tokenizer could not be loaded.", error), estimated)
        )
      )
    ),
    (counter) => (text) => Effect.map(counter, (count) => count(text))
  )
