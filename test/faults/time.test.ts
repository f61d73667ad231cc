import { assert, describe } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber } from "effect"
import { echoes, fails, settles, succeeds, textOf } from "./harness.ts"
import { stdio } from "./stdio.ts"

const soon = "2 seconds"

describe("time, cancellation, concurrency", () => {
  stdio(
    "hang-one",
    "only the call that hangs times out, and the server is told so",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("hang", session.callTool("hang"), "RequestTimeout", {
          kind: "idle",
          operation: "tools/call",
          outcome: "unknown",
          isRetryable: false,
          countsForBreaker: true
        }, soon)
        const call = yield* journal.until((entry) => entry.executed === "hang")
        const told = yield* journal.until((entry) => entry.got === "notifications/cancelled")
        assert.strictEqual(told.params?.["requestId"], call.id)
        yield* echoes(session)
        assert.strictEqual(journal.pids().length, 1)
      }),
    { mode: "ok", config: { requestTimeout: "500 millis" } }
  )

  stdio("sibling-survives-timeout", "a call that times out costs no other", (peer) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      const sibling = yield* Effect.fork(session.callTool("slow", { ms: 1000 }))
      yield* fails("hang", session.callTool("hang", {}, { idleTimeout: "300 millis" }), "RequestTimeout", {}, soon)
      assert.strictEqual(textOf(yield* succeeds("sibling", Fiber.join(sibling))), "slow")
    }), { mode: "ok" })

  stdio(
    "abort-call",
    "interrupting a call cancels it at the server and is no error",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        const hanging = yield* Effect.fork(session.callTool("hang"))
        const call = yield* journal.until((entry) => entry.executed === "hang")
        const exit = yield* settles("interrupt", Effect.flatten(Fiber.interrupt(hanging)), soon)
        assert.isTrue(Exit.isInterrupted(exit))
        const told = yield* journal.until((entry) => entry.got === "notifications/cancelled")
        assert.strictEqual(told.params?.["requestId"], call.id)
        yield* echoes(session)
      }),
    { mode: "ok" }
  )

  stdio(
    "abort-after-done",
    "interrupting whoever has finished a hundred calls cancels none of them",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        const caller = yield* Effect.fork(
          Effect.zipRight(Effect.repeatN(session.callTool("echo", { text: "x" }), 99), Effect.never)
        )
        yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => journal.executions("echo") === 100 })
        yield* echoes(session)
        yield* settles("interrupt", Fiber.interrupt(caller), soon)
        yield* echoes(session)
        assert.strictEqual(journal.count("notifications/cancelled"), 0)
      }),
    { mode: "ok" }
  )

  stdio("ping-never", "a ping without an answer times out, and calls go on", (peer) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      yield* fails("ping", session.health, "RequestTimeout", { operation: "ping", countsForBreaker: true }, soon)
      yield* echoes(session)
    }), { limits: { pingTimeout: Duration.millis(500) } })

  stdio(
    "slow-drip",
    "a result that comes drop by drop inside the deadline is in time",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        assert.strictEqual(textOf(yield* succeeds("bad", session.callTool("bad"))).length, 20 * 1024)
      })
  )

  stdio(
    "late-response",
    "an answer after the time-out is dropped and told; the next call gets its own",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("bad", session.callTool("bad", {}, { idleTimeout: "300 millis" }), "RequestTimeout", {}, soon)
        yield* journal.until((entry) => entry["answered"] === "late")
        yield* echoes(session)
        assert.isTrue(peer.diagnostics().some(({ kind }) => kind === "dropped"))
      })
  )
})
