import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export const program = Effect.provide(Effect.void, Layer.empty)
