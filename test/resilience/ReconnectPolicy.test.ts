import { assert, describe, it } from "@effect/vitest"
import { Chunk, Duration, Effect, Random, Schedule } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as ReconnectPolicy from "../../src/resilience/ReconnectPolicy.ts"
import * as Configs from "../support/configs.ts"

/** The delays of a schedule in milliseconds, without waiting for any; the last one that ends it is not a delay. */
const delays = (schedule: Schedule.Schedule<unknown>, inputs = 50, seed = 1) =>
  Schedule.run(Schedule.delays(schedule), 0, Array.from({ length: inputs })).pipe(
    Effect.map((all) => Chunk.toReadonlyArray(all).map(Duration.toMillis)),
    Effect.map((all) => all.length < inputs ? all.slice(0, -1) : all),
    Effect.withRandom(Random.make(seed)),
    Effect.runSync
  )

const local = Configs.stdio({ name: "s", command: "x" })
const remote = Configs.http({ name: "h", url: "https://example.invalid/mcp" })

describe("ReconnectPolicy delays", () => {
  it("are 1, 2 and 4 s with the preset capped", () => {
    assert.deepStrictEqual(delays(ReconnectPolicy.schedules.capped), [1000, 2000, 4000])
  })

  it("are 2, 5 and 15 s with the preset steps", () => {
    assert.deepStrictEqual(delays(ReconnectPolicy.schedules.steps), [2000, 5000, 15_000])
  })

  it("double five times from 100 ms with the preset health", () => {
    assert.deepStrictEqual(delays(ReconnectPolicy.schedules.health), [100, 200, 400, 800, 1600])
  })

  it.prop("double four times from 500 ms, within 20 %, with the preset standard", [FastCheck.integer()], ([seed]) => {
    const given = delays(ReconnectPolicy.schedules.standard, 50, seed)
    assert.strictEqual(given.length, 4)
    for (const [attempt, delay] of given.entries()) {
      assert.isAtLeast(delay, 500 * 2 ** attempt * 0.8)
      assert.isAtMost(delay, 500 * 2 ** attempt * 1.2)
    }
  })

  it.prop("double from 15 s to 5 min without end in the slow lane", [FastCheck.integer()], ([seed]) => {
    const given = delays(ReconnectPolicy.slowLane, 100, seed)
    assert.strictEqual(given.length, 100)
    for (const [attempt, delay] of given.entries()) {
      const wanted = Math.min(15_000 * 2 ** attempt, 300_000)
      assert.isAtLeast(delay, wanted * 0.8)
      assert.isAtMost(delay, wanted * 1.2)
    }
  })
})

describe("ReconnectPolicy", () => {
  it("has a slow lane only for remotes with the preset standard", () => {
    assert.isUndefined(ReconnectPolicy.make().for(local).slowLane)
    assert.isDefined(ReconnectPolicy.make().for(remote).slowLane)
    assert.isUndefined(ReconnectPolicy.make({ schedule: "steps" }).for(remote).slowLane)
  })

  it("takes any schedule", () => {
    const policy = ReconnectPolicy.make({ schedule: Schedule.fromDelay("3 seconds") }).for(local)
    // the cast: these delays do not depend on the error
    assert.deepStrictEqual(delays(policy.schedule as Schedule.Schedule<unknown>), [3000])
  })

  it.effect("plans no attempt with layerNone", () =>
    Effect.gen(function*() {
      const policy = yield* ReconnectPolicy.ReconnectPolicy
      assert.deepStrictEqual(delays(policy.for(remote).schedule as Schedule.Schedule<unknown>), [])
    }).pipe(Effect.provide(ReconnectPolicy.layerNone)))
})
