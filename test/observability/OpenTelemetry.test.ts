import * as NodeSdk from "@effect/opentelemetry/NodeSdk"
import * as OtelTracer from "@effect/opentelemetry/Tracer"
import { assert, describe, it } from "@effect/vitest"
import { SpanKind, SpanStatusCode } from "@opentelemetry/api"
import {
  AlwaysOffSampler,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor
} from "@opentelemetry/sdk-trace-base"
import { Deferred, Effect, Fiber } from "effect"
import * as McpError from "../../src/McpError.ts"
import * as CallSpan from "../../src/observability/CallSpan.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"

const call: CallSpan.Operation = { server: "weather", method: "tools/call", tool: "forecast" }

/** What OpenTelemetry's own SDK exports of a call, and the `_meta` that it would send. */
const exported = <A, E>(
  run: Effect.Effect<A, E>,
  around: (self: Effect.Effect<A, E>) => Effect.Effect<A, E> = (self) => self,
  sampler?: Sampler
) =>
  Effect.gen(function*() {
    const spans = new InMemorySpanExporter()
    let meta: JsonRpc.JsonObject | undefined
    let finished: ReadonlyArray<ReadableSpan> = []
    const layer = NodeSdk.layer(() => ({
      resource: { serviceName: "test" },
      spanProcessor: new SimpleSpanProcessor(spans),
      ...(sampler === undefined ? {} : { tracerConfig: { sampler } })
    }))
    yield* CallSpan.traced(call, (given) => {
      meta = given
      return run
    }).pipe(
      around,
      Effect.exit,
      // the exporter forgets when it is shut down
      Effect.tap(() => Effect.sync(() => finished = spans.getFinishedSpans().slice())),
      Effect.provide(layer)
    )
    return { meta, span: finished[0] }
  })

describe("OpenTelemetry's SDK", () => {
  it.live("exports a client's span with the ids that the server is told", () =>
    Effect.gen(function*() {
      const { meta, span } = yield* exported(Effect.void)
      assert.strictEqual(span!.name, "tools/call forecast")
      assert.strictEqual(span!.kind, SpanKind.CLIENT)
      assert.strictEqual(span!.status.code, SpanStatusCode.OK)
      assert.deepInclude(span!.attributes, { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "forecast" })
      const { spanId, traceId } = span!.spanContext()
      assert.deepStrictEqual(meta, { traceparent: `00-${traceId}-${spanId}-01` })
    }))

  it.live("shows an error as one, and a result that reports failure too", () =>
    Effect.gen(function*() {
      const refused = new McpError.RemoteError({ server: "weather", code: -32602, detail: "no such place" })
      const failed = yield* exported(Effect.fail(refused))
      assert.strictEqual(failed.span?.status.code, SpanStatusCode.ERROR)
      assert.strictEqual(failed.span?.attributes["error.type"], "-32602")
      const reported = yield* exported(Effect.succeed({ isError: true }))
      assert.strictEqual(reported.span?.status.code, SpanStatusCode.ERROR)
      assert.strictEqual(reported.span?.attributes["error.type"], "tool_error")
    }))

  it.live("exports the span of a call that was interrupted", () =>
    Effect.gen(function*() {
      const began = yield* Deferred.make<void>()
      const interrupted = (self: Effect.Effect<never>) =>
        Effect.gen(function*() {
          const fiber = yield* Effect.fork(self)
          yield* Deferred.await(began)
          return yield* yield* Fiber.interrupt(fiber)
        })
      const { span } = yield* exported(Effect.zipRight(Deferred.succeed(began, undefined), Effect.never), interrupted)
      assert.strictEqual(span?.attributes["error.type"], "Interrupted")
    }))

  it.live("hands on the trace that the application is part of, with its state", () =>
    Effect.gen(function*() {
      const parent = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7", traceFlags: 1 }
      const remote = OtelTracer.makeExternalSpan({ ...parent, traceState: "congo=t61rcWkgMzE" })
      const { meta, span } = yield* exported(Effect.void, Effect.withParentSpan(remote))
      assert.strictEqual(span?.parentSpanContext?.spanId, parent.spanId)
      const { spanId } = span!.spanContext()
      assert.deepStrictEqual(meta, {
        traceparent: `00-${parent.traceId}-${spanId}-01`,
        tracestate: "congo=t61rcWkgMzE"
      })
    }))

  it.live("tells the server that a trace is not recorded", () =>
    Effect.gen(function*() {
      const { meta, span } = yield* exported(Effect.void, undefined, new AlwaysOffSampler())
      assert.isUndefined(span)
      assert.match(String(meta?.["traceparent"]), /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
    }))
})
