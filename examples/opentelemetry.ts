/**
 * Traces and metrics with OpenTelemetry: a span for each call, which the server is told of, so that its own spans become
 * children; counts and durations. Everything is kept in memory here, and printed; your exporters go in its place.
 */
import * as NodeSdk from "@effect/opentelemetry/NodeSdk"
import { NodeRuntime } from "@effect/platform-node"
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  PeriodicExportingMetricReader
} from "@opentelemetry/sdk-metrics"
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Console, Effect, Layer } from "effect"
import { McpRuntime, ServerConfig } from "effect-mcp-runtime"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import { fileURLToPath } from "node:url"

const server = ServerConfig.stdio({
  name: "demo",
  command: "node",
  args: [fileURLToPath(import.meta.resolve("effect-mcp-runtime/demo/DemoServer"))]
})

const spans = new InMemorySpanExporter()
const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const reader = new PeriodicExportingMetricReader({ exporter: metrics })

const OpenTelemetry = NodeSdk.layer(() => ({
  resource: { serviceName: "example" },
  spanProcessor: new SimpleSpanProcessor(spans),
  metricReader: reader
}))

const application = Effect.gen(function*() {
  const { callTool } = yield* McpRuntime.McpRuntime
  const { meta } = yield* callTool({ server: "demo", tool: "echo" }, { text: "hello" })
  // A call that the server refuses: its span has the code, and so has the metric of errors its tag.
  yield* Effect.flip(callTool({ server: "demo", tool: "add" }, { a: "two" }))
  return meta?.["traceparent"]
}).pipe(Effect.withSpan("application"))

const report = (traceparent: unknown) =>
  Effect.gen(function*() {
    const finished = spans.getFinishedSpans()
    for (const { attributes, name, parentSpanContext } of finished) {
      const parent = finished.find((span) => span.spanContext().spanId === parentSpanContext?.spanId)
      yield* Console.log(`span ${name}, child of ${parent?.name ?? "nothing"}`)
      for (
        const key of ["mcp.server.name", "gen_ai.tool.name", "mcp.protocol.version", "network.transport", "error.type"]
      ) {
        if (attributes[key] !== undefined) yield* Console.log(`  ${key} = ${String(attributes[key])}`)
      }
    }
    const echo = finished.find(({ name }) => name === "tools/call echo")?.spanContext()
    yield* Console.log(`the server was told: ${traceparent === `00-${echo?.traceId}-${echo?.spanId}-01`}`)

    yield* Effect.promise(() => reader.forceFlush())
    for (const { dataPointType, dataPoints, descriptor } of metrics.getMetrics()[0]?.scopeMetrics[0]?.metrics ?? []) {
      if (!descriptor.name.startsWith("mcp.")) continue
      const values = dataPointType === DataPointType.HISTOGRAM
        ? dataPoints.map(({ value }) => `${value.count} times`)
        : dataPoints.map(({ value }) => String(value))
      yield* Console.log(`metric ${descriptor.name}: ${values.join(", ")}`)
    }
  })

// The tracer is outermost: all that the runtime does is traced, and exported before the program ends.
const layer = NodeMcpRuntime.layer({ servers: [server], cacheDirectory: "memory" }).pipe(
  Layer.provideMerge(OpenTelemetry)
)

Effect.flatMap(application, report).pipe(Effect.provide(layer), NodeRuntime.runMain)
