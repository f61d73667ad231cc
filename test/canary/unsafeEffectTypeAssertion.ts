import type * as Effect from "effect/Effect"

export declare const failing: Effect.Effect<number, "Failure">
export const program = failing as Effect.Effect<number>
