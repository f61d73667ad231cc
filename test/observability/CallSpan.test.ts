import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, FastCheck, Fiber, Option } from "effect"
import * as Connector from "../../src/client/Connector.ts"
import * as McpError from "../../src/McpError.ts"
import * as CallSpan from "../../src/observability/CallSpan.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as Configs from "../support/configs.ts"
import * as OverMemory from "../support/overMemory.ts"
import * as RecordingTracer from "./recordingTracer.ts"

const server = "weather"
const call: CallSpan.Operation = { server, method: "tools/call", tool: "forecast" }
const traceparent = `00-${RecordingTracer.traceId}-0000000000000001-01`

/** The `_meta` that a call would send, and the span it has. */
const metaOf = (operation: CallSpan.Operation, ids?: RecordingTracer.Ids) =>
  Effect.gen(function*() {
    const { spans, tracer } = RecordingTracer.make(ids)
    const meta = yield* Effect.withTracer(CallSpan.traced(operation, Effect.succeed), tracer)
    return { meta, span: spans[0]! }
  })

/** The span of a call that ends like this. */
const spanOf = <A, E>(run: Effect.Effect<A, E>, operation: CallSpan.Operation = call) =>
  Effect.gen(function*() {
    const { spans, tracer } = RecordingTracer.make()
    const exit = yield* Effect.exit(Effect.withTracer(CallSpan.traced(operation, () => run), tracer))
    return { exit, span: spans[0]!, attributes: Object.fromEntries(spans[0]!.attributes) }
  })

describe("a call where nobody traces", () => {
  it.effect("runs with the caller's own _meta and makes no span", () =>
    Effect.gen(function*() {
      const meta: JsonRpc.JsonObject = { own: 1 }
      const given = yield* CallSpan.traced({ ...call, meta }, (given) =>
        Effect.map(Effect.option(Effect.currentSpan), (span) => {
          assert.strictEqual(span._tag, "None")
          return given
        }))
      assert.strictEqual(given, meta)
      assert.isUndefined(yield* CallSpan.traced(call, Effect.succeed))
    }))

  it.effect("makes no span under a tracer that is switched off", () =>
    Effect.gen(function*() {
      const { spans, tracer } = RecordingTracer.make()
      const run = (meta: JsonRpc.JsonObject | undefined) =>
        Effect.map(Effect.option(Effect.currentSpan), (span) => ({ meta, span }))
      const { meta, span } = yield* CallSpan.traced(call, run).pipe(
        Effect.withTracerEnabled(false),
        Effect.withTracer(tracer)
      )
      assert.isUndefined(meta)
      assert.isTrue(Option.isNone(span))
      assert.strictEqual(spans.length, 0)
    }))
})

describe("the span of a call", () => {
  it.effect("is a client's, named after the method and the tool, and a child of the application's", () =>
    Effect.gen(function*() {
      const { spans, tracer } = RecordingTracer.make()
      yield* CallSpan.traced(call, () => Effect.withSpan(Effect.void, "inside")).pipe(
        Effect.withSpan("application"),
        Effect.withTracer(tracer)
      )
      assert.deepStrictEqual(spans.map(({ name }) => name), ["application", "tools/call forecast", "inside"])
      assert.deepStrictEqual(spans.map(({ kind }) => kind), ["internal", "client", "internal"])
      assert.deepStrictEqual(
        spans.map(({ parent }) => Option.getOrUndefined(parent)?.spanId),
        [undefined, spans[0]?.spanId, spans[1]?.spanId]
      )
    }))

  it.effect("says what is called, where, and how it was reached", () =>
    Effect.gen(function*() {
      const { attributes, exit } = yield* spanOf(Effect.succeed({ isError: false }), {
        ...call,
        callId: "call-7",
        config: Configs.http({ name: server, url: "https://mcp.example/path?key=secret" }),
        client: { transport: "streamable-http", protocolVersion: "2025-11-25" }
      })
      assert.deepStrictEqual(attributes, {
        "mcp.method.name": "tools/call",
        "mcp.server.name": "weather",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "forecast",
        "gen_ai.tool.call.id": "call-7",
        "server.address": "mcp.example",
        "server.port": 443,
        "mcp.protocol.version": "2025-11-25",
        "network.transport": "tcp",
        "network.protocol.name": "http"
      })
      assert.isTrue(Exit.isSuccess(exit))
    }))

  it.effect("says of a process that it is reached over a pipe", () =>
    Effect.gen(function*() {
      const { attributes } = yield* spanOf(Effect.void, {
        server,
        method: "prompts/get",
        prompt: "greet",
        client: { transport: "stdio", protocolVersion: "2025-11-25" }
      })
      assert.deepStrictEqual(attributes, {
        "mcp.method.name": "prompts/get",
        "mcp.server.name": "weather",
        "gen_ai.prompt.name": "greet",
        "mcp.protocol.version": "2025-11-25",
        "network.transport": "pipe"
      })
    }))

  it.effect("keeps what a server chose short and visible", () =>
    Effect.gen(function*() {
      const { attributes, span } = yield* spanOf(Effect.void, { ...call, tool: `\u001b[2J\n${"x".repeat(10_000)}` })
      assert.isBelow(span.name.length, 200)
      assert.isBelow(String(attributes["gen_ai.tool.name"]).length, 320)
      // eslint-disable-next-line no-control-regex
      assert.notMatch(`${span.name}${String(attributes["gen_ai.tool.name"])}`, /[\u0000-\u001f]/)
    }))

  const error = (e: McpError.McpError) => Effect.fail(e)
  const endings: ReadonlyArray<readonly [what: string, run: Effect.Effect<unknown, unknown>, type: string]> = [
    ["an error", error(new McpError.Closed({ server, operation: "tools/call", outcome: "not-sent" })), "Closed"],
    ["an answer that is an error", error(new McpError.RemoteError({ server, code: -32602, detail: "d" })), "-32602"],
    ["an error of others", Effect.fail(new Error("of others")), "_OTHER"],
    ["a defect", Effect.die("a bug"), "Defect"],
    ["a result that reports failure", Effect.succeed({ isError: true }), "tool_error"]
  ]
  for (const [what, run, type] of endings) {
    it.effect(`ends with an error of type ${type} for ${what}`, () =>
      Effect.gen(function*() {
        const { attributes, exit, span } = yield* spanOf(run)
        assert.strictEqual(attributes["error.type"], type)
        assert.isTrue(Exit.isFailure(span.ended()!))
        // whatever the span says, the caller gets what there was
        const plain = yield* Effect.exit(run)
        const said = Exit.match({
          onFailure: (cause) => String(Cause.squash(cause)),
          onSuccess: (value: unknown) => value
        })
        assert.deepStrictEqual(said(exit), said(plain))
      }))
  }

  it.effect("holds the code of an answer that is an error", () =>
    Effect.gen(function*() {
      const { attributes } = yield* spanOf(error(new McpError.RemoteError({ server, code: -32602, detail: "d" })))
      assert.strictEqual(attributes["rpc.response.status_code"], "-32602")
    }))

  it.effect("ends when the call is interrupted", () =>
    Effect.gen(function*() {
      const { spans, tracer } = RecordingTracer.make()
      const began = yield* Deferred.make<void>()
      const fiber = yield* CallSpan.traced(
        call,
        () => Effect.zipRight(Deferred.succeed(began, undefined), Effect.never)
      )
        .pipe(Effect.withTracer(tracer), Effect.fork)
      yield* Deferred.await(began)
      const exit = yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.isInterrupted(exit))
      assert.strictEqual(spans[0]?.attributes.get("error.type"), "Interrupted")
      const ended = spans[0]?.ended()
      assert.isTrue(ended !== undefined && Exit.isFailure(ended) && Cause.isInterruptedOnly(ended.cause))
    }))

  it.effect("ends when the call cannot even begin", () =>
    Effect.gen(function*() {
      const { spans, tracer } = RecordingTracer.make()
      const exit = yield* CallSpan.traced(call, (): Effect.Effect<never> => {
        throw new Error("a bug")
      }).pipe(Effect.withTracer(tracer), Effect.exit)
      assert.isTrue(Exit.isFailure(exit))
      assert.isDefined(spans[0]?.ended())
    }))
})

describe("the trace context in _meta", () => {
  it.effect("is the traceparent of the span", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* metaOf(call)).meta, { traceparent })
      const { meta } = yield* metaOf(call, { sampled: false })
      assert.deepStrictEqual(meta, { traceparent: traceparent.replace(/01$/, "00") })
    }))

  it.effect("has the trace state that an OpenTelemetry span holds", () =>
    Effect.gen(function*() {
      const { meta } = yield* metaOf(call, { traceState: "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7" })
      assert.deepStrictEqual(meta, { traceparent, tracestate: "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7" })
      assert.deepStrictEqual((yield* metaOf(call, { traceState: "" })).meta, { traceparent })
      assert.deepStrictEqual((yield* metaOf(call, { traceState: "a=\n" })).meta, { traceparent })
    }))

  it.effect("leaves the caller's own keys alone", () =>
    Effect.gen(function*() {
      const { meta } = yield* metaOf({ ...call, meta: { "example/own": 1 } })
      assert.deepStrictEqual(meta, { traceparent, "example/own": 1 })
      const own = { traceparent: "00-11111111111111111111111111111111-2222222222222222-01" }
      assert.deepStrictEqual((yield* metaOf({ ...call, meta: own }, { traceState: "a=b" })).meta, own)
    }))

  const nibble = FastCheck.constantFrom(..."0123456789abcdefABCDEFg-")
  const id = (length: number) =>
    FastCheck.oneof(
      FastCheck.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`)),
      FastCheck.constant("0".repeat(length)),
      FastCheck.string({ unit: nibble, maxLength: length + 1 })
    )

  it.effect.prop(
    "is only sent where both ids are valid",
    [id(32), id(16)],
    ([traceId, spanId]) =>
      Effect.gen(function*() {
        const { meta } = yield* metaOf(call, { traceId, spanId })
        const valid = (text: string, length: number) =>
          text.length === length && [...text].every((char) => "0123456789abcdef".includes(char)) && /[^0]/.test(text)
        assert.deepStrictEqual(
          meta,
          valid(traceId, 32) && valid(spanId, 16) ? { traceparent: `00-${traceId}-${spanId}-01` } : undefined
        )
      })
  )

  for (const era of ["session", "stateless"] as const) {
    it.scoped(`reaches a server of the ${era} era`, () =>
      Effect.gen(function*() {
        const peer = yield* MemoryServer.make({
          era,
          tools: [{
            name: "forecast",
            call: (_, { params }) =>
              Effect.succeed(JSON.stringify((params["_meta"] as JsonRpc.JsonObject)["traceparent"]))
          }]
        })
        const session = yield* Effect.provide(
          Connector.open(MemoryTransport.config("peer")),
          OverMemory.client({ peer })
        )
        const { tracer } = RecordingTracer.make()
        const { content } = yield* CallSpan.traced(call, (meta) => session.callTool("forecast", {}, { meta })).pipe(
          Effect.withTracer(tracer)
        )
        assert.deepInclude(content[0], { _tag: "Text", text: JSON.stringify(traceparent) })
      }))
  }
})
