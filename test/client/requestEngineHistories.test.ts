import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import { runs } from "../support/runs.ts"
import * as Model from "./requestEngineModel.ts"

describe("RequestEngine, any history", () => {
  it.effect(
    "settles every request exactly once, as the model says, and leaves nothing",
    () =>
      Effect.promise(() =>
        FastCheck.assert(
          FastCheck.asyncProperty(Model.history, async (history) => {
            const verdict = await Effect.runPromise(Model.run(history))
            assert.deepStrictEqual(verdict.wrongSizes, [])
            for (const { did, had } of verdict.requests) assert.strictEqual(did, had)
            assert.deepStrictEqual(verdict.cancelled.did, verdict.cancelled.had, "notifications/cancelled")
            assert.deepStrictEqual(verdict.abandoned.did, verdict.abandoned.had, "abandoned at the transport")
            assert.strictEqual(verdict.dropped.did, verdict.dropped.had, "dropped answers")
            assert.strictEqual(verdict.asked.did, verdict.asked.had, "requests of the server let through")
            assert.deepStrictEqual(verdict.left, { inFlight: 0, sleeping: 0 })
          }),
          { numRuns: runs(1000) }
        )
      ),
    30_000
  )
})
