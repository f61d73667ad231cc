/**
 * Tests of an application against a server in memory that fails as they say, on a clock that they move: copy this file,
 * put your own service in the place of `Weather`, and run it with `vitest run`.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Stream, TestClock } from "effect"
import { McpRuntime, Teardown } from "effect-mcp-runtime"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import { Faults, MemoryServer, MemoryTransport } from "effect-mcp-runtime/testing"

/** The application: it asks an MCP server, and has something to say when that does not answer. */
class Weather extends Context.Tag("app/Weather")<Weather, {
  readonly forecast: (city: string) => Effect.Effect<string>
}>() {
  static readonly layer = Layer.effect(
    Weather,
    Effect.map(McpRuntime.McpRuntime, ({ callTool }) => ({
      forecast: (city) =>
        callTool({ server: "weather", tool: "forecast" }, { city }).pipe(
          Effect.map(({ content }) => content[0]?._tag === "Text" ? content[0].text : "nothing to say"),
          Effect.catchTag("CircuitOpen", () => Effect.succeed("the service is out of order")),
          Effect.catchAll(({ _tag, outcome }) => Effect.succeed(`no forecast: ${_tag}, ${outcome}`))
        )
    }))
  )
}

/** A server whose answer for Atlantis never comes. */
const server = MemoryServer.make({
  tools: [{
    name: "forecast",
    inputSchema: { type: "object", properties: { city: { type: "string" } } },
    call: ({ city }, { cancelled }) =>
      city === "Atlantis" ? Effect.as(cancelled, "too late") : Effect.succeed(`${String(city)}: sunny`)
  }]
})

/** Runs a test with the application over the server, and everything real but the server and the clock. */
const withWeather = <A, E>(
  body: (weather: MemoryServer.Server) => Effect.Effect<A, E, Weather | McpRuntime.McpRuntime>
) =>
  Effect.flatMap(server, (weather) =>
    Effect.provide(
      body(weather),
      Weather.layer.pipe(Layer.provideMerge(
        NodeMcpRuntime.layer({
          servers: [MemoryTransport.config("weather")],
          cacheDirectory: "memory",
          logs: false
        }).pipe(NodeMcpRuntime.using(Layer.merge(MemoryTransport.layer({ weather }), Teardown.layerImmediate)))
      ))
    ))

const forecast = (city: string) => Effect.flatMap(Weather, (weather) => weather.forecast(city))

/** What is waited for is a state, never a time. */
const until = (tag: McpRuntime.ServerStatus["_tag"]) =>
  Effect.flatMap(
    McpRuntime.McpRuntime,
    ({ servers }) =>
      servers.changes.pipe(Stream.filter((all) => all.every(({ status }) => status._tag === tag)), Stream.runHead)
  )

describe("the weather", () => {
  it.effect("is what the server says", () =>
    withWeather(() =>
      Effect.gen(function*() {
        assert.strictEqual(yield* forecast("Oslo"), "Oslo: sunny")
      })
    ))

  it.effect("is asked for again where the server was gone before it was asked", () =>
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

  it.effect("is not asked for twice where the server went away in the middle", () =>
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

  it.effect("is given up, and cancelled at the server, when it does not come", () =>
    withWeather((weather) =>
      Effect.gen(function*() {
        const waiting = yield* Effect.fork(forecast("Atlantis"))
        yield* weather.until(() => weather.executions("forecast") === 1)
        yield* TestClock.adjust("5 minutes")
        assert.strictEqual(yield* Fiber.join(waiting), "no forecast: RequestTimeout, unknown")
        yield* weather.until(() => weather.received("notifications/cancelled").length === 1)
      })
    ))

  it.effect("is out of order after three failures, and back after five minutes", () =>
    withWeather((weather) =>
      Effect.gen(function*() {
        yield* until("Connected")
        for (let n = 1; n <= 3; n++) {
          const waiting = yield* Effect.fork(forecast("Atlantis"))
          yield* weather.until(() => weather.executions("forecast") === n)
          yield* TestClock.adjust("5 minutes")
          assert.strictEqual(yield* Fiber.join(waiting), "no forecast: RequestTimeout, unknown")
        }
        assert.strictEqual(yield* forecast("Oslo"), "the service is out of order")
        assert.strictEqual(weather.executions("forecast"), 3)
        yield* TestClock.adjust("5 minutes")
        assert.strictEqual(yield* forecast("Oslo"), "Oslo: sunny")
      })
    ))
})
