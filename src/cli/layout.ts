/** Wraps texts and tables to the width of the terminal. A pipe has no limit. */
import { fitted, padded, width } from "../text/unicode.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as Screen from "./Screen.ts"

/** Wraps a text at spaces only, so that paths and commands stay whole. */
export const wrapped = (text: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of text.split(" ")) {
    if (line !== "" && width(line) + 1 + width(word) > columns) {
      lines.push(line)
      line = word
    } else line = line === "" ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** The minimum width of a text. */
export const least = 20

/** A wrapped text, with every line indented. */
export const indented = (indent: number, text: string, columns: number): ReadonlyArray<string> =>
  wrapped(text, Math.max(least, columns - indent)).map((line) => " ".repeat(indent) + line)

export type Cell = Screen.Span | string

const gap = 2

/** A column of a table. */
export interface Column<A> {
  readonly title: string
  /** In a narrow terminal the column with the highest rank is dropped first. A column without a rank is never dropped. */
  readonly rank?: number
  readonly cell: (row: A) => Cell
}

/** The minimum width of the first column. */
const leastFirst = 10

/** The last column is cut down to this width before another column is dropped. */
const enough = 30

const spanOf = (cell: Cell): Screen.Span =>
  typeof cell === "string"
    ? { text: UntrustedText.escape(cell), style: "plain" }
    : { ...cell, text: UntrustedText.escape(cell.text) }

/** Renders a table. If dropping columns is not enough, the first column is cut, unless it must stay `whole`. */
export const table = <A>(
  columns: ReadonlyArray<Column<A>>,
  rows: ReadonlyArray<A>,
  room: number,
  { whole = false } = {}
): ReadonlyArray<Screen.Line> => {
  const all = columns.map(({ cell, rank = 0, title }) => {
    const cells = [{ text: title, style: "weak" } as const, ...rows.map(cell)].map(spanOf)
    return { cells, rank, width: Math.max(...cells.map(({ text }) => width(text))) }
  })
  let kept = all
  const total = () =>
    kept.reduce((sum, { width }, at) => sum + (at === kept.length - 1 ? Math.min(width, enough) : width + gap), 0)
  while (total() > room && kept.some(({ rank }) => rank > 0)) {
    const highest = Math.max(...kept.map(({ rank }) => rank))
    kept = kept.filter(({ rank }) => rank < highest)
  }
  const first = kept[0]!.width
  const cut = whole ? first : Math.min(first, Math.max(leastFirst, first - Math.max(0, total() - room)))
  const widths = kept.map(({ width }, at) => at === 0 ? cut : width)
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + gap, 0)
  return ["", ...rows].map((_, row) =>
    kept.map(({ cells }, at) => {
      const { style, text } = cells[row]!
      const isLast = at === kept.length - 1
      const shown = isLast
        ? fitted(text, Math.max(12, room - before))
        : padded(fitted(text, widths[at]!), widths[at]! + gap)
      return { text: shown, style }
    })
  )
}

/** `1 tool`, `2 tools` */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
