import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { echoes, fails, type Peer, succeeds, textOf } from "./harness.ts"
import { stdio } from "./stdio.ts"

const soon = "2 seconds"
const impatient = { config: { requestTimeout: "500 millis" } } as const

const told = (peer: Peer, kind: string): boolean => peer.diagnostics().some((diagnostic) => diagnostic.kind === kind)

describe("answers that break JSON-RPC", () => {
  for (const mode of ["wrong-id", "null-id-error"]) {
    stdio(mode, "the answer is dropped and told, the call times out alone", (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("bad", session.callTool("bad"), "RequestTimeout", {
          kind: "idle",
          outcome: "unknown",
          countsForBreaker: true
        }, soon)
        assert.isTrue(told(peer, "dropped"))
        yield* echoes(session)
      }), impatient)
  }

  stdio("id-coerce", "only the exact id is accepted", (peer) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      assert.strictEqual(textOf(yield* succeeds("bad", session.callTool("bad"))), "for the exact id")
      assert.isTrue(told(peer, "dropped") || told(peer, "noise"))
    }))

  stdio("dup-response", "the first answer wins, the second is dropped and told", (peer) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      for (let index = 0; index < 20; index++) yield* echoes(session, `first ${index}`)
      assert.isTrue(told(peer, "dropped"))
    }))

  stdio(
    "early-response",
    "answers to questions that nobody has asked yet poison nothing",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        for (let index = 0; index < 20; index++) yield* echoes(session, `mine ${index}`)
        assert.isTrue(told(peer, "dropped"))
      })
  )

  const malformed = [
    ["error-no-message", "RemoteError", { code: -32050, detail: "" }],
    ["error-string", "ProtocolViolation", { what: "an error that is not an object" }],
    ["error-float-code", "ProtocolViolation", { what: "an error without a numeric code" }],
    ["result-and-error", "ProtocolViolation", { what: "an answer with both a result and an error" }],
    ["neither-result-nor-error", "ProtocolViolation", { what: "an answer with neither a result nor an error" }]
  ] as const
  for (const [mode, tag, fields] of malformed) {
    stdio(mode, `the call fails at once with ${tag}`, (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("bad", session.callTool("bad"), tag, { outcome: "executed", isRetryable: false, ...fields }, soon)
        yield* echoes(session)
      }))
  }

  for (const [mode, code] of [["error-spoof-timeout", -32001], ["error-spoof-closed", -32000]] as const) {
    stdio(
      mode,
      "an error of the server is RemoteError, whatever code and text it borrows",
      (peer) =>
        Effect.gen(function*() {
          const session = yield* succeeds("open", peer.open)
          yield* fails("bad", session.callTool("bad"), "RemoteError", {
            code,
            outcome: "executed",
            countsForBreaker: false
          }, soon)
          yield* echoes(session)
        })
    )
  }

  stdio(
    "error-huge",
    "four megabytes of error text make a short and harmless message",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        const error = yield* fails("bad", session.callTool("bad"), "RemoteError", { code: -32603 })
        assert.isBelow(String(error).length, 4096)
        yield* echoes(session)
      })
  )

  stdio("out-of-order", "fifty answers in reverse order find their calls", (peer) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      const texts = Array.from({ length: 50 }, (_, index) => `call ${index}`)
      const results = yield* succeeds(
        "calls",
        Effect.forEach(texts, (text) => session.callTool("bad", { text }), { concurrency: "unbounded" })
      )
      assert.deepStrictEqual(results.map(textOf), texts)
    }))

  stdio("burst", "five hundred calls at once all get their own answer", (peer, journal) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      const texts = Array.from({ length: 500 }, (_, index) => `call ${index}`)
      const results = yield* succeeds(
        "calls",
        Effect.forEach(texts, (text) => session.callTool("echo", { text }), { concurrency: "unbounded" })
      )
      assert.deepStrictEqual(results.map(textOf), texts)
      assert.strictEqual(journal.executions("echo"), 500)
    }), { mode: "ok" })
})
