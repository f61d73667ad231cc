/** @internal */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Launcher from "../../config/launcher.ts"
import * as McpEvent from "../../McpEvent.ts"
import * as Teardown from "../../resilience/Teardown.ts"

/**
 * How transports end, and who is told: the report of the teardown, and the events where there are any.
 *
 * @internal
 */
export interface Ending {
  readonly bounds: Teardown.Teardown["Type"]["options"]
  readonly record: (end: Teardown.ServerEnd) => void
  /** The end waits for an install. */
  readonly installing: (server: string, launcher: Launcher.Launcher) => void
}

/** @internal */
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
