import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Configs from "../support/configs.ts"
import { echoes, fails, run, settles, succeeds, test, textOf } from "./harness.ts"
import * as Journal from "./journal.ts"
import { alive, defaults, stdio } from "./stdio.ts"

const soon = "2 seconds"

process.env["FLEET_SECRET"] = "for this process only"

describe("the life of a process", () => {
  stdio(
    "ok",
    "everything works, only the allowed environment gets in, and the process is gone after the close",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* echoes(session)
        const { tools } = yield* succeeds("tools", session.tools)
        assert.include(tools.map((tool) => tool.name), "echo")
        const names = textOf(yield* succeeds("env", session.callTool("env"))).split(" ")
        assert.include(names, "PATH")
        assert.include(names, "DECLARED")
        assert.notInclude(names, "FLEET_SECRET")
        yield* peer.close
        assert.deepStrictEqual(alive(journal), [])
        const [end] = yield* peer.ends
        assert.strictEqual(end?.how, "closed")
        assert.strictEqual(end?.exit?.code, 0)
      }),
    { config: { env: { DECLARED: "yes" } } }
  )

  for (
    const [mode, errno, change] of [
      ["spawn-enoent", "ENOENT", () => ({ command: "/no/such/command-of-the-fleet" })],
      ["spawn-enoent (by name)", "ENOENT", () => ({ command: "no-such-command-of-the-fleet" })],
      ["spawn-eacces", "EACCES", (folder: string) => {
        const command = join(folder, "not-executable")
        writeFileSync(command, "#!/bin/sh\n")
        chmodSync(command, 0o644)
        return { command }
      }]
    ] as const
  ) {
    test(
      mode,
      `connect fails at once with SpawnFailed{${errno}}, for good`,
      run(
        Effect.map(Journal.make, (journal) => ({
          config: Configs.stdio({ ...defaults, ...change(journal.folder) }),
          server: undefined,
          remains: { left: () => [] }
        })),
        (peer) =>
          fails("open", peer.open, "SpawnFailed", {
            errno,
            outcome: "not-sent",
            isRetryable: false,
            countsForBreaker: true
          }, soon)
      )
    )
  }

  stdio(
    "spawn-bad-cwd",
    "connect fails with SpawnFailed that names the folder, not the command",
    (peer) =>
      fails("open", peer.open, "SpawnFailed", {
        cwd: "/no/such/folder-of-the-fleet",
        detail: (detail: string) => detail.includes("/no/such/folder-of-the-fleet"),
        outcome: "not-sent",
        isRetryable: false
      }, soon),
    { config: { cwd: "/no/such/folder-of-the-fleet" } }
  )

  for (
    const [mode, phase] of [["init-never", "initialize"], ["init-never-stubborn", "initialize"], [
      "silent",
      undefined
    ]] as const
  ) {
    stdio(
      mode,
      "connect fails with ConnectTimeout, and the process is dead before it does",
      (peer, journal) =>
        Effect.gen(function*() {
          yield* fails("open", peer.open, "ConnectTimeout", {
            phase: (found: string) =>
              phase === undefined ? ["discover", "initialize"].includes(found) : found === phase,
            outcome: "not-sent",
            isRetryable: true,
            countsForBreaker: true
          })
          assert.isNotEmpty(journal.pids())
          assert.deepStrictEqual(alive(journal), [])
        }),
      { config: { startupTimeout: "1500 millis" } }
    )
  }

  stdio(
    "init-slow",
    "an answer inside the deadline is in time",
    (peer) => Effect.flatMap(succeeds("open", peer.open), (session) => echoes(session))
  )

  stdio(
    "init-late",
    "connect fails with ConnectTimeout, and the late answer has nobody to come from",
    (peer, journal) =>
      Effect.gen(function*() {
        yield* fails("open", peer.open, "ConnectTimeout", { phase: "initialize" })
        assert.deepStrictEqual(alive(journal), [])
      }),
    { config: { startupTimeout: "1500 millis" } }
  )

  stdio(
    "init-exit",
    "connect fails at once with ConnectionLost/exited that carries the end of stderr",
    (peer) =>
      fails("open", peer.open, "ConnectionLost", {
        reason: "exited",
        code: 7,
        signal: null,
        phase: "initialize",
        outcome: "not-sent",
        countsForBreaker: true,
        stderrTail: (tail: string) => tail.includes("cannot open the database")
      }, "3 seconds")
  )

  stdio("init-error", "connect fails at once with HandshakeFailed", (peer, journal) =>
    Effect.gen(function*() {
      yield* fails("open", peer.open, "HandshakeFailed", {
        reason: "rejected",
        code: -32000,
        detail: "no licence",
        outcome: "not-sent"
      })
      assert.deepStrictEqual(alive(journal), [])
    }))

  stdio(
    "init-answer-after-exit",
    "connect fails with ConnectionLost/exited although an answer comes",
    (peer, journal) =>
      Effect.gen(function*() {
        yield* fails(
          "open",
          peer.open,
          "ConnectionLost",
          { reason: "exited", code: 0, outcome: "not-sent" },
          "3 seconds"
        )
        assert.deepStrictEqual(alive(journal), [])
      })
  )

  stdio(
    "sigkill-mid-call",
    "every pending call fails with ConnectionLost/exited{SIGKILL}, and nothing is sent twice",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        const hanging = yield* Effect.fork(Effect.exit(session.callTool("hang")))
        yield* journal.until((entry) => entry.executed === "hang")
        const lost = { signal: "SIGKILL", code: null, outcome: "unknown", isRetryable: false, countsForBreaker: true }
        yield* fails("bad", session.callTool("bad"), "ConnectionLost/exited", lost, soon)
        yield* fails("hang", Effect.flatten(Fiber.join(hanging)), "ConnectionLost/exited", lost, soon)
        yield* fails(
          "echo",
          session.callTool("echo"),
          "ConnectionLost/exited",
          { outcome: "not-sent", isRetryable: true },
          soon
        )
        const ended = yield* succeeds("ended", session.ended)
        assert.deepInclude(ended, { _tag: "ConnectionLost", reason: "exited" })
        assert.deepStrictEqual([journal.executions("bad"), journal.executions("hang")], [1, 1])
      })
  )

  stdio(
    "exit-with-last-result",
    "the result in the pipe is delivered before the exit is told",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        assert.strictEqual(textOf(yield* succeeds("bad", session.callTool("bad"))), "the last words")
        yield* fails("echo", session.callTool("echo"), "ConnectionLost", {
          reason: "exited",
          code: 0,
          outcome: (o: string) => o !== "executed"
        }, soon)
      })
  )

  stdio(
    "crash-loop",
    "opened and killed again and again, each connection ends alone and leaves nothing",
    (peer, journal) =>
      Effect.gen(function*() {
        for (let round = 0; round < 3; round++) {
          const session = yield* succeeds("open", peer.open)
          yield* fails(
            "bad",
            session.callTool("bad"),
            "ConnectionLost",
            { reason: "exited", countsForBreaker: true },
            soon
          )
        }
        assert.strictEqual(journal.executions("bad"), 3)
        assert.strictEqual(journal.pids().length, 3)
      }),
    { mode: "sigkill-mid-call" }
  )

  stdio("slow-exit", "a server that needs its time to flush gets it", (peer, journal) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      yield* echoes(session)
      yield* peer.close
      assert.isTrue(journal.entries().some((entry) => entry["flushed"] === true))
      assert.strictEqual((yield* peer.ends)[0]?.how, "closed")
    }), { teardown: { stdinGrace: "3 seconds" } })

  stdio("stubborn", "a server that ignores the end of stdin is terminated", (peer, journal) =>
    Effect.gen(function*() {
      yield* echoes(yield* succeeds("open", peer.open))
      yield* peer.close
      assert.deepStrictEqual(alive(journal), [])
      assert.strictEqual((yield* peer.ends)[0]?.how, "terminated")
    }))

  stdio(
    "ignore-term",
    "a server that ignores SIGTERM as well is killed within the bounds",
    (peer, journal) =>
      Effect.gen(function*() {
        yield* echoes(yield* succeeds("open", peer.open))
        yield* peer.close
        assert.deepStrictEqual(alive(journal), [])
        const [end] = yield* peer.ends
        assert.strictEqual(end?.how, "killed")
        assert.includeMembers([...(end?.killed ?? [])], [...journal.pids()])
      })
  )

  stdio(
    "close-idempotent",
    "closing twice at once is closing once, and closed is final",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* Effect.all([peer.close, peer.close], { concurrency: "unbounded" })
        yield* fails("echo", session.callTool("echo"), "Closed", {
          outcome: "not-sent",
          isRetryable: false,
          countsForBreaker: false
        }, soon)
        assert.strictEqual((yield* succeeds("ended", session.ended))._tag, "Closed")
        assert.strictEqual(journal.pids().length, 1)
        assert.strictEqual((yield* peer.ends).length, 1)
      }),
    { mode: "ok" }
  )

  stdio(
    "stubborn",
    "closing with a call under way fails the call with Closed",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        const hanging = yield* Effect.fork(Effect.exit(session.callTool("hang")))
        yield* journal.until((entry) => entry.executed === "hang")
        yield* peer.close
        yield* fails("hang", Effect.flatten(Fiber.join(hanging)), "Closed", { outcome: "unknown" }, soon)
      })
  )

  stdio("init-never-stubborn", "interrupting a connect leaves no process", (peer, journal) =>
    Effect.gen(function*() {
      const opening = yield* Effect.fork(peer.open)
      yield* journal.until((entry) => entry.got === "initialize")
      const exit = yield* settles("interrupt", Fiber.interrupt(opening))
      assert.isTrue(Exit.isSuccess(exit))
      assert.deepStrictEqual(alive(journal), [])
    }))

  stdio(
    "churn-20",
    "twenty connections one after the other leave no descriptor behind",
    (peer, journal) =>
      Effect.gen(function*() {
        const round = Effect.gen(function*() {
          yield* echoes(yield* succeeds("open", peer.open))
          yield* peer.close
        })
        yield* round
        const before = Journal.descriptors()
        for (let index = 0; index < 20; index++) yield* round
        assert.isAtMost(Journal.descriptors(), before + 2)
        assert.strictEqual(journal.pids().length, 21)
        assert.deepStrictEqual(alive(journal), [])
      }),
    { mode: "ok", bound: "20 seconds" }
  )
})
