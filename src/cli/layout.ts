/** Texts and tables that fit the columns of a terminal. A pipe has room for all. */
import { fitted, padded, width } from "../text/unicode.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as Screen from "./Screen.ts"

/** A text in lines that are broken at spaces only, so that paths and commands stay whole. */
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

/** The fewest columns of a text, however much stands before it. */
export const least = 20

/** A wrapped text, with every line indented. */
export const indented = (indent: number, text: string, columns: number): ReadonlyArray<string> =>
  wrapped(text, Math.max(least, columns - indent)).map((line) => " ".repeat(indent) + line)

export type Cell = Screen.Span | string

const gap = 2

const textOf = (cell: Cell): string => UntrustedText.escape(typeof cell === "string" ? cell : cell.text)

const styleOf = (cell: Cell): Screen.Style => typeof cell === "string" ? "plain" : cell.style

export const lines = (
  header: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>,
  columns: number
): ReadonlyArray<Screen.Line> => {
  const all = [header.map((text): Cell => ({ text, style: "weak" })), ...rows]
  const widths = header.map((_, at) => Math.max(...all.map((row) => width(textOf(row[at] ?? "")))))
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + gap, 0)
  const room = Math.max(12, columns - before)
  return all.map((row) =>
    row.map((cell, at): Screen.Span => {
      const text = textOf(cell)
      const isLast = at === header.length - 1
      return { text: isLast ? fitted(text, room) : padded(text, widths[at]! + gap), style: styleOf(cell) }
    })
  )
}

/** A column, and how soon it may be left out where there is no room: the highest first, and never without one. */
export interface Column {
  readonly title: string
  readonly rank?: number | undefined
}

/** The fewest columns of the first column. */
const leastFirst = 10

/** The last column is cut before another is left out for it, but not to less than this. */
const enough = 30

/** The same with columns that may be left out, and the first of them cut once that does not help. */
export const narrowed = (
  header: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>,
  columns: number
): ReadonlyArray<Screen.Line> => {
  const widths = header.map(({ title }, at) =>
    Math.max(width(title), ...rows.map((row) => width(textOf(row[at] ?? ""))))
  )
  const total = (kept: ReadonlyArray<number>) =>
    kept.reduce(
      (sum, at, nth) => sum + (nth === kept.length - 1 ? Math.min(widths[at]!, enough) : widths[at]! + gap),
      0
    )
  let kept = header.map((_, at) => at)
  while (total(kept) > columns) {
    const next = kept.reduce<number | undefined>(
      (last, at) => (header[at]!.rank ?? 0) > (last === undefined ? 0 : header[last]!.rank ?? 0) ? at : last,
      undefined
    )
    if (next === undefined) break
    kept = kept.filter((at) => at !== next)
  }
  const first = Math.max(leastFirst, widths[0]! - Math.max(0, total(kept) - columns))
  const cells = rows.map((row) =>
    kept.map((at): Cell => {
      const cell = row[at] ?? ""
      return at === 0 ? { text: fitted(textOf(cell), first), style: styleOf(cell) } : cell
    })
  )
  return lines(kept.map((at) => header[at]!.title), cells, columns)
}

/** `1 tool`, `2 tools` */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
