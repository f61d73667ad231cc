/** @internal */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Teardown from "../../resilience/Teardown.ts"
import type * as Transport from "../Transport.ts"

/**
 * At the end of the scope: says farewell within the bound, then ends what is left, and records how it went.
 *
 * @internal
 */
export const atEnd = (
  teardown: Teardown.Teardown["Type"],
  server: string,
  transport: Transport.Transport["kind"],
  farewell: Effect.Effect<void>,
  destroy: () => void
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.addFinalizer(() =>
    Effect.gen(function*() {
      const started = yield* Clock.currentTimeMillis
      const said = yield* farewell.pipe(Effect.interruptible, Effect.timeoutOption(teardown.options.farewellTimeout))
      destroy()
      const took = Duration.millis((yield* Clock.currentTimeMillis) - started)
      teardown.record({ server, transport, how: Option.isSome(said) ? "closed" : "abandoned", took, killed: [] })
    })
  )
