/**
 * A sink that keeps what it is told, in order, for a test to take.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Queue from "effect/Queue"
import type * as McpError from "../../src/McpError.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import type * as Transport from "../../src/transport/Transport.ts"

/** A request that will get no answer. */
export interface Failed {
  readonly id: JsonRpc.Id
  readonly error: McpError.CallError
}

/** What a transport tells, to be awaited. */
export interface RecordingSink {
  readonly sink: Transport.Sink
  readonly message: Effect.Effect<JsonRpc.Incoming>
  readonly failed: Effect.Effect<Failed>
  readonly diagnostic: Effect.Effect<Transport.Diagnostic>
  readonly ended: Effect.Effect<Transport.Ended>
  /** How often the end was told. */
  readonly ends: () => number
  /** The kinds of what was told, in order. */
  readonly order: ReadonlyArray<keyof Transport.Sink>
}

export const make: Effect.Effect<RecordingSink> = Effect.gen(function*() {
  const messages = yield* Queue.unbounded<JsonRpc.Incoming>()
  const failures = yield* Queue.unbounded<Failed>()
  const diagnostics = yield* Queue.unbounded<Transport.Diagnostic>()
  const ended = Deferred.unsafeMake<Transport.Ended>(FiberId.none)
  const order: Array<keyof Transport.Sink> = []
  return {
    sink: {
      message: (message) => {
        order.push("message")
        messages.unsafeOffer(message)
      },
      waiting: () => {
        order.push("waiting")
      },
      failed: (id, error) => {
        order.push("failed")
        failures.unsafeOffer({ id, error })
      },
      diagnostic: (diagnostic) => {
        order.push("diagnostic")
        diagnostics.unsafeOffer(diagnostic)
      },
      ended: (end) => {
        order.push("ended")
        Deferred.unsafeDone(ended, Effect.succeed(end))
      }
    },
    message: messages.take,
    failed: failures.take,
    diagnostic: diagnostics.take,
    ended: Deferred.await(ended),
    ends: () => order.filter((kind) => kind === "ended").length,
    order
  }
})
