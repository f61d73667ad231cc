/**
 * Rows under each other. What is too wide for the terminal is cut in its last column, and nowhere in a pipe.
 *
 * @internal
 */
import * as UntrustedText from "../../UntrustedText.ts"
import type * as Screen from "../Screen.ts"

/** @internal */
export type Cell = Screen.Span | string

const gap = 2

const textOf = (cell: Cell): string => UntrustedText.escape(typeof cell === "string" ? cell : cell.text)

const styleOf = (cell: Cell): Screen.Style => typeof cell === "string" ? "plain" : cell.style

const fitted = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(1, width - 1))}…`

/** @internal */
export const lines = (
  header: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>,
  columns: number
): ReadonlyArray<Screen.Line> => {
  const all = [header.map((text): Cell => ({ text, style: "weak" })), ...rows]
  const widths = header.map((_, at) => Math.max(...all.map((row) => textOf(row[at] ?? "").length)))
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + gap, 0)
  const room = Math.max(12, columns - before)
  return all.map((row) =>
    row.map((cell, at): Screen.Span => {
      const text = textOf(cell)
      const isLast = at === header.length - 1
      return { text: isLast ? fitted(text, room) : text.padEnd(widths[at]! + gap), style: styleOf(cell) }
    })
  )
}
