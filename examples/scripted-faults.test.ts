/**
 * Tests of an application against a server in memory that fails on demand, with `TestClock`. Copy this file, replace
 * `Weather` by your service, and run it with `vitest run`.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Stream, TestClock } from "effect"
import { McpRuntime } from "effect-mcp-runtime"
import { Faults, layerTest, MemoryServer } from "effect-mcp-runtime/testing"

/** The application: a service over an MCP server, with an answer for each failure. */
class Weather extends Context.Tag("app/Weather")<Weather, {
  readonly forecast: (city: string) => Effect.Effect<string>
}>() {
  static readonly layer = Layer.effect(
    Weather,
    Effect.map(McpRuntime.McpRuntime, ({ callTool }) => ({
      forecast: (city) =>
        callTool({ server: "weather", tool: "forecast" }, { city }).pipe(
          Effect.map(({ content }) => content[0]?._tag === "Text" ? content[0].text : "no text"),
          Effect.catchTag("CircuitOpen", () => Effect.succeed("out of service")),
          Effect.catchAll(({ _tag, outcome }) => Effect.succeed(`no forecast: ${_tag}, ${outcome}`))
        )
    }))
  )
}

/** A server that never answers a request for Atlantis. */
const server = MemoryServer.make({
  tools: [{
    name: "forecast",
    inputSchema: { type: "object", properties: { city: { type: "string" } } },
    call: ({ city }, { cancelled }) =>
      city === "Atlantis" ? Effect.as(cancelled, "too late") : Effect.succeed(`${String(city)}: sunny`)
  }]
})

/** Runs a test with the application and the runtime over a new server. */
const withWeather = <A, E>(
  body: (weather: MemoryServer.Server) => Effect.Effect<A, E, Weather | McpRuntime.McpRuntime>
) =>
  Effect.flatMap(server, (weather) =>
    Effect.provide(
      body(weather),
      Weather.layer.pipe(Layer.provideMerge(layerTest({ weather })))
    ))

const forecast = (city: string) => Effect.flatMap(Weather, (weather) => weather.forecast(city))

/** Waits for a status, not for a time. */
const until = (tag: McpRuntime.ServerStatus["_tag"]) =>
  Effect.flatMap(
    McpRuntime.McpRuntime,
    ({ servers }) =>
      servers.changes.pipe(Stream.filter((all) => all.every(({ status }) => status._tag === tag)), Stream.runHead)
  )

describe("Weather", () => {
  it.effect("returns the answer of the server", () =>
    withWeather(() =>
      Effect.gen(function*() {
        assert.strictEqual(yield* forecast("Oslo"), "Oslo: sunny")
      })
    ))

  it.effect("waits for a reconnect and then calls once", () =>
    withWeather((weather) =>
      Effect.gen(function*() {
        yield* until("Connected")
        yield* weather.drop(Faults.killed())
        yield* until("Reconnecting")
        const waiting = yield* Effect.fork(forecast("Oslo"))
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* Fiber.join(waiting), "Oslo: sunny")
        assert.strictEqual(weather.connections().opened, 2)
      })
    ))

  it.effect("does not repeat a call that may have run", () =>
    withWeather((weather) =>
      Effect.gen(function*() {
        const waiting = yield* Effect.fork(forecast("Atlantis"))
        yield* weather.until(() => weather.executions("forecast") === 1)
        yield* weather.drop(Faults.lost())
        assert.strictEqual(yield* Fiber.join(waiting), "no forecast: ConnectionLost, unknown")
        yield* TestClock.adjust("1 minute")
        yield* until("Connected")
        assert.strictEqual(weather.executions("forecast"), 1)
      })
    ))

  it.effect("cancels a call at the server when it times out", () =>
    withWeather((weather) =>
      Effect.gen(function*() {
        const waiting = yield* Effect.fork(forecast("Atlantis"))
        yield* weather.until(() => weather.executions("forecast") === 1)
        yield* TestClock.adjust("5 minutes")
        assert.strictEqual(yield* Fiber.join(waiting), "no forecast: RequestTimeout, unknown")
        yield* weather.until(() => weather.received("notifications/cancelled").length === 1)
      })
    ))

  it.effect("opens the circuit after three failures, and closes it after five minutes", () =>
    withWeather((weather) =>
      Effect.gen(function*() {
        yield* until("Connected")
        for (let n = 1; n <= 3; n++) {
          const waiting = yield* Effect.fork(forecast("Atlantis"))
          yield* weather.until(() => weather.executions("forecast") === n)
          yield* TestClock.adjust("5 minutes")
          assert.strictEqual(yield* Fiber.join(waiting), "no forecast: RequestTimeout, unknown")
        }
        assert.strictEqual(yield* forecast("Oslo"), "out of service")
        assert.strictEqual(weather.executions("forecast"), 3)
        yield* TestClock.adjust("5 minutes")
        assert.strictEqual(yield* forecast("Oslo"), "Oslo: sunny")
      })
    ))
})
