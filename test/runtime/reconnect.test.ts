import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Scope } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as ReconnectPolicy from "../../src/resilience/ReconnectPolicy.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as ManualClock from "../support/manualClock.ts"
import * as Pool from "../support/pool.ts"
import { costlyRuns } from "../support/runs.ts"

/** The delays of each preset in milliseconds, as the design has them, and how far jitter may move one. */
const presets: { readonly [P in ReconnectPolicy.Preset]: readonly [ReadonlyArray<number>, number] } = {
  standard: [[500, 1_000, 2_000, 4_000], 0.2],
  capped: [[1_000, 2_000, 4_000], 0],
  steps: [[2_000, 5_000, 15_000], 0],
  health: [[100, 200, 400, 800, 1_600], 0]
}

const history = FastCheck.record({
  preset: FastCheck.constantFrom<ReconnectPolicy.Preset>("standard", "capped", "steps", "health"),
  /** How long each connection lives. */
  lives: FastCheck.array(FastCheck.constantFrom(0, 100, 10_000, 29_999, 30_000, 90_000), {
    minLength: 1,
    maxLength: 12
  })
})

describe("a server that is lost repeatedly", () => {
  it(
    "is tried after the delays of its preset, anew after a life of 30 s, and is given up after the last",
    () =>
      FastCheck.assert(
        FastCheck.asyncProperty(history, ({ lives, preset }) => {
          const clock = ManualClock.make()
          const [delays, jitter] = presets[preset]
          return Effect.runPromise(Effect.withClock(
            Effect.gen(function*() {
              const server = yield* MemoryServer.make({ era: "session" })
              const scope = yield* Scope.make()
              // the storm rule is another test's
              const reconnect = ReconnectPolicy.layer({ schedule: preset, stormReconnects: 1_000 })
              const context = yield* Layer.buildWithScope(Pool.layer(() => server, { reconnect }), scope)
              yield* Effect.gen(function*() {
                const pool = yield* Pool.Servers
                yield* Effect.fork(pool.reload([Pool.local("a")]))
                yield* Pool.until("a", "Connected")
                let expected = 0
                for (const life of lives) {
                  yield* clock.advance(life)
                  assert.strictEqual(pool.get("a")!.status._tag, "Connected")
                  const lostAt = clock.now()
                  yield* server.drop()
                  yield* clock.advance(0)
                  expected = life >= 30_000 ? 0 : expected
                  const after = pool.get("a")!.status
                  const delay = delays[expected]
                  if (delay === undefined) {
                    assert.strictEqual(after._tag, "Failed")
                    // for ever, as long as nobody asks
                    yield* clock.advance(3_600_000)
                    assert.strictEqual(pool.get("a")!.status._tag, "Failed")
                    return
                  }
                  expected++
                  assert.strictEqual(after._tag, "Reconnecting")
                  if (after._tag !== "Reconnecting") return
                  assert.strictEqual(after.attempt, expected)
                  const wait = after.until - lostAt
                  assert.isAtLeast(wait, Math.floor(delay * (1 - jitter)))
                  assert.isAtMost(wait, Math.ceil(delay * (1 + jitter)))
                  const opened = server.connections().opened
                  yield* clock.advance(wait - 1)
                  assert.strictEqual(server.connections().opened, opened)
                  yield* clock.advance(1)
                  yield* Pool.until("a", "Connected")
                  assert.strictEqual(server.connections().opened, opened + 1)
                }
              }).pipe(Effect.provide(context))
              yield* Effect.fork(Scope.close(scope, Exit.void))
              yield* clock.advance(Duration.toMillis("20 seconds"))
              assert.strictEqual(server.connections().open, 0)
            }),
            clock.clock
          ))
        }),
        { numRuns: costlyRuns(30) }
      ),
    30_000
  )
})
