/** A tracer that keeps its spans, with ids that a test can choose. */
import { type Context, type Exit, Option, Tracer } from "effect"

export interface Recorded extends Tracer.Span {
  readonly attributes: Map<string, unknown>
  readonly ended: () => Exit.Exit<unknown, unknown> | undefined
}

export interface Ids {
  readonly traceId?: string
  readonly spanId?: string
  readonly sampled?: boolean
  /** What an OpenTelemetry span inside says of its trace state. */
  readonly traceState?: string
}

export const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"

export const make = (ids: Ids = {}) => {
  const spans: Array<Recorded> = []
  const span = (
    name: string,
    parent: Option.Option<Tracer.AnySpan>,
    context: Context.Context<never>,
    links: ReadonlyArray<Tracer.SpanLink>,
    startTime: bigint,
    kind: Tracer.SpanKind
  ): Recorded => {
    const attributes = new Map<string, unknown>()
    let status: Tracer.SpanStatus = { _tag: "Started", startTime }
    const inner = { spanContext: () => ({ traceState: { serialize: () => ids.traceState } }) }
    return {
      _tag: "Span",
      name,
      traceId: ids.traceId ?? Option.match(parent, { onNone: () => traceId, onSome: ({ traceId }) => traceId }),
      spanId: ids.spanId ?? (spans.length + 1).toString(16).padStart(16, "0"),
      sampled: ids.sampled ?? true,
      parent,
      context,
      links,
      kind,
      attributes,
      get status() {
        return status
      },
      end: (endTime, exit) => {
        if (status._tag === "Ended") throw new Error(`${name} was ended twice`)
        status = { _tag: "Ended", startTime, endTime, exit }
      },
      attribute: (key, value) => {
        attributes.set(key, value)
      },
      event: () => undefined,
      addLinks: () => undefined,
      ended: () => status._tag === "Ended" ? status.exit : undefined,
      ...(ids.traceState === undefined ? {} : { span: inner })
    }
  }
  const tracer = Tracer.make({
    span: (name, parent, context, links, startTime, kind) => {
      const recorded = span(name, parent, context, links, startTime, kind)
      spans.push(recorded)
      return recorded
    },
    context: (f) => f()
  })
  return { spans, tracer }
}
