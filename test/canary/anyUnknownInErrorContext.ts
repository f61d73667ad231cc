import type * as Effect from "effect/Effect"

export declare const run: (effect: Effect.Effect<number, unknown>) => Effect.Effect<number, unknown>
export const wrap = (effect: Effect.Effect<number, unknown>) => run(effect)
