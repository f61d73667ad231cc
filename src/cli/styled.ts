/** Lines as a terminal gets them: escaped, in colour, cut to its width, and drawn again in their place. */
import { fitted, replaceUnsafe, width } from "../text/unicode.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as Screen from "./Screen.ts"

const codes: Record<Screen.Style, string> = {
  plain: "",
  strong: "1",
  weak: "2",
  good: "32",
  warning: "33",
  bad: "31"
}

const spansOf = (line: Screen.Line): ReadonlyArray<Screen.Span> =>
  typeof line === "string"
    ? [{ text: line, style: "plain" }]
    : line.map((span) => typeof span === "string" ? { text: span, style: "plain" } : span)

/** A tab is text like any other, and does no harm. */
const escaped = (text: string): string => text.split("\t").map(UntrustedText.escape).join("\t")

const painted = ({ style, text }: Screen.Span, colour: boolean): string =>
  colour && codes[style] !== "" && text !== "" ? `\u001b[${codes[style]}m${text}\u001b[0m` : text

export const render = (line: Screen.Line, colour: boolean): string =>
  spansOf(line).map(({ style, text }) => painted({ text: escaped(text), style }, colour)).join("")

/** The beginning of a line, if it takes more columns. */
export const cut = (line: Screen.Line, columns: number, colour: boolean): string => {
  let left = Math.max(1, columns)
  return spansOf(line).map(({ style, text }) => {
    const part = fitted(UntrustedText.escape(text), left)
    left -= width(part)
    return painted({ text: part, style }, colour)
  }).join("")
}

const units = (char: string): string =>
  Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")

/** JSON that a terminal shows as it is: what would be invisible in it, or change it, is written as escapes of JSON. */
export const json = (value: unknown, space: number): string =>
  replaceUnsafe(JSON.stringify(value, null, space), (char) => char === "\n" ? char : units(char))

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
  const fit = (line: Screen.Line, colour: boolean) => cut(line, columns - 1, colour)
  return {
    text: shown.map((line) => `${fit(line, colour)}\u001b[K\n`).join(""),
    widths: shown.map((line) => width(fit(line, false)))
  }
}

export const drawn = (before: Block | undefined, next: Block, size: Size): string =>
  before === undefined ? next.text : `${back(before, size)}${next.text}${erase}`

export const taken = (before: Block, size: Size): string => `${back(before, size)}${erase}`
