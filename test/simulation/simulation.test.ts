import { assert, describe, it } from "@effect/vitest"
import { afterAll } from "vitest"
import { runs } from "../support/runs.ts"
import { compile } from "./compile.mjs"
import type * as Playing from "./playing.ts"
import type * as Simulation from "./simulation.ts"

const compiled = compile()
afterAll(compiled.remove)

// the cast: it is the same module, compiled
const { play, shrink } = (await import(compiled.url("playing"))) as typeof Playing

/** What a reader needs to see what went wrong, and to see it again. */
const story = async (failed: Simulation.Report): Promise<string> => {
  const { script, trace, violations } = await shrink(failed)
  return [
    `npm run simulate -- --small --seed ${script.seed}`,
    ...script.servers.map((server) => JSON.stringify(server)),
    ...trace,
    ...violations
  ].join("\n")
}

/** Enough to meet every kind of outcome. */
const perTest = Math.max(40, runs(80))

describe("a simulated runtime", () => {
  const seen = new Set<string>()

  for (const from of [1, 81, 161]) {
    it(`keeps its promises in the histories from ${from}`, async () => {
      for (let seed = from; seed < from + perTest; seed++) {
        const report = await play(seed, "small")
        for (const outcome of report.outcomes) seen.add(outcome)
        if (report.violations.length > 0) assert.fail(await story(report))
      }
    }, 60_000)
  }

  // regressions: an attempt at a server that was switched off, a status that was not told, a wait without an end; and lost
  // connections that are released beside the next attempt
  for (
    const seed of [
      201,
      443,
      517,
      789,
      846,
      1125,
      1807,
      1923,
      4990,
      6236,
      6665,
      13_978,
      14_682,
      17_437,
      21_100,
      21_704,
      26_976
    ]
  ) {
    it(`keeps its promises in the long history ${seed}`, async () => {
      const report = await play(seed, "large")
      if (report.violations.length > 0) assert.fail([...report.trace, ...report.violations].join("\n"))
    })
  }

  it("has met every kind of outcome in them", () => {
    const all = [
      "success",
      "streamed",
      "interrupted",
      "Closed not-sent",
      "Closed unknown",
      "CircuitOpen not-sent",
      "ConnectionLost/socket-closed unknown",
      "NotFound not-sent",
      "Overloaded not-sent",
      "ConnectionLost/exited unknown",
      "RemoteError executed",
      "RequestTimeout not-sent",
      "RequestTimeout unknown",
      "ServerUnavailable not-sent"
    ]
    assert.deepStrictEqual(all.filter((outcome) => !seen.has(outcome)), [])
  })

  it("has the same history for the same seed", async () => {
    for (let seed = 1; seed <= 6; seed++) {
      const { trace } = await play(seed, "small")
      assert.deepStrictEqual((await play(seed, "small")).trace, trace)
    }
  })
})
