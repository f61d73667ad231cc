import * as Effect from "effect/Effect"

Effect.log("never run")
