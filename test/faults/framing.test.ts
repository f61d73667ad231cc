import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import type { Diagnostic } from "../../src/transport/Transport.ts"
import { echoes, fails, failure, type Peer, succeeds, textOf } from "./harness.ts"
import { alive, stdio } from "./stdio.ts"

const MiB = 1024 * 1024
const soon = "2 seconds"

const noise = (peer: Peer): ReadonlyArray<Diagnostic> => peer.diagnostics().filter(({ kind }) => kind === "noise")

describe("framing", () => {
  for (const mode of ["noise-banner", "noise-ansi", "not-jsonrpc"]) {
    stdio(
      mode,
      "works; what is no message is told, escaped and bounded, and not at its own rate",
      (peer) =>
        Effect.gen(function*() {
          const session = yield* succeeds("open", peer.open)
          for (let index = 0; index < 50; index++) yield* echoes(session, `echo ${index}`)
          assert.isNotEmpty(noise(peer))
          assert.isBelow(noise(peer).length, 50)
          for (const { detail } of noise(peer)) {
            // oxlint-disable-next-line no-control-regex
            assert.notMatch(detail, /[\u0000-\u001f\u007f-\u009f]/)
            assert.isBelow(detail.length, 2048)
          }
        })
    )
  }

  stdio(
    "noise-same-line",
    "an answer with noise before it on the line is found",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        assert.strictEqual(textOf(yield* succeeds("bad", session.callTool("bad"))), "xxx")
        yield* echoes(session)
      }),
    { config: { requestTimeout: "1 second" } }
  )

  for (const mode of ["bom", "crlf", "tiny-chunks", "utf8-split"]) {
    stdio(mode, "works, character by character", (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* echoes(session, "naïve 日本語 👩‍👩‍👧‍👦\u2028\r\nend")
        yield* succeeds("tools", session.tools)
      }))
  }

  stdio(
    "pretty-json",
    "connect fails with ConnectTimeout, what is wrong is told, and the process is dead",
    (peer, journal) =>
      Effect.gen(function*() {
        yield* fails("open", peer.open, "ConnectTimeout", { outcome: "not-sent" })
        assert.isNotEmpty(noise(peer))
        assert.deepStrictEqual(alive(journal), [])
      }),
    { config: { startupTimeout: "1 second" } }
  )

  stdio("big-result-5mb", "a result under the limit arrives whole", (peer) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      assert.strictEqual(textOf(yield* succeeds("bad", session.callTool("bad"))).length, 5 * MiB)
    }), { memory: 150, lag: 1000 })

  stdio(
    "big-result-drip",
    "three thousand small pieces of one result cost linear time",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        assert.strictEqual(textOf(yield* succeeds("bad", session.callTool("bad"))).length, 6 * MiB)
      }),
    { memory: 150, lag: 1000 }
  )

  stdio(
    "big-result",
    "only the call whose result is over the limit fails, with MessageTooLarge",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        const sibling = yield* Effect.fork(session.callTool("slow", { ms: 300 }))
        yield* journal.until((entry) => entry.executed === "slow")
        yield* fails("bad", session.callTool("bad"), "MessageTooLarge", {
          limit: 16 * MiB,
          direction: "received",
          outcome: "unknown",
          countsForBreaker: false
        })
        assert.strictEqual(textOf(yield* succeeds("sibling", Fiber.join(sibling))), "slow")
        yield* echoes(session)
      }),
    { memory: 150, lag: 1000 }
  )

  stdio(
    "endless-line",
    "the call fails when the limit is passed, and the connection ends when the line does not",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("bad", session.callTool("bad"), "MessageTooLarge", { limit: MiB, outcome: "unknown" })
        const ended = yield* succeeds("ended", session.ended)
        failure("ended", Exit.fail(ended), "ConnectionLost", { reason: "stalled", countsForBreaker: true })
        yield* fails("echo", session.callTool("echo"), "ConnectionLost", { outcome: "not-sent" }, soon)
      }),
    { memory: 150, lag: 1000, config: { maxMessageBytes: MiB } }
  )

  stdio("invalid-utf8", "invalid bytes become U+FFFD", (peer) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      assert.include(textOf(yield* succeeds("bad", session.callTool("bad"))), "\ufffd")
      yield* echoes(session)
    }))

  stdio(
    "deep-json",
    "fifty thousand levels are a value, never a stack overflow",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        const { content } = yield* succeeds("bad", session.callTool("bad"))
        assert.deepStrictEqual(content.map(({ _tag }) => _tag), ["Unknown"])
        yield* echoes(session)
      }),
    { lag: 1000 }
  )

  stdio("deep-noise", "depth harms nobody in what is not an answer either", (peer) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      yield* fails("bad", session.callTool("bad"), "ProtocolViolation", {}, soon)
      yield* echoes(session)
    }), { lag: 1000 })
})
