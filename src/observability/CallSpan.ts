/**
 * A span for each operation on a server, by OpenTelemetry's semantic conventions for MCP. Its W3C trace context is sent in
 * the `_meta` of the request (SEP-414), so that spans of the server become its children. No cost without a tracer.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Tracer from "effect/Tracer"
import type * as McpClient from "../client/McpClient.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as Redaction from "../safety/Redaction.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"

export interface Operation {
  readonly server: string
  /** Such as `tools/call`. */
  readonly method: string
  readonly tool?: string | undefined
  readonly prompt?: string | undefined
  readonly uri?: string | undefined
  readonly callId?: string | undefined
  /** For the address of a remote server. */
  readonly config?: ServerConfig.ServerConfig | undefined
  /** The connection of the last attempt, read when the operation has ended. */
  readonly client?: Pick<McpClient.McpClient, "protocolVersion" | "transport"> | undefined
  /** The `_meta` of the caller. Its keys take precedence. */
  readonly meta?: JsonRpc.JsonObject | undefined
}

/** Effect's default tracer, read from its fiber ref, because an application may load a second copy of effect. */
const native: Tracer.Tracer = Context.get(
  FiberRefs.getOrDefault(FiberRefs.empty(), DefaultServices.currentServices),
  Tracer.Tracer
)

const hasTracer = (fiber: Fiber.RuntimeFiber<unknown, unknown>): boolean =>
  fiber.currentTracer !== native && fiber.getFiberRef(FiberRef.currentTracerEnabled)

/** True if the application has provided and not disabled a tracer. */
export const isTraced: Effect.Effect<boolean> = Effect.withFiberRuntime((fiber) => Effect.succeed(hasTracer(fiber)))

/** The error of the span if the result reports an error. The caller still gets the result. */
class ReportedFailure extends Data.TaggedError("ToolError") {
  override readonly message = "the tool reported an error in its result"
}

const reportsFailure = (value: unknown): boolean => Predicate.hasProperty(value, "isError") && value.isError === true

/**
 * Runs an operation in a span, with the `_meta` to send: that of the caller and the trace context of the span, if the
 * application has a tracer. The span has kind `client`, and the outcome in `error.type`: the code of a `RemoteError`, the
 * tag of any other error, `tool_error` for a result that reports an error, `Interrupted`, or `Defect`.
 */
export const traced = <A, E, R>(
  operation: Operation,
  run: (meta: JsonRpc.JsonObject | undefined) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime<A, E, R>((fiber) => {
    if (!hasTracer(fiber)) return run(operation.meta)
    const { text } = Context.get(fiber.currentContext, Redaction.Redaction)
    const { method, prompt, tool = prompt } = operation
    const name = tool === undefined ? method : `${method} ${UntrustedText.excerpt(tool, 128)}`
    const attributes = Object.fromEntries(shown(attributesAtStart(operation), text))
    return Effect.useSpan(text(name), { kind: "client", attributes, captureStackTrace: false }, (span) => {
      const running = Effect.suspend(() => run(withTraceContext(span, operation.meta)))
      return Effect.onExit(Effect.withParentSpan(running, span), (exit) =>
        Effect.map(Clock.currentTimeNanos, (now) => {
          for (const [key, value] of shown(attributesAtEnd(operation, exit), text)) span.attribute(key, value)
          // ends the span with an error, so that its status matches `error.type`
          if (Exit.isSuccess(exit) && reportsFailure(exit.value)) span.end(now, Exit.fail(new ReportedFailure()))
        }))
    })
  })

type Attributes = Readonly<Record<string, string | number | undefined>>

/** The attributes with a value, truncated. URIs have a higher limit, because only the whole URI identifies a resource. */
const shown = (attributes: Attributes, hide: Redaction.Redactor["text"]) =>
  Object.entries(attributes).flatMap(([key, value]) => {
    const limit = key === "mcp.resource.uri" ? 1024 : 256
    const attribute = typeof value === "string" ? hide(UntrustedText.excerpt(value, limit)) : value
    return attribute === undefined ? [] : [[key, attribute] as const]
  })

const defaultPorts: ReadonlyMap<string, number> = new Map([["http:", 80], ["ws:", 80], ["https:", 443], ["wss:", 443]])

const address = (config: ServerConfig.ServerConfig | undefined): Attributes => {
  if (config === undefined || !("url" in config) || !URL.canParse(config.url)) return {}
  const { hostname, port, protocol } = new URL(config.url)
  return { "server.address": hostname, "server.port": port === "" ? defaultPorts.get(protocol) : Number(port) }
}

const attributesAtStart = ({ callId, config, method, prompt, server, tool, uri }: Operation): Attributes => ({
  "mcp.method.name": method,
  "mcp.server.name": server,
  "gen_ai.operation.name": tool === undefined ? undefined : "execute_tool",
  "gen_ai.tool.name": tool,
  "gen_ai.tool.call.id": callId,
  "gen_ai.prompt.name": prompt,
  "mcp.resource.uri": uri,
  ...address(config)
})

const networks: { readonly [K in McpClient.McpClient["transport"]]: Attributes } = {
  "stdio": { "network.transport": "pipe" },
  "streamable-http": { "network.transport": "tcp", "network.protocol.name": "http" },
  "sse": { "network.transport": "tcp", "network.protocol.name": "http" },
  "ws": { "network.transport": "tcp", "network.protocol.name": "websocket" },
  "memory": {}
}

const attributesAtEnd = (operation: Operation, exit: Exit.Exit<unknown, unknown>): Attributes => {
  const { client } = operation
  return {
    "mcp.protocol.version": client?.protocolVersion,
    ...(client === undefined ? {} : networks[client.transport]),
    ...outcome(exit)
  }
}

const outcome = (exit: Exit.Exit<unknown, unknown>): Attributes => {
  if (Exit.isSuccess(exit)) return { "error.type": reportsFailure(exit.value) ? "tool_error" : undefined }
  const error = Option.getOrUndefined(Cause.failureOption(exit.cause))
  if (error === undefined) return { "error.type": Cause.isInterruptedOnly(exit.cause) ? "Interrupted" : "Defect" }
  if (!McpError.isMcpError(error)) {
    const tag = Predicate.hasProperty(error, "_tag") ? error._tag : undefined
    return { "error.type": typeof tag === "string" ? tag : "_OTHER" }
  }
  if (error._tag !== "RemoteError") return { "error.type": McpError.label(error) }
  // by the convention, the JSON-RPC code is the type of the error
  return { "error.type": String(error.code), "rpc.response.status_code": String(error.code) }
}

const w3cIds = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-/
/** Printable, and at most 512 characters, which receivers must propagate by the W3C recommendation. */
const w3cState = /^[\x20-\x7e]{1,512}$/

const call = (target: unknown, method: string): unknown =>
  Predicate.hasProperty(target, method) && Predicate.isFunction(target[method]) ? target[method]() : undefined

/** The `tracestate`. Effect's spans have none, but the wrapped OpenTelemetry span has. */
const traceStateOf = (span: Tracer.Span): string | undefined => {
  const context = call(Predicate.hasProperty(span, "span") ? span.span : undefined, "spanContext")
  const state = call(Predicate.hasProperty(context, "traceState") ? context.traceState : undefined, "serialize")
  return typeof state === "string" && w3cState.test(state) ? state : undefined
}

/** Adds the keys of SEP-414, unless the ids are not valid for W3C, or the caller has set another `traceparent`. */
const withTraceContext = (span: Tracer.Span, meta: JsonRpc.JsonObject | undefined): JsonRpc.JsonObject | undefined => {
  const traceparent = `00-${span.traceId}-${span.spanId}-${span.sampled ? "01" : "00"}`
  if (!w3cIds.test(traceparent) || (meta !== undefined && Object.hasOwn(meta, "traceparent"))) return meta
  const tracestate = traceStateOf(span)
  return { traceparent, ...(tracestate === undefined ? {} : { tracestate }), ...meta }
}
