import * as Effect from "effect/Effect"

export const program = Effect.try({ try: () => 1, catch: (cause) => cause })
