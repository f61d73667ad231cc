import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { echoes, fails, succeeds } from "./harness.ts"
import { alive, stdio } from "./stdio.ts"

describe("handshakes", () => {
  for (
    const [mode, got] of [["ver-unknown", "banana"], ["ver-ancient", "2023-01-01"], [
      "ver-future",
      "2099-01-01"
    ]] as const
  ) {
    stdio(
      mode,
      "connect fails with HandshakeFailed/version, for good, and the process is dead",
      (peer, journal) =>
        Effect.gen(function*() {
          yield* fails("open", peer.open, "HandshakeFailed", {
            reason: "version",
            got,
            supported: (versions: ReadonlyArray<string>) => versions.includes("2025-11-25"),
            outcome: "not-sent",
            isRetryable: false,
            countsForBreaker: true
          })
          assert.deepStrictEqual(alive(journal), [])
        })
    )
  }

  stdio(
    "ver-missing",
    "connect fails with ProtocolViolation, and the process is dead",
    (peer, journal) =>
      Effect.gen(function*() {
        yield* fails("open", peer.open, "ProtocolViolation", { phase: "initialize", countsForBreaker: true })
        assert.deepStrictEqual(alive(journal), [])
      })
  )

  stdio(
    "ver-oldest-supported",
    "the oldest version is spoken where the server asks for it",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        assert.strictEqual(session.protocolVersion, "2024-11-05")
        yield* echoes(session)
      })
  )

  for (const mode of ["caps-missing", "serverinfo-missing"]) {
    stdio(mode, "works, and says what is missing", (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        if (mode === "serverinfo-missing") assert.isUndefined(session.serverInfo)
        else assert.deepStrictEqual(session.capabilities, {})
        yield* echoes(session)
        assert.isTrue(peer.diagnostics().some(({ kind }) => kind === "lenient"))
      }))
  }
})
