/**
 * A sink that remembers what it was told, and lets a test wait for it.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import type * as McpError from "../../src/McpError.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import type * as Transport from "../../src/transport/Transport.ts"

export interface Recorder {
  readonly sink: Transport.Sink
  readonly messages: Array<JsonRpc.Incoming>
  readonly failures: Array<{ readonly id: JsonRpc.Id; readonly error: McpError.CallError }>
  readonly diagnostics: Array<Transport.Diagnostic>
  readonly endings: Array<Transport.Ended>
  /** All of it in the order of arrival, in a word each. */
  readonly order: Array<string>
  readonly until: (predicate: () => boolean) => Effect.Effect<void>
  readonly answer: (id: JsonRpc.Id) => Effect.Effect<JsonRpc.Incoming>
  readonly ended: Effect.Effect<Transport.Ended>
}

export const make = (): Recorder => {
  const waiting = new Map<Deferred.Deferred<void>, () => boolean>()
  const recorder: Recorder = {
    messages: [],
    failures: [],
    diagnostics: [],
    endings: [],
    order: [],
    sink: {
      message: (message) =>
        told(`message ${String(message["id"] ?? message["method"])}`, () => recorder.messages.push(message)),
      failed: (id, error) => told(`failed ${id}`, () => recorder.failures.push({ id, error })),
      waiting: (id, open) => told(`waiting ${id} ${open}`, () => undefined),
      diagnostic: (diagnostic) => told(diagnostic.kind, () => recorder.diagnostics.push(diagnostic)),
      ended: (ended) => told("ended", () => recorder.endings.push(ended))
    },
    until: (predicate) =>
      Effect.suspend(() => {
        if (predicate()) return Effect.void
        const deferred = Deferred.unsafeMake<void>(FiberId.none)
        waiting.set(deferred, predicate)
        return Deferred.await(deferred)
      }),
    answer: (id) =>
      Effect.suspend(() => {
        const find = () => recorder.messages.find((message) => message["id"] === id)
        return Effect.map(recorder.until(() => find() !== undefined), () => find()!)
      }),
    ended: Effect.suspend(() =>
      Effect.map(recorder.until(() => recorder.endings.length > 0), () => recorder.endings[0]!)
    )
  }
  const told = (word: string, keep: () => void) => {
    keep()
    recorder.order.push(word)
    for (const [deferred, predicate] of waiting) {
      if (!predicate()) continue
      waiting.delete(deferred)
      Deferred.unsafeDone(deferred, Effect.void)
    }
  }
  return recorder
}
