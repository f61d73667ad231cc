import * as Effect from "effect/Effect"

export const program = Effect.gen(function*() {
  yield* Effect.void
  return process.env["HOME"]
})
