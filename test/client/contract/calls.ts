import { assert } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as McpClient from "../../../src/client/McpClient.ts"
import { type Cell, type It, Opened, textOf } from "./cell.ts"

/** The way of a call: many at once, progress, cancellation, limits, tasks. */
export const calls = (it: It, cell: Cell): void => {
  it.effect("matches each of fifty concurrent calls with its own answer", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const values = Array.from({ length: 50 }, (_, n) => `value ${n}`)
      const results = yield* Effect.forEach(values, (value) => session.callTool("echo", { value }), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(results.map(textOf), values)
    }))

  it.effect("receives a result of two megabytes whole", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const result = yield* session.callTool("big", { bytes: 2_000_000 })
      assert.strictEqual(textOf(result)?.length, 2_000_000)
    }))

  it.effect("reports all progress in order, the last included", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const seen: Array<McpClient.Progress> = []
      const result = yield* session.callTool("progress", { steps: 5 }, {
        onProgress: (progress) => void seen.push(progress)
      })
      assert.deepStrictEqual(
        seen,
        [1, 2, 3, 4, 5].map((n) => ({ progress: n, total: 5, message: `step ${n}` }))
      )
      assert.strictEqual(textOf(result), "5 steps")
    }))

  it.effect("streams progress and then the result", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const events = Chunk.toReadonlyArray(yield* Stream.runCollect(session.callToolStream("progress", { steps: 3 })))
      const last = events.at(-1)
      assert.isTrue(last?._tag === "Result" && textOf(last.result) === "3 steps")
      const steps = events.flatMap((event) => event._tag === "Progress" ? [event.progress.progress] : [])
      assert.deepStrictEqual(steps, steps.toSorted((a, b) => a - b))
      assert.strictEqual(steps.at(-1), 3)
      assert.strictEqual(steps.length, events.length - 1)
    }))

  it.effect("cancels at the server a call that is interrupted", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const fiber = yield* Effect.fork(session.callTool("slow", { token: "interrupted" }))
      yield* session.callTool("started", { token: "interrupted" })
      yield* Fiber.interrupt(fiber)
      const result = yield* session.callTool("cancelled", { token: "interrupted" }, { idleTimeout: "5 seconds" })
      assert.strictEqual(textOf(result), "cancelled")
    }))

  it.effect("cancels at the server a call whose stream is left", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const fiber = yield* Effect.fork(Stream.runDrain(session.callToolStream("slow", { token: "left" })))
      yield* session.callTool("started", { token: "left" })
      yield* Fiber.interrupt(fiber)
      const result = yield* session.callTool("cancelled", { token: "left" }, { idleTimeout: "5 seconds" })
      assert.strictEqual(textOf(result), "cancelled")
    }))

  it.effect("ends a call without an answer at its idle limit, and stays connected", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const error = yield* Effect.flip(session.callTool("slow", { token: "idle" }, { idleTimeout: "100 millis" }))
      assert.deepInclude(error, { _tag: "RequestTimeout", kind: "idle", outcome: "unknown" })
      assert.strictEqual(textOf(yield* session.callTool("echo", { value: "still here" })), "still here")
    }))

  it.effect("cancels at the server a call that has taken too long in all", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      // A call that has ended before it reached the server shows nothing, so such a one is given more time.
      const outlast = (limit: number): Effect.Effect<string, unknown> =>
        Effect.gen(function*() {
          const token = `total ${limit}`
          const started = yield* Effect.fork(session.callTool("started", { token }))
          const error = yield* Effect.flip(session.callTool("slow", { token }, { totalTimeout: limit }))
          assert.deepInclude(error, { _tag: "RequestTimeout", kind: "total", outcome: "unknown" })
          if (Option.isSome(yield* Fiber.poll(started))) return token
          yield* Fiber.interrupt(started)
          return yield* outlast(limit * 2)
        })
      const token = yield* outlast(100)
      const result = yield* session.callTool("cancelled", { token }, { idleTimeout: "5 seconds" })
      assert.strictEqual(textOf(result), "cancelled")
    }))

  it.effect("answers a request that has no method of its own", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const result = yield* session.request("tools/call", { name: "echo", arguments: { value: "raw" } })
      assert.deepInclude(result, { content: [{ type: "text", text: "raw" }] })
    }))

  it.effect("fails a method that the server does not know with its answer", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const error = yield* Effect.flip(session.request("peer/unknown"))
      assert.deepInclude(error, { _tag: "RemoteError", code: -32_601 })
    }))

  if (cell.kind === "1.x") {
    it.effect("runs a tool that is a task, and follows it to its result", () =>
      Effect.gen(function*() {
        const { session } = yield* Opened
        const events = Chunk.toReadonlyArray(
          yield* Stream.runCollect(session.callToolStream("job", { value: "followed" }))
        )
        const [first] = events
        assert.isTrue(first?._tag === "Task" && first.update._tag === "Created")
        const last = events.at(-1)
        assert.isTrue(last?._tag === "Result" && textOf(last.result) === "done: followed")
      }))

    it.effect("calls a tool that is a task like any other", () =>
      Effect.gen(function*() {
        const { session } = yield* Opened
        yield* session.tools
        assert.strictEqual(textOf(yield* session.callTool("job", { value: "called" })), "done: called")
      }))
  }
}
