import { assert, describe } from "@effect/vitest"
import { Chunk, Effect, Fiber, Stream } from "effect"
import { echoes, fails, succeeds, textOf } from "./harness.ts"
import { stdio } from "./stdio.ts"

describe("notifications", () => {
  stdio(
    "list-changed-loop",
    "listing on every change makes no loop: at most one signal per second",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        const listing = yield* Effect.fork(Stream.runForEach(session.listChanged("tools"), () => session.tools))
        // The watch is in place when a change has come through it.
        yield* Effect.repeat(Effect.delay(session.callTool("bad"), "20 millis"), {
          until: () => journal.count("tools/list") > 0
        })
        yield* Effect.sleep("1500 millis")
        yield* Fiber.interrupt(listing)
        assert.isAtLeast(journal.count("tools/list"), 2)
        assert.isAtMost(journal.count("tools/list"), 4)
        yield* echoes(session)
      })
  )

  stdio(
    "progress-flood",
    "the result arrives, and the last progress before it, however many there are",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        const seen: Array<number> = []
        const onProgress = ({ progress }: { readonly progress: number }) => void seen.push(progress)
        const result = yield* succeeds("bad", session.callTool("bad", {}, { onProgress }))
        assert.strictEqual(textOf(result), "done")
        assert.strictEqual(seen.at(-1), 20_000)
        const events = yield* succeeds("stream", Stream.runCollect(Stream.takeRight(session.callToolStream("bad"), 2)))
        assert.deepStrictEqual(Chunk.toReadonlyArray(events).map((event) => event._tag), ["Progress", "Result"])
        const [last] = Chunk.toReadonlyArray(events)
        assert.strictEqual(last?._tag === "Progress" ? last.progress.progress : undefined, 20_000)
      }),
    { memory: 150, lag: 1000 }
  )

  stdio("progress-callback-throws", "a progress callback that throws is contained", (peer) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      const result = yield* succeeds(
        "bad",
        session.callTool("bad", {}, {
          onProgress: () => {
            throw new Error("the caller's own mistake")
          }
        })
      )
      assert.strictEqual(textOf(result), "done")
      yield* echoes(session)
    }), { mode: "progress-flood" })

  stdio(
    "progress-forever",
    "progress puts off the idle limit, never the total one",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        const call = session.callTool("bad", {}, { idleTimeout: "1 second", totalTimeout: "1600 millis" })
        yield* fails(
          "bad",
          call,
          "RequestTimeout",
          { kind: "total", outcome: "unknown", countsForBreaker: true },
          "4 seconds"
        )
        yield* journal.until((entry) => entry.got === "notifications/cancelled")
        yield* echoes(session)
      })
  )

  stdio(
    "progress-forever-no-total",
    "without a total limit of the caller's, the server's applies",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("bad", session.callTool("bad"), "RequestTimeout", { kind: "total" }, "4 seconds")
      }),
    { mode: "progress-forever", config: { requestTimeout: "1200 millis", toolTimeout: "2 seconds" } }
  )

  stdio(
    "log-flood",
    "a slow reader loses the oldest; calls go on, and memory is bounded",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        let read = 0
        const reading = yield* Effect.fork(
          Stream.runForEach(session.notifications, () => Effect.delay(Effect.sync(() => read++), "5 millis"))
        )
        assert.strictEqual(textOf(yield* succeeds("bad", session.callTool("bad"))), "here it comes")
        for (let index = 0; index < 10; index++) yield* echoes(session)
        yield* Fiber.interrupt(reading)
        assert.isAbove(read, 0)
        assert.isBelow(read, 5_000)
        assert.strictEqual(journal.executions("echo"), 10)
      }),
    { memory: 150, lag: 1000 }
  )

  stdio(
    "unknown-notifications",
    "what nobody knows, and what is malformed, is ignored",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        assert.strictEqual(textOf(yield* succeeds("bad", session.callTool("bad"))), "unimpressed")
        yield* echoes(session)
      })
  )
})

describe("requests of the server", () => {
  stdio(
    "server-requests",
    "each is answered: {} to ping, -32601 to what nobody offers",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        assert.strictEqual(textOf(yield* succeeds("bad", session.callTool("bad"))), "asked")
        const answers = journal.entries().filter((entry) => entry["asked"] !== undefined)
        assert.deepStrictEqual(answers.map(({ asked, code, result }) => [asked, code ?? result]), [
          ["sampling/createMessage", -32601],
          ["elicitation/create", -32601],
          ["roots/list", -32601],
          ["host/environment", -32601],
          ["ping", {}]
        ])
      })
  )

  stdio(
    "server-request-flood",
    "twenty thousand requests are all answered, and calls go on",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        assert.strictEqual(textOf(yield* succeeds("bad", session.callTool("bad"))), "20000")
        yield* echoes(session)
      }),
    { memory: 150, lag: 1000 }
  )

  stdio(
    "server-request-flood-noread",
    "answers that nobody reads are shed, and the connection is lost after the stall limit",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("bad", session.callTool("bad"), "ConnectionLost", {
          reason: "stalled",
          outcome: "unknown",
          countsForBreaker: true
        })
      }),
    { memory: 150, lag: 1000, config: { stallTimeout: "700 millis" } }
  )
})
