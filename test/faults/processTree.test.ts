import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { echoes, fails, succeeds } from "./harness.ts"
import { alive, stdio } from "./stdio.ts"

const soon = "2 seconds"

describe("what a process leaves behind", () => {
  for (
    const [mode, says] of [
      ["grandchild-quiet", "a grandchild with its own stdio does not outlive the close"],
      ["grandchild-holds-pipes", "a grandchild that holds the pipes neither outlives nor delays the close"],
      ["grandchild-detached", "a grandchild in a session of its own does not outlive the close"]
    ] as const
  ) {
    stdio(mode, says, (peer, journal) =>
      Effect.gen(function*() {
        yield* echoes(yield* succeeds("open", peer.open))
        assert.strictEqual(alive(journal).length, 2)
        yield* peer.close
        assert.deepStrictEqual(alive(journal), [])
      }))
  }

  stdio(
    "grandchild-holds-and-server-dies",
    "the call fails on the exit, although the pipes stay open",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("bad", session.callTool("bad"), "ConnectionLost", {
          reason: "exited",
          signal: "SIGKILL",
          outcome: "unknown"
        }, soon)
        yield* peer.close
        assert.deepStrictEqual(alive(journal), [])
        assert.strictEqual(journal.executions("bad"), 1)
      })
  )

  stdio("wrapper-polite", "closing ends a launcher and its server", (peer, journal) =>
    Effect.gen(function*() {
      yield* echoes(yield* succeeds("open", peer.open))
      yield* peer.close
      assert.deepStrictEqual(alive(journal), [])
      assert.strictEqual((yield* peer.ends)[0]?.how, "closed")
    }), { wrapped: true, mode: "ok" })

  stdio(
    "wrapper-stubborn",
    "closing signals the whole tree, not only the launcher",
    (peer, journal) =>
      Effect.gen(function*() {
        yield* echoes(yield* succeeds("open", peer.open))
        yield* peer.close
        assert.deepStrictEqual(alive(journal), [])
      }),
    { wrapped: true, mode: "stubborn" }
  )

  stdio(
    "wrapper-stubborn-init-fails",
    "a connect that times out ends the launcher and its server",
    (peer, journal) =>
      Effect.gen(function*() {
        yield* fails("open", peer.open, "ConnectTimeout", { phase: "initialize" })
        assert.isNotEmpty(journal.pids())
        assert.deepStrictEqual(alive(journal), [])
      }),
    { wrapped: true, mode: "init-never-stubborn", config: { startupTimeout: "2 seconds" } }
  )
})
