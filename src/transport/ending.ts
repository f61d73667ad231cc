/** How transports report their end: to the teardown, and as an event where there is a bus. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Launcher from "../config/launcher.ts"
import * as McpEvent from "../McpEvent.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as Teardown from "../resilience/Teardown.ts"
import type * as Transport from "./Transport.ts"

export interface Ending {
  readonly bounds: Teardown.Teardown["Type"]["options"]
  readonly record: (end: Teardown.ServerEnd) => void
  /** The end has to wait for an install. */
  readonly installing: (server: string, launcher: Launcher.Launcher) => void
}

export const make: Effect.Effect<Ending, never, Teardown.Teardown> = Effect.gen(function*() {
  const teardown = yield* Teardown.Teardown
  const events = yield* Effect.serviceOption(McpEvent.McpEvents)
  const publish = (event: McpEvent.McpEvent): void => {
    if (Option.isSome(events)) events.value.publish(event)
  }
  return {
    bounds: teardown.options,
    record: (end) => {
      teardown.record(end)
      publish(McpEvent.McpEvent.Closed({ server: end.server, end }))
    },
    installing: (server, { installs, program }) =>
      publish(McpEvent.McpEvent.Installing({ server, launcher: program, installs, awaitedBy: "close" }))
  }
})

/** When the scope closes: runs the farewell within its bound, destroys what is left, and records how it went. */
export const sayFarewell = (
  ending: Ending,
  server: string,
  transport: Transport.Transport["kind"],
  farewell: Effect.Effect<void>,
  destroy: () => void
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.addFinalizer(() =>
    Effect.gen(function*() {
      const started = yield* Clock.currentTimeMillis
      const done = yield* BoundedWait.within(ending.bounds.farewellTimeout)(farewell)
      destroy()
      const took = Duration.millis((yield* Clock.currentTimeMillis) - started)
      ending.record({ server, transport, how: Option.isSome(done) ? "closed" : "abandoned", took, killed: [] })
    })
  )
