import * as Effect from "effect/Effect"

export const program = Effect.gen(function*() {
  return yield* Effect.succeed(1)
})
