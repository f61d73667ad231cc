/** Commands that run until Ctrl-C, or for a given time. */
import * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Stream from "effect/Stream"

export const until =
  (time: Duration.Duration | undefined) => <A, E, R>(self: Stream.Stream<A, E, R>): Stream.Stream<A, E, R> =>
    time === undefined ? self : Stream.interruptAfter(self, time)

/** Hours, minutes and seconds of a day, in UTC. */
export const clock = (milliseconds: number): string =>
  DateTime.formatIso(DateTime.unsafeMake(milliseconds)).slice(11, 19)
