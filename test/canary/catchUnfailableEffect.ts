import * as Effect from "effect/Effect"

export const program = Effect.succeed(1).pipe(Effect.catchAll(() => Effect.succeed(2)))
