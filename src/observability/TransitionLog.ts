/**
 * One line of log for each transition of a server: failures as warnings, recoveries as information, the rest for
 * debugging. A line holds no text of a server and no payload.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as LogLevel from "effect/LogLevel"
import * as Mailbox from "effect/Mailbox"
import type * as Scope from "effect/Scope"
import * as McpEvent from "../McpEvent.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import * as Redaction from "../safety/Redaction.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as TransitionLine from "./internal/transitionLine.ts"

/** Lines that a busy application may leave unwritten; the oldest are lost first. */
const backlog = 1_024

/** How long the end of the scope waits for the last lines. */
const farewell = Duration.seconds(1)

const write = (hidden: Redaction.Redactor["text"]) => ({ level, message, server }: TransitionLine.Line) => {
  const logged = RuntimeLog.withLevel(LogLevel[level], hidden(message))
  return server === undefined ? logged : Effect.annotateLogs(logged, "server", UntrustedText.excerpt(server, 128))
}

/**
 * Writes the events published from now on; when the scope closes, what was published before is still written. Its scope
 * has to outlive the runtime, because the teardown is written too.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<void, never, McpEvent.McpEvents | Scope.Scope> = Effect.gen(function*() {
  const events = yield* McpEvent.McpEvents
  const clock = yield* Effect.clock
  const { text } = yield* Redaction.Redaction
  const lineOf = TransitionLine.make(() => clock.unsafeCurrentTimeMillis())
  const lines = yield* Mailbox.make<TransitionLine.Line>({ capacity: backlog, strategy: "sliding" })
  const writing: Effect.Effect<void> = Effect.flatMap(lines.takeAll, ([some, done]) => {
    const written = Effect.forEach(some, write(text), { discard: true })
    return done ? written : Effect.zipRight(written, Effect.suspend(() => writing))
  })
  const writer = yield* Effect.forkScoped(writing)
  // Heard synchronously: a subscription would wake a fiber for every call, and lose transitions behind many calls.
  const stop = events.onEvent((event) => {
    const line = lineOf(event)
    if (line !== undefined) lines.unsafeOffer(line)
  })
  yield* Effect.addFinalizer(() =>
    Effect.sync(stop).pipe(
      Effect.zipRight(lines.end),
      Effect.zipRight(BoundedWait.within(farewell)(Fiber.await(writer)))
    )
  )
})

/**
 * Provide it to the layer of the runtime, not beside it.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<never, never, McpEvent.McpEvents> = Layer.scopedDiscard(make)
