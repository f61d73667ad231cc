import * as Effect from "effect/Effect"

Effect.log("nobody runs this")
