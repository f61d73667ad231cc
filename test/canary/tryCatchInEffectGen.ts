import * as Effect from "effect/Effect"

export const program = Effect.gen(function*() {
  try {
    return yield* Effect.succeed(1)
  } catch {
    return 2
  }
})
