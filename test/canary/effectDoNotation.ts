import * as Effect from "effect/Effect"

export const program = Effect.Do.pipe(Effect.bind("a", () => Effect.succeed(1)))
