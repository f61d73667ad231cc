import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

export const program = Effect.gen(function*() {
  yield* Effect.void
  return Schema.decodeUnknownSync(Schema.String)("text")
})
