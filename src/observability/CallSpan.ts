/**
 * A span around an operation on a server, after OpenTelemetry's semantic conventions for MCP, and its W3C trace context
 * in the request's `_meta` (SEP-414), so that the server's spans become its children. Without a tracer it costs nothing.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as Record from "effect/Record"
import type * as McpClient from "../client/McpClient.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import { native } from "../internal/nativeTracer.ts"
import * as Redaction from "../safety/Redaction.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as spanAttributes from "./internal/spanAttributes.ts"
import * as traceContext from "./internal/traceContext.ts"

/**
 * What is done, and where.
 *
 * @since 0.1.0
 * @category models
 */
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
  /** Asked once, when the operation has ended: the connection that it was last tried on. */
  readonly connection?: (() => Pick<McpClient.McpClient, "protocolVersion" | "transport"> | undefined) | undefined
  /** The caller's own `_meta`; its keys win. */
  readonly meta?: JsonRpc.JsonObject | undefined
}

/** What a result that reports failure is to whoever looks at the trace; the caller gets the result. */
class Reported extends Data.TaggedError("ToolError") {
  override readonly message = "the tool reported failure in its result"
}

/**
 * Runs with the `_meta` to send: the caller's own, and the trace context of a span of this operation, if a tracer
 * listens. The span has kind `client`, and the outcome in `error.type`: the code of a `RemoteError`, the tag of any other
 * error, `tool_error` where the result says so, `Interrupted`, `Defect`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const traced = <A, E, R>(
  operation: Operation,
  run: (meta: JsonRpc.JsonObject | undefined) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime<A, E, R>((fiber) =>
    fiber.currentTracer === native || !fiber.getFiberRef(FiberRef.currentTracerEnabled)
      ? run(operation.meta)
      : spanned(operation, run, fiber)
  )

const spanned = <A, E, R>(
  operation: Operation,
  run: (meta: JsonRpc.JsonObject | undefined) => Effect.Effect<A, E, R>,
  fiber: Fiber.RuntimeFiber<unknown, unknown>
): Effect.Effect<A, E, R> => {
  const clock = Context.get(fiber.currentDefaultServices, Clock.Clock)
  const timed = fiber.getFiberRef(FiberRef.currentTracerTimingEnabled)
  const { text } = Context.get(fiber.currentContext, Redaction.Redaction)
  const shown = (value: unknown): unknown => typeof value === "string" ? text(value) : value
  const attributes = Record.map(spanAttributes.atStart(operation), shown)
  const options = { kind: "client", attributes, captureStackTrace: false } as const
  return Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(
      Effect.makeSpan(text(spanAttributes.name(operation)), options),
      (span) =>
        Effect.suspend(() => run(traceContext.into(traceContext.of(span), operation.meta))).pipe(
          Effect.withParentSpan(span),
          restore,
          Effect.onExit((exit) =>
            Effect.sync(() => {
              for (const [key, value] of spanAttributes.atEnd(operation, exit)) span.attribute(key, shown(value))
              const reported = Exit.isSuccess(exit) && spanAttributes.reportsError(exit.value)
              // A span that is ended with an error has the status that goes with `error.type`.
              span.end(timed ? clock.unsafeCurrentTimeNanos() : 0n, reported ? Exit.fail(new Reported()) : exit)
            })
          )
        )
    )
  )
}
