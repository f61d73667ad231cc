import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Metric, MetricState } from "effect"
import * as RuntimeMetrics from "../../src/observability/RuntimeMetrics.ts"

/** What the registry holds of a server, by name and `error.type`. */
const registered = (server: string): ReadonlyMap<string, number | MetricState.MetricState.Histogram> => {
  const found = new Map<string, number | MetricState.MetricState.Histogram>()
  for (const { metricKey, metricState } of Metric.unsafeSnapshot()) {
    const tags = new Map(metricKey.tags.map(({ key, value }) => [key, value]))
    if (tags.get("mcp.server.name") !== server) continue
    const error = tags.get("error.type")
    const name = error === undefined ? metricKey.name : `${metricKey.name} ${error}`
    if (MetricState.isHistogramState(metricState)) found.set(name, metricState)
    else if (MetricState.isCounterState(metricState)) found.set(name, Number(metricState.count))
    else if (MetricState.isGaugeState(metricState)) found.set(name, Number(metricState.value))
  }
  return found
}

const histogram = (server: string, name = "mcp.client.operation.duration"): MetricState.MetricState.Histogram => {
  const state = registered(server).get(name)
  assert.isTrue(typeof state === "object", name)
  return state as MetricState.MetricState.Histogram
}

describe("the metrics of a server", () => {
  it.scoped("are there, at zero, before anything happens", () =>
    Effect.gen(function*() {
      const { for: metrics } = yield* RuntimeMetrics.make
      metrics("quiet")
      assert.deepStrictEqual(
        Object.fromEntries(registered("quiet")),
        {
          "mcp.calls": 0,
          "mcp.calls.active": 0,
          "mcp.circuit.state": 0,
          "mcp.connections": 0,
          "mcp.reconnects": 0,
          "mcp.tool_cache.hits": 0,
          "mcp.tool_cache.misses": 0
        }
      )
    }))

  it.scoped("count calls, and those that are under way", () =>
    Effect.gen(function*() {
      const metrics = (yield* RuntimeMetrics.make).for("counted")
      metrics.callBegan()
      metrics.callBegan()
      metrics.callEnded("Success", 30)
      assert.strictEqual(registered("counted").get("mcp.calls"), 1)
      assert.strictEqual(registered("counted").get("mcp.calls.active"), 1)
      metrics.callEnded("Success", 30)
      assert.strictEqual(registered("counted").get("mcp.calls"), 2)
      assert.strictEqual(registered("counted").get("mcp.calls.active"), 0)
    }))

  it.scoped("measure durations in seconds, in the buckets of the convention", () =>
    Effect.gen(function*() {
      const metrics = (yield* RuntimeMetrics.make).for("timed")
      for (const millis of [5, 30, 1_500, 400_000]) metrics.callEnded("Success", millis)
      const { buckets, count, sum } = histogram("timed")
      assert.strictEqual(count, 4)
      assert.approximately(sum, 401.535, 1e-9)
      const below = (seconds: number) => buckets.find(([boundary]) => boundary === seconds)?.[1]
      assert.deepStrictEqual([0.01, 0.02, 0.05, 1, 2, 300, Infinity].map(below), [1, 1, 2, 2, 3, 3, 4])
    }))

  it.scoped("tell failures apart by their type, and keep them out of the durations of successes", () =>
    Effect.gen(function*() {
      const metrics = (yield* RuntimeMetrics.make).for("failing")
      for (const outcome of ["Success", "ToolError", "RequestTimeout", "RequestTimeout", "Interrupted"] as const) {
        metrics.callEnded(outcome, 10)
      }
      const found = registered("failing")
      assert.strictEqual(found.get("mcp.calls"), 5)
      assert.strictEqual(found.get("mcp.errors tool_error"), 1)
      assert.strictEqual(found.get("mcp.errors RequestTimeout"), 2)
      assert.strictEqual(found.get("mcp.errors Interrupted"), 1)
      assert.isFalse(found.has("mcp.errors"))
      assert.strictEqual(histogram("failing").count, 1)
      assert.strictEqual(histogram("failing", "mcp.client.operation.duration RequestTimeout").count, 2)
    }))

  it.scoped("show connections, reconnects, the circuit and the cache", () =>
    Effect.gen(function*() {
      const metrics = (yield* RuntimeMetrics.make).for("state")
      metrics.connections(1)
      metrics.reconnected()
      metrics.breaker("Open")
      metrics.cacheHit()
      metrics.cacheHit()
      metrics.cacheMiss()
      const found = registered("state")
      assert.deepStrictEqual(
        ["mcp.connections", "mcp.reconnects", "mcp.circuit.state", "mcp.tool_cache.hits", "mcp.tool_cache.misses"].map((
          name
        ) => found.get(name)),
        [1, 1, 2, 2, 1]
      )
      const states = (["Closed", "HalfOpen", "Open", "Isolated"] as const).map((state) => {
        metrics.breaker(state)
        return registered("state").get("mcp.circuit.state")
      })
      assert.deepStrictEqual(states, [0, 1, 2, 3])
    }))

  it.scoped("are the same for all who ask, and no other server's", () =>
    Effect.gen(function*() {
      const { for: metrics } = yield* RuntimeMetrics.make
      assert.strictEqual(metrics("one"), metrics("one"))
      metrics("one").cacheHit()
      metrics("another")
      assert.strictEqual(registered("another").get("mcp.tool_cache.hits"), 0)
    }))

  it.effect("are settled when the runtime is gone, and sum up while there are two", () =>
    Effect.gen(function*() {
      const open = () => registered("shared").get("mcp.connections")
      yield* Effect.scoped(Effect.gen(function*() {
        const mine = (yield* RuntimeMetrics.make).for("shared")
        mine.connections(1)
        yield* Effect.scoped(Effect.gen(function*() {
          const theirs = (yield* RuntimeMetrics.make).for("shared")
          theirs.connections(1)
          theirs.callBegan()
          assert.strictEqual(open(), 2)
        }))
        assert.strictEqual(open(), 1)
        assert.strictEqual(registered("shared").get("mcp.calls.active"), 0)
        mine.breaker("Open")
      }))
      assert.strictEqual(open(), 0)
      assert.strictEqual(registered("shared").get("mcp.circuit.state"), 0)
    }))

  it.scoped("are nothing where they are switched off", () =>
    Effect.gen(function*() {
      const context = yield* Layer.build(RuntimeMetrics.layerNone)
      const metrics = Context.get(context, RuntimeMetrics.RuntimeMetrics).for("unmeasured")
      metrics.callBegan()
      metrics.callEnded("Success", 1)
      metrics.connections(1)
      assert.strictEqual(registered("unmeasured").size, 0)
    }))
})
