/** @internal */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as BoundedWait from "../../resilience/BoundedWait.ts"
import type * as Transport from "../Transport.ts"
import type * as Ending from "./ending.ts"

/**
 * At the end of the scope: says farewell within the bound, then ends what is left, and records how it went.
 *
 * @internal
 */
export const atEnd = (
  ending: Ending.Ending,
  server: string,
  transport: Transport.Transport["kind"],
  farewell: Effect.Effect<void>,
  destroy: () => void
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.addFinalizer(() =>
    Effect.gen(function*() {
      const started = yield* Clock.currentTimeMillis
      const said = yield* BoundedWait.within(ending.bounds.farewellTimeout)(farewell)
      destroy()
      const took = Duration.millis((yield* Clock.currentTimeMillis) - started)
      ending.record({ server, transport, how: Option.isSome(said) ? "closed" : "abandoned", took, killed: [] })
    })
  )
