import { width } from "../text/unicode.ts"

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

/** However much stands before a text, some words of it fit beside that. */
export const least = 20

/** The same, as far from the left in every line. */
export const indented = (indent: number, text: string, columns: number): ReadonlyArray<string> =>
  wrapped(text, Math.max(least, columns - indent)).map((line) => " ".repeat(indent) + line)
