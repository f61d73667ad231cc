/** Lines on a terminal that are drawn again and again in the same place, as the texts that do that. */
import { width } from "../text/unicode.ts"
import type * as Screen from "./Screen.ts"
import * as Styled from "./styled.ts"

/** What stands on the terminal now, with the cursor below it. */
export interface Block {
  readonly text: string
  readonly widths: ReadonlyArray<number>
}

export interface Size {
  readonly columns: number
  readonly rows: number
}

export const hide = "\u001b[?25l"

export const show = "\u001b[?25h"

/** What follows the cursor is gone. */
const erase = "\u001b[J"

/** What was drawn when the terminal was wider has been broken into more rows by now. */
const back = ({ widths }: Block, { columns }: Size): string => {
  const rows = widths.reduce((sum, one) => sum + Math.max(1, Math.ceil(one / Math.max(1, columns))), 0)
  return rows === 0 ? "\r" : `\r\u001b[${rows}A`
}

/** No row of it is broken, and it is not higher than the terminal: what has left at the top cannot be reached again. */
export const block = (lines: ReadonlyArray<Screen.Line>, { columns, rows }: Size, colour: boolean): Block => {
  const most = Math.max(1, rows - 1)
  const shown = lines.length <= most
    ? lines
    : [...lines.slice(0, most - 1), `… ${lines.length - most + 1} more lines`]
  const cut = (line: Screen.Line, colour: boolean) => Styled.cut(line, columns - 1, colour)
  return {
    text: shown.map((line) => `${cut(line, colour)}\u001b[K\n`).join(""),
    widths: shown.map((line) => width(cut(line, false)))
  }
}

export const drawn = (before: Block | undefined, next: Block, size: Size): string =>
  before === undefined ? next.text : `${back(before, size)}${next.text}${erase}`

export const taken = (before: Block, size: Size): string => `${back(before, size)}${erase}`
