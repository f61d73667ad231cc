import * as Effect from "effect/Effect"

export const program = Effect.fail(new Error("which one?"))
