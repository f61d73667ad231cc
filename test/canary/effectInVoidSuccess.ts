import * as Effect from "effect/Effect"

export const program: Effect.Effect<void> = Effect.succeed(Effect.log("never runs"))
