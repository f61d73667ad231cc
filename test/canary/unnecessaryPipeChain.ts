import * as Effect from "effect/Effect"

export const program = Effect.succeed(1).pipe(Effect.map((n) => n + 1)).pipe(Effect.map((n) => n + 1))
