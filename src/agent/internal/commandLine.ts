/**
 * What a person writes behind a command, as arguments.
 *
 * @internal
 */

/** A word, and whether it began in quotes, so that it is no `name=value`. */
interface Word {
  readonly text: string
  readonly quoted: boolean
}

const isBlank = (char: string): boolean => /\s/.test(char)

/** Words between blanks; quotes keep blanks, and a backslash keeps a quote, a blank or itself. */
const wordsOf = (line: string): ReadonlyArray<Word> => {
  const words: Array<Word> = []
  let text = ""
  let quoted = false
  let within: string | undefined
  let open = false
  const close = (): void => {
    if (open) words.push({ text, quoted })
    text = ""
    quoted = open = false
  }
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!
    const next = line[at + 1]
    if (
      char === "\\" && within !== "'" && next !== undefined &&
      (/["'\\]/.test(next) || (within === undefined && isBlank(next)))
    ) {
      text += next
      open = true
      at += 1
    } else if (within !== undefined) {
      if (char === within) within = undefined
      else text += char
    } else if ((char === "\"" || char === "'") && (text === "" || text.endsWith("="))) {
      // an apostrophe within a word is one
      within = char
      quoted ||= text === ""
      open = true
    } else if (isBlank(char)) close()
    else {
      text += char
      open = true
    }
  }
  close()
  return words
}

/**
 * Values by the names of arguments: `name=value` where there is one of the name, other words in the order of the arguments
 * that are left, and the last of those takes all words that are left. `undefined`: there are more words than arguments.
 *
 * @internal
 */
export const parse = (line: string, names: ReadonlyArray<string>): ReadonlyMap<string, string> | undefined => {
  const values = new Map<string, string>()
  const rest: Array<string> = []
  for (const { quoted, text } of wordsOf(line)) {
    const at = quoted ? -1 : text.indexOf("=")
    const name = text.slice(0, Math.max(0, at))
    if (at > 0 && names.includes(name)) values.set(name, text.slice(at + 1))
    else rest.push(text)
  }
  if (rest.length === 0) return values
  const free = names.filter((name) => !values.has(name))
  if (free.length === 0) return undefined
  for (const [at, name] of free.entries()) {
    if (at >= rest.length) break
    values.set(name, at === free.length - 1 ? rest.slice(at).join(" ") : rest[at]!)
  }
  return values
}
