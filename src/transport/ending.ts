/** What a transport tells its sink, and how it reports its end to the teardown. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Launcher from "../config/launcher.ts"
import * as McpEvent from "../McpEvent.ts"
import * as Teardown from "../resilience/Teardown.ts"
import type * as Transport from "./Transport.ts"

/** A sink before it is there: what comes before `start` waits for it, what comes after the end is dropped. */
export interface Outlet extends Omit<Transport.Sink, "ended"> {
  readonly start: (sink: Transport.Sink) => void
  /** Ends the transport; only the first call has an effect. */
  readonly end: (error: Transport.Ended["error"], unsent: Transport.Ended["unsent"]) => void
  readonly ended: () => Transport.Ended | undefined
}

export const outlet = (): Outlet => {
  let early: Array<(sink: Transport.Sink) => void> = []
  let sink: Transport.Sink | undefined
  let ended: Transport.Ended | undefined
  const tell = (what: (sink: Transport.Sink) => void): void => {
    if (ended !== undefined) return
    if (sink === undefined) early.push(what)
    else what(sink)
  }
  return {
    start: (to) => {
      sink = to
      for (const what of early) what(to)
      early = []
    },
    message: (message) => tell((sink) => sink.message(message)),
    failed: (id, error) => tell((sink) => sink.failed(id, error)),
    waiting: (id, open) => tell((sink) => sink.waiting(id, open)),
    diagnostic: (diagnostic) => tell((sink) => sink.diagnostic(diagnostic)),
    end: (error, unsent) => {
      if (ended !== undefined) return
      const end = { error, unsent }
      if (sink === undefined) early.push((sink) => sink.ended(end))
      ended = end
      sink?.ended(end)
    },
    ended: () => ended
  }
}

export const make = Effect.gen(function*() {
  const teardown = yield* Teardown.Teardown
  const events = yield* Effect.serviceOption(McpEvent.McpEvents)
  const publish = (event: McpEvent.McpEvent): void => {
    if (Option.isSome(events)) events.value.publish(event)
  }
  return {
    bounds: teardown.options,
    record: (end: Teardown.ServerEnd): void => {
      teardown.record(end)
      publish(McpEvent.McpEvent.Closed({ server: end.server, end }))
    },
    /** The end has to wait for an install. */
    installing: (server: string, { installs, program }: Launcher.Launcher): void =>
      publish(McpEvent.McpEvent.Installing({ server, launcher: program, installs, awaitedBy: "close" }))
  }
})
