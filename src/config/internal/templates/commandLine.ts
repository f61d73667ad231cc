/**
 * A line of a shell as words, where no shell is needed to understand it.
 *
 * @internal
 */

const needsShell: ReadonlySet<string> = new Set("|&;<>()$`*?[]{}#!\n\r\u0000")
const needsShellInQuotes: ReadonlySet<string> = new Set("$`\u0000")

/**
 * `undefined` for a line that means something else without a shell: pipes, substitutions, patterns, open quotes.
 *
 * @internal
 */
export const split = (
  line: string,
  { home, isWindows }: { readonly home: string | undefined; readonly isWindows: boolean }
): readonly [string, ...ReadonlyArray<string>] | undefined => {
  const words: Array<string> = []
  let word: string | undefined
  let quote: string | undefined
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!
    if (char === "\u0000") return undefined
    if (quote !== undefined) {
      if (char === quote) quote = undefined
      else if (quote === "\"" && (needsShellInQuotes.has(char) || (char === "\\" && !isWindows))) return undefined
      else word = (word ?? "") + char
    } else if (char === "\"" || char === "'") {
      quote = char
      word ??= ""
    } else if (char === " " || char === "\t") {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (needsShell.has(char) || (char === "\\" && !isWindows)) return undefined
    else if (char === "~" && word === undefined) {
      if (home === undefined || !/^(?:[/\\\s]|$)/.test(line.slice(at + 1, at + 2))) return undefined
      word = home
    } else word = (word ?? "") + char
  }
  if (quote !== undefined) return undefined
  if (word !== undefined) words.push(word)
  const [command, ...args] = words
  return command === undefined || command === "" ? undefined : [command, ...args]
}
