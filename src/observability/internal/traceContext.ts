/**
 * The W3C trace context of a span, in the unprefixed keys of `_meta` that SEP-414 reserves for it.
 *
 * @internal
 */
import * as Predicate from "effect/Predicate"
import type * as Tracer from "effect/Tracer"
import type * as JsonRpc from "../../transport/JsonRpc.ts"

const traceId = /^(?!0{32})[0-9a-f]{32}$/
const spanId = /^(?!0{16})[0-9a-f]{16}$/
// What may be sent on is printable and at most 512 characters, as the recommendation has it.
const traceState = /^[\x20-\x7e]{1,512}$/

/** The state that vendors add to a trace. Effect's spans have none; the OpenTelemetry span inside one does. */
const stateOf = (span: Tracer.Span): string | undefined => {
  const inner = Predicate.hasProperty(span, "span") ? span.span : undefined
  if (!Predicate.hasProperty(inner, "spanContext") || !Predicate.isFunction(inner.spanContext)) return undefined
  const context: unknown = inner.spanContext()
  const state = Predicate.hasProperty(context, "traceState") ? context.traceState : undefined
  if (!Predicate.hasProperty(state, "serialize") || !Predicate.isFunction(state.serialize)) return undefined
  const text: unknown = state.serialize()
  return typeof text === "string" && traceState.test(text) ? text : undefined
}

/**
 * Nothing for a span whose ids are not those of W3C: a receiver would refuse them.
 *
 * @internal
 */
export const of = (span: Tracer.Span): JsonRpc.JsonObject | undefined => {
  if (!traceId.test(span.traceId) || !spanId.test(span.spanId)) return undefined
  const traceparent = `00-${span.traceId}-${span.spanId}-${span.sampled ? "01" : "00"}`
  const tracestate = stateOf(span)
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}

/**
 * The caller's own keys win. With a `traceparent` of the caller nothing of ours is added, because the state of one trace
 * says nothing about another.
 *
 * @internal
 */
export const into = (
  context: JsonRpc.JsonObject | undefined,
  own: JsonRpc.JsonObject | undefined
): JsonRpc.JsonObject | undefined => {
  if (context === undefined || own === undefined) return own ?? context
  return Object.hasOwn(own, "traceparent") ? own : { ...context, ...own }
}
