/** A text as it was before it was escaped or wrapped, with the way back, so that one reader serves each escaping. */
import { escapedAt } from "../text/folded.ts"

/** A secret in a text. */
export interface Span {
  readonly at: number
  readonly end: number
}

interface View {
  readonly text: string
  /** The place in the original text. */
  readonly source: (at: number) => number
}

/**
 * A line end within a long value, the beginning of an escape, and the colours of a terminal, which become one character that
 * ends a word. The line after a line end is a part of the value if it is no word, no name and no date.
 */
const replaced =
  /(?<=[\w+/.-]{12})(?:\\|=)?\r?\n[ \t>|#*]{0,64}(?=[\w+/-]{0,128}[\dA-Z])(?!\d{4}-\d\d-)(?=[\w+/.-]{4,128}={0,2}(?![\w+/:=.-]|[ \t]{1,8}[:=]))|[\\%&]|\u001b\[[0-9;]{0,16}m/g

const unescaped = (outer: View): View | undefined => {
  let text = ""
  let last = 0
  /** The end of each part in the new text, and how much longer the old text is up to there. */
  const ends: Array<number> = []
  const shifts: Array<number> = []
  for (const { 0: found, index } of outer.text.matchAll(replaced)) {
    const isOne = /[\\%&]$/.test(found)
    const char = found.includes("\n") ? "" : "\u001b"
    const part = isOne ? escapedAt(outer.text, index) : { char, end: index + found.length }
    if (part === undefined || index < last) continue
    text += outer.text.slice(last, index) + part.char
    last = part.end
    ends.push(text.length)
    shifts.push(last - text.length)
  }
  if (last === 0) return undefined
  const source = (at: number): number => {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (ends[middle]! <= at) low = middle + 1
      else high = middle
    }
    return outer.source(at + (shifts[low - 1] ?? 0))
  }
  return { text: text + outer.text.slice(last), source }
}

/** The text without its escapes. */
export const plain = (text: string): string => unescaped({ text, source: (at) => at })?.text ?? text

/** JSON in JSON in JSON. */
const deepest = 3

/** Scans the text and what it was before each escaping. */
export const scanned = (text: string, scan: (text: string) => ReadonlyArray<Span>): ReadonlyArray<Span> => {
  const spans = [...scan(text)]
  let view = unescaped({ text, source: (at) => at })
  for (let depth = 0; depth < deepest && view !== undefined; depth++) {
    const { source, text } = view
    for (const { at, end } of scan(text)) spans.push({ at: source(at), end: source(end) })
    view = unescaped(view)
  }
  return spans
}

/** In order, with those that overlap as one. */
export const merged = (spans: ReadonlyArray<Span>): ReadonlyArray<Span> => {
  const apart: Array<Span> = []
  for (const span of spans.toSorted((a, b) => a.at - b.at || b.end - a.end)) {
    const last = apart.at(-1)
    if (last === undefined || span.at >= last.end) apart.push(span)
    else if (span.end > last.end) apart[apart.length - 1] = { ...last, end: span.end }
  }
  return apart
}
