import { assert, describe, it } from "@effect/vitest"
import { type Duration, Effect, Fiber, Schedule, TestClock } from "effect"
import * as McpError from "../../src/McpError.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as Faults from "../../src/testing/Faults.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as Runtime from "../support/runtime.ts"

/** Loses the connection in the middle of one call after the other. */
const losing = (end: Faults.End, times: number, after: Duration.DurationInput = "2 minutes") =>
  Effect.gen(function*() {
    const server = yield* MemoryServer.make({
      tools: [
        { name: "slow", call: () => Effect.never },
        { name: "quick", call: () => Effect.succeed("done") }
      ]
    })
    const layer = Runtime.layer({ s: server }, {
      servers: [MemoryTransport.config("s")],
      reconnect: { schedule: Schedule.spaced("1 second"), stableAfter: "1 minute" },
      breaker: { failures: 3 }
    })
    return yield* Effect.gen(function*() {
      const { callTool } = yield* McpRuntime.McpRuntime
      const { onEvent } = yield* McpEvent.McpEvents
      const clock = yield* Effect.clock
      const delays: Array<number> = []
      const breaker: Array<string> = []
      onEvent((event) => {
        if (event._tag === "StatusChanged" && event.status._tag === "Reconnecting") {
          delays.push(event.status.until - clock.unsafeCurrentTimeMillis())
        }
        if (event._tag === "BreakerChanged") breaker.push(event.state)
      })
      const labels: Array<string> = []
      for (let round = 0; round < times; round++) {
        const call = yield* Effect.fork(Effect.flip(callTool({ server: "s", tool: "slow" })))
        yield* TestClock.adjust("2 seconds")
        yield* server.until(() => server.received("tools/call").length === round + 1)
        yield* TestClock.adjust(after)
        yield* server.drop(end)
        labels.push(McpError.label(yield* Fiber.join(call)))
      }
      const last = yield* Effect.fork(Effect.either(callTool({ server: "s", tool: "quick" })))
      yield* TestClock.adjust("10 seconds")
      return { breaker, delays, labels, last: yield* Fiber.join(last) }
    }).pipe(Effect.provide(layer))
  })

describe("a connection that its connector moves", () => {
  it.scoped("is opened again at once, and does not open the breaker", () =>
    Effect.gen(function*() {
      const { breaker, delays, labels, last } = yield* losing(Faults.lost("moved"), 4)
      assert.deepStrictEqual(labels, Array.from({ length: 4 }, () => "ConnectionLost/moved"))
      assert.deepStrictEqual(delays, [0, 0, 0, 0])
      assert.deepStrictEqual(breaker, [])
      assert.strictEqual(last._tag, "Right")
    }))

  it.scoped("is opened again at once, however often it moves before it counts as stable", () =>
    Effect.gen(function*() {
      const { delays, last } = yield* losing(Faults.lost("moved"), 30, "1 second")
      assert.deepStrictEqual(delays, Array.from({ length: 30 }, () => 0))
      assert.strictEqual(last._tag, "Right")
    }))

  it.scoped("differs from one that breaks, which follows the schedule and opens the breaker", () =>
    Effect.gen(function*() {
      const { breaker, delays } = yield* losing(Faults.lost("reset"), 3)
      assert.deepStrictEqual(delays, [1_000, 1_000, 1_000])
      assert.strictEqual(breaker[0], "Open")
    }))
})
