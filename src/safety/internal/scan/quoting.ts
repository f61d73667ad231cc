/**
 * Whether a text speaks of words instead of saying them.
 *
 * @internal
 */

const longestLine = 600

const isLetter = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}]/u.test(char)

/** Whether a quote that opens here opens a value of JSON: what is in there is said by the document itself. */
const isValue = (line: string, open: number): boolean => {
  let at = open - 1
  while (at >= 0 && (line[at] === " " || line[at] === "\t")) at -= 1
  if (at < 0) return false
  if (line[at] === "[" || line[at] === "{" || line[at] === ",") return true
  if (line[at] !== ":") return false
  at -= 1
  while (at >= 0 && line[at] === " ") at -= 1
  return line[at] === "\""
}

/** The last quote before a place that is not closed before it. */
const openBefore = (line: string, quote: string, place: number): number => {
  let open = -1
  for (let at = 0; at < place; at++) {
    if (line[at] !== quote || line[at - 1] === "\\") continue
    if (open !== -1) {
      if (quote === "'" && isLetter(line[at + 1])) continue
      open = -1
    } else if (quote !== "'" || !isLetter(line[at - 1])) open = at
  }
  return open
}

/** Whether what stands from here to there is within quotes on its line, with words outside of them. @internal */
export const isQuoted = (text: string, from: number, to: number): boolean => {
  const start = Math.max(text.lastIndexOf("\n", Math.max(0, from - 1)) + 1, from - longestLine)
  const stop = text.indexOf("\n", to)
  const end = Math.min(stop === -1 ? text.length : stop, to + longestLine)
  const line = text.slice(start, end)
  for (const quote of ["\"", "`", "'"]) {
    const open = openBefore(line, quote, from - start)
    if (open === -1) continue
    const close = line.indexOf(quote, to - start)
    if (close === -1 || isValue(line, open)) continue
    if (isLetter(/[\p{L}\p{N}]/u.exec(line.slice(0, open) + line.slice(close + 1))?.[0])) return true
  }
  return false
}
