/** What every transport has in common: an outlet to its sink, and the report of its end to the teardown. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Launcher from "../config/launcher.ts"
import type * as Limits from "../config/Limits.ts"
import type * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as Failure from "./failure.ts"
import type * as JsonRpc from "./JsonRpc.ts"
import type * as Transport from "./Transport.ts"

/** A sink before it is there: what comes before `start` waits for it, what comes after the end is dropped. */
export const outlet = (server: string, { maxMessageBytes }: Limits.Limits) => {
  let early: Array<(sink: Transport.Sink) => void> = []
  let sink: Transport.Sink | undefined
  let ended: Transport.Ended | undefined
  const tell = (what: (sink: Transport.Sink) => void): void => {
    if (ended !== undefined) return
    if (sink === undefined) early.push(what)
    else what(sink)
  }
  const open: Omit<Transport.Sink, "ended"> = {
    message: (message) => tell((sink) => sink.message(message)),
    failed: (id, error) => tell((sink) => sink.failed(id, error)),
    waiting: (id, open) => tell((sink) => sink.waiting(id, open)),
    diagnostic: (diagnostic) => tell((sink) => sink.diagnostic(diagnostic))
  }
  return {
    ...open,
    start: (to: Transport.Sink): void => {
      // what the sink causes meanwhile is added to the rest, so that the order stays
      for (const what of early) what(to)
      early = []
      sink = to
    },
    /** Ends the transport; only the first call has an effect. */
    end: (error: Transport.Ended["error"], unsent: Transport.Ended["unsent"]): void => {
      if (ended !== undefined) return
      const end = { error, unsent }
      if (sink === undefined) early.push((sink) => sink.ended(end))
      ended = end
      sink?.ended(end)
    },
    ended: () => ended,
    /** The JSON text of a message. It fails after the end, and for a cycle, a BigInt or nesting too deep in arguments. */
    encode: (
      message: JsonRpc.Message,
      terminator = ""
    ): Either.Either<{ readonly text: string; readonly bytes: number }, McpError.CallError> => {
      if (ended !== undefined) return Either.left(ended.error("not-sent"))
      let text: string
      try {
        text = JSON.stringify(message) + terminator
      } catch {
        const name = "method" in message ? message.method : "a response"
        const what = "a message that cannot be written as JSON"
        return Either.left(Failure.violation(server, what, name, { outcome: "not-sent" }))
      }
      const bytes = Buffer.byteLength(text)
      return bytes > maxMessageBytes
        ? Either.left(Failure.tooLarge(server, maxMessageBytes, "sent"))
        : Either.right({ text, bytes })
    }
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
