import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

export class Broken extends Data.TaggedError("effect-mcp-runtime/canary/unnecessaryFailYieldableError/Broken") {}

export const program = Effect.gen(function*() {
  yield* Effect.void
  return yield* Effect.fail(new Broken())
})
