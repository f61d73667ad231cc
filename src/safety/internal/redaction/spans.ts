/**
 * What was found where in a text, and the text without it.
 *
 * @internal
 */

/** @internal */
export interface Span {
  readonly id: string
  readonly at: number
  readonly end: number
}

/**
 * In order, and none within or across another: what overlaps is one span, named by the one that begins first.
 *
 * @internal
 */
export const merged = (spans: ReadonlyArray<Span>): ReadonlyArray<Span> => {
  if (spans.length < 2) return spans
  const ordered = spans.toSorted((one, other) => one.at - other.at || other.end - one.end)
  const apart: Array<Span> = []
  for (const span of ordered) {
    const last = apart.at(-1)
    if (last === undefined || span.at >= last.end) apart.push(span)
    else if (span.end > last.end) apart[apart.length - 1] = { ...last, end: span.end }
  }
  return apart
}

/**
 * The same text object where there is nothing to replace.
 *
 * @internal
 */
export const replaced = (text: string, spans: ReadonlyArray<Span>, by: string): string => {
  if (spans.length === 0) return text
  let result = ""
  let from = 0
  for (const { at, end } of merged(spans)) {
    result += text.slice(from, at) + by
    from = end
  }
  return result + text.slice(from)
}
