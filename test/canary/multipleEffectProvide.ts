import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export const program = Effect.void.pipe(Effect.provide(Layer.empty), Effect.provide(Layer.empty))
