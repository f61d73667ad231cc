/** Commands that run until Ctrl-C, or for a given time. */
import * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Usage } from "./Command.ts"
import { duration } from "./commandLine.ts"

export const read = (text: string | undefined): Effect.Effect<Duration.Duration | undefined, Usage> => {
  const read = text === undefined ? undefined : duration(text)
  return text !== undefined && read === undefined
    ? Effect.fail(new Usage({ detail: `"${text}" is no duration.`, next: "Write 500ms, 30s or 2m." }))
    : Effect.succeed(read)
}

export const until =
  (time: Duration.Duration | undefined) => <A, E, R>(self: Stream.Stream<A, E, R>): Stream.Stream<A, E, R> =>
    time === undefined ? self : Stream.interruptAfter(self, time)

/** Hours, minutes and seconds of a day, in UTC. */
export const clock = (milliseconds: number): string =>
  DateTime.formatIso(DateTime.unsafeMake(milliseconds)).slice(11, 19)
