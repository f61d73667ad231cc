/** Lines as they are written: escaped, and in colour where that is wanted. */
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
