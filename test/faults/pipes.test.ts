import { assert, describe } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { echoes, fails, failure, settles, succeeds, textOf } from "./harness.ts"
import { alive, stdio } from "./stdio.ts"

const soon = "2 seconds"

describe("pipes that break or clog", () => {
  stdio(
    "close-stdout",
    "the call fails with ConnectionLost at the end of stdout, and the mute process is put down",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("bad", session.callTool("bad"), "ConnectionLost", {
          reason: "stdout-ended",
          outcome: "unknown",
          isRetryable: false,
          countsForBreaker: true
        }, soon)
        yield* fails("echo", session.callTool("echo"), "ConnectionLost", { outcome: "not-sent" }, soon)
        yield* peer.close
        assert.deepStrictEqual(alive(journal), [])
      })
  )

  stdio(
    "close-stdin",
    "the next call fails with ConnectionLost, and the broken pipe harms nobody else",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        assert.strictEqual(textOf(yield* succeeds("bad", session.callTool("bad"))), "deaf from now on")
        yield* fails("echo", session.callTool("echo"), "ConnectionLost", { reason: "stdin-closed" }, soon)
        assert.strictEqual(journal.executions("echo"), 0)
      })
  )

  stdio(
    "stop-reading",
    "calls over the high-water mark are refused at once, those in the queue time out",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* succeeds("bad", session.callTool("bad"))
        const calls = Array.from(
          { length: 1000 },
          () => Effect.exit(session.callTool("echo", { text: "x".repeat(16 * 1024) }))
        )
        const exits = yield* succeeds("calls", Effect.all(calls, { concurrency: "unbounded" }))
        const counts = new Map<string, number>()
        for (const exit of exits) {
          const error = failure("echo", exit, ["Overloaded", "RequestTimeout"])
          counts.set(error._tag, (counts.get(error._tag) ?? 0) + 1)
          if (error._tag === "Overloaded") assert.strictEqual(error.outcome, "not-sent")
        }
        // 8 MiB of 16 KiB each may wait; the rest is refused.
        assert.isAbove(counts.get("Overloaded") ?? 0, 400)
        assert.isAbove(counts.get("RequestTimeout") ?? 0, 100)
      }),
    { memory: 120, bound: "15 seconds", config: { requestTimeout: "1 second", stallTimeout: "20 seconds" } }
  )

  stdio(
    "stop-reading",
    "a process that leaves its stdin unread is lost after the stall limit",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* succeeds("bad", session.callTool("bad"))
        const calls = Array.from(
          { length: 64 },
          () => Effect.exit(session.callTool("echo", { text: "x".repeat(32 * 1024) }))
        )
        const exits = yield* succeeds("calls", Effect.all(calls, { concurrency: "unbounded" }))
        for (const exit of exits) {
          failure("echo", exit, "ConnectionLost", { reason: "stalled", countsForBreaker: true })
        }
        const outcomes = exits.map((exit) =>
          Exit.isFailure(exit) ? failure("echo", exit, "ConnectionLost").outcome : ""
        )
        assert.include(outcomes, "unknown")
        assert.include(outcomes, "not-sent")
      }),
    { config: { stallTimeout: "500 millis" } }
  )

  stdio(
    "stop-reading-at-init",
    "a call to a server that reads no more times out, and the close is in time",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("echo", session.callTool("echo"), "RequestTimeout", { kind: "idle" }, soon)
        yield* peer.close
        assert.deepStrictEqual(alive(journal), [])
      }),
    { config: { requestTimeout: "500 millis" } }
  )

  stdio(
    "stderr-flood",
    "twenty megabytes on stderr hold nothing up, and only the end of it is kept",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        assert.strictEqual(textOf(yield* succeeds("bad", session.callTool("bad"))), "after the flood")
        const settled = yield* settles("tail", session.stderrTail)
        const tail = Exit.isSuccess(settled) ? settled.value ?? "" : ""
        assert.include(tail, "x".repeat(100))
        assert.isAtMost(tail.length, 64 * 1024)
        yield* echoes(session)
      }),
    { memory: 100 }
  )

  stdio(
    "stderr-ansi",
    "terminal sequences on stderr are escaped where they are shown",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        const error = yield* fails(
          "bad",
          session.callTool("bad"),
          "ConnectionLost",
          { reason: "exited", code: 9 },
          soon
        )
        assert.include(error.message, "red")
        assert.include(error.message, "\\x1b")
      })
  )
})
