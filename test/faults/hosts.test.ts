import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Built from "../support/built.ts"
import { eventually } from "../support/leaks.ts"
import type * as Journal from "./journal.ts"
import { alive, journalOfMine, program } from "./stdio.ts"

interface Ended {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

describe("a host that ends without a close", () => {
  let host: string

  beforeAll(async () => {
    host = await Built.bundled(fileURLToPath(new URL("../fixtures/faults/host.mjs", import.meta.url)))
  }, 60_000)

  const run = (mode: string, ending: "exit" | "crash" | "wait", journal: Journal.Journal) =>
    Effect.async<Ended>((resume) => {
      const child = spawn(process.execPath, [host, program, mode, journal.file, ending], {
        stdio: ["ignore", "pipe", "pipe"]
      })
      let stdout = ""
      let stderr = ""
      child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
      child.stdout.on("data", (chunk: Buffer) => {
        stdout += chunk.toString()
        if (ending === "wait" && stdout.includes("ready\n")) child.kill("SIGTERM")
      })
      child.on("exit", (code, signal) => resume(Effect.succeed({ code, signal, stdout, stderr })))
      return Effect.sync(() => child.kill("SIGKILL"))
    }).pipe(Effect.timeout("10 seconds"), Effect.orDie)

  const noOrphan = (journal: Journal.Journal) =>
    eventually(() => alive(journal).length === 0, () => `orphans: ${alive(journal).join(", ")}`, 2000)

  for (
    const [name, says, mode, ending] of [
      ["no-close-host-exits", "a polite server ends with its host", "ok", "exit"],
      ["no-close-host-exits-stubborn", "a server that ignores the end of stdin ends with its host", "stubborn", "exit"],
      ["no-close-host-exits-stubborn", "so does a grandchild", "grandchild-quiet", "exit"],
      ["no-close-host-exits-stubborn", "so does a server that ignores SIGTERM", "ignore-term", "exit"],
      ["no-close-host-crashes", "a stubborn server ends with a host that dies of an exception", "stubborn", "crash"],
      ["no-close-host-is-terminated", "a stubborn server ends with a host that is terminated", "stubborn", "wait"]
    ] as const
  ) {
    it.scopedLive(`${name}: ${says}`, () =>
      Effect.gen(function*() {
        const journal = yield* journalOfMine
        const ended = yield* run(mode, ending, journal)
        assert.strictEqual(ended.stdout, "ready\n", ended.stderr)
        if (ending === "exit") assert.strictEqual(ended.code, 0)
        if (ending === "crash") assert.strictEqual(ended.code, 1)
        if (ending === "wait") assert.strictEqual(ended.signal, "SIGTERM")
        assert.isNotEmpty(journal.pids())
        yield* noOrphan(journal)
      }))
  }

  it.scopedLive("stderr-flood: what a server writes to stderr reaches neither stdout nor stderr of its host", () =>
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      const ended = yield* run("stderr-flood", "exit", journal)
      assert.strictEqual(ended.stdout, "ready\n")
      assert.strictEqual(ended.stderr, "")
      yield* noOrphan(journal)
    }))
})
