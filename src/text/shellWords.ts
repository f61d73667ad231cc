/** Splits command lines into words, and quotes words for command lines. */

/** A word, and whether it begins in quotes. */
interface Word {
  readonly text: string
  readonly quoted: boolean
}

/** The rules of quoting. */
export interface Rules {
  /** Characters that end a word. */
  readonly blank: RegExp
  /** True if a quote starts here, after the text of the word so far. */
  readonly opens: (word: string) => boolean
  /** True if a backslash escapes this character. */
  readonly escapes: (next: string, isQuoted: boolean) => boolean
}

/** The rules of a POSIX shell, without expansions: `'…'` is literal, and a backslash escapes any character. */
export const shell: Rules = { blank: /[ \t]/, opens: () => true, escapes: () => true }

/** Rules for prose: an apostrophe in a word is literal, and a backslash escapes only quotes, blanks and itself. */
export const prose: Rules = {
  blank: /\s/,
  opens: (word) => word === "" || word.endsWith("="),
  escapes: (next, isQuoted) => /["'\\]/.test(next) || (!isQuoted && /\s/.test(next))
}

const literal: Rules = { ...shell, escapes: () => false }

/** The words of a line, and an unterminated quote. */
export const split = (
  line: string,
  { blank, escapes, opens }: Rules
): { readonly words: ReadonlyArray<Word>; readonly unclosed: string | undefined } => {
  const words: Array<Word> = []
  let text: string | undefined
  let quoted = false
  let quote: string | undefined
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!
    const next = line[at + 1]
    if (char === "\\" && quote !== "'" && next !== undefined && escapes(next, quote !== undefined)) {
      text = (text ?? "") + next
      at += 1
    } else if (char === quote) quote = undefined
    else if (quote === undefined && (char === "'" || char === "\"") && opens(text ?? "")) {
      quoted ||= text === undefined
      quote = char
      text ??= ""
    } else if (quote === undefined && blank.test(char)) {
      if (text !== undefined) words.push({ text, quoted })
      text = undefined
      quoted = false
    } else text = (text ?? "") + char
  }
  if (text !== undefined) words.push({ text, quoted })
  return { words, unclosed: quote }
}

/* oxlint-disable no-control-regex -- NUL ends a text for other programs */
/** The quoted parts of a line in which a shell expands nothing. */
const inert = { posix: /'[^'\0]*'|"[^"$`\\\0]*"/g, windows: /'[^'\0]*'|"[^"$`\0]*"/g }
const special = { posix: /[|&;<>()$`*?[\]{}#!\n\r\0"'\\]/, windows: /[|&;<>()$`*?[\]{}#!\n\r\0"']/ }
/* oxlint-enable no-control-regex */

/**
 * Splits a line into program and arguments; `undefined` if it needs a shell: pipes, substitutions, globs, unterminated
 * quotes. A leading `~` becomes the home folder.
 */
export const withoutShell = (
  line: string,
  { home, isWindows }: { readonly home: string | undefined; readonly isWindows: boolean }
): readonly [string, ...ReadonlyArray<string>] | undefined => {
  const system = isWindows ? "windows" : "posix"
  if (special[system].test(line.replaceAll(inert[system], ""))) return undefined
  const words: Array<string> = []
  for (const { quoted, text } of split(line, literal).words) {
    if (quoted || !text.startsWith("~")) words.push(text)
    else if (home === undefined || !/^~(?:[/\\]|$)/.test(text)) return undefined
    else words.push(home + text.slice(1))
  }
  const [command, ...args] = words
  return command === undefined || command === "" ? undefined : [command, ...args]
}

/** Quotes a text as one word of a POSIX shell, if it needs quotes. */
export const quote = (text: string): string =>
  text === "" || /[\s"'`$&|;<>()*?[\]{}!#~\\^]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : text
